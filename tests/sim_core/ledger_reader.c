/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ledgers back, and registers host stubs. */
#include "ledger_reader.h"

#include <string.h>
#include <unistd.h>

void ledger_use(const char *name)
{
    unlink(name);
    setenv("SIMGPU_LEDGER", name, 1);
}

json_t *ledger_lines(const char *name, const char *type, size_t whence)
{
    json_t *lines = json_array();
    FILE *file = fopen(name, "r");
    char *text = NULL;
    size_t size = 0;
    while (file && getline(&text, &size, file) > 0) {
        json_error_t error;
        if (!strchr(text, '\n'))
            break; /* the last one of a process killed in the middle of its write(2) */
        json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        if (!line)
            fail_msg("%s: not JSON: %s: %s", name, error.text, text);
        if (!type || !strcmp(text_of(line, "type"), type)) {
            if (whence)
                whence--;
            else
                json_array_append(lines, line);
        }
        json_decref(line);
    }
    free(text);
    if (file)
        fclose(file);
    return lines;
}

json_t *ledger_read(const char *name)
{
    return ledger_lines(name, NULL, 0);
}

size_t ledger_count(const char *name, const char *type)
{
    json_t *lines = ledger_lines(name, type, 0);
    size_t count = json_array_size(lines);
    json_decref(lines);
    return count;
}

uint64_t number_of(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    if (!json_is_integer(value))
        fail_msg("no number \"%s\"", key);
    return (uint64_t)json_integer_value(value);
}

const char *text_of(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    if (!json_is_string(value))
        fail_msg("no text \"%s\"", key);
    return json_string_value(value);
}

const void *stub_of(const char *name)
{
    static char stubs[256];
    static unsigned used;
    static void **handle;
    static int image;
    if (!handle)
        handle = __cudaRegisterFatBinary(&image);
    char *stub = &stubs[used++];
    __cudaRegisterFunction(handle, stub, stub, name, -1, NULL, NULL, NULL, NULL, NULL);
    return stub;
}
