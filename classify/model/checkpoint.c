/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the three kinds of files by their first bytes. One path for files and for bytes in memory. */
#include "classify/model/checkpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/allocate.h"
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

static bool read_file(const char *path, struct checkpoint *checkpoint, struct model_error *error)
{
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

/* ---- checkpoints in several files: "x-00002-of-00003.gguf" ---- */

enum { PART_DIGITS = 5, PARTS_MOST = 4096 };

/* Where the number of the part stands in PATH; *COUNT parts. NULL: one file. */
static const char *find_part(const char *path, int *count)
{
    static const char middle[] = "-of-";
    const char *of = NULL;
    for (const char *next = strstr(path, middle); next; next = strstr(next + 1, middle))
        of = next;
    if (!of || of - path <= PART_DIGITS || of[-PART_DIGITS - 1] != '-')
        return NULL;
    const char *total = of + sizeof middle - 1;
    if (strspn(of - PART_DIGITS, "0123456789") != PART_DIGITS || strspn(total, "0123456789") != PART_DIGITS ||
        total[PART_DIGITS] != '.')
        return NULL;
    *count = atoi(total);
    return *count > 0 && *count <= PARTS_MOST ? of - PART_DIGITS : NULL;
}

static void take_tensors(struct checkpoint *checkpoint, struct checkpoint *part)
{
    for (size_t i = 0; i < part->count; i++) {
        checkpoint->tensors =
            allocate_grow(checkpoint->tensors, checkpoint->count, &checkpoint->capacity, sizeof *checkpoint->tensors);
        checkpoint->tensors[checkpoint->count++] = part->tensors[i]; /* names move along */
    }
    part->count = 0;
    checkpoint_free(part);
}

static void take_part(struct checkpoint *checkpoint, struct checkpoint *part)
{
    if (part->gguf.layers >= 0 && checkpoint->gguf.layers < 0) /* the first part has them all */
        checkpoint->gguf = part->gguf;
    take_tensors(checkpoint, part);
    checkpoint->files_read++;
}

/* The parts that lie beside the one that was named; others are counted only. */
static bool read_parts(const char *path, const char *number, int count, struct checkpoint *checkpoint,
                       struct model_error *error)
{
    struct checkpoint named = {0};
    if (!read_file(path, &named, error)) /* it must be there, and tells the kind */
        return false;
    checkpoint->kind = named.kind;
    checkpoint->gguf = named.gguf;
    checkpoint->files = (size_t)count;
    for (int i = 1; i <= count; i++) {
        char other[PATH_MAX];
        struct checkpoint part = {0};
        struct model_error ignored;
        snprintf(other, sizeof other, "%.*s%0*d%s", (int)(number - path), path, PART_DIGITS, i, number + PART_DIGITS);
        if (i == atoi(number))
            take_part(checkpoint, &named);
        else if (!access(other, F_OK) && read_file(other, &part, &ignored) && part.kind == checkpoint->kind)
            take_part(checkpoint, &part);
        else
            checkpoint_free(&part);
    }
    checkpoint_free(&named);
    return true;
}

bool checkpoint_read(const char *path, struct checkpoint *checkpoint, struct model_error *error)
{
    int count;
    const char *number = find_part(path, &count);
    *checkpoint = (struct checkpoint){0};
    return number ? read_parts(path, number, count, checkpoint, error) : read_file(path, checkpoint, error);
}

bool checkpoint_find(const char *folder, char *path, size_t bytes)
{
    static const char *const names[] = {"model.safetensors.index.json", "model.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((size_t)snprintf(path, bytes, "%s/%s", folder, names[i]) < bytes && !access(path, F_OK))
            return true;
    }
    return false;
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
