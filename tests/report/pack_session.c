/* SPDX-License-Identifier: Apache-2.0 */
/* pack_session FOLDER [CALIBRATION]: the session's files as one input of fuzz_report, to stdout. Of each block what is not
 * zeros; of each kind of trace the first file by name. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/report/session_parts.h"

static unsigned char bytes[TRACE_BLOCK_BYTES];

static void put(int part, size_t length)
{
    putchar(part);
    putchar((int)(length & 255));
    putchar((int)(length >> 8));
    fwrite(bytes, 1, length, stdout);
}

static void pack(int part, const char *path)
{
    size_t length;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    while ((length = fread(bytes, 1, sizeof bytes, file)) > 0) {
        while (part < SESSION_TEXT_PARTS && length && !bytes[length - 1])
            length--;
        put(part, length < UINT16_MAX ? length : UINT16_MAX);
    }
    fclose(file);
}

static int is_trace(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".trace");
}

int main(int count, char **argument)
{
    struct dirent **entries;
    char path[PATH_MAX];
    int found = count > 1 ? scandir(argument[1], &entries, is_trace, alphasort) : -1;
    if (found < 0)
        return 2;
    for (int i = 0; i < found && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", argument[1], entries[i]->d_name);
        pack(SESSION_PART_TRACE + i, path);
    }
    for (int part = SESSION_PART_CLOCKS; part < SESSION_PARTS; part++) {
        snprintf(path, sizeof path, "%s/%s", argument[1], session_part_files[part]);
        pack(part, part == SESSION_PART_CALIBRATION && count > 2 ? argument[2] : path);
    }
    return ferror(stdout) || fflush(stdout);
}
