/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap collect DIR`: takes over from a collector that was killed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/session_info.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "collect/trace_sink.h"
#include "trace/losses.h"
#include "trace/ring_control.h"

#define COMMAND "collect"

static bool find_session(const char *folder, char *resolved, struct session_info *info)
{
    struct stat status;
    if (!realpath(folder, resolved) || stat(resolved, &status) != 0) {
        message_error(COMMAND, "'%s' can't be read: %m; expected a folder that 'rooftap record' made", folder);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        message_error(COMMAND, "'%s' is no folder; expected one that 'rooftap record' made", folder);
        return false;
    }
    *info = session_info_read(resolved);
    if (info->present && !info->problem)
        return true;
    message_error(COMMAND, "'%s' has no session.json that can be read; expected a folder that 'rooftap record' made",
                  folder);
    session_info_free(info);
    return false;
}

static int tell(const char *folder, const struct collector_result *result)
{
    printf("%llu blocks of records collected", (unsigned long long)result->blocks);
    if (result->rings_alive)
        printf("; %u processes still write, run it again when they have ended", (unsigned)result->rings_alive);
    printf("\n");
    if (!result->lost_errno)
        return 0;
    message_error(COMMAND, "%llu records could not be written to '%s': %s", (unsigned long long)result->records_lost,
                  folder, strerror(result->lost_errno));
    return EXIT_USAGE;
}

static int collect(const char *folder, const char *resolved, const char *ring)
{
    struct collector_result result;
    if (!ring || strncmp(ring, RING_FOLDER_PREFIX, strlen(RING_FOLDER_PREFIX)) != 0) {
        printf("nothing to collect: traces of this session are files\n");
        return 0;
    }
    if (!ring_control_is_own_folder(ring)) {
        if (errno == ENOENT) {
            printf("nothing to collect: all is in '%s'\n", folder);
            return 0;
        }
        message_error(COMMAND,
                      "'%s', of which session.json speaks, can't be used: %m; expected a folder of this user's alone",
                      ring);
        return EXIT_USAGE;
    }
    losses_make(resolved);
    struct sink *sink = trace_sink_make(resolved, true);
    if (!sink) {
        message_error(COMMAND, "out of memory");
        return EXIT_USAGE;
    }
    if (collector_collect_once(ring, resolved, sink, &result))
        return tell(folder, &result);
    if (errno == EWOULDBLOCK)
        message_error(COMMAND, "the session's own collector is at work; there is nothing to take over");
    else
        message_error(COMMAND, "'%s' can't be used: %m", ring);
    return EXIT_USAGE;
}

int cmd_collect(int argc, char **argv)
{
    static const struct option_row rows[] = {{NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const struct option_set set = {
        .command = COMMAND,
        .synopsis = "DIR",
        .about =
            "Takes over where the collector of the session in DIR was killed: moves what is left of it in shared\n"
            "memory into DIR. A report needs this no more than once, before the memory is gone: until then it reads\n"
            "both.",
        .rows = rows,
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (argc - first != 1) {
        message_error(COMMAND, "expected one session folder; rooftap collect DIR");
        return EXIT_USAGE;
    }
    char resolved[PATH_MAX];
    struct session_info info;
    if (!find_session(argv[first], resolved, &info))
        return EXIT_USAGE;
    status = collect(argv[first], resolved, info.ring);
    session_info_free(&info);
    return status;
}
