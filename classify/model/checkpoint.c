/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the three kinds of files by their first bytes. One path for files and for bytes in memory. */
#include "classify/model/checkpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/model/gguf.h"
#include "classify/model/safetensors.h"
#include "classify/regular_file.h"

enum { HEAD_BYTES = 9 };

/* A safetensors file has its length first, so its JSON begins at the ninth byte; an index is JSON from the first on. */
static bool read_any(FILE *file, uint64_t file_bytes, const char *folder, struct checkpoint *checkpoint,
                     struct model_error *error)
{
    char head[HEAD_BYTES] = {0};
    size_t got = fread(head, 1, sizeof head, file);
    rewind(file);
    bool good;
    if (got >= 4 && !memcmp(head, "GGUF", 4))
        good = gguf_read(file, file_bytes, checkpoint, error);
    else if (got == sizeof head && head[8] == '{')
        good = safetensors_read(file, file_bytes, checkpoint, error);
    else if (got > 0 && (head[0] == '{' || head[0] == ' ' || head[0] == '\n' || head[0] == '\r' || head[0] == '\t'))
        good = safetensors_index_read(file, file_bytes, folder, checkpoint, error);
    else {
        snprintf(error->text, sizeof error->text,
                 "is neither a safetensors file, nor its index, nor a GGUF file; expected one of these");
        good = false;
    }
    if (!good)
        checkpoint_free(checkpoint);
    return good;
}

bool checkpoint_parse(const void *data, size_t bytes, uint64_t file_bytes, struct checkpoint *checkpoint,
                      struct model_error *error)
{
    *checkpoint = (struct checkpoint){0};
    FILE *file = bytes ? fmemopen((void *)data, bytes, "r") : NULL;
    if (!file) {
        snprintf(error->text, sizeof error->text, "is empty");
        return false;
    }
    bool good = read_any(file, file_bytes, NULL, checkpoint, error);
    fclose(file);
    return good;
}

bool checkpoint_read(const char *path, struct checkpoint *checkpoint, struct model_error *error)
{
    *checkpoint = (struct checkpoint){0};
    uint64_t bytes;
    FILE *file = regular_file_open(path, &bytes);
    if (!file) {
        snprintf(error->text, sizeof error->text, "can't be read: %s",
                 errno ? strerror(errno) : "it is no regular file");
        return false;
    }
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    bool good = read_any(file, bytes, *folder ? folder : "/", checkpoint, error);
    fclose(file);
    return good;
}

void checkpoint_free(struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->count; i++)
        free(checkpoint->tensors[i].name);
    free(checkpoint->tensors);
    checkpoint->tensors = NULL;
    checkpoint->count = checkpoint->capacity = 0;
}

const char *checkpoint_kind_name(enum checkpoint_kind kind)
{
    static const char *const names[] = {"safetensors", "safetensors_index", "gguf"};
    return names[kind];
}
