/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap gpus`: the table of roofs, for people and as JSON, with the source of each row. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "classify/gpu_specs.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/simulation.h"

#define COMMAND "gpus"

static bool print_text(void)
{
    size_t count;
    const struct gpu_spec *rows = gpu_specs(&count);
    printf("%-22s %-3s  %-32s %6s %5s %8s %8s %9s %9s %8s  %s\n", "name", "sim", "GPU", "CC", "SMs", "mem GB", "GB/s",
           "bf16 TF/s", "fp32 TF/s", "ridge", "source");
    for (size_t i = 0; i < count; i++) {
        const struct gpu_spec *gpu = &rows[i];
        enum gpu_path path = gpu->flops_per_second[GPU_PATH_BF16] > 0 ? GPU_PATH_BF16 : GPU_PATH_FP16;
        double ridge = gpu_spec_ridge(gpu, path);
        printf("%-22s %-3s  %-32s ", gpu->key, simulation_possible(gpu) ? "yes" : "no", gpu->name);
        /* printf counts bytes, and a dash has three. */
        if (gpu->compute_capability)
            printf("%6s ", gpu->compute_capability);
        else
            printf("     – ");
        if (gpu->sm_count)
            printf("%5d ", gpu->sm_count);
        else
            printf("    – ");
        printf("%8.0f %8.0f ", gpu->memory_bytes / 1e9, gpu->bytes_per_second / 1e9);
        if (gpu->flops_per_second[path] > 0)
            printf("%8.1f%c ", gpu->flops_per_second[path] / 1e12, path == GPU_PATH_FP16 ? '*' : ' ');
        else
            printf("       –  ");
        if (gpu->flops_per_second[GPU_PATH_FP32] > 0)
            printf("%9.1f ", gpu->flops_per_second[GPU_PATH_FP32] / 1e12);
        else
            printf("        – ");
        if (isfinite(ridge))
            printf("%8.1f  ", ridge);
        else
            printf("       –  ");
        printf("%s\n", gpu->source);
    }
    puts("\nDense peaks, 16-bit operands with fp32 accumulate; * fp16, the GPU has no bf16. Ridge "
         "in FLOP/byte.\nsim: 'rooftap record --simulate' takes the name.");
    return true;
}

static json_t *known(double value)
{
    return value > 0 && isfinite(value) ? json_real(value) : json_null();
}

static json_t *roofs_of(const struct gpu_spec *gpu)
{
    json_t *roofs = json_array();
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct gpu_path_info *info = &gpu_paths[path];
        if (!(gpu->flops_per_second[path] > 0))
            continue;
        json_array_append_new(roofs, json_pack("{s:s, s:s, s:s, s:f, s:o}", "type", number_type_name(info->type),
                                               "accumulate", number_type_name(info->accumulate), "unit", info->unit,
                                               "flops_per_second", gpu->flops_per_second[path], "ridge",
                                               known(gpu_spec_ridge(gpu, (enum gpu_path)path))));
    }
    return roofs;
}

static json_t *gpu_object(const struct gpu_spec *gpu)
{
    json_t *ids = json_array();
    for (int i = 0; i < GPU_PCI_IDS && gpu->pci_ids[i]; i++) {
        char text[8];
        snprintf(text, sizeof text, "0x%04x", gpu->pci_ids[i]);
        json_array_append_new(ids, json_string(text));
    }
    return json_pack("{s:s, s:s, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?, s:b}", "key", gpu->key, "name",
                     gpu->name, "pci_device_ids", ids, "compute_capability", gpu->compute_capability, "sm_count",
                     gpu->sm_count ? json_integer(gpu->sm_count) : json_null(), "clock_hz", known(gpu->clock_hz),
                     "memory_bytes", known(gpu->memory_bytes), "bytes_per_second", known(gpu->bytes_per_second),
                     "roofs", roofs_of(gpu), "source", gpu->source, "confidence", gpu->confidence, "can_simulate",
                     simulation_possible(gpu));
}

static bool print_json(void)
{
    size_t count;
    const struct gpu_spec *rows = gpu_specs(&count);
    json_t *gpus = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(gpus, gpu_object(&rows[i]));
    json_t *document = json_pack("{s:i, s:o}", "schema", 1, "gpus", gpus);
    bool good = document && json_dumpf(document, stdout, JSON_INDENT(2)) == 0;
    putchar('\n');
    json_decref(document);
    return good;
}

int cmd_gpus(int argc, char **argv)
{
    static bool json;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "print JSON: {schema, gpus: [{key, name, ..., roofs, source}]}"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]...",
        .about = "Lists the GPUs whose roofs are known. 'rooftap record --simulate' takes "
                 "the names marked in column sim, in JSON can_simulate.",
        .rows = rows,
        .footer = NULL,
    };
    int first;
    switch (options_parse(&set, argc, argv, &first)) {
    case OPTIONS_HELP:
        return 0;
    case OPTIONS_BAD:
        return EXIT_USAGE;
    case OPTIONS_OK:
        break;
    }
    if (first != argc) {
        message_error(COMMAND, "takes no argument, found '%s'", argv[first]);
        return EXIT_USAGE;
    }
    bool good = json ? print_json() : print_text();
    if (!good)
        message_error(COMMAND, "out of memory");
    return good ? 0 : 1;
}
