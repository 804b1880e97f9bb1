/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap version`, and what `rooftap --version` prints. */
#include <stddef.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"

#define COMMAND "version"

int cmd_version(int argc, char **argv)
{
    static const struct option_row rows[] = {{.long_name = NULL}};
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "",
        .about = "Names this version, as 'rooftap --version' does.",
        .rows = rows,
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (first != argc) {
        message_error(COMMAND, "takes no argument, found '%s'", argv[first]);
        return EXIT_USAGE;
    }
    puts("rooftap " ROOFTAP_VERSION);
    return 0;
}
