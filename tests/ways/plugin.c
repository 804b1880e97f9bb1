/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that asks in its own name: what RTLD_DEFAULT and RTLD_NEXT mean depends on who calls. */
#include <dlfcn.h>

void *plugin_ask(void *handle, const char *name, const char *version);
int cublasSetEnvironmentMode(int mode); /* linked to a libcublas, which nobody else sees */
int plugin_use(void);

__attribute__((visibility("default"))) void *plugin_ask(void *handle, const char *name, const char *version)
{
    void *volatile symbol = version ? dlvsym(handle, name, version) : dlsym(handle, name); /* not a jump */
    return symbol;
}

__attribute__((visibility("default"))) int plugin_use(void)
{
    return cublasSetEnvironmentMode(0);
}
