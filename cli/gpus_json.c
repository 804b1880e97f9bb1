/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap gpus --json`, as GPUS.md describes it. Each object of gpus[] is a row that a table file may hold. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cli/gpus_view.h"

static json_t *known(double value)
{
    return value > 0 && isfinite(value) ? json_real(value) : json_null();
}

static json_t *known_count(int value)
{
    return value > 0 ? json_integer(value) : json_null();
}

static json_t *text(const char *value)
{
    return value ? json_string(value) : json_null();
}

static json_t *roofs_of(const struct gpu_spec *row, const char *dtype)
{
    json_t *roofs = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct gpu_path_info *info = &gpu_paths[path];
        if (!(row->flops_per_second[path] > 0) || (dtype && strcmp(dtype, info->word) && strcmp(dtype, info->group)))
            continue;
        json_array_append_new(roofs,
                              json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:o}", "path", info->word, "type",
                                        number_type_name(info->type), "accumulate", number_type_name(info->accumulate),
                                        "unit", info->unit, "flops_per_second", row->flops_per_second[path], "ridge",
                                        known(gpu_spec_ridge(row, (enum gpu_path)path)), "sparse_flops_per_second",
                                        known(row->sparse_flops_per_second[path]), "achievable_flops_per_second",
                                        known(row->achievable_flops_per_second[path])));
    }
    return roofs;
}

/* {"bf16": 1.652e14, ...}: only what is known. */
static json_t *figures_of(const double figures[GPU_PATH_COUNT])
{
    json_t *object = json_object();
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (figures[path] > 0)
            json_object_set_new(object, gpu_paths[path].word, json_real(figures[path]));
    return object;
}

static json_t *crossings_of(const struct gpus_view *view, const struct gpu_spec *row)
{
    struct gpus_crossing crossings[GPUS_CROSSINGS];
    int count = gpus_crossings(view, row, crossings);
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        const struct gpus_crossing *c = &crossings[i];
        if (isnan(gpu_spec_ridge(row, c->compute)))
            continue;
        json_array_append_new(
            array, json_pack("{s:i, s:s, s:s, s:f, s:f, s:o, s:o, s:o}", "group", view->group, "compute",
                             gpu_paths[c->compute].word, "kv", number_type_name(c->kv), "kv_bytes", c->kv_bytes,
                             "qo_bytes", c->qo_bytes, "ridge", known(gpu_spec_ridge(row, c->compute)), "tokens_kv",
                             known(gpu_spec_crossing_kv(row, c->compute, c->kv_bytes, view->group)), "tokens",
                             known(gpu_spec_crossing(row, c->compute, c->kv_bytes, c->qo_bytes, view->group))));
    }
    return array;
}

static json_t *names_of(const struct gpu_spec *row)
{
    json_t *names = json_array();
    for (int i = 0; i < GPU_DRIVER_NAMES && row->driver_names[i]; i++)
        json_array_append_new(names, json_string(row->driver_names[i]));
    return names;
}

static json_t *ids_of(const struct gpu_spec *row)
{
    json_t *ids = json_array();
    for (int i = 0; i < GPU_PCI_IDS && row->pci_ids[i]; i++) {
        char id[8];
        snprintf(id, sizeof id, "0x%04x", row->pci_ids[i]);
        json_array_append_new(ids, json_string(id));
    }
    return ids;
}

static json_t *gpu_object(const struct gpus_view *view, const struct gpu_spec *row)
{
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"key", text(row->key)},
        {"name", text(row->name)},
        {"driver_names", names_of(row)},
        {"pci_device_ids", ids_of(row)},
        {"compute_capability", text(row->compute_capability)},
        {"sm_count", known_count(row->sm_count)},
        {"clock_hz", known(row->clock_hz)},
        {"max_clock_hz", known(row->max_clock_hz)},
        {"memory_bytes", known(row->memory_bytes)},
        {"memory_bytes_also", known(row->memory_bytes_also)},
        {"bytes_per_second", known(row->bytes_per_second)},
        {"memory_bus_bits", known_count(row->memory_bus_bits)},
        {"l2_bytes", known(row->l2_bytes)},
        {"flops_per_second", figures_of(row->flops_per_second)},
        {"sparse_flops_per_second", figures_of(row->sparse_flops_per_second)},
        {"achievable_flops_per_second", figures_of(row->achievable_flops_per_second)},
        {"achievable_bytes_per_second", known(row->achievable_bytes_per_second)},
        {"achievable_source", text(row->achievable_source)},
        {"roofs", roofs_of(row, view->dtype)},
        {"source", text(row->source)},
        {"confidence", text(row->confidence)},
        {"origin", text(row->origin == GPU_ORIGIN_TABLE ? "table" : "table_file")},
        {"can_simulate", json_boolean(gpus_can_simulate(row))},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        json_object_set_new(object, members[i].key, members[i].value);
    if (view->group)
        json_object_set_new(object, "crossings", crossings_of(view, row));
    return object;
}

bool gpus_print_json(const struct gpus_view *view)
{
    json_t *gpus = json_array();
    for (size_t i = 0; i < view->count; i++)
        json_array_append_new(gpus, gpu_object(view, view->rows[i]));
    json_t *document = json_pack("{s:i, s:o}", "schema", 1, "gpus", gpus);
    bool good = document && json_dumpf(document, stdout, JSON_INDENT(2)) == 0;
    putchar('\n');
    json_decref(document);
    return good;
}
