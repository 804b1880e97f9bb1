/* SPDX-License-Identifier: Apache-2.0 */
/* A library that takes BYTES of the loader's static TLS, as many do. */
_Thread_local char tls_stub[BYTES] __attribute__((tls_model("initial-exec")));

char *tls_stub_take(void);

char *tls_stub_take(void)
{
    return tls_stub;
}
