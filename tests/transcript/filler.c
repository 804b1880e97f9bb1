/* SPDX-License-Identifier: Apache-2.0 */
/* A library with 64 bytes of static TLS: each copy takes as much of the room that late libraries have. */
static __thread char filler[64] __attribute__((tls_model("initial-exec"), aligned(64), used));

__attribute__((visibility("default"))) char *filler_address(void);

char *filler_address(void)
{
    return filler;
}
