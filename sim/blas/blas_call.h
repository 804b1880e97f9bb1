/* SPDX-License-Identifier: Apache-2.0 */
/* One call on its way through a stand-in: its arguments become the inside of a JSON object for the ledger, its checks
 * settle a status, its kernel is launched. Compiled into both libraries. Generated wrappers and the models use it. */
#ifndef SIM_BLAS_BLAS_CALL_H
#define SIM_BLAS_BLAS_CALL_H

#include "blas.h"

struct blas_call {
    const char *name;
    cublasHandle_t handle; /* NULL for cuBLASLt */
    cudaStream_t stream;
    bool initialized; /* there was a handle */
    bool settled;     /* the status is known, nothing more is done */
    int status;
    uint64_t id;  /* in the ledger */
    char *fields; /* room, or the heap once that is full */
    size_t length, capacity;
    char room[2048];
};

void blas_begin(struct blas_call *call, const char *name, const char *kind, cublasHandle_t handle);
void blas_begin_lt(struct blas_call *call, const char *name, const char *kind, cublasLtHandle_t handle,
                   cudaStream_t stream);
/* False: a fault was asked for or there is no handle; the status is settled. */
bool blas_enter(struct blas_call *call);
cublasStatus_t blas_end(struct blas_call *call);

void blas_note_int(struct blas_call *call, const char *key, int64_t value);
void blas_note_real(struct blas_call *call, const char *key, double value);
void blas_note_complex(struct blas_call *call, const char *key, double real, double imaginary);
void blas_note_pointer(struct blas_call *call, const char *key, const void *value);
void blas_note_text(struct blas_call *call, const char *key, const char *value);
void blas_note_array(struct blas_call *call, const char *key, const void *values, int64_t count, bool wide);

/* INVALID_VALUE unless the condition holds; no effect once the call is settled. */
void blas_expect(struct blas_call *call, bool condition);
void blas_expect_char(struct blas_call *call, char value, const char *legal);
void blas_quick_return(struct blas_call *call, bool nothing_to_do);
void blas_settle(struct blas_call *call, int status);
static inline bool blas_still_good(const struct blas_call *call)
{
    return !call->settled;
}

/* Bytes of an element, 0.5 for four-bit ones; 0: not a type of this interface. */
double blas_type_bytes(int type);
bool blas_type_complex(int type);
/* Host scalar of TYPE; a device scalar is never read and counts as zero. Notes what it found as "beta_kind". */
bool blas_scalar_nonzero(struct blas_call *call, const void *scalar, int type);
bool blas_host_scalar_nonzero(const void *scalar, int type);
bool blas_note_beta(struct blas_call *call, const void *scalar, int type, bool on_host);

/* What one GEMM-like launch is: TILES blocks over an m x n result. */
struct blas_work {
    const char *kernel, *path;
    double flops, bytes;
    int64_t blocks[3];
};
void blas_launch(struct blas_call *call, const struct blas_work *work);
/* One kernel of a family that is no GEMM: m x n x batch result elements. */
void blas_run(struct blas_call *call, const char *family, int type, double flops, double bytes, int64_t m, int64_t n,
              int64_t batch);
/* The path of the device that such operands run on; falls back to one that the device has. */
const char *blas_path(int operand_type, int compute, int math_mode);
/* The GEMM kernel's name, tiles and, if the device is set so, its split-K reduction. */
void blas_launch_gemm(struct blas_call *call, const char *path, int transa, int transb, int64_t m, int64_t n,
                      int64_t tiles_or_zero, int64_t batch, double flops, double bytes);
void blas_zero_result(struct blas_call *call, void *result, size_t bytes);

static inline int64_t blas_at_least_one(int64_t value)
{
    return value > 1 ? value : 1;
}
static inline char blas_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* ---- the GEMM family of libcublas ---- */

enum blas_form { BLAS_GEMM, BLAS_GEMM_BATCHED, BLAS_GEMM_STRIDED };

struct blas_gemm { /* fields as the public parameters are called */
    int transa, transb;
    int64_t m, n, k;
    const void *alpha, *beta, *A, *B;
    void *C;
    int64_t lda, ldb, ldc;
    long long int strideA, strideB, strideC;
    int64_t batchCount;
    int Atype, Btype, Ctype, computeType, scale_type, algo;
    enum blas_form form;
    bool legacy, wide, ex;
};
void blas_gemm(struct blas_call *call, const struct blas_gemm *gemm);

struct blas_groups { /* arrays of COUNT; m..ldc and size are int or, wide, int64_t */
    const cublasOperation_t *transa, *transb;
    const void *m, *n, *k, *alpha, *beta, *lda, *ldb, *ldc, *A, *B, *C, *size;
    int64_t count;
    bool wide;
    int Atype, Btype, Ctype, computeType, scale_type;
};
void blas_gemm_groups(struct blas_call *call, const struct blas_groups *groups);

int blas_compute_of(int type);                    /* what typed entry points compute in */
int blas_scale_of(int compute, int operand_type); /* the type of alpha and beta */
int blas_operation(char trans);                   /* -1: no operation */

/* ---- cublasXt ---- */
cublasHandle_t blas_xt_handle(cublasXtHandle_t handle); /* what its calls run on; NULL: no device is selected yet */

/* ---- the interface without handles ---- */
cublasHandle_t blas_legacy_handle(void); /* the process's own, made at first use; NULL: no device */
void blas_legacy_end(struct blas_call *call);

#endif
