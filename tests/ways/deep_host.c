/* SPDX-License-Identifier: Apache-2.0 */
/* `deep_host deep|apart PLUGIN...`: opens each plug-in with RTLD_DEEPBIND, or in a namespace of its own, and has them call
 * their cuBLAS in turn. The first has 7 rows, the next 8 and so on. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, TURNS = 3 };

typedef int use_function(int m, void *matrix);

static use_function *opened(const char *mode, const char *path)
{
    void *plugin = strcmp(mode, "apart") ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
                                         : dlmopen(LM_ID_NEWLM, path, RTLD_LAZY | RTLD_LOCAL);
    use_function *use = NULL;
    if (plugin)
        *(void **)&use = dlsym(plugin, "deep_use");
    if (!use) {
        fprintf(stderr, "deep_host: %s\n", dlerror());
        exit(2);
    }
    return use;
}

/* Memory of the GPU where there is one: the plug-ins' cuBLAS is the simulator's then. */
static void *matrix_of(void)
{
    static float here[1 << 12];
    int (*allocate)(void **, size_t);
    void *runtime = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_LOCAL), *there = NULL;
    if (!runtime || !(*(void **)&allocate = dlsym(runtime, "cudaMalloc")))
        return here;
    return allocate(&there, sizeof here) ? NULL : there;
}

int main(int count, char **arguments)
{
    use_function *use[MOST];
    int plugins = count - 2, status = 0;
    if (count < 3 || plugins > MOST)
        return 2;
    for (int i = 0; i < plugins; i++)
        use[i] = opened(arguments[1], arguments[i + 2]);
    void *matrix = matrix_of();
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < plugins; i++)
            status |= use[i](7 + i, matrix);
    printf("status %d\n", status);
    return status;
}
