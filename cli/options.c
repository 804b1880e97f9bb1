/* SPDX-License-Identifier: Apache-2.0 */
/* getopt_long driven by one table a command. Comes before each cmd_*.c's own work; says what is
 * wrong in one line. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

/* getopt_long returns FIRST_LONG + row for long options, so that rows without a letter need no
 * invented one. */
enum { FIRST_LONG = 256, LONG_HELP = 255, MAX_ROWS = 32 };

static int count_rows(const struct option_row *rows)
{
    int count = 0;
    while (rows[count].long_name)
        count++;
    return count;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *word = choices; word; word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL) {
        size_t word_length = strcspn(word, "|");
        if (length == word_length && memcmp(word, value, length) == 0)
            return true;
    }
    return false;
}

static bool store_count(const struct option_set *set, const struct option_row *row, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long count = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || !count || count > SIZE_MAX) {
        message_error(set->command, "--%s takes a whole number from 1 on, not '%s'", row->long_name, value);
        return false;
    }
    *(size_t *)row->destination = (size_t)count;
    return true;
}

static bool store(const struct option_set *set, const struct option_row *row, const char *value)
{
    /* Nobody means that; it is a value left out before the end of the options. */
    if (row->kind != OPTION_FLAG && strcmp(value, "--") == 0) {
        message_error(set->command, "--%s needs a value, found '--'; see 'rooftap help %s'", row->long_name,
                      set->command);
        return false;
    }
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)row->destination = true;
        return true;
    case OPTION_CHOICE:
        if (!is_choice(row->value_name, value)) {
            message_error(set->command, "--%s takes %s, not '%s'", row->long_name, row->value_name, value);
            return false;
        }
        *(const char **)row->destination = value;
        return true;
    case OPTION_TEXT:
        if (!*value) {
            message_error(set->command, "--%s needs a %s that is not empty", row->long_name, row->value_name);
            return false;
        }
        *(const char **)row->destination = value;
        return true;
    case OPTION_COUNT:
        return store_count(set, row, value);
    case OPTION_LIST: {
        struct option_list *list = row->destination;
        const char **grown = realloc(list->values, sizeof *grown * ((size_t)list->count + 1));
        if (!grown) {
            message_error(set->command, "out of memory");
            return false;
        }
        list->values = grown;
        list->values[list->count++] = value;
        return true;
    }
    }
    return false;
}

static void print_help(const struct option_set *set)
{
    printf("usage: rooftap %s%s%s\n\n%s\n\noptions:\n", set->command, *set->synopsis ? " " : "", set->synopsis,
           set->about);
    for (const struct option_row *row = set->rows; row->long_name; row++) {
        char left[64];
        char letter[8] = "    ";
        if (row->short_name)
            snprintf(letter, sizeof letter, "-%c, ", row->short_name);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, row->long_name, row->value_name ? " " : "",
                 row->value_name ? row->value_name : "");
        printf("  %-28s %s\n", left, row->help);
    }
    printf("  %-28s %s\n", "-h, --help", "show this");
    if (set->footer)
        printf("\n%s\n", set->footer);
}

static void explain(const struct option_set *set, int problem, char **argv)
{
    const char *what = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, 0};
    if (optopt > 0 && optopt < LONG_HELP)
        what = letter;
    if (problem == ':')
        message_error(set->command, "%s needs a value; see 'rooftap help %s'", what, set->command);
    else
        message_error(set->command, "unknown option %s; see 'rooftap help %s'", what, set->command);
}

struct getopt_tables {
    struct option longs[MAX_ROWS + 2];
    char letters[MAX_ROWS * 2 + 8];
};

static void fill_tables(struct getopt_tables *tables, const struct option_row *rows, int count)
{
    *tables = (struct getopt_tables){.letters = "+:h"}; /* +: stop at the first argument that is no option */
    for (int i = 0; i < count; i++) {
        const struct option_row *row = &rows[i];
        int has_value = row->kind == OPTION_FLAG ? no_argument : required_argument;
        tables->longs[i] = (struct option){row->long_name, has_value, NULL, FIRST_LONG + i};
        if (row->short_name) {
            size_t end = strlen(tables->letters);
            tables->letters[end] = row->short_name;
            tables->letters[end + 1] = has_value == required_argument ? ':' : '\0';
        }
    }
    tables->longs[count] = (struct option){"help", no_argument, NULL, LONG_HELP};
}

bool options_parse(const struct option_set *set, int argc, char **argv, int *first, int *status)
{
    struct getopt_tables tables;
    int rows = count_rows(set->rows);
    if (rows > MAX_ROWS)
        abort();
    fill_tables(&tables, set->rows, rows);

    opterr = 0;
    optind = 0; /* glibc: anew, with no memory of an earlier order */
    *status = EXIT_USAGE;
    const char *wanted = set->anywhere ? tables.letters + 1 : tables.letters;
    for (int found; (found = getopt_long(argc, argv, wanted, tables.longs, NULL)) != -1;) {
        if (found == 'h' || found == LONG_HELP) {
            print_help(set);
            *status = 0;
            return false;
        }
        if (found == '?' || found == ':') {
            explain(set, found, argv);
            return false;
        }
        const struct option_row *row = NULL;
        for (int i = 0; i < rows; i++)
            if (found == FIRST_LONG + i || found == set->rows[i].short_name)
                row = &set->rows[i];
        if (!row || !store(set, row, optarg))
            return false;
    }
    *first = optind;
    return true;
}
