/* SPDX-License-Identifier: Apache-2.0 */
/* Comes after session_calibration.c: what a calibration measured of few thread blocks' bandwidth counts here, no default. */
#include "classify/roof_time.h"

#include <math.h>

#include "classify/session.h"

static const struct session_device *device_of(const struct session *session, int device)
{
    return device >= 0 && (size_t)device < session->device_count ? &session->devices[device] : NULL;
}

double roof_memory_ns(const struct session *session, int device, double bytes)
{
    const struct session_device *on = device_of(session, device);
    return on ? 1e9 * bytes / device_roofs_bytes_per_second(&on->roofs) : NAN;
}

static double filled_ns(const struct session *session, int device, enum gpu_path path, double fill,
                        double bandwidth_fill, double flops, double bytes)
{
    const struct session_device *on = device_of(session, device);
    return on ? 1e9 * device_roofs_seconds(&on->roofs, path, flops, bytes, fill, bandwidth_fill) : NAN;
}

double roof_time_ns(const struct session *session, int device, enum gpu_path path, double flops, double bytes)
{
    return filled_ns(session, device, path, 1, 1, flops, bytes);
}

double roof_blocks_ns(const struct session *session, int device, enum gpu_path path, double blocks, double flops,
                      double bytes)
{
    const struct session_device *on = device_of(session, device);
    double measured = on && on->calibration ? calibration_fill_of_bandwidth(on->calibration, blocks) : NAN;
    return filled_ns(session, device, path, roof_fill(blocks, roof_sm_count(session, device)),
                     isnan(measured) ? 1 : measured, flops, bytes);
}

double roof_saved_ns(const struct session *session, int device, double saved_ns)
{
    const struct session_device *on = device_of(session, device);
    if (isnan(saved_ns) || !on)
        return NAN;
    if (saved_ns <= 0)
        return 0;
    return on->kernels && on->busy.known && !on->sampled ? fmin(saved_ns, (double)on->busy.covered_ns) : saved_ns;
}

double roof_base_ns(const struct session *session, int device)
{
    const struct session_device *on = device_of(session, device);
    double all_ns = 0;
    if (!on || !on->sampled)
        return on && on->busy.known ? (double)on->busy.covered_ns : 0;
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device && session->operators[i].timed)
            all_ns += (double)session->operators[i].time_ns;
    return all_ns;
}

int32_t roof_sm_count(const struct session *session, int device)
{
    const struct session_device *on = device_of(session, device);
    return on && on->described && on->facts.sm_count > 0 ? on->facts.sm_count : TRACE_UNKNOWN;
}

double roof_fill(double blocks, int32_t sm_count)
{
    if (!(blocks > 0) || sm_count <= 0)
        return NAN;
    return blocks / (sm_count * ceil(blocks / sm_count));
}

double roof_fill_of_operator(const struct session *session, const struct operator_row *op)
{
    return op->persistent ? NAN : roof_fill((double)op->blocks, roof_sm_count(session, op->device));
}

double roof_replays(const struct operator_row *op)
{
    uint64_t executions = op->executions;
    if (!op->kernels) /* in no time: all there were */
        executions = op->evidence.executions_all > op->calls ? op->evidence.executions_all : op->calls;
    return op->calls ? (double)executions / (double)op->calls : 1;
}
