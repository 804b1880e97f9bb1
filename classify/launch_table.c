/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled at the first look-up and kept. */
#include "classify/launch_table.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_rows.h"

static struct {
    const struct launch_row **rows; /* sorted by base name, those of one name as they are asked; NULL: not built yet */
    size_t count;
    const struct launch_table_file *user;
    struct launch_table_file **built_in; /* kept: rows lie in them */
    size_t built_in_count;
    char error[LAUNCH_TABLE_ERROR_BYTES];
} table;

static void read_built_in(void)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    size_t count = 0;
    if (table.built_in)
        return;
    while (launch_rows_files[count].path)
        count++;
    table.built_in = allocate(count + 1, sizeof(struct launch_table_file *));
    for (size_t i = 0; i < count; i++) {
        const struct launch_rows_file *file = &launch_rows_files[i];
        table.built_in[i] = launch_table_file_parse(file->path, file->text, file->bytes, false, error);
        if (error[0])
            memcpy(table.error, error, sizeof error);
    }
    table.built_in_count = count;
}

/* Its place in the order of asking decides between rows of one name. */
struct entry {
    const struct launch_row *row;
    size_t place;
};

static int by_name(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = strcmp(a->row->kernel, b->row->kernel);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static size_t add_file(struct entry *entries, size_t count, const struct launch_table_file *file)
{
    for (size_t i = 0; file && i < file->count; i++, count++)
        entries[count] = (struct entry){file->rows[i], count};
    return count;
}

static void build(void)
{
    if (table.rows)
        return;
    read_built_in();
    size_t most = table.user ? table.user->count : 0;
    for (size_t i = 0; i < table.built_in_count; i++)
        most += table.built_in[i]->count;
    struct entry *entries = allocate(most + 1, sizeof *entries);
    table.count = add_file(entries, 0, table.user);
    for (size_t i = 0; i < table.built_in_count; i++)
        table.count = add_file(entries, table.count, table.built_in[i]);
    qsort(entries, table.count, sizeof *entries, by_name);
    table.rows = allocate(table.count + 1, sizeof *table.rows);
    for (size_t i = 0; i < table.count; i++)
        table.rows[i] = entries[i].row;
    free(entries);
}

const struct launch_row *const *launch_table_all(size_t *count)
{
    build();
    *count = table.count;
    return table.rows;
}

const struct launch_row *const *launch_table_rows(const char *kernel, size_t *count)
{
    build();
    size_t low = 0, high = table.count;
    while (low < high) { /* to the first row not before KERNEL */
        size_t middle = low + (high - low) / 2;
        if (strcmp(table.rows[middle]->kernel, kernel) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < table.count && !strcmp(table.rows[low + *count]->kernel, kernel);)
        ++*count;
    return *count ? table.rows + low : NULL;
}

void launch_table_set_user_file(const struct launch_table_file *file)
{
    free(table.rows);
    table.rows = NULL;
    table.user = file;
}

const char *launch_table_built_in_error(void)
{
    build();
    return table.error[0] ? table.error : NULL;
}
