/* SPDX-License-Identifier: Apache-2.0 */
/* Comes before what reads the rows. A file may hold any character in its names: a message shows none that would end its line
 * or command a terminal. */
#include "classify/user_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/json_lines.h"
#include "classify/regular_file.h"

enum { LARGEST_BYTES = 16 << 20, WHAT_BYTES = 256 };

void user_table_keep_on_line(char *message)
{
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

static void say_line(const struct user_table *table, int line, const char *what)
{
    snprintf(table->error, USER_TABLE_ERROR_BYTES, "%s '%.200s', line %d: %s", table->kind, table->path, line, what);
    user_table_keep_on_line(table->error);
}

bool user_table_complain(const struct user_table *table, const char *member, const char *format, ...)
{
    char what[WHAT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    bool whole = table->index == USER_TABLE_WHOLE;
    say_line(table, whole ? 1 : json_lines_of(table->text, table->list, table->index, member), what);
    return false;
}

char *user_table_text(const char *kind, const char *path, size_t *bytes, char *error, size_t error_bytes)
{
    uint64_t size;
    FILE *stream = regular_file_open(path, &size);
    if (!stream || size > LARGEST_BYTES) {
        snprintf(error, error_bytes, "%s '%.200s' can't be read: %s", kind, path,
                 stream  ? "larger than 16 MiB"
                 : errno ? strerror(errno)
                         : "no regular file");
        if (stream)
            fclose(stream);
        return NULL;
    }
    char *text = allocate(size + 1, 1);
    *bytes = fread(text, 1, size, stream);
    text[*bytes] = '\0';
    fclose(stream);
    return text;
}

json_t *user_table_read(struct user_table *table)
{
    json_error_t syntax;
    table->index = USER_TABLE_WHOLE;
    size_t bytes;
    table->text = user_table_text(table->kind, table->path, &bytes, table->error, USER_TABLE_ERROR_BYTES);
    if (!table->text)
        return NULL;
    json_t *root = json_loads(table->text, JSON_REJECT_DUPLICATES, &syntax);
    if (!root)
        say_line(table, syntax.line, syntax.text);
    return root;
}

char *user_table_default_path(const char *name)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool given = folder && *folder == '/'; /* the XDG specification has relative ones ignored */
    if (!given && !(home && *home))
        return NULL;
    char *path = NULL;
    int length = asprintf(&path, "%s%s/rooftap/%s", given ? folder : home, given ? "" : "/.config", name);
    return length < 0 ? NULL : path;
}
