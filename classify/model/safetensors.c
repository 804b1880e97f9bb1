/* SPDX-License-Identifier: Apache-2.0 */
/* Where all files of an index are there, their headers give shapes; else the names of the index are what is known. */
#include "classify/model/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/regular_file.h"

enum { FILES_MOST = 4096, LENGTH_BYTES = 8 };

#define ELEMENTS_MOST (UINT64_C(1) << 53)

static json_t *load(FILE *file, uint64_t bytes, struct model_error *error)
{
    char *text = allocate((size_t)bytes + 1, 1);
    size_t got = fread(text, 1, (size_t)bytes, file);
    json_error_t problem;
    json_t *root = got == bytes ? json_loadb(text, got, JSON_REJECT_DUPLICATES, &problem) : NULL;
    if (got != bytes)
        snprintf(error->text, sizeof error->text, "ends too early: %" PRIu64 " bytes expected, %zu found", bytes, got);
    else if (!root)
        snprintf(error->text, sizeof error->text, "is not JSON: line %d: %.200s", problem.line, problem.text);
    free(text);
    if (root && !json_is_object(root)) {
        snprintf(error->text, sizeof error->text, "is no JSON object; expected names of tensors");
        json_decref(root);
        return NULL;
    }
    return root;
}

static void add(struct checkpoint *checkpoint, const char *name, struct checkpoint_tensor tensor)
{
    checkpoint->tensors =
        allocate_grow(checkpoint->tensors, checkpoint->count, &checkpoint->capacity, sizeof *checkpoint->tensors);
    tensor.name = allocate_text(name);
    checkpoint->tensors[checkpoint->count++] = tensor;
}

static bool refuse(struct model_error *error, const char *name, const char *what)
{
    snprintf(error->text, sizeof error->text, "tensor '%.100s' %s", name, what);
    return false;
}

static bool read_shape(const char *name, const json_t *shape, struct checkpoint_tensor *tensor,
                       struct model_error *error)
{
    const json_t *size;
    size_t i;
    if (!json_is_array(shape) || json_array_size(shape) > CHECKPOINT_DIMENSIONS)
        return refuse(error, name, "has no 'shape' of at most 4 sizes");
    tensor->dimensions = (int)json_array_size(shape);
    tensor->shape_known = true;
    tensor->elements = 1;
    json_array_foreach((json_t *)shape, i, size)
    {
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return refuse(error, name, "has a size in 'shape' that is no whole number");
        tensor->shape[i] = (uint64_t)json_integer_value(size);
        if (tensor->shape[i] && tensor->elements > ELEMENTS_MOST / tensor->shape[i])
            return refuse(error, name, "is larger than any");
        tensor->elements *= tensor->shape[i];
    }
    return true;
}

static bool read_tensor(const char *name, const json_t *value, struct checkpoint *checkpoint, struct model_error *error)
{
    struct checkpoint_tensor tensor = {.bytes = NAN};
    const char *type = json_string_value(json_object_get(value, "dtype"));
    if (!type)
        return refuse(error, name, "has no 'dtype'");
    if (!read_shape(name, json_object_get(value, "shape"), &tensor, error))
        return false;
    tensor.format = model_format_by_safetensors(type);
    if (tensor.format)
        tensor.bytes = (double)tensor.elements * tensor.format->bits / 8;
    const json_t *offsets = json_object_get(value, "data_offsets");
    double from = (double)json_integer_value(json_array_get(offsets, 0));
    double to = (double)json_integer_value(json_array_get(offsets, 1));
    if (json_array_size(offsets) != 2 || to < from || from < 0)
        return refuse(error, name, "has no 'data_offsets' of two rising numbers");
    if (!isnan(tensor.bytes) && to - from != tensor.bytes)
        return refuse(error, name, "has 'data_offsets' that do not fit its shape and dtype");
    tensor.bytes = to - from;
    add(checkpoint, name, tensor);
    return true;
}

