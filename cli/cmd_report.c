/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap report [DIR]`: chooses the session; report/ does the rest. */
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/session_folder.h"
#include "report/report.h"

#define COMMAND "report"

/* By when the folder was made; a folder without session.json is none of `record`'s. */
static bool find_newest(char *out)
{
    glob_t found;
    struct timespec newest = {0};
    bool any = false;
    if (glob("./rooftap-*/" SESSION_FILE, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat status;
        if (stat(found.gl_pathv[i], &status) != 0)
            continue;
        const struct timespec *time = &status.st_mtim;
        bool newer = time->tv_sec > newest.tv_sec || (time->tv_sec == newest.tv_sec && time->tv_nsec >= newest.tv_nsec);
        if (any && !newer)
            continue;
        any = true;
        newest = *time;
        snprintf(out, PATH_MAX, "%.*s", (int)(strrchr(found.gl_pathv[i], '/') - found.gl_pathv[i]), found.gl_pathv[i]);
    }
    globfree(&found);
    return any;
}

int cmd_report(int argc, char **argv)
{
    static struct report_options options;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"json", 'j', OPTION_FLAG, &options.json, NULL, "print JSON, as report/JSON.md describes it"},
        {"all",  'a', OPTION_FLAG, &options.all,  NULL, "print every row, also on a terminal"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [DIR]",
        .about = "Puts each operator of the session in DIR on the roofline of its GPU. Without "
                 "DIR: the newest\n"
                 "./rooftap-* session.",
        .rows = rows,
        .footer = "The exit status is 0, also for a recording that was cut short; 1 if nothing was "
                  "recorded; 2 for\n"
                  "bad usage and for a folder or file that is no session, or one of a newer rooftap.",
    };
    int first;
    switch (options_parse(&set, argc, argv, &first)) {
    case OPTIONS_HELP:
        return 0;
    case OPTIONS_BAD:
        return EXIT_USAGE;
    case OPTIONS_OK:
        break;
    }
    if (argc - first > 1) {
        message_error(COMMAND, "expected one session folder, found also '%s'", argv[first + 1]);
        return EXIT_USAGE;
    }
    static char newest[PATH_MAX];
    options.session_folder = argv[first];
    if (first == argc) {
        if (!find_newest(newest)) {
            message_error(COMMAND, "no ./rooftap-* session here; name its folder, or make one with "
                                   "'rooftap record -- COMMAND'");
            return EXIT_USAGE;
        }
        options.session_folder = newest;
    }
    return report_command(&options, stdout, stderr);
}
