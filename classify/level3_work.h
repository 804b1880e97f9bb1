/* SPDX-License-Identifier: Apache-2.0 */
/* Level-3 BLAS calls on triangles: symm, hemm, spmm, trmm, trsm, syrk, herk, syrkx, herkx, syr2k, her2k.
 *
 * FLOPs are the multiplications and additions that the exact triangle needs, scaling by alpha and beta left out; a complex
 * multiplication is 6, a complex addition 2; a division counts as a multiplication. With side s = m (left) or n (right)
 * and r the other size:
 *   symm, hemm, spmm          r s^2          multiplications, r s^2          additions
 *   trmm, trsm                r s (s + 1)/2  multiplications, r s (s - 1)/2  additions: r s^2 in real arithmetic;
 *                             with a unit diagonal, which is not multiplied with, r s (s - 1)/2 of both
 *   syrk, herk, syrkx, herkx  k n (n + 1)/2  multiplications, as many additions
 *   syr2k, her2k              k n (n + 1)    multiplications, as many additions
 * Bytes: the triangle of A with its diagonal (a unit one is not read), B, the output's triangle or matrix written, and read
 * where beta is not zero.
 * Source: Blackford and Dongarra, LAPACK Working Note 41, appendix C, whose figures for the rank-2k updates also count the
 * scaling of a vector. */
#ifndef CLASSIFY_LEVEL3_WORK_H
#define CLASSIFY_LEVEL3_WORK_H

#include <stdbool.h>
#include <stdint.h>

enum level3_diagonal { LEVEL3_DIAGONAL_UNKNOWN, LEVEL3_DIAGONAL_STORED, LEVEL3_DIAGONAL_UNIT };

struct level3_model {
    int64_t m, n, k; /* as the library names them; m is not looked at by the rank updates, k by the others */
    double batch;
    uint8_t side;                  /* 0 left, 1 right: cublasSideMode_t */
    enum level3_diagonal diagonal; /* of trmm and trsm */
    bool complex, reads_c;
    double a_bits, b_bits, c_bits, d_bits; /* of an element; NAN: not known */
    double a_matrices, b_matrices;         /* distinct ones in the batch */
};

struct level3_work {
    double flops, bytes; /* NAN where not known */
    bool at_most;        /* the diagonal matters and is not known: counted as stored */
};

/* False if ENTRY_NAME ("cublasSsyrk_v2", may be NULL) is none of the above or its sizes are not known: then nothing is
 * set. */
bool level3_work(const struct level3_model *model, const char *entry_name, struct level3_work *work);

#endif
