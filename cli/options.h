/* SPDX-License-Identifier: Apache-2.0 */
/* The options of one command: a table drives both parsing and help, so the two can't disagree. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>

enum { EXIT_USAGE = 2 }; /* also: a file or folder that can't be used */

enum option_kind {
    OPTION_FLAG,   /* destination: bool, set to true */
    OPTION_TEXT,   /* destination: const char * */
    OPTION_CHOICE, /* destination: const char *; one of the words of value_name, "on|off" */
    OPTION_COUNT,  /* destination: size_t *; a whole number from 1 on */
    OPTION_LIST,   /* destination: struct option_list, one more value each time */
};

struct option_list {
    const char **values; /* borrowed from argv; the array lives as long as the command */
    int count;
};

struct option_row {
    const char *long_name; /* NULL ends a table */
    char short_name;       /* 0: none */
    enum option_kind kind;
    void *destination;
    const char *value_name; /* as help shows it; NULL for a flag */
    const char *help;
};

struct option_set {
    const char *command;  /* "record" */
    const char *synopsis; /* what follows the command's name in the usage line */
    const char *about;    /* one or more lines */
    const struct option_row *rows;
    const char *footer; /* printed after the options, or NULL */
    bool anywhere;      /* options may follow arguments: none of these is another program's command */
};

/* Reads options up to the first argument that is none, or `--`, or all of them if they may stand anywhere; *FIRST is the
 * index of what follows in ARGV, which is reordered then. False: the command ends with *STATUS, which is 0 after help on
 * standard output, EXIT_USAGE after one line on standard error. */
bool options_parse(const struct option_set *set, int argc, char **argv, int *first, int *status);

#endif
