/* SPDX-License-Identifier: Apache-2.0 */
/* What attention costs whose scores go through memory, beside what a fused kernel would move: Q, K, V and O once. Neither
 * knows of a mask: the GEMMs compute all of the scores, and that is what is compared. */
#include "classify/weights.h"

#include <math.h>
#include <stdlib.h>

#include "classify/attention_work.h"
#include "classify/roof_time.h"
#include "classify/session.h"

static void find_pair(const struct session *session, struct naive_attention *pair)
{
    const struct operator_row *scores_op = &session->operators[pair->scores];
    const struct operator_row *output_op = &session->operators[pair->output];
    struct gemm_work scores, output;
    gemm_work(&scores_op->work.model, &scores);
    gemm_work(&output_op->work.model, &output);
    pair->batch = scores_op->work.batch;
    pair->l_q = scores_op->work.m;
    pair->l_k = scores_op->work.n;
    pair->d = scores_op->work.k;
    pair->d_v = output_op->work.n;

    double softmax = scores.operand_bytes[GEMM_D] + output.operand_bytes[GEMM_LEFT]; /* read; what PV reads, written */
    pair->bytes = scores.bytes + softmax + output.bytes;

    struct attention_model model;
    struct attention_naive naive = {.flops = NAN, .cap = NAN, .fused = {.kv_bytes = NAN, .bytes = NAN}};
    naive.fused.intensity_kv = naive.fused.intensity = NAN;
    if (attention_of_gemms(&scores_op->work.model, &output_op->work.model, &model))
        attention_naive(&model, scores_op->work.model.operand[GEMM_D].bits,
                        output_op->work.model.operand[GEMM_LEFT].bits, &naive);
    pair->flops = naive.flops;
    pair->kv_bytes = naive.fused.kv_bytes;
    pair->bytes_fused = naive.fused.bytes;
    pair->intensity_limit = naive.cap;
    pair->intensity_kv = naive.fused.intensity_kv;
    pair->intensity_fused = naive.fused.intensity;

    enum gpu_path path = scores_op->work.path;
    if (output_op->work.path != path)
        path = GPU_PATH_UNKNOWN;
    double as_it_is = roof_time_ns(session, pair->device, scores_op->work.path, scores.flops, scores.bytes) +
                      roof_memory_ns(session, pair->device, softmax) +
                      roof_time_ns(session, pair->device, output_op->work.path, output.flops, output.bytes);
    double fused = roof_time_ns(session, pair->device, path, pair->flops, pair->bytes_fused);
    double replays = fmin(roof_replays(scores_op), roof_replays(output_op));
    pair->replays = fmax(1, replays);
    pair->saved_ns = roof_saved_ns(session, pair->device, (as_it_is - fused) * (double)pair->times * replays);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct naive_attention *x = a, *y = b;
    double saved_x = isnan(x->saved_ns) ? -1 : x->saved_ns, saved_y = isnan(y->saved_ns) ? -1 : y->saved_ns;
    if (saved_x != saved_y)
        return saved_x < saved_y ? 1 : -1;
    if (x->scores != y->scores)
        return x->scores < y->scores ? -1 : 1;
    return (x->output > y->output) - (x->output < y->output);
}

void naive_attention_find(struct session *session)
{
    for (size_t i = 0; i < session->naive_attention_count; i++)
        find_pair(session, &session->naive_attention[i]);
    if (session->naive_attention_count)
        qsort(session->naive_attention, session->naive_attention_count, sizeof *session->naive_attention,
              compare_pairs);
}
