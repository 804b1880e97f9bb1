/* SPDX-License-Identifier: Apache-2.0 */
/* The rooftap command: a table of commands and the choice among them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"

/* clang-format off */
const struct command command_table[] = {
    {"record", cmd_record, "run a program and note what it asks of the GPU"},
    {"report", cmd_report, "put each operator of a recording on the roofline"},
    {"collect", cmd_collect, "take over from a collector that was killed"},
    {"ctl",    cmd_ctl,    "start and stop timing in a recording, and put marks into it"},
    {"predict", cmd_predict, "predict a model's operators from its config.json"},
    {"calibrate", cmd_calibrate, "measure what this GPU reaches, for reports"},
    {"doctor", cmd_doctor, "tell what of a recording will work here, and why not"},
    {"gpus",   cmd_gpus,   "list the GPUs whose roofs are known"},
    {"kernels", cmd_kernels, "list families of kernels, and explain a name's"},
    {"help",   cmd_help,   "explain a command"},
    {"version", cmd_version, "name this version"},
    {NULL, NULL, NULL},
};
/* clang-format on */

const struct command *command_find(const char *name)
{
    for (const struct command *command = command_table; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* A caller may have closed 0, 1 or 2. Files opened here must not land on these numbers and receive
 * messages; close-on-exec keeps them closed for a target. */
static void occupy_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* A full disk or closed pipe must not look like success. A command that failed has said why: one line is enough. */
static int finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (status == 0)
        message_error(NULL, "standard output can't be written: %m");
    return status ? status : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        message_error(NULL, "no command given; 'rooftap help' lists them");
        return EXIT_USAGE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return finish_output(cmd_version(1, (char *[]){argv[1], NULL}));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const struct command *command = command_find(name);
    if (!command) {
        message_error(NULL, "'%s' is no rooftap command; 'rooftap help' lists them", name);
        return EXIT_USAGE;
    }
    return finish_output(command->run(argc - 1, argv + 1));
}
