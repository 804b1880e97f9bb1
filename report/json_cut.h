/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds a JSON tree of which the first N rows alone were asked for, and notes what that took away (JSON.md, `cut`): lists end
 * early, texts end in "…". Objects keep all their keys. Where all that is allowed would still be too much together, less is:
 * whatever a session holds, a tree of few rows is small. */
#ifndef REPORT_JSON_CUT_H
#define REPORT_JSON_CUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct json_cut;

struct json_cut *json_cut_open(size_t rows); /* SIZE_MAX: nothing is cut */
void json_cut_free(struct json_cut *cut);

size_t json_cut_rows(const struct json_cut *cut);

/* How many of COUNT items LIST is to be given, so that no more are made than are kept. */
size_t json_cut_items(struct json_cut *cut, const json_t *list, size_t count);

/* A list of places in another. A new reference. */
json_t *json_cut_indexes(struct json_cut *cut, const size_t *index, size_t count);

/* Cuts what is left to cut in ROOT, except its lists of rows: operators, weights and kernels. */
void json_cut_apply(struct json_cut *cut, json_t *root);

/* The key `cut`, a new reference. OPERATORS, WEIGHTS, KERNELS: what of these is not there, null: nothing; they are taken. */
json_t *json_cut_object(const struct json_cut *cut, json_t *operators, json_t *weights, json_t *kernels);

#endif
