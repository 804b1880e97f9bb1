/* SPDX-License-Identifier: Apache-2.0 */
/* `plugin_host PLUGIN`: opens it as Python would, runs it, and says what dlerror() has to say before and after. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    void *plugin = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "plugin_host: %s\n", dlerror());
        return 2;
    }
    int (*run)(int);
    *(void **)&run = dlsym(plugin, "plugin_run");
    int status = run(3);
    const char *error = dlerror();
    if (error)
        printf("the shim left an error: %s\n", error);
    return error ? 1 : status;
}
