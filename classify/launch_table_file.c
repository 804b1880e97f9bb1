/* SPDX-License-Identifier: Apache-2.0 */
/* Lines in, rows out, in their order. One bad line refuses a user's file; in a built-in one, which a test walks, it leaves its
 * row out, so that launches of its list are of an unknown revision. */
#include "classify/launch_table_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/user_table.h"

struct lines {
    struct launch_table_file *file;
    bool users;
    int number; /* of the line, from 1 */
    char *error;
};

static bool complain(const struct lines *lines, const char *what)
{
    snprintf(lines->error, LAUNCH_TABLE_ERROR_BYTES, "launch table '%.200s', line %d: %s", lines->file->path,
             lines->number, what);
    user_table_keep_on_line(lines->error);
    return false;
}

static bool add_row(struct lines *lines, json_t *object)
{
    char what[LAUNCH_ROW_ERROR_BYTES];
    struct launch_table_file *file = lines->file;
    struct launch_row *row = launch_row_read(object, !lines->users, what);
    if (!row)
        return complain(lines, what);
    row->users = lines->users;
    row->path = file->path;
    row->line = lines->number;
    if (asprintf(&row->place, "%s:%d", file->path, lines->number) < 0)
        abort();
    file->rows = allocate_grow(file->rows, file->count, &file->capacity, sizeof(struct launch_row *));
    file->rows[file->count++] = row;
    return true;
}

static bool add_line(struct lines *lines, const char *line, size_t bytes)
{
    json_error_t syntax;
    while (bytes && strchr(" \t\r", line[bytes - 1]) && line[bytes - 1])
        bytes--;
    if (!bytes || *line == '#')
        return true;
    json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &syntax);
    if (!object)
        return complain(lines, syntax.text);
    bool good = add_row(lines, object);
    json_decref(object);
    return good;
}

struct launch_table_file *launch_table_file_parse(const char *path, const char *text, size_t bytes, bool users,
                                                  char error[LAUNCH_TABLE_ERROR_BYTES])
{
    struct lines lines = {.file = allocate(1, sizeof *lines.file), .users = users, .number = 1, .error = error};
    lines.file->path = allocate_text(path);
    error[0] = '\0';
    for (const char *at = text, *end = text + bytes; at < end; lines.number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        if (!add_line(&lines, at, length) && users) {
            launch_table_file_free(lines.file);
            return NULL;
        }
        at += length + 1;
    }
    return lines.file;
}

struct launch_table_file *launch_table_file_read(const char *path, char error[LAUNCH_TABLE_ERROR_BYTES])
{
    size_t bytes;
    char *text = user_table_text("launch table", path, &bytes, error, LAUNCH_TABLE_ERROR_BYTES);
    if (!text)
        return NULL;
    struct launch_table_file *file = launch_table_file_parse(path, text, bytes, true, error);
    free(text);
    return file;
}

void launch_table_file_free(struct launch_table_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++)
        launch_row_free(file->rows[i]);
    free(file->rows);
    free(file->path);
    free(file);
}

char *launch_table_file_default_path(void)
{
    return user_table_default_path("launches.jsonl");
}
