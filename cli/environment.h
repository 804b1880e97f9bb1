/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the target: this process's own, with a few entries added. Nothing of this
 * process changes. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct environment {
    char **entries; /* "NAME=value", NULL at the end: what exec takes */
    size_t count;
};

/* All return false when memory is out, and then leave what was there. */
bool environment_copy(struct environment *environment);
bool environment_set(struct environment *environment, const char *name, const char *value);
/* Adds VALUE to a list split at colons, and LD_PRELOAD at blanks too, at its end or its start, unless the list has it
 * already. */
bool environment_append(struct environment *environment, const char *name, const char *value);
bool environment_prepend(struct environment *environment, const char *name, const char *value);
/* Back to what this process itself has, or has not. */
bool environment_restore(struct environment *environment, const char *name);
const char *environment_get(const struct environment *environment, const char *name);
void environment_free(struct environment *environment);

#endif
