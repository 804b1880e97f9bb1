/* SPDX-License-Identifier: Apache-2.0 */
/* A session as JSON; JSON.md documents every key. */
#ifndef REPORT_REPORT_JSON_H
#define REPORT_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"
#include "report/operator_rows.h"

/* What trees of all sizes have in common is worked out once. SESSION and the rest must outlive it; BOOKS and MODEL_BOOKS may be
 * NULL. */
struct report_json;
struct report_json *report_json_open(const struct session *session, const struct books *books,
                                     const struct model_books *model_books);
/* The tree, a new reference. ROWS: how many operators, weights and kernels are in it, and about how long its other lists and
 * its texts may be; what isn't in it then is in the key `cut`. SIZE_MAX: everything. Cheaper for fewer rows than the last time. */
json_t *report_json_tree(struct report_json *report, size_t rows);
void report_json_close(struct report_json *report);
/* Its operators by name, which live as long as it. */
const struct operator_rows *report_json_kernels(const struct report_json *report);

/* One tree. */
json_t *report_json_root(const struct session *session, const struct books *books,
                         const struct model_books *model_books, size_t rows);

/* As `rooftap report --json` prints it. False if OUT could not take it. */
bool report_json_write(const json_t *root, FILE *out);

/* All of it. BOOKS and MODEL_BOOKS may be NULL. False if OUT could not take it. */
bool report_json(const struct session *session, const struct books *books, const struct model_books *model_books,
                 FILE *out);

#endif
