/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: each has a file cmd_<name>.c with one function and a row in main.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
    const char *summary;
};

/* Ends with a row whose name is NULL. */
extern const struct command command_table[];
const struct command *command_find(const char *name);

int cmd_record(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_gpus(int argc, char **argv);
int cmd_kernels(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
