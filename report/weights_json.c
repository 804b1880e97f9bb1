/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them; operators are named by their index. */
#include "report/weights_json.h"

#include <math.h>

#include "classify/row_bins.h"
#include "report/json_value.h"

/* Without those that nothing is in. */
static json_t *bins_array(const struct row_bins *bins)
{
    json_t *array = json_array();
    for (int b = 0; b < ROW_BINS; b++) {
        const struct row_bin *bin = &bins->bin[b];
        if (!(bin->executions > 0) && isnan(bin->time_ns))
            continue;
        json_t *object = json_object();
        json_value_set(object, "m_least", json_value_count((uint64_t)row_bin_least(b)));
        json_value_set(object, "m_most", json_value_count((uint64_t)row_bin_most(b)));
        json_value_set(object, "executions", json_value_number(bin->executions));
        json_value_set(object, "time_ns", json_value_number(bin->time_ns));
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- weights ---- */

static void set_types(json_t *object, const struct weight_row *weight)
{
    static const char *const keys[] = {"type_a", "type_b", "type_c", "type_d"};
    for (int i = 0; i < 4; i++)
        json_value_set(object, keys[i], json_value_text(number_format_name(weight->type[i])));
    bool known = weight->path != GPU_PATH_UNKNOWN;
    json_value_set(object, "type_compute",
                   json_value_text(known ? number_type_name(gpu_paths[weight->path].type) : NULL));
}

static json_t *saved_object(const struct weight_row *weight)
{
    json_t *object = json_object();
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++)
        json_value_set(object, weight_change_name(c), json_value_real(weight->saved_ns[c]));
    return object;
}

static json_t *weight_object(struct json_cut *cut, const struct session *session, const struct weight_row *weight)
{
    struct row_bins bins;
    json_t *object = json_object();
    bool never = isinf(weight->rows_at_ridge), has_time = weight_has_time(weight);
    json_value_set(object, "device", json_value_size(weight->device));
    json_value_set(object, "n", json_value_size(weight->n));
    json_value_set(object, "k", json_value_size(weight->k));
    json_value_set(object, "batch", json_value_size(weight->batch));
    set_types(object, weight);
    json_value_set(object, "weight_format", json_value_text(weight->format ? weight->format->name : NULL));
    json_value_set(object, "operators", json_cut_indexes(cut, weight->operators, weight->operator_count));
    json_value_set(object, "executions", json_value_count(weight->executions));
    json_value_set(object, "time_ns", json_value_count_if(has_time, weight->time_ns));
    json_value_set(object, "share", has_time ? json_value_real(weight->share) : json_null());
    json_value_set(object, "m_min", json_value_size(weight->m_min));
    json_value_set(object, "m_p50", json_value_size(weight->m_p50));
    json_value_set(object, "m_p90", json_value_size(weight->m_p90));
    json_value_set(object, "m_max", json_value_size(weight->m_max));
    json_value_set(object, "m_star", json_value_real(weight->rows_at_ridge));
    json_value_set(object, "m_star_never", isnan(weight->rows_at_ridge) ? json_null() : json_boolean(never));
    json_value_set(object, "intensity_limit", json_value_real(weight->intensity_limit));
    json_value_set(object, "limited_by", json_value_text(gemm_side_name(weight->limited_by)));
    row_bins_of_weight(session, weight, &bins);
    json_value_set(object, "m_bins", bins_array(&bins));
    json_value_set(object, "executions_below", json_value_real(weight->executions_below));
    json_value_set(object, "time_below", json_value_real(weight->time_below));
    json_value_set(object, "short_side", json_value_text(gemm_side_name(weight->short_side)));
    json_value_set(object, "skinny", json_boolean(weight->skinny));
    json_value_set(object, "blocks", json_value_count_if(weight->blocks, weight->blocks));
    json_value_set(object, "sm_count", json_value_size(weight->sm_count));
    json_value_set(object, "fill", json_value_real(weight->fill));
    json_value_set(object, "bandwidth_fill", json_value_real(weight->bandwidth_fill));
    json_value_set(object, "starved", json_boolean(weight->starved));
    json_value_set(object, "sibling_group", json_value_size(weight->sibling_group));
    json_value_set(object, "saved_ns", saved_object(weight));
    return object;
}

json_t *weights_json(struct json_cut *cut, const struct session *session)
{
    json_t *array = json_array();
    const size_t rows = json_cut_rows(cut), count = rows < session->weight_count ? rows : session->weight_count;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, weight_object(cut, session, &session->weights[i]));
    return array;
}

/* ---- siblings ---- */

static json_t *group_object(struct json_cut *cut, const struct sibling_group *group)
{
    json_t *object = json_object();
    json_value_set(object, "device", json_value_size(group->device));
    json_value_set(object, "m", json_value_size(group->m));
    json_value_set(object, "k", json_value_size(group->k));
    json_value_set(object, "n_fused", json_value_size(group->n_fused));
    json_value_set(object, "operators", json_cut_indexes(cut, group->operators, group->count));
    json_value_set(object, "times", json_value_count(group->times));
    json_value_set(object, "intensity", json_value_real(group->intensity));
    json_value_set(object, "intensity_fused", json_value_real(group->intensity_fused));
    json_value_set(object, "bytes_saved", json_value_real(group->bytes_saved));
    json_value_set(object, "roof_ns", json_value_real(group->roof_ns));
    json_value_set(object, "roof_fused_ns", json_value_real(group->roof_fused_ns));
    json_value_set(object, "saved_ns", json_value_real(group->saved_ns));
    json_value_set(object, "fill", json_value_real(group->fill));
    json_value_set(object, "fill_fused", json_value_real(group->fill_fused));
    return object;
}

json_t *weights_json_siblings(struct json_cut *cut, const struct session *session)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, session->sibling_group_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array, group_object(cut, &session->sibling_groups[i]));
    return array;
}

/* ---- phases ---- */

static json_t *phase_object(const struct phase_sum *sum, const struct row_bins *bins)
{
    json_t *object = json_object();
    json_value_set(object, "steps", json_value_count(sum->steps));
    json_value_set(object, "rows_per_step", json_value_real(sum->rows_per_step));
    json_value_set(object, "time_ns", json_value_real(sum->time_ns));
    json_value_set(object, "share", json_value_real(sum->share));
    json_value_set(object, "gpu_time_ns", json_value_real(sum->gpu_time_ns));
    json_value_set(object, "gpu_share", json_value_real(sum->gpu_share));
    json_value_set(object, "flops", json_value_real(sum->flops));
    json_value_set(object, "bytes", json_value_real(sum->bytes));
    json_value_set(object, "intensity", json_value_real(sum->intensity));
    json_value_set(object, "m_bins", bins_array(bins));
    return object;
}

void weights_json_set_phases(json_t *root, const struct session *session)
{
    struct row_bins bins[PHASE_COUNT], step;
    json_t *phases = json_object();
    row_bins_of_phases(session, bins, &step);
    for (int p = 0; p < PHASE_COUNT; p++)
        json_value_set(phases, phase_name(p), phase_object(&session->phases[p], &bins[p]));
    json_value_set(root, "phases", phases);
    json_value_set(root, "step", phase_object(&session->step, &step));
}

json_t *weights_json_phase_calls(const struct operator_row *op)
{
    if (!op->calls_known)
        return json_null();
    json_t *object = json_object();
    for (int p = 0; p < PHASE_COUNT; p++)
        json_value_set(object, phase_name(p), json_value_count(op->phase_calls[p]));
    return object;
}
