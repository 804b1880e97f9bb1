/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the shape of a cublasLtMatmul() from its descriptors, against a given libcublasLt: `bench_lt_shapes LIBRARY`. The
 * real library's getters need neither device nor driver. Prints nanoseconds remembered and read, least disturbed of many. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "preload/lt_shapes.h"
#include "trace/clock.h"

enum { ROUNDS = 200, CALLS = 200 };

static double best(const struct lt_descriptors *d, const void *real, int forget)
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_monotonic_ns();
        for (int i = 0; i < CALLS; i++) {
            struct trace_signature s;
            memset(&s, 0, sizeof s);
            if (forget)
                lt_shapes_forget(d->desc);
            lt_shapes_read(d, real, &s);
        }
        double ns = (double)(clock_monotonic_ns() - start) / CALLS;
        least = ns < least ? ns : least;
    }
    return least;
}

int main(int count, char **arguments)
{
    struct lt_descriptors d;
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library) {
        fprintf(stderr, "bench_lt_shapes: expected the path of a libcublasLt: %s\n",
                count == 2 ? dlerror() : "no argument");
        return 2;
    }
    int (*desc_create)(cublasLtMatmulDesc_t *, int, int);
    int (*layout_create)(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t);
    size_t (*version)(void);
    *(void **)&desc_create = dlsym(library, "cublasLtMatmulDescCreate");
    *(void **)&layout_create = dlsym(library, "cublasLtMatrixLayoutCreate");
    *(void **)&version = dlsym(library, "cublasLtGetVersion");
    if (!desc_create || !layout_create || desc_create(&d.desc, 68, 0))
        return 1;
    for (int i = 0; i < 4; i++)
        if (layout_create(&d.layout[i], 14, 64, 64, 64))
            return 1;
    const void *real = dlsym(library, "cublasLtMatmul");
    printf("libcublasLt %zu: shape remembered %.0f ns, read with the getters %.0f ns\n", version ? version() : 0,
           best(&d, real, 0), best(&d, real, 1));
    return 0;
}
