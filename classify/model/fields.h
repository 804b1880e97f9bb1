/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of a config.json, one at a time, with their kind and range checked. The first fault is kept, later calls
 * return harmless values: a caller reads all and asks once. */
#ifndef CLASSIFY_MODEL_FIELDS_H
#define CLASSIFY_MODEL_FIELDS_H

#include <jansson.h>

#include "classify/model/config.h"

struct model_fields {
    const json_t *object; /* the language model's */
    const json_t *outer;  /* the whole file, where that is nested; or NULL */
    const struct model_family *family;
    struct model_error *error;
    bool failed;
    char *defaulted; /* of MODEL_DEFAULTED_BYTES */
};

/* For error texts and the defaults list, at most one line. */
void model_fields_fail(struct model_fields *fields, const char *format, ...) __attribute__((format(printf, 2, 3)));
const json_t *model_fields_find(const struct model_fields *fields, const char *name); /* JSON null: NULL */
bool model_fields_is_null(const struct model_fields *fields, const char *name);       /* there, but null */

/* MINIMUM <= value <= MOST. Missing: the family's documented default, else a fault. HEADS and HIDDEN serve the defaults. */
int64_t model_fields_size(struct model_fields *fields, const char *name, int64_t minimum, int64_t most, int64_t heads,
                          int64_t hidden);
/* The same, ABSENT where the field is missing or null. */
int64_t model_fields_size_or(struct model_fields *fields, const char *name, int64_t minimum, int64_t most,
                             int64_t absent);
bool model_fields_bool(struct model_fields *fields, const char *name, bool absent);

#endif
