/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the command's side, where running out of it ends the command with one line. Never linked into a host. */
#ifndef CLASSIFY_ALLOCATE_H
#define CLASSIFY_ALLOCATE_H

#include <stddef.h>

/* Zeroed; never NULL; freed with free(). */
void *allocate(size_t count, size_t bytes);

/* Makes room for at least one more element behind COUNT; *CAPACITY follows. Returns the array, moved or not. */
void *allocate_grow(void *array, size_t count, size_t *capacity, size_t bytes);

char *allocate_text(const char *text); /* a copy; NULL stays NULL */

/* Ends the command, as all of these do. */
void allocate_failed(size_t bytes) __attribute__((noreturn));

#endif
