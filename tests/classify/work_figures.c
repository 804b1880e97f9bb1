/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the models say of the shapes on standard input, one a line, for check_work.py to compare:
 *   gemm M N K BATCH LEFT_BITS RIGHT_BITS D_BITS READS_C GROUP SCALE_BITS RIDGE   ->  FLOPs bytes M* cap
 *   attention N_Q N_KV D D_V L_Q L_K MASK LEFT RIGHT BITS KV_BITS                 ->  pairs FLOPs KV-bytes bytes
 *   crossover P_LAYER N_Q D D_V                                                   ->  L* */
#include <stdio.h>
#include <string.h>

#include "classify/attention_work.h"
#include "classify/gemm_work.h"

static int print_gemm(const char *line)
{
    long long m, n, k, batch, group;
    double left, right, d, scale_bits, ridge;
    int reads_c;
    if (sscanf(line, "gemm %lld %lld %lld %lld %lf %lf %lf %d %lld %lf %lf", &m, &n, &k, &batch, &left, &right, &d,
               &reads_c, &group, &scale_bits, &ridge) != 11)
        return 0;
    struct gemm_model model = gemm_plain(m, n, k, right);
    struct gemm_work work;
    model.batch = batch;
    model.reads_c = reads_c != 0;
    model.operand[GEMM_LEFT].bits = left;
    model.operand[GEMM_C].bits = model.operand[GEMM_D].bits = d;
    for (int i = 0; i < GEMM_OPERANDS; i++)
        model.operand[i].matrices = (double)batch;
    model.operand[GEMM_RIGHT].scales = (struct gemm_scales){scale_bits, 1, group, 0};
    gemm_work(&model, &work);
    struct gemm_ridge at = gemm_work_ridge(&model, ridge);
    return printf("%.17g %.17g %.17g %.17g\n", work.flops, work.bytes, at.rows, at.cap);
}

static int print_attention(const char *line)
{
    long long n_q, n_kv, d, d_v, queries, keys, left, right;
    double bits, kv_bits;
    char mask[32];
    if (sscanf(line, "attention %lld %lld %lld %lld %lld %lld %31s %lld %lld %lf %lf", &n_q, &n_kv, &d, &d_v, &queries,
               &keys, mask, &left, &right, &bits, &kv_bits) != 11)
        return 0;
    struct attention_model model = attention_plain(n_q, n_kv, d, queries, keys, bits);
    struct attention_work work;
    model.d_v = d_v;
    model.k_bits = model.v_bits = kv_bits;
    model.window_left = left;
    model.window_right = right;
    model.mask = !strcmp(mask, "top_left")       ? ATTENTION_CAUSAL_TOP_LEFT
                 : !strcmp(mask, "bottom_right") ? ATTENTION_CAUSAL_BOTTOM_RIGHT
                                                 : ATTENTION_NO_MASK;
    attention_work(&model, &work);
    return printf("%.17g %.17g %.17g %.17g\n", work.pairs, work.flops, work.kv_bytes, work.bytes);
}

static int print_crossover(const char *line)
{
    double parameters, n_q, d, d_v;
    if (sscanf(line, "crossover %lf %lf %lf %lf", &parameters, &n_q, &d, &d_v) != 4)
        return 0;
    return printf("%.17g\n", attention_crossover_length(parameters, n_q, d, d_v));
}

int main(void)
{
    char line[512];
    while (fgets(line, sizeof line, stdin))
        if (!print_gemm(line) && !print_attention(line) && !print_crossover(line)) {
            fprintf(stderr, "work_figures: not understood: %s", line);
            return 2;
        }
    return 0;
}
