/* SPDX-License-Identifier: Apache-2.0 */
/* A process that makes calls which are seen may still hide others: then only a copy of cuBLAS that was never reached says so. */
#include "classify/hidden_shapes.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/kernel_families.h"
#include "trace/trace.h"

bool hidden_shapes_is_engine_kernel(const char *name)
{
    static const uint32_t any[3] = {1, 1, 1};
    struct launch_decode decode;
    launch_decode(name, any, any, NULL, &decode);
    return decode.reading != LAUNCH_NOT_IN_TABLE;
}

static bool is_gemm(const struct operator_join *join, uint64_t name_id)
{
    const char *name = name_pool_find(join->names, name_id);
    enum kernel_kind kind = name ? kernel_kind_of_name(name) : KERNEL_OTHER;
    return (kind == KERNEL_GEMM || kind == KERNEL_GEMV) && !hidden_shapes_is_engine_kernel(name);
}

static void read_notes(struct session_process *process)
{
    process->blas_files = -1;
    for (size_t i = 0; i < process->note_count; i++) {
        if (process->notes[i].code != TRACE_NOTE_BLAS)
            continue;
        process->blas_files = process->notes[i].value;
        free(process->blas_unreached);
        process->blas_unreached = allocate_text(process->notes[i].text ? process->notes[i].text : "");
    }
}

void hidden_shapes_find(struct session_process *process, struct operator_join *join)
{
    read_notes(process);
    for (size_t i = 0; i < join->row_count; i++) {
        process->kernel_time_ns += (double)join->rows[i].time_ns;
        if (operator_join_shape_is_known(join, join->rows[i].use) ||
            !is_gemm(join, joined_kernels_name(&join->rows[i])))
            continue;
        sum_add(&process->shapeless_gemms, join->rows[i].kernels);
        sum_add(&process->shapeless_gemm_time_ns, join->rows[i].time_ns);
    }
}

enum hidden_reason hidden_shapes_reason(const struct session_process *process)
{
    bool unreached = process->blas_unreached && *process->blas_unreached;
    if (!session_process_asks_unseen(process))
        return unreached && process->shapeless_gemms ? HIDDEN_BOUND_PAST : HIDDEN_NONE;
    return process->blas_files == 0 ? HIDDEN_BUILT_IN : unreached ? HIDDEN_BOUND_PAST : HIDDEN_NOT_KNOWN;
}

const char *hidden_reason_name(enum hidden_reason reason)
{
    switch (reason) {
    case HIDDEN_BUILT_IN:
        return "built_in";
    case HIDDEN_BOUND_PAST:
        return "bound_past";
    case HIDDEN_NOT_KNOWN:
        return "not_known";
    default:
        return NULL;
    }
}

struct hidden_sum hidden_shapes_sum(const struct session *session)
{
    struct hidden_sum sum = {0};
    for (size_t i = 0; i < session->process_count; i++) {
        if (hidden_shapes_reason(&session->processes[i]) == HIDDEN_NONE)
            continue;
        sum.processes++;
        sum_add(&sum.kernels, session->processes[i].shapeless_gemms);
        sum_add(&sum.time_ns, session->processes[i].shapeless_gemm_time_ns);
    }
    return sum;
}
