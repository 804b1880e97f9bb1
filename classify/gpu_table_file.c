/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a row are a table; what is no member of it is refused with its line, so that a mistyped figure is not
 * left out silently. */
#include "classify/gpu_table_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "classify/allocate.h"
#include "classify/user_table.h"

/* ---- members ---- */

typedef bool member_reader(const struct user_table *at, const char *member, json_t *value, void *field);

/* Texts are printed as they are: a terminal must not take any of it for a command (ECMA-48: C0, DEL and C1). */
static bool is_printable(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return false;
    return true;
}

static bool read_text(const struct user_table *at, const char *member, json_t *value, void *field)
{
    if (json_is_null(value))
        return true;
    if (!json_is_string(value) || json_string_length(value) == 0)
        return user_table_complain(at, member, "\"%s\" is no text", member);
    if (!is_printable(json_string_value(value)))
        return user_table_complain(at, member, "\"%s\" must not hold control characters", member);
    *(const char **)field = json_string_value(value);
    return true;
}

static bool read_key(const struct user_table *at, const char *member, json_t *value, void *field)
{
    const char *key = json_string_value(value);
    if (!key || !*key || strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(key))
        return user_table_complain(at, member, "\"%s\" must be of small letters, digits and '-'", member);
    *(const char **)field = key;
    return true;
}

static bool read_number(const struct user_table *at, const char *member, json_t *value, void *field)
{
    if (json_is_null(value))
        return true;
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number > 0) || isinf(number))
        return user_table_complain(at, member, "\"%s\" must be a number above 0, or null where it is not known",
                                   member);
    *(double *)field = number;
    return true;
}

static bool read_count(const struct user_table *at, const char *member, json_t *value, void *field)
{
    if (json_is_null(value))
        return true;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || number > 1000000)
        return user_table_complain(
            at, member, "\"%s\" must be a whole number from 1 to 1000000, or null where it is not known", member);
    *(int *)field = (int)number;
    return true;
}

static bool read_names(const struct user_table *at, const char *member, json_t *value, void *field)
{
    const char **names = field;
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > GPU_DRIVER_NAMES)
        return user_table_complain(at, member, "\"%s\" must be a list of at most %d names", member, GPU_DRIVER_NAMES);
    for (size_t i = 0; i < count; i++) {
        if (!(names[i] = json_string_value(json_array_get(value, i))) || !*names[i])
            return user_table_complain(at, member, "\"%s\" must hold names as the driver gives them", member);
        if (!is_printable(names[i]))
            return user_table_complain(at, member, "\"%s\" must not hold control characters", member);
    }
    return true;
}

static bool read_pci_ids(const struct user_table *at, const char *member, json_t *value, void *field)
{
    uint16_t *ids = field;
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > GPU_PCI_IDS)
        return user_table_complain(at, member, "\"%s\" must be a list of at most %d ids", member, GPU_PCI_IDS);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(value, i));
        char *end;
        unsigned long id = text && !strncmp(text, "0x", 2) ? strtoul(text, &end, 16) : 0;
        if (id == 0 || id > UINT16_MAX || *end || strlen(text) != 6)
            return user_table_complain(at, member, "\"%s\" must hold ids such as \"0x2684\"", member);
        ids[i] = (uint16_t)id;
    }
    return true;
}

static bool read_peaks(const struct user_table *at, const char *member, json_t *value, void *field)
{
    double *peaks = field;
    const char *word;
    json_t *peak;
    if (!json_is_object(value))
        return user_table_complain(at, member, "\"%s\" must be an object such as {\"bf16\": 1.652e14}", member);
    json_object_foreach(value, word, peak)
    {
        if (gpu_path_by_word(word) == GPU_PATH_UNKNOWN)
            return user_table_complain(
                at, member, "\"%s\" has the unknown type \"%.40s\"; 'rooftap gpus --help' lists all", member, word);
        for (int path = 0; path < GPU_PATH_COUNT; path++)
            if ((!strcmp(gpu_paths[path].word, word) || !strcmp(gpu_paths[path].group, word)) &&
                !read_number(at, member, peak, &peaks[path]))
                return false;
    }
    return true;
}

static bool read_nothing(const struct user_table *at, const char *member, json_t *value, void *field)
{
    (void)at, (void)member, (void)value, (void)field;
    return true;
}

