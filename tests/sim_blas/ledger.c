/* SPDX-License-Identifier: Apache-2.0 */
/* See ledger.h. */
#include "ledger.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64], device_path[64];

static void remove_files(void)
{
    unlink(path);
    if (device_path[0])
        unlink(device_path);
}

static int scratch_file(char *place)
{
    strcpy(place, "/tmp/rooftap-sim-blas-XXXXXX");
    const int file = mkstemp(place);
    if (file < 0) {
        perror("mkstemp");
        exit(2);
    }
    return file;
}

void ledger_use(const char *device_text)
{
    close(scratch_file(path));
    setenv("SIMGPU_LEDGER", path, 1);
    unsetenv("SIMGPU_LEDGER_MODE");
    unsetenv("SIMGPU_DEVICE");
    if (device_text) {
        const int file = scratch_file(device_path);
        if (write(file, device_text, strlen(device_text)) != (ssize_t)strlen(device_text))
            abort();
        close(file);
        setenv("SIMGPU_DEVICE", device_path, 1);
    }
    atexit(remove_files);
}

json_t *ledger_read(void)
{
    json_t *lines = json_array();
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 0) {
        json_error_t error;
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (!object) {
            fprintf(stderr, "ledger: %s in: %s", error.text, line);
            exit(2);
        }
        json_array_append_new(lines, object);
    }
    free(line);
    if (file)
        fclose(file);
    return lines;
}

void ledger_reset(void)
{
    if (truncate(path, 0)) /* it is written with O_APPEND */
        perror("truncate");
}

static int matches(json_t *line, const char *type, const char *function)
{
    const char *its_type = json_string_value(json_object_get(line, "type"));
    if (!its_type || strcmp(its_type, type))
        return 0;
    const char *name = json_string_value(json_object_get(line, "function"));
    return !function || (name && !strcmp(name, function));
}

json_t *ledger_line(json_t *lines, const char *type, const char *function, size_t nth)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (matches(line, type, function) && nth-- == 0)
            return line;
    }
    return NULL;
}

size_t ledger_count(json_t *lines, const char *type, const char *function)
{
    size_t count = 0;
    while (ledger_line(lines, type, function, count))
        count++;
    return count;
}
