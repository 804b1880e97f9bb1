/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS and cuBLASLt, loaded at run time: one matrix product on each path, as PyTorch's linear layers ask for it (the weight
 * transposed). */
#ifndef CALIBRATE_BLAS_H
#define CALIBRATE_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/cuda.h"
#include "classify/gpu_specs.h"

enum { BLAS_ERROR_BYTES = 512 };

struct blas_entries;

struct blas {
    struct blas_entries *entries;
    void *handle, *lt; /* lt NULL: no cuBLASLt */
    void *stream;
    cuda_address workspace;
    size_t workspace_bytes;
    char version[96];
    char error[BLAS_ERROR_BYTES];
};

/* A path with the types that the library is asked with. */
struct blas_path {
    enum gpu_path path;
    int operand_type, result_type, compute, scale_type; /* cudaDataType_t, cublasComputeType_t */
    int operand_bytes, result_bytes;
    int least_capability; /* major * 10 + minor of a GPU that has it */
    bool lt;              /* cublasGemmEx does not take these types */
};

extern const struct blas_path blas_paths[];
extern const size_t blas_path_count;

/* FOLDER NULL: the newest usable one of the loader's, the toolkit's, the Python wheels'. False: ERROR tells why. */
bool blas_open(struct blas *blas, struct cuda *cuda, const char *folder);
void blas_close(struct blas *blas, struct cuda *cuda);

/* A product that can be asked for again and again. User's M, N, K; D (M, N) = X (M, K) W (N, K) transposed. */
struct blas_product {
    const struct blas_path *path;
    int64_t m, n, k;
    cuda_address x, w, d;
    void *description, *layout[3]; /* cuBLASLt's */
    unsigned char algorithm[64];
    bool algorithm_known;
};

/* False: the library does not take it; ERROR has the status. */
bool blas_product_begin(struct blas *blas, struct blas_product *product);
bool blas_product_run(struct blas *blas, const struct blas_product *product);
void blas_product_end(struct blas *blas, struct blas_product *product);

#endif
