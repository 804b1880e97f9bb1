/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap gpus`: the table of roofs, ridges and crossing lengths, for people and as JSON, with the sources. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/gpu_names.h"
#include "cli/gpu_options.h"
#include "cli/gpus_view.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/simulation.h"

#define COMMAND "gpus"

bool gpus_can_simulate(const struct gpu_spec *row)
{
    return row->origin == GPU_ORIGIN_TABLE && simulation_possible(row);
}

/* ---- crossings ---- */

static double element_bytes(enum number_type type)
{
    static const double bits[NUMBER_TYPE_COUNT] = {
        [NUMBER_FP64] = 64,    [NUMBER_FP32] = 32,    [NUMBER_TF32] = 32, [NUMBER_BF16] = 16,    [NUMBER_FP16] = 16,
        [NUMBER_FP8_E4M3] = 8, [NUMBER_FP8_E5M2] = 8, [NUMBER_INT8] = 8,  [NUMBER_FP4_E2M1] = 4,
    };
    return bits[type] / 8;
}

int gpus_crossings(const struct gpus_view *view, const struct gpu_spec *row, struct gpus_crossing out[GPUS_CROSSINGS])
{
    bool has_bf16 = row->flops_per_second[GPU_PATH_BF16] > 0;
    enum gpu_path computes[] = {has_bf16 ? GPU_PATH_BF16 : GPU_PATH_FP16, GPU_PATH_FP8_E4M3};
    size_t compute_count = 2;
    int count = 0;
    if (view->dtype) {
        computes[0] = gpu_path_by_word(view->dtype);
        compute_count = 1;
    }
    for (size_t i = 0; i < compute_count; i++)
        for (int fp8 = 0; fp8 < 2; fp8++) {
            if (view->kv && strcmp(view->kv, fp8 ? "fp8" : "bf16") != 0)
                continue;
            out[count++] = (struct gpus_crossing){
                .compute = computes[i],
                .kv = fp8 ? NUMBER_FP8_E4M3 : NUMBER_BF16,
                .kv_bytes = fp8 ? 1 : 2,
                .qo_bytes = element_bytes(gpu_paths[computes[i]].type),
            };
        }
    return count;
}

/* ---- which rows ---- */

static enum gpu_path sort_path;

static int compare_ridges(const void *a, const void *b)
{
    double x = gpu_spec_ridge(*(const struct gpu_spec *const *)a, sort_path);
    double y = gpu_spec_ridge(*(const struct gpu_spec *const *)b, sort_path);
    return (x > y) - (x < y);
}

static void add_row(struct gpus_view *view, const struct gpu_spec *row)
{
    if (view->dtype && isnan(gpu_spec_ridge(row, gpu_path_by_word(view->dtype))))
        view->left_out++;
    else
        view->rows[view->count++] = row;
}

/* The user's rows, then the built-in ones that they don't replace; with --dtype by ascending ridge. */
static bool choose_rows(struct gpus_view *view)
{
    size_t user_count, count;
    const struct gpu_spec *user = gpu_specs_user_rows(&user_count), *rows = gpu_specs(&count);
    view->rows = calloc(user_count + count, sizeof(const struct gpu_spec *));
    if (!view->rows)
        return false;
    for (size_t i = 0; i < user_count; i++)
        add_row(view, &user[i]);
    for (size_t i = 0; i < count; i++)
        if (gpu_spec_by_key(rows[i].key) == &rows[i])
            add_row(view, &rows[i]);
    if (view->dtype) {
        sort_path = gpu_path_by_word(view->dtype);
        qsort(view->rows, view->count, sizeof(const struct gpu_spec *), compare_ridges);
    }
    return true;
}

/* By key, by the name that this command prints, or by the driver's. */
static const struct gpu_spec *find_named(const char *name)
{
    size_t count;
    const struct gpu_spec *row = gpu_spec_by_key(name), *rows = gpu_specs(&count);
    for (size_t i = 0; !row && i < count; i++)
        if (!strcmp(rows[i].name, name))
            row = &rows[i];
    if (!row)
        row = gpu_spec_by_driver_name(name);
    return row ? row : gpu_names_find(name, COMMAND);
}

static bool choose_named(struct gpus_view *view, const char *name)
{
    const struct gpu_spec *row = find_named(name);
    if (!row)
        return false;
    view->rows = calloc(1, sizeof(const struct gpu_spec *));
    if (!view->rows) {
        message_error(COMMAND, "out of memory");
        return false;
    }
    view->rows[view->count++] = row;
    view->one = true;
    return true;
}

/* ---- the command ---- */

static bool options_fit(const struct gpus_view *view, const char *lridge)
{
    char words[512] = "";
    if (view->dtype && gpu_path_by_word(view->dtype) == GPU_PATH_UNKNOWN) {
        for (int path = 0; path < GPU_PATH_COUNT; path++)
            if (path == 0 || strcmp(gpu_paths[path].group, gpu_paths[path - 1].group) != 0)
                snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", path ? ", " : "",
                         gpu_paths[path].group);
        message_error(COMMAND, "--dtype takes %s, not '%s'", words, view->dtype);
        return false;
    }
    if (lridge && view->group == 0) {
        message_error(COMMAND, "--lridge takes query heads per KV head, a whole number from 1 to 1024, not '%s'",
                      lridge);
        return false;
    }
    if (view->kv && !lridge) {
        message_error(COMMAND, "--kv is about --lridge; give that, too");
        return false;
    }
    return true;
}

/* 0: not a whole number from 1 to 1024. */
static int group_of(const char *text)
{
    size_t digits = text ? strspn(text, "0123456789") : 0;
    int group = digits > 0 && digits <= 4 && !text[digits] ? atoi(text) : 0;
    return group <= 1024 ? group : 0;
}

int cmd_gpus(int argc, char **argv)
{
    static struct gpus_view view;
    static const char *lridge, *table;
    static bool json;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"dtype",     'd', OPTION_TEXT,   &view.dtype, "TYPE",     "one type, GPUs by ascending ridge: TYPE as below"},
        {"lridge",    'l', OPTION_TEXT,   &lridge,     "G",        "lengths of context past which causal prefill attention is\n"
         "                               compute-bound, for G query heads per KV head"},
        {"kv",        0,   OPTION_CHOICE, &view.kv,    "bf16|fp8", "with --lridge: K and V of this type only"},
        {"gpu-table", 0,   OPTION_TEXT,   &table,      "FILE",     "GPU rows of your own before the built-in ones (cli/GPUS.md)"},
        {"json",      'j', OPTION_FLAG,   &json,       NULL,       "print JSON, as cli/GPUS.md describes it"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [GPU]",
        .about =
            "Lists the GPUs whose roofs are known, with the ridge of each type; with GPU (its name here, or exactly\n"
            "as its driver says) that one in full, with its sources. 'rooftap record --simulate' takes the names\n"
            "marked in column sim, in JSON can_simulate.",
        .rows = rows,
        .anywhere = true,
        .footer =
            "TYPE: fp64, fp32, tf32, bf16, fp16 (fp32 accumulate), fp16-acc16 (fp16 accumulate), fp8, fp8-acc16,\n"
            "int8, fp4, fp64-tensor; without tensor cores: fp16-fma, bf16-fma, int8-dp4a. Peaks are dense.",
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    view.group = group_of(lridge);
    if (argc - first > 1) {
        message_error(COMMAND, "takes one GPU, found also '%s'", argv[first + 1]);
        return EXIT_USAGE;
    }
    if (!options_fit(&view, lridge) || !gpu_options_load_table(table, COMMAND))
        return EXIT_USAGE;
    if (first < argc && !choose_named(&view, argv[first]))
        return EXIT_USAGE;
    bool good = (view.one || choose_rows(&view)) && (json ? gpus_print_json(&view) : gpus_print_text(&view));
    if (!good)
        message_not_printed(COMMAND);
    free(view.rows);
    return good ? 0 : EXIT_USAGE;
}
