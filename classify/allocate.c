/* SPDX-License-Identifier: Apache-2.0 */
/* The command ends where memory does, so that no caller has a half-made result to check for. */
#include "classify/allocate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void allocate_failed(size_t bytes)
{
    fprintf(stderr, "rooftap: out of memory (asked for %zu bytes more); free some and run it again\n", bytes);
    exit(2);
}

void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        allocate_failed(count * bytes);
    return memory;
}

void *allocate_grow(void *array, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? 2 * *capacity : 16;
    void *moved = larger <= SIZE_MAX / bytes ? realloc(array, larger * bytes) : NULL;
    if (!moved)
        allocate_failed(larger * bytes);
    *capacity = larger;
    return moved;
}

char *allocate_text(const char *text)
{
    if (!text)
        return NULL;
    char *copy = strdup(text);
    if (!copy)
        allocate_failed(strlen(text));
    return copy;
}
