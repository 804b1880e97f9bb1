/* SPDX-License-Identifier: Apache-2.0 */
int cudnnCreate(void **handle);

int cudnnCreate(void **handle)
{
    *handle = (void *)0x5e5e;
    return 0;
}
