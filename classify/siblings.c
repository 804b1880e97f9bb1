/* SPDX-License-Identifier: Apache-2.0 */
/* What fusing GEMMs of one activation would save at the roof: the activation is read once. Bias and scales stay what they
 * are, so the fused call's bytes are the sum of the single ones' less the activations that are not read again. */
#include "classify/weights.h"

#include <math.h>
#include <stdlib.h>

#include "classify/roof_time.h"
#include "classify/session.h"

/* What several calls, one after the other, can use of the compute peak; NAN: no claim for one of them. */
static void find_fill(const struct session *session, struct sibling_group *group)
{
    double flops = 0, filled = 0, blocks = 0;
    int32_t sm_count = TRACE_UNKNOWN;
    for (size_t i = 0; i < group->count; i++) {
        const struct operator_row *op = &session->operators[group->operators[i]];
        sm_count = roof_sm_count(session, op->device);
        flops += op->work.flops;
        filled += op->work.flops / roof_fill_of_operator(session, op);
        blocks += (double)op->blocks;
    }
    group->fill = flops / filled;
    group->fill_fused = isnan(group->fill) ? NAN : roof_fill(blocks, sm_count);
}

static void find_group(const struct session *session, struct sibling_group *group)
{
    const struct operator_row *first = &session->operators[group->operators[0]];
    double flops = 0, bytes = 0, replays = INFINITY;
    bool all_have_time = true;
    struct gemm_work work;
    gemm_work(&first->work.model, &work);
    double activation = work.operand_bytes[GEMM_LEFT];
    enum gpu_path path = first->work.path;
    group->m = first->work.m;
    group->k = first->work.k;
    for (size_t i = 0; i < group->count; i++) {
        const struct operator_row *op = &session->operators[group->operators[i]];
        group->n_fused += op->work.n;
        group->roof_ns += roof_time_ns(session, op->device, op->work.path, op->work.flops, op->work.bytes);
        flops += op->work.flops;
        bytes += op->work.bytes;
        replays = fmin(replays, roof_replays(op));
        all_have_time = all_have_time && op->kernels;
        if (op->work.path != path)
            path = GPU_PATH_UNKNOWN; /* one call can't run on two */
    }
    group->bytes_saved = activation * (double)(group->count - 1);
    group->intensity = flops / bytes;
    group->intensity_fused = flops / (bytes - group->bytes_saved);
    group->roof_fused_ns = roof_time_ns(session, group->device, path, flops, bytes - group->bytes_saved);
    if (!all_have_time && roof_base_ns(session, group->device) > 0)
        replays = NAN; /* it is not in the time that savings are a share of */
    group->saved_ns =
        roof_saved_ns(session, group->device, (group->roof_ns - group->roof_fused_ns) * (double)group->times * replays);
    find_fill(session, group);
}

static int compare_groups(const void *a, const void *b)
{
    const struct sibling_group *x = a, *y = b;
    double saved_x = isnan(x->saved_ns) ? -1 : x->saved_ns, saved_y = isnan(y->saved_ns) ? -1 : y->saved_ns;
    if (saved_x != saved_y)
        return saved_x < saved_y ? 1 : -1;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    for (size_t i = 0; i < x->count && i < y->count; i++)
        if (x->operators[i] != y->operators[i])
            return x->operators[i] < y->operators[i] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

void sibling_groups_find(struct session *session)
{
    for (size_t i = 0; i < session->sibling_group_count; i++)
        find_group(session, &session->sibling_groups[i]);
    if (session->sibling_group_count)
        qsort(session->sibling_groups, session->sibling_group_count, sizeof *session->sibling_groups, compare_groups);
}
