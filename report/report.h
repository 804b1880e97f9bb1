/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of `rooftap report` behind one call: reads a session, classifies it, prints it. Only this folder formats
 * numbers for people; only the command decides where OUT and ERR go. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct books_options;
struct peak_options;

/* A session as one HTML file, in memory. */
struct report_page {
    char *text; /* BYTES; NULL: none was made. The caller frees */
    size_t bytes;
    size_t operators, of; /* how many of how many are in it */
    bool unreadable;      /* nothing that was named could be read: all that the page holds is why */
};

struct report_options {
    const char *session_folder;       /* a session folder, or one trace file */
    const struct peak_options *peaks; /* figures of --peak; NULL: none */
    const char *calibration_file;     /* of --calibration; NULL: what was kept for the GPUs of the session */
    bool json;                        /* JSON.md instead of text */
    struct report_page *page;         /* filled instead of text; NULL: no page is wanted */
    bool all;                         /* no row is folded away */
    bool skinny;                      /* the skinny list alone */
    size_t top; /* rows of the table and of the skinny list, of a page and of JSON (its key `cut`); 0: as many as a
                         * terminal is meant to hold, as fit into a page, all in JSON */
    const char *sort;                  /* one of report_sort_keys(); NULL: longest time first */
    const char *by;                    /* one of REPORT_BY; NULL: shape */
    const char *config;                /* of --predict: a model's config.json to compare with; NULL: none */
    const struct books_options *model; /* how that model runs; NULL without config */
    const char *gguf; /* a model's GGUF file to name matrices by, and to close the books with; NULL: none */
};

#define REPORT_BY "shape|weight|kernel"

/* "time, share, …": what `--sort` takes together with these options; *TEXT, of REPORT_KEYS_BYTES, is filled. */
enum { REPORT_KEYS_BYTES = 512 };
void report_sort_keys(const struct report_options *options, char *text);
bool report_sort_key_known(const struct report_options *options);

enum report_exit {
    REPORT_EXIT_OK = 0,      /* also for traces cut short */
    REPORT_EXIT_NOTHING = 1, /* no CUDA launch seen: one line on ERR says so, with the likely reason */
    REPORT_EXIT_BAD = 2,     /* no such folder, no session, no trace, newer major version: one line on ERR */
};

/* Returns an enum report_exit. A page is made wherever a session could be opened, also an empty or damaged one. On a terminal (isatty of OUT) a long tail of text rows is folded into one remainder row. */
int report_command(const struct report_options *options, FILE *out, FILE *err);

#endif
