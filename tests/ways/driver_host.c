/* SPDX-License-Identifier: Apache-2.0 */
/* `driver_host DRIVER`: a program without CUDA that opens the driver itself and launches through what it is given by name,
 * version and flags. Prints for each whether it came, and what was called. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                            void **, void **);
typedef int launch_ex_function(const void *, void *, void **, void **);
typedef int get_function(const char *, void **, int, uint64_t, int *);
typedef int get_old_function(const char *, void **, int, uint64_t);

struct config { /* as far as it is the same in all versions: grid, block, shared memory, stream */
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
};

static void *library;
static get_function *get;

static void *looked_up(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("%s\n", dlerror());
        exit(2);
    }
    return symbol;
}

static void *given(const char *name, int version, uint64_t flags)
{
    void *function = (void *)1;
    int status = -1, result = get(name, &function, version, flags, &status);
    printf("%s, %d, %d: %d, %d, %s\n", name ? name : "NULL", version, (int)flags, result, status,
           function == (void *)1 ? "untouched"
           : function            ? "given"
                                 : "NULL");
    return result ? NULL : function;
}

static void launch(void *function, unsigned size)
{
    launch_function *f;
    *(void **)&f = function;
    if (f)
        printf("-> %d\n", f((void *)0xf0c, size, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void launch_ex(void *function, unsigned size)
{
    struct config config = {.grid = {size, 1, 1}, .block = {1, 1, 1}};
    launch_ex_function *f;
    *(void **)&f = function;
    if (f)
        printf("-> %d\n", f(&config, (void *)0xf0c, NULL, NULL));
}

int main(int count, char **arguments)
{
    int (*init)(unsigned);
    get_old_function *get_old;
    library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 2;
    *(void **)&init = looked_up("cuInit");
    printf("cuInit: %d\n", init(0));
    launch(looked_up("cuLaunchKernel"), 101); /* as Triton does */
    launch_ex(looked_up("cuLaunchKernelEx"), 102);
    *(void **)&get = looked_up("cuGetProcAddress_v2");
    launch(given("cuLaunchKernel", 4000, 0), 103);
    launch(given("cuLaunchKernel", 13000, 1), 104);
    launch(given("cuLaunchKernel", 13000, 2), 105);
    launch_ex(given("cuLaunchKernelEx", 13000, 0), 106);
    launch_ex(given("cuLaunchKernelEx", 11050, 0), 0); /* not there yet */
    given("cuMemAlloc", 2000, 0);
    given("cuInit", 2000, 0);
    given(NULL, 13000, 0);
    printf("%d\n", get("cuLaunchKernel", NULL, 13000, 0, NULL));
    *(void **)&get = given("cuGetProcAddress", 12000, 0); /* in turn */
    launch(given("cuLaunchKernel", 12020, 0), 107);
    *(void **)&get_old = given("cuGetProcAddress", 11030, 0);
    void *function = NULL;
    printf("%d\n", get_old("cuLaunchKernel", &function, 11030, 0));
    launch(function, 108);
    given("cuLaunchKernelEx", 99000, 0); /* nobody knows its arguments */
    given("cuLaunchGrid", 2000, 0);
    return 0;
}
