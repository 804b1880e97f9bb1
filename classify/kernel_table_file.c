/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is no member of a row, and an example that its own row doesn't find, is refused with its line: a mistyped
 * pattern would just find nothing. */
#include "classify/kernel_table_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "classify/allocate.h"
#include "classify/user_table.h"

/* ---- members ---- */

static bool read_text(const struct user_table *at, const char *member, json_t *value, struct kernel_family_row *row)
{
    const char *text = json_string_value(value);
    if (json_is_null(value))
        return true;
    if (!text || !*text)
        return user_table_complain(at, member, "\"%s\" must be a text, or null", member);
    const char **field = !strcmp(member, "function")  ? &row->function
                         : !strcmp(member, "inside")  ? &row->inside
                         : !strcmp(member, "example") ? &row->example
                                                      : &row->source;
    *field = text;
    return true;
}

static bool read_family(const struct user_table *at, const char *member, json_t *value, struct kernel_family_row *row)
{
    const char *text = json_string_value(value);
    for (int family = KERNEL_FAMILY_UNKNOWN + 1; text && family < KERNEL_FAMILY_COUNT; family++)
        if (!strcmp(text, kernel_family_name((enum kernel_family)family))) {
            row->family = (enum kernel_family)family;
            return true;
        }
    return user_table_complain(at, member, "\"%s\" must be one of those that 'rooftap kernels' lists", member);
}

static bool read_role(const struct user_table *at, const char *member, json_t *value, struct kernel_family_row *row)
{
    const char *text = json_string_value(value);
    if (json_is_null(value))
        return true;
    for (int role = KERNEL_ROLE_MAIN + 1; text && role < KERNEL_ROLE_COUNT; role++)
        if (!strcmp(text, kernel_role_name((enum kernel_role)role))) {
            row->role = (enum kernel_role)role;
            return true;
        }
    return user_table_complain(at, member, "\"%s\" must be one of those that 'rooftap kernels' lists, or null", member);
}

static const struct {
    const char *name;
    bool (*read)(const struct user_table *at, const char *member, json_t *value, struct kernel_family_row *row);
} members[] = {
    {"function", read_text}, {"inside", read_text},  {"family", read_family},
    {"role", read_role},     {"example", read_text}, {"source", read_text},
};

/* ---- rows ---- */

static bool read_row(const struct user_table *at, json_t *object, struct kernel_family_row *row)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return user_table_complain(
            at, NULL, "a row must be an object such as {\"function\": \"my_attn*\", \"family\": \"attention\"}");
    json_object_foreach(object, name, value)
    {
        size_t i = 0;
        while (i < sizeof members / sizeof members[0] && strcmp(name, members[i].name))
            i++;
        if (i == sizeof members / sizeof members[0])
            return user_table_complain(
                at, NULL, "\"%.40s\" is no member of a row: expected function, inside, family, role, example, source",
                name);
        if (!members[i].read(at, name, value, row))
            return false;
    }
    if (!row->function || row->family == KERNEL_FAMILY_UNKNOWN)
        return user_table_complain(at, NULL, "a row needs \"function\" and \"family\"");
    if (!row->inside && strspn(row->function, "*|") == strlen(row->function))
        return user_table_complain(at, "function",
                                   "\"function\" describes every name: expected some letters, or \"inside\"");
    if (row->example && !kernel_family_row_matches(row, row->example))
        return user_table_complain(at, "example",
                                   "the row does not describe its own \"example\": 'rooftap kernels explain' shows the "
                                   "name's function");
    return true;
}

static bool read_rows(struct user_table *at, json_t *root, struct kernel_table_file *file)
{
    json_t *list = json_object_get(root, "kernels");
    if (!json_is_array(list) || json_object_size(root) != 1)
        return user_table_complain(at, NULL, "expected {\"kernels\": [...]} and nothing else");
    file->count = json_array_size(list);
    file->rows = allocate(file->count + 1, sizeof *file->rows);
    for (at->index = 0; at->index < file->count; at->index++)
        if (!read_row(at, json_array_get(list, at->index), &file->rows[at->index]))
            return false;
    return true;
}

/* ---- the file ---- */

struct kernel_table_file *kernel_table_file_read(const char *path, char error[USER_TABLE_ERROR_BYTES])
{
    struct user_table table = {.kind = "kernel table", .path = path, .list = "kernels", .error = error};
    struct kernel_table_file *file = allocate(1, sizeof *file);
    json_t *root = user_table_read(&table);
    file->texts = root;
    bool good = root && read_rows(&table, root, file);
    free(table.text);
    if (good)
        return file;
    kernel_table_file_free(file);
    return NULL;
}

void kernel_table_file_free(struct kernel_table_file *file)
{
    if (!file)
        return;
    json_decref(file->texts);
    free(file->rows);
    free(file);
}

char *kernel_table_file_default_path(void)
{
    return user_table_default_path("kernels.json");
}
