/* SPDX-License-Identifier: Apache-2.0 */
/* `copies FIRST SECOND [close]`: opens two libcublas, calls each through pointers that it looked up, the one and the other
 * in turn. With `close` it closes both in between and opens them again. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct blas {
    void *library, *handle;
    int (*create)(void **);
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                 float *, int);
};

static float matrix[64];
static const float one = 1, zero = 0;

static int open_blas(struct blas *blas, const char *path)
{
    blas->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!blas->library) {
        fprintf(stderr, "copies: %s\n", dlerror());
        return 1;
    }
    *(void **)&blas->create = dlsym(blas->library, "cublasCreate_v2");
    *(void **)&blas->gemm = dlsym(blas->library, "cublasGemmEx");
    *(void **)&blas->sgemm = dlsym(blas->library, "cublasSgemm_v2");
    return blas->create(&blas->handle);
}

static int use(struct blas *blas, int m)
{
    return blas->gemm(blas->handle, 0, 0, m, 2, 3, &one, matrix, 0, m, matrix, 0, 3, &zero, matrix, 0, m, 68, -1) ||
           blas->sgemm(blas->handle, 0, 0, m, 4, 5, &one, matrix, m, matrix, 5, &zero, matrix, m);
}

int main(int count, char **arguments)
{
    struct blas blas[2];
    int status = 0, closes = count == 4 && !strcmp(arguments[3], "close");
    if (count < 3)
        return 2;
    for (int round = 0; round < 1 + closes; round++) {
        status |= open_blas(&blas[0], arguments[1]);
        status |= use(&blas[0], 7); /* before there is another */
        status |= open_blas(&blas[1], arguments[2]);
        for (int i = 0; i < 3 && !status; i++)
            status = use(&blas[0], 7) || use(&blas[1], 11);
        if (closes)
            status |= dlclose(blas[0].library) || dlclose(blas[1].library);
    }
    printf("status %d\n", status);
    return status;
}
