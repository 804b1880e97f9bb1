/* SPDX-License-Identifier: Apache-2.0 */
/* The surest reasons first. Of several processes that had CUDA's libraries the one counts that came furthest. */
#include "classify/no_launch.h"

#include <string.h>

bool no_launch_is_stub(const char *driver)
{
    return strstr(driver, "/stubs/") != NULL;
}

/* How far it came: a driver that is no stub, a stub, the runtime alone. */
static int reach_of(const struct session_unused *unused)
{
    return !unused->driver ? 0 : no_launch_is_stub(unused->driver) ? 1 : 2;
}

const struct session_unused *no_launch_process(const struct session *session)
{
    const struct session_unused *furthest = NULL;
    for (size_t i = 0; i < session->info.unused_count; i++)
        if (!furthest || reach_of(&session->info.unused[i]) > reach_of(furthest))
            furthest = &session->info.unused[i];
    return furthest;
}

/* A trace without its first record. */
static bool holds_blank_trace(const struct session *session)
{
    for (size_t i = 0; i < session->process_count; i++)
        if (session->processes[i].stats.cut_short && !session->processes[i].version)
            return true;
    return false;
}

static enum no_launch without_trace(const struct session *session)
{
    static const enum no_launch reasons[] = {NO_LAUNCH_NO_DRIVER, NO_LAUNCH_STUB_DRIVER, NO_LAUNCH_NO_START};
    const struct session_unused *unused = no_launch_process(session);
    if (session->info.end == SESSION_END_UNKNOWN && session->info.present)
        return NO_LAUNCH_GOING_ON;
    if (unused)
        return reasons[reach_of(unused)];
    return session->info.unused_known && session->info.end == SESSION_END_EXIT ? NO_LAUNCH_NO_LIBRARY
                                                                               : NO_LAUNCH_NO_TRACE;
}

static enum no_launch with_trace(const struct session *session)
{
    if (holds_blank_trace(session))
        return NO_LAUNCH_BLANK_TRACE;
    if (session->info.end == SESSION_END_SIGNAL)
        return NO_LAUNCH_SIGNAL;
    if (session->coverage.copies)
        return NO_LAUNCH_COPIES_ONLY;
    for (size_t i = 0; i < session->device_count; i++)
        if (session->devices[i].described)
            return NO_LAUNCH_DEVICES_ONLY;
    return NO_LAUNCH_UNKNOWN;
}

enum no_launch no_launch_of(const struct session *session)
{
    const struct session_info *info = &session->info;
    if (!session_is_empty(session))
        return NO_LAUNCH_NOT_SO;
    if (info->end == SESSION_END_EXIT && (info->end_value == 126 || info->end_value == 127))
        return NO_LAUNCH_NOT_STARTED;
    return session->trace_count ? with_trace(session) : without_trace(session);
}

const char *no_launch_name(enum no_launch reason)
{
    static const char *const names[] = {
        [NO_LAUNCH_NOT_SO] = NULL,
        [NO_LAUNCH_NOT_STARTED] = "command_not_started",
        [NO_LAUNCH_GOING_ON] = "going_on",
        [NO_LAUNCH_BLANK_TRACE] = "blank_trace",
        [NO_LAUNCH_SIGNAL] = "signal",
        [NO_LAUNCH_STUB_DRIVER] = "stub_driver",
        [NO_LAUNCH_NO_START] = "driver_not_started",
        [NO_LAUNCH_NO_DRIVER] = "no_driver",
        [NO_LAUNCH_NO_LIBRARY] = "no_cuda_library",
        [NO_LAUNCH_COPIES_ONLY] = "copies_only",
        [NO_LAUNCH_DEVICES_ONLY] = "devices_only",
        [NO_LAUNCH_NO_TRACE] = "no_trace",
        [NO_LAUNCH_UNKNOWN] = "unknown",
    };
    return names[reason];
}
