/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's library in CUDA_INJECTION64_PATH, which wants nothing. */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    return 1;
}
