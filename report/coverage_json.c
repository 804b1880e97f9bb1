/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as JSON.md lists them. */
#include "report/coverage_json.h"

#include <math.h>

#include "report/json_value.h"
#include "report/launch_json.h"
#include "report/timing_json.h"

static json_t *provenance_object(const double share[SESSION_PROVENANCE_COUNT])
{
    json_t *object = json_object();
    for (int p = TRACE_EXACT; p < SESSION_PROVENANCE_COUNT; p++)
        json_value_set(object, provenance_name(p), json_value_real(share[p]));
    return object;
}

enum { UNKNOWN_FAMILY_NAMES = 16 };

/* Longest time first. A kernel without a name is null. */
static json_t *unknown_family_names(const struct session *session)
{
    json_t *names = json_array();
    for (size_t i = 0; i < session->operator_count && json_array_size(names) < UNKNOWN_FAMILY_NAMES; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->of_call && op->family == KERNEL_FAMILY_UNKNOWN)
            json_array_append_new(names, json_value_text(op->name));
    }
    return names;
}

json_t *coverage_json_rotated(const struct joined_rotation *rotated)
{
    if (!rotated->blocks)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "blocks", json_value_count(rotated->blocks));
    json_value_set(object, "calls", json_value_count(rotated->calls));
    json_value_set(object, "failed_calls", json_value_count(rotated->failed_calls));
    json_value_set(object, "launches", json_value_count(rotated->launches));
    json_value_set(object, "kernels", json_value_count(rotated->kernels));
    json_value_set(object, "copies", json_value_count(rotated->copies));
    json_value_set(object, "first_realtime_ns", json_value_count(rotated->first_realtime_ns));
    json_value_set(object, "last_realtime_ns", json_value_count(rotated->last_realtime_ns));
    return object;
}

static json_t *beyond_or_null(const struct joined_beyond *beyond)
{
    if (!beyond->calls && !beyond->failed && !beyond->launches && !beyond->kernels && !beyond->names)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "calls", json_value_count(beyond->calls));
    json_value_set(object, "failed_calls", json_value_count(beyond->failed));
    json_value_set(object, "launches", json_value_count(beyond->launches));
    json_value_set(object, "kernels", json_value_count(beyond->kernels));
    json_value_set(object, "time_ns", json_value_count(beyond->time_ns));
    json_value_set(object, "names", json_value_count(beyond->names));
    return object;
}

json_t *coverage_json(const struct session *session)
{
    const struct session_coverage *c = &session->coverage;
    json_t *object = json_object();
    bool known = c->kernels_known, timed = !isnan(c->gpu_time_ns);
    json_value_set(object, "processes_timed", json_value_count(c->processes_timed));
    json_value_set(object, "processes_untimed", json_value_count(c->processes_untimed));
    json_value_set(object, "calls", json_value_count(c->calls));
    json_value_set(object, "failed_calls", json_value_count(c->failed_calls));
    json_value_set(object, "in_flight", json_value_count(c->in_flight));
    json_value_set(object, "launches", json_value_count(c->launches));
    json_value_set(object, "failed_launches", json_value_count(c->failed_launches));
    json_value_set(object, "calls_missing", json_value_count(c->calls_missing));
    json_value_set(object, "launches_missing", json_value_count(c->launches_missing));
    json_value_set(object, "kernels", json_value_count_if(known, c->kernels));
    json_value_set(object, "kernels_untimed", json_value_count_if(known, c->kernels_untimed));
    json_value_set(object, "kernels_unjoined", json_value_count_if(known, c->kernels_unjoined));
    json_value_set(object, "graph_kernels_unjoined", json_value_count_if(known, c->graph_kernels_unjoined));
    json_value_set(object, "graph_time_unjoined_ns", json_value_count_if(timed, c->graph_time_unjoined_ns));
    json_value_set(object, "copies", json_value_count_if(known, c->copies));
    json_value_set(object, "records_dropped",
                   json_value_count_if(c->records_dropped || !c->drops_untold, c->records_dropped));
    json_value_set(object, "drops_untold", json_value_count(c->drops_untold));
    json_value_set(object, "records_damaged", json_value_count(c->records_damaged));
    json_value_set(object, "records_unknown", json_value_count(c->records_unknown));
    json_value_set(object, "blocks_damaged", json_value_count(c->blocks_damaged));
    json_value_set(object, "buffers_lost", json_value_count(c->buffers_lost));
    json_value_set(object, "copies_untimed", json_value_count(c->copies_invalid));
    json_value_set(object, "records_foreign", json_value_count(c->records_foreign));
    json_value_set(object, "traces_cut", json_value_count(c->traces_cut));
    json_value_set(object, "sequences_dropped", json_value_count(c->sequences_dropped));
    json_value_set(object, "rotated", coverage_json_rotated(&c->rotated));
    json_value_set(object, "beyond", beyond_or_null(&c->beyond));
    /* A sum of sums may be beyond JSON's integers: then it is no integer. */
    bool is_integer = timed && c->gpu_time_ns < 9e18;
    json_value_set(object, "gpu_time_ns",
                   is_integer ? json_integer((json_int_t)c->gpu_time_ns) : json_value_real(c->gpu_time_ns));
    json_value_set(object, "launch_share", provenance_object(c->launch_share));
    json_value_set(object, "gpu_time_share", provenance_object(c->gpu_time_share));
    json_value_set(object, "unknown_family_kernels", json_value_count_if(known, c->unknown_family_kernels));
    json_value_set(object, "unknown_family_time_ns", json_value_real(c->unknown_family_time_ns));
    json_value_set(object, "unknown_family_share", json_value_real(c->unknown_family_share));
    json_value_set(object, "unknown_family_names", unknown_family_names(session));
    launch_json_set_coverage(object, session);
    timing_json_set_coverage(object, c);
    return object;
}
