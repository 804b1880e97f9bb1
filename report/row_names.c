/* SPDX-License-Identifier: Apache-2.0 */
/* Short names first. Where those of different kernels are the same, a longer spelling, cut such that their first
 * difference is seen. */
#include "report/row_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/demangle.h"
#include "report/safe_text.h"
#include "report/short_name.h"

enum { ROUNDS = 8 };

struct row {
    const char *recorded; /* NULL: not known */
    char *full;           /* demangled and safe */
    char *text;
    size_t index;
};

static int by_text(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_index(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* ---- longer spellings, from the most readable to the surest ---- */

static char *spell_complete(const struct row *row)
{
    return short_name(row->full, SHORT_NAME_COMPLETE, INT16_MAX);
}

static char *spell_full(const struct row *row)
{
    return allocate_text(row->full);
}

static char *spell_recorded(const struct row *row)
{
    return safe_text_terminal(row->recorded ? row->recorded : "");
}

static char *(*const spellings[])(const struct row *row) = {spell_complete, spell_full, spell_recorded};

enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

static bool same_name(const struct row *a, const struct row *b)
{
    return a->recorded && b->recorded ? !strcmp(a->recorded, b->recorded) : a->recorded == b->recorded;
}

static size_t common_columns(const char *a, const char *b)
{
    size_t bytes = 0;
    while (a[bytes] && a[bytes] == b[bytes])
        bytes++;
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)a[i] & 0xc0) != 0x80;
    return columns;
}

/* Replaces the texts of COUNT rows, which are equal, by a spelling that tells apart the first from another of them. */
static bool respell(struct row *rows, size_t count, size_t width, char *(*spell)(const struct row *row))
{
    size_t common = SIZE_MAX;
    char *first = spell(&rows[0]);
    for (size_t i = 1; i < count; i++) {
        char *other = spell(&rows[i]);
        size_t columns = common_columns(first, other);
        if (strcmp(first, other) && columns < common)
            common = columns;
        free(other);
    }
    free(first);
    if (common == SIZE_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        free(rows[i].text);
        rows[i].text = spell(&rows[i]);
        safe_text_cut_around(rows[i].text, width, common);
    }
    return true;
}

static bool all_same_name(const struct row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!same_name(&rows[0], &rows[i]))
            return false;
    return true;
}

/* Each round splits a group of equal texts, or goes on to the next spelling. ROUNDS bounds the work where thousands of
 * hostile names differ late. */
static void tell_apart(struct row *rows, size_t count, size_t width, size_t spelling, int rounds)
{
    qsort(rows, count, sizeof *rows, by_text);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && !strcmp(rows[begin].text, rows[end].text);)
            end++;
        struct row *group = rows + begin;
        size_t members = end - begin, next = spelling;
        if (members < 2 || !rounds || all_same_name(group, members))
            continue;
        next += members == count && rounds < ROUNDS; /* the last spelling did not help */
        while (next < SPELLINGS && !respell(group, members, width, spellings[next]))
            next++;
        if (next < SPELLINGS)
            tell_apart(group, members, width, next, rounds - 1);
    }
}

char **row_names(const char *const *names, size_t count, size_t width)
{
    struct demangler *demangler = demangler_open(DEMANGLE_LIBRARY);
    struct row *rows = allocate(count + 1, sizeof *rows);
    char **texts = allocate(count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        char *demangled = demangler_name(demangler, names[i] ? names[i] : "(name not known)");
        rows[i] = (struct row){.recorded = names[i], .full = safe_text_terminal(demangled), .index = i};
        rows[i].text = short_name_within(rows[i].full, width);
        free(demangled);
    }
    demangler_close(demangler);
    tell_apart(rows, count, width, 0, ROUNDS);
    qsort(rows, count, sizeof *rows, by_index);
    for (size_t i = 0; i < count; i++) {
        texts[i] = rows[i].text;
        free(rows[i].full);
    }
    free(rows);
    return texts;
}

void row_names_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
