/* SPDX-License-Identifier: Apache-2.0 */
/* A name that fits no row is compared again by letters and digits alone, with the rows' names and the vendors' own: first as
 * the whole, then as their start, then as any part, then with a few letters wrong. */
#include "cli/gpu_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/message.h"

enum { LONGEST_NAME = 64, MOST_SUGGESTED = 6, MOST_WRONG = 2 };

static void squeeze(const char *text, char out[LONGEST_NAME])
{
    size_t length = 0;
    for (; *text && length < LONGEST_NAME - 1; text++)
        if (isalnum((unsigned char)*text))
            out[length++] = (char)tolower((unsigned char)*text);
    out[length] = '\0';
}

static bool is_all(const char *typed, const char *known)
{
    return strcmp(known, typed) == 0;
}

static bool starts(const char *typed, const char *known)
{
    return strncmp(known, typed, strlen(typed)) == 0;
}

static bool is_part(const char *typed, const char *known)
{
    return strstr(known, typed) || strstr(typed, known);
}

/* Letters to add, leave out or change; the rows of the usual table, one at a time. */
static bool nearly_is(const char *typed, const char *known)
{
    int row[LONGEST_NAME];
    size_t length = strlen(known);
    for (size_t j = 0; j <= length; j++)
        row[j] = (int)j;
    for (size_t i = 0; typed[i]; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (size_t j = 0; j < length; j++) {
            int best = diagonal + (typed[i] != known[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[length] <= MOST_WRONG && (size_t)row[length] * 2 < length;
}

typedef bool comparison(const char *typed, const char *known);

static int collect(const char *typed, comparison *matches, const char *keys[MOST_SUGGESTED])
{
    size_t count;
    int found = 0;
    const struct gpu_spec *rows = gpu_specs(&count);
    for (size_t i = 0; i < count; i++) {
        char key[LONGEST_NAME], name[LONGEST_NAME];
        squeeze(rows[i].key, key);
        squeeze(rows[i].name, name);
        if (!matches(typed, key) && !matches(typed, name))
            continue;
        if (found < MOST_SUGGESTED)
            keys[found] = rows[i].key;
        found++;
    }
    return found;
}

static void refuse(const char *name, const char *command)
{
    static comparison *const comparisons[] = {is_all, starts, is_part, nearly_is};
    const char *keys[MOST_SUGGESTED];
    char typed[LONGEST_NAME], list[MOST_SUGGESTED * LONGEST_NAME] = "";
    int found = 0;
    squeeze(name, typed);
    for (size_t i = 0; *typed && found == 0 && i < sizeof comparisons / sizeof comparisons[0]; i++)
        found = collect(typed, comparisons[i], keys);
    if (found == 0 || found > MOST_SUGGESTED) { /* nothing near, or too much to be of help */
        message_error(command, "no GPU is called '%s'; 'rooftap gpus' lists all", name);
        return;
    }
    for (int i = 0; i < found; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : i == found - 1 ? " or " : ", ", keys[i]);
    }
    message_error(command, "no GPU is called '%s'; did you mean %s? 'rooftap gpus' lists all", name, list);
}

const struct gpu_spec *gpu_names_find(const char *name, const char *command)
{
    size_t count;
    const struct gpu_spec *rows = gpu_specs(&count);
    const struct gpu_spec *exact = gpu_spec_by_key(name); /* the user's own rows, too */
    if (exact)
        return exact;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(rows[i].key, name) == 0)
            return &rows[i];
    refuse(name, command);
    return NULL;
}