bool safetensors_read(FILE *file, uint64_t file_bytes, struct checkpoint *checkpoint, struct model_error *error)
{
    unsigned char raw[LENGTH_BYTES];
    uint64_t length = 0;
    checkpoint->kind = CHECKPOINT_SAFETENSORS;
    if (fread(raw, 1, sizeof raw, file) != sizeof raw) {
        snprintf(error->text, sizeof error->text, "ends too early for a safetensors file");
        return false;
    }
    for (int i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)raw[i] << (8 * i);
    if (length > CHECKPOINT_HEADER_LARGEST || length > file_bytes - LENGTH_BYTES) {
        snprintf(error->text, sizeof error->text,
                 "is no safetensors file: its header would have %" PRIu64 " bytes, the file has %" PRIu64, length,
                 file_bytes);
        return false;
    }
    json_t *root = load(file, length, error), *value;
    if (!root)
        return false;
    const char *name;
    bool good = true;
    json_object_foreach(root, name, value)
    {
        if (good && strcmp(name, "__metadata__") != 0)
            good = read_tensor(name, value, checkpoint, error);
    }
    json_decref(root);
    return good;
}

/* ---- the index ---- */

/* A plain name: an index must not lead anywhere else. */
static bool read_part(const char *folder, const char *name, struct checkpoint *checkpoint)
{
    char path[PATH_MAX];
    uint64_t bytes;
    struct model_error ignored;
    if (!*name || strchr(name, '/') || (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return false;
    FILE *file = regular_file_open(path, &bytes);
    bool good = file && bytes >= LENGTH_BYTES && safetensors_read(file, bytes, checkpoint, &ignored);
    if (file)
        fclose(file);
    return good;
}

static void read_parts(const json_t *map, const char *folder, struct checkpoint *parts)
{
    json_t *seen = json_object(), *value;
    const char *tensor;
    json_object_foreach((json_t *)map, tensor, value)
    {
        const char *name = json_string_value(value);
        if (!name || json_object_get(seen, name) || parts->files == FILES_MOST)
            continue;
        json_object_set_new(seen, name, json_true());
        parts->files++;
        if (folder && read_part(folder, name, parts))
            parts->files_read++;
    }
    json_decref(seen);
}

static uint64_t size_at(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    double size = json_number_value(value); /* some writers leave a real number */
    return json_is_number(value) && size > 0 && size < 9e15 ? (uint64_t)size : 0;
}

bool safetensors_index_read(FILE *file, uint64_t file_bytes, const char *folder, struct checkpoint *checkpoint,
                            struct model_error *error)
{
    if (file_bytes > CHECKPOINT_HEADER_LARGEST) {
        snprintf(error->text, sizeof error->text, "has %" PRIu64 " bytes; an index has %d at most", file_bytes,
                 CHECKPOINT_HEADER_LARGEST);
        return false;
    }
    json_t *root = load(file, file_bytes, error), *value;
    if (!root)
        return false;
    const json_t *map = json_object_get(root, "weight_map"), *metadata = json_object_get(root, "metadata");
    if (!json_is_object(map)) {
        snprintf(error->text, sizeof error->text, "has no 'weight_map'; expected a model.safetensors.index.json");
        json_decref(root);
        return false;
    }
    read_parts(map, folder, checkpoint);
    if (checkpoint->files_read < checkpoint->files) { /* names are all that is sure */
        struct checkpoint names = {.files = checkpoint->files, .files_read = checkpoint->files_read};
        checkpoint_free(checkpoint);
        *checkpoint = names;
        const char *name;
        json_object_foreach((json_t *)map, name, value) add(checkpoint, name, (struct checkpoint_tensor){.bytes = NAN});
    }
    checkpoint->kind = CHECKPOINT_SAFETENSORS_INDEX;
    checkpoint->total_bytes = size_at(metadata, "total_size");
    checkpoint->total_parameters = size_at(metadata, "total_parameters");
    json_decref(root);
    return true;
}