/* clang-format off */
static const struct {
    const char *name;
    member_reader *read;
    size_t offset;
} members[] = {
    {"key",                          read_key,     offsetof(struct gpu_spec, key)},
    {"name",                         read_text,    offsetof(struct gpu_spec, name)},
    {"driver_names",                 read_names,   offsetof(struct gpu_spec, driver_names)},
    {"pci_device_ids",               read_pci_ids, offsetof(struct gpu_spec, pci_ids)},
    {"compute_capability",           read_text,    offsetof(struct gpu_spec, compute_capability)},
    {"sm_count",                     read_count,   offsetof(struct gpu_spec, sm_count)},
    {"clock_hz",                     read_number,  offsetof(struct gpu_spec, clock_hz)},
    {"max_clock_hz",                 read_number,  offsetof(struct gpu_spec, max_clock_hz)},
    {"memory_bytes",                 read_number,  offsetof(struct gpu_spec, memory_bytes)},
    {"memory_bytes_also",            read_number,  offsetof(struct gpu_spec, memory_bytes_also)},
    {"bytes_per_second",             read_number,  offsetof(struct gpu_spec, bytes_per_second)},
    {"memory_bus_bits",              read_count,   offsetof(struct gpu_spec, memory_bus_bits)},
    {"l2_bytes",                     read_number,  offsetof(struct gpu_spec, l2_bytes)},
    {"flops_per_second",             read_peaks,   offsetof(struct gpu_spec, flops_per_second)},
    {"achievable_flops_per_second",  read_peaks,   offsetof(struct gpu_spec, achievable_flops_per_second)},
    {"achievable_bytes_per_second",  read_number,  offsetof(struct gpu_spec, achievable_bytes_per_second)},
    {"achievable_source",            read_text,    offsetof(struct gpu_spec, achievable_source)},
    {"source",                       read_text,    offsetof(struct gpu_spec, source)},
    {"confidence",                   read_text,    offsetof(struct gpu_spec, confidence)},
    /* what `gpus --json` prints beside them */
    {"roofs",                        read_nothing, 0},
    {"sparse_flops_per_second",      read_nothing, 0},
    {"can_simulate",                 read_nothing, 0},
    {"origin",                       read_nothing, 0},
    {"crossings",                    read_nothing, 0},
};
/* clang-format on */

static bool read_member(const struct user_table *at, const char *name, json_t *value, struct gpu_spec *row)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!strcmp(members[i].name, name))
            return members[i].read(at, name, value, (char *)row + members[i].offset);
    return user_table_complain(at, name, "unknown member \"%.40s\" of a GPU", name);
}

/* ---- rows ---- */

static bool read_row(const struct user_table *at, json_t *object, struct gpu_spec *row)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return user_table_complain(at, NULL, "a GPU must be an object");
    json_object_foreach(object, name, value)
    {
        if (!read_member(at, name, value, row))
            return false;
    }
    if (!row->key)
        return user_table_complain(at, NULL, "a GPU without \"key\"");
    if (!(row->bytes_per_second > 0))
        return user_table_complain(at, NULL, "GPU \"%.40s\" without \"bytes_per_second\"", row->key);
    row->name = row->name ? row->name : row->key;
    row->source = row->source ? row->source : at->path;
    row->confidence = row->confidence ? row->confidence : "as given by the user";
    row->pci_vendor = row->pci_ids[0] ? GPU_PCI_VENDOR_NVIDIA : 0;
    row->origin = GPU_ORIGIN_TABLE_FILE;
    return true;
}

static bool is_in(const char *const *names, const char *name)
{
    for (int i = 0; name && i < GPU_DRIVER_NAMES && names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* A look-up must have one answer. */
static bool check_unique(const struct user_table *at, const struct gpu_spec *rows)
{
    const struct gpu_spec *row = &rows[at->index];
    for (size_t i = 0; i < at->index; i++) {
        if (!strcmp(rows[i].key, row->key))
            return user_table_complain(at, "key", "the key \"%.40s\" is there twice", row->key);
        for (int a = 0; a < GPU_PCI_IDS && row->pci_ids[a]; a++)
            for (int b = 0; b < GPU_PCI_IDS; b++)
                if (rows[i].pci_ids[b] == row->pci_ids[a])
                    return user_table_complain(at, "pci_device_ids", "the PCI id 0x%04x is there twice",
                                               row->pci_ids[a]);
        for (int a = 0; a < GPU_DRIVER_NAMES; a++)
            if (is_in(rows[i].driver_names, row->driver_names[a]))
                return user_table_complain(at, "driver_names", "the name \"%.60s\" is there twice",
                                           row->driver_names[a]);
    }
    return true;
}

static bool read_rows(struct user_table *at, json_t *root, struct gpu_table_file *file)
{
    json_t *gpus = json_object_get(root, "gpus"), *schema = json_object_get(root, "schema");
    if (!json_is_array(gpus) || json_object_size(root) != (schema ? 2 : 1) ||
        (schema && json_integer_value(schema) != 1)) {
        return user_table_complain(at, NULL, "expected {\"gpus\": [...]}, at most with \"schema\": 1 beside it");
    }
    file->rows = allocate(json_array_size(gpus) + 1, sizeof *file->rows);
    for (at->index = 0; at->index < json_array_size(gpus); at->index++) {
        if (!read_row(at, json_array_get(gpus, at->index), &file->rows[at->index]) || !check_unique(at, file->rows))
            return false;
        file->count++;
    }
    return true;
}

/* ---- the file ---- */

struct gpu_table_file *gpu_table_file_read(const char *path, char error[USER_TABLE_ERROR_BYTES])
{
    struct user_table table = {.kind = "GPU table", .path = path, .list = "gpus", .error = error};
    struct gpu_table_file *file = allocate(1, sizeof *file);
    json_t *root = user_table_read(&table);
    file->texts = root;
    bool good = root && read_rows(&table, root, file);
    free(table.text);
    if (good)
        return file;
    gpu_table_file_free(file);
    return NULL;
}

void gpu_table_file_free(struct gpu_table_file *file)
{
    if (!file)
        return;
    json_decref(file->texts);
    free(file->rows);
    free(file);
}

char *gpu_table_file_default_path(void)
{
    return user_table_default_path("gpus.json");
}
