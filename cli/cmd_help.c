/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap help [COMMAND]`: the list of commands, or the help that a command's own option table
 * prints. */
#include <stddef.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"

static void print_commands(void)
{
    puts("usage: rooftap COMMAND [ARGUMENTS]\n\n"
         "Puts each operator of an LLM inference program on the roofline of its GPU.\n\ncommands:");
    for (const struct command *command = command_table; command->name; command++)
        printf("  %-10s %s\n", command->name, command->summary);
    puts("\n'rooftap help COMMAND' explains one of them; 'rooftap --version' names this version.");
}

int cmd_help(int argc, char **argv)
{
    static const struct option_row rows[] = {{.long_name = NULL}};
    static const struct option_set set = {
        .command = "help",
        .synopsis = "[COMMAND]",
        .about = "Lists the commands, or explains one.",
        .rows = rows,
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (first == argc) {
        print_commands();
        return 0;
    }
    const struct command *command = command_find(argv[first]);
    if (!command || argc - first > 1) {
        message_error("help", "expected the name of one command, not '%s'; 'rooftap help' lists them",
                      command ? argv[first + 1] : argv[first]);
        return EXIT_USAGE;
    }
    char *arguments[] = {argv[first], (char[]){"--help"}, NULL};
    return command->run(2, arguments);
}
