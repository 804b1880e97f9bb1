/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the environment with entries added; comes before target.c's exec. */
#include "cli/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static char **find(const struct environment *environment, const char *name)
{
    size_t length = strlen(name);
    for (char **entry = environment->entries; *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return entry;
    return NULL;
}

static bool put(struct environment *environment, const char *name, char *entry)
{
    char **old = find(environment, name);
    if (old) {
        free(*old);
        *old = entry;
        return true;
    }
    char **grown = realloc(environment->entries, sizeof *grown * (environment->count + 2));
    if (!grown) {
        free(entry);
        return false;
    }
    environment->entries = grown;
    grown[environment->count++] = entry;
    grown[environment->count] = NULL;
    return true;
}

bool environment_copy(struct environment *environment)
{
    size_t count = 0;
    while (environ[count])
        count++;
    environment->entries = calloc(count + 1, sizeof *environment->entries);
    environment->count = 0;
    if (!environment->entries)
        return false;
    for (; environment->count < count; environment->count++) {
        environment->entries[environment->count] = strdup(environ[environment->count]);
        if (!environment->entries[environment->count])
            return false;
    }
    return true;
}

const char *environment_get(const struct environment *environment, const char *name)
{
    char **entry = find(environment, name);
    return entry ? *entry + strlen(name) + 1 : NULL;
}

bool environment_set(struct environment *environment, const char *name, const char *value)
{
    char *entry;
    return asprintf(&entry, "%s=%s", name, value) >= 0 && put(environment, name, entry);
}

static bool list_has(const char *list, const char *separators, const char *value)
{
    size_t length = strlen(value), item_length;
    for (const char *item = list; *item; item += item_length + (item[item_length] != '\0')) {
        item_length = strcspn(item, separators);
        if (item_length == length && memcmp(item, value, length) == 0)
            return true;
    }
    return false;
}

static bool extend(struct environment *environment, const char *name, const char *value, bool at_end)
{
    const char *old = environment_get(environment, name);
    if (!old || !*old)
        return environment_set(environment, name, value);
    if (list_has(old, strcmp(name, "LD_PRELOAD") == 0 ? ": " : ":", value))
        return true;
    char *entry;
    int length =
        at_end ? asprintf(&entry, "%s=%s:%s", name, old, value) : asprintf(&entry, "%s=%s:%s", name, value, old);
    return length >= 0 && put(environment, name, entry);
}

bool environment_append(struct environment *environment, const char *name, const char *value)
{
    return extend(environment, name, value, true);
}

bool environment_prepend(struct environment *environment, const char *name, const char *value)
{
    return extend(environment, name, value, false);
}

bool environment_restore(struct environment *environment, const char *name)
{
    const char *own = getenv(name);
    char **entry = find(environment, name);
    if (own)
        return environment_set(environment, name, own);
    if (entry) {
        free(*entry);
        memmove(entry, entry + 1, (size_t)(environment->entries + environment->count - entry) * sizeof *entry);
        environment->count--;
    }
    return true;
}

void environment_free(struct environment *environment)
{
    if (!environment->entries)
        return;
    for (size_t i = 0; i < environment->count; i++)
        free(environment->entries[i]);
    free(environment->entries);
    environment->entries = NULL;
}
