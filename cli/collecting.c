/* SPDX-License-Identifier: Apache-2.0 */
/* A recording without rings is whole, too: whatever fails here, traces are files then. */
#include "cli/collecting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/byte_size.h"
#include "cli/message.h"
#include "preload/settings.h"
#include "trace/losses.h"
#include "trace/ring_control.h"

enum { FINISH_MS = 2000 };

static bool is_off(const char *size)
{
    return size && strcmp(size, "off") == 0;
}

bool collecting_check(const char *size, const char *command)
{
    uint64_t bytes;
    if (!size || is_off(size) ||
        (byte_size_parse(size, &bytes) && bytes >= RING_BYTES_LEAST && bytes <= RING_BYTES_MOST))
        return true;
    message_error(command, "--ring is '%s'; it takes a size from %dM to %dM, or off", size, RING_BYTES_LEAST >> 20,
                  RING_BYTES_MOST >> 20);
    return false;
}

void collecting_prepare(struct collecting *collecting, struct session_folder *session, const char *size, bool quiet,
                        const char *command)
{
    uint64_t bytes = RING_BYTES_DEFAULT;
    *collecting = (struct collecting){.collector = {.gate = -1}, .result = {.settled = true}};
    if (is_off(size))
        return;
    if (size)
        byte_size_parse(size, &bytes);
    if (!ring_folder_make(collecting->ring_folder, bytes, session->folder)) {
        collecting->ring_folder[0] = '\0';
        if (!quiet)
            message_error(command,
                          "/dev/shm can't be used (%m); traces grow as files in '%s' instead, as with --ring off",
                          session->shown);
        return;
    }
    if (losses_make(session->folder))
        session_folder_add_file(session, TRACE_LOSSES_FILE);
    session->ring = collecting->ring_folder;
}

bool collecting_set_environment(const struct collecting *collecting, struct environment *environment)
{
    /* An outer recording's is not for this session. */
    return (!*collecting->ring_folder && !environment_get(environment, SETTING_RING)) ||
           environment_set(environment, SETTING_RING, collecting->ring_folder);
}

void collecting_start(struct collecting *collecting, const struct session_folder *session, struct sink *sink,
                      const char *command)
{
    if (!*collecting->ring_folder) {
        if (sink && sink->end)
            sink->end(sink);
        return;
    }
    if (sink && collector_start(&collecting->collector, collecting->ring_folder, session->folder, sink))
        return;
    message_error(command, "no collector could be started: %m; traces grow as files in '%s' instead", session->shown);
    ring_folder_remove(collecting->ring_folder);
}

void collecting_cancel(struct collecting *collecting)
{
    if (collecting->collector.pid)
        collector_finish(&collecting->collector, FINISH_MS);
    else if (*collecting->ring_folder)
        ring_folder_remove(collecting->ring_folder);
}

void collecting_finish(struct collecting *collecting, struct session_folder *session)
{
    struct loss losses[LOSS_SLOTS];
    if (!*collecting->ring_folder)
        return;
    collecting->result = collector_finish(&collecting->collector, FINISH_MS);
    const struct collector_result *result = &collecting->result;
    if (result->settled && !result->rings_alive && !losses_read(session->folder, losses))
        session_folder_remove_file(session, TRACE_LOSSES_FILE);
    json_object_set_new(session->document, "collector",
                        json_pack("{s:b, s:I, s:I, s:I, s:s?}", "settled", result->settled, "rings_alive",
                                  (json_int_t)result->rings_alive, "blocks", (json_int_t)result->blocks, "records_lost",
                                  (json_int_t)result->records_lost, "problem",
                                  result->lost_errno ? strerror(result->lost_errno) : NULL));
}

void collecting_tell(const struct collecting *collecting, const struct session_folder *session, const char *command)
{
    const struct collector_result *result = &collecting->result;
    if (result->lost_errno)
        message_error(command, "%llu records could not be written to '%s' (%s); the report says when",
                      (unsigned long long)result->records_lost, session->shown, strerror(result->lost_errno));
    if (!result->settled)
        message_error(command, "not all records are in '%s' yet; 'rooftap collect %s' takes what is left",
                      session->shown, session->shown);
}
