/* SPDX-License-Identifier: Apache-2.0 */
/* What a matrix product costs: FLOPs and compulsory bytes of D[M,N] = left[M,K] * right[K,N] + beta * C[M,N], and what
 * follows from them. It knows shapes, bits and copies only, no library: recorded calls (work.h), predictions and advice
 * all ask the same functions.
 *
 * Units: sizes in elements, FLOPs as multiplications + additions, bytes may be fractions (bits / 8).
 * Assumptions: every distinct bit crosses the memory bus once, so tiles that are read again hit a cache; what is read and
 * then written in the same place (C = D) crosses twice; leading dimensions, alignment and padding of scales cost nothing;
 * a product without rows, columns or copies touches nothing;
 * operands share no memory but C and D; scaling by alpha and beta, bias, activation functions and
 * dequantisation are not counted as FLOPs.
 * Source: 2 M N K and its bytes as in the BLAS operation counts (Blackford and Dongarra, LAPACK Working Note 41, appendix
 * C: a complex multiplication is 6 FLOPs, an addition 2) and the roofline model (Williams, Waterman, Patterson, CACM
 * 52(4), 2009, "compulsory" traffic). */
#ifndef CLASSIFY_GEMM_WORK_H
#define CLASSIFY_GEMM_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As a user sees the product, row-major: M are tokens, N output features, K input features. */
enum gemm_operand_index {
    GEMM_LEFT,  /* M x K: activations */
    GEMM_RIGHT, /* N x K: the weight, where there is one */
    GEMM_C,     /* M x N */
    GEMM_D,     /* M x N */
    GEMM_OPERANDS,
};

/* Scales (and zero points) that lie beside an operand: one for each block of OUTER x INNER elements, where inner runs along
 * K for left and right and along N for C and D. 0 stands for the whole extent: {32, 0, 0} is one float a matrix, {32, 1, 0}
 * one a row (a channel), {8, 1, 16} nvfp4's, {20, 1, 128} int4 in groups of 128 with a 16-bit scale and a 4-bit zero
 * point, {32, 128, 128} one float for 128 x 128. */
struct gemm_scales {
    double bits; /* of one scale and zero point; 0: there are none; NAN: not known */
    int64_t outer, inner;
    double sets; /* how many sets there are; 0: one for each distinct matrix */
};

struct gemm_operand {
    double bits;     /* of one element, both parts of a complex one; fractions as in 4.5 are fine; NAN: not known */
    double matrices; /* distinct ones in the batch: 1 where all share one, the batch where each has its own */
    struct gemm_scales scales;
};

struct gemm_model {
    int64_t m, n, k, batch; /* batch: products in one call; any negative: nothing is known */
    bool complex;
    bool right_is_weight;
    bool reads_c; /* beta is not zero */
    struct gemm_operand operand[GEMM_OPERANDS];
    double bias_bits_n,
        bias_bits_m; /* of a vector along N or M, read or written once a call; 0: none; NAN: not known */
    double aux_bits; /* of a second M x N matrix for each product of the batch; 0: none */
};

/* The dimension that is named when it is small beside the others: I = (2/b) / (1/M + 1/N + 1/K), and 1/M is N*K's bytes. */
enum gemm_dimension { GEMM_DIMENSION_NONE, GEMM_DIMENSION_M, GEMM_DIMENSION_N, GEMM_DIMENSION_K };

/* NAN where not known; FLOPs are known without the operands' sizes. */
struct gemm_work {
    double flops, bytes;
    double operand_bytes[GEMM_OPERANDS]; /* scales included; 0 for a C that is not read */
    double bias_bytes, aux_bytes;
    double intensity; /* FLOP/byte; NAN where bytes is 0 or not known */
    /* bytes = bytes_fixed + m * bytes_per_row at the model's own M, and flops = m * flops_per_row. With scales in blocks of
     * several rows of M, bytes_per_row is that of this M. At M = 0 it is that of one row. */
    double flops_per_row, bytes_per_row, bytes_fixed;
    enum gemm_dimension
        dominant; /* whose term is the largest (of two equal ones M, then N); NONE: no bytes, not known */
};

void gemm_work(const struct gemm_model *model, struct gemm_work *work);

struct gemm_ridge {
    double rows;                 /* M*: real-valued; INFINITY: no M reaches the ridge; NAN: not known */
    double cap;                  /* intensity for M without end, FLOP/byte: 2 / (b_left / N + b_D / K) */
    enum gemm_dimension caps_at; /* which of N and K keeps the cap low: the smaller one where sizes are equal */
};

/* RIDGE in FLOP/byte. Solves 2 M N K = R (b_left M K + b_right N K + b_D M N) for M, with whatever else the model has. */
struct gemm_ridge gemm_work_ridge(const struct gemm_model *model, double ridge);

/* The same product with its right operand in other bits, "if the weight had 8 or 4 bits"; weight_format.h has formats. */
struct gemm_model gemm_with_weight(const struct gemm_model *model, double bits, struct gemm_scales scales);

/* The same weight under ROWS rows. Distinct matrices and everything else stay. */
struct gemm_model gemm_with_rows(const struct gemm_model *model, int64_t rows);

/* The plain product: one matrix each of BITS bits an element, nothing beside. NAN or 0 bits: not known. */
struct gemm_model gemm_plain(int64_t m, int64_t n, int64_t k, double bits);

const char *gemm_dimension_name(enum gemm_dimension dimension); /* "M", "N", "K"; NULL for none */

#endif
