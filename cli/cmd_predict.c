/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap predict`: what a model would ask of a GPU, from its config.json, with no GPU and no run. */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/model/checkpoint.h"
#include "classify/predict.h"
#include "cli/commands.h"
#include "cli/gpu_names.h"
#include "cli/gpu_options.h"
#include "cli/message.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "report/predict_json.h"
#include "report/predict_text.h"

#define COMMAND "predict"

struct request {
    const char *config, *gpu, *batch, *prompt, *context, *chunk, *tp, *weights, *kv, *dtype, *checkpoint, *table;
    bool json, fused;
};

static bool read_options(const struct request *request, struct predict_options *options)
{
    if (!request->config || !request->gpu) {
        message_error(COMMAND,
                      "needs --config with a config.json and --gpu with a name of 'rooftap gpus'; see 'rooftap help "
                      "predict'");
        return false;
    }
    if (!gpu_options_load_table(request->table, COMMAND))
        return false;
    options->fused = request->fused;
    options->gpu = gpu_names_find(request->gpu, COMMAND);
    return options->gpu && model_options_number(COMMAND, "batch", request->batch, 1, &options->batch) &&
           model_options_number(COMMAND, "prompt", request->prompt, 2048, &options->prompt) &&
           model_options_number(COMMAND, "context", request->context, options->prompt, &options->context) &&
           model_options_number(COMMAND, "chunk", request->chunk, 0, &options->chunk) &&
           model_options_number(COMMAND, "tp", request->tp, 1, &options->tensor_parallel) &&
           model_options_weights(COMMAND, request->weights, &options->weights) &&
           model_options_format(COMMAND, "kv", request->kv, MODEL_FORMAT_KV, &options->kv) &&
           model_options_format(COMMAND, "dtype", request->dtype, MODEL_FORMAT_OPERANDS, &options->operands);
}

/* Prints; a mismatch with the checkpoint is told on standard error too, and in the exit status. */
static int show(const struct request *request, const struct predict_view *view)
{
    bool good = request->json ? predict_json(view, stdout) : predict_text(view, stdout);
    if (!good) {
        message_not_printed(COMMAND);
        return EXIT_USAGE; /* 1 would be the checkpoint's */
    }
    const struct checkpoint_comparison *checkpoint = view->checkpoint;
    if (!checkpoint || checkpoint->verdict != CHECKPOINT_DIFFERENT)
        return 0;
    message_error(COMMAND, "%s and %s disagree: %s", view->config_path, view->checkpoint_path,
                  checkpoint->difference_count ? checkpoint->differences[0] : "the number of parameters differs");
    return 1;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int compare_and_show(const struct request *request, const struct predict *predict, const char *path)
{
    struct predict_view view = {.predict = predict, .config_path = path};
    struct checkpoint_comparison comparison;
    char file[PATH_MAX];
    bool named = request->checkpoint != NULL;
    const char *place = named ? request->checkpoint : request->config; /* what lies in a model's folder is at hand */
    bool found = is_folder(place) && checkpoint_find(place, file, sizeof file);
    if (named && !found)
        snprintf(file, sizeof file, "%s", place);
    if (named || found) {
        struct checkpoint checkpoint;
        struct model_error error;
        if (!checkpoint_read(file, &checkpoint, &error)) {
            message_error(COMMAND, "%s: %s%s", file, error.text,
                          named ? "" : "; name config.json itself to leave it out");
            return EXIT_USAGE;
        }
        checkpoint_compare(&checkpoint, predict->geometry, &comparison);
        checkpoint_free(&checkpoint);
        view.checkpoint = &comparison;
        view.checkpoint_path = file;
    }
    return show(request, &view);
}

static int predict(const struct request *request, const struct predict_options *options)
{
    char path[PATH_MAX + 16];
    struct model_config config;
    struct model_error error;
    if (!model_config_read(request->config, &config, path, sizeof path, &error)) {
        message_error(COMMAND, "%s: %s", path, error.text);
        return EXIT_USAGE;
    }
    int status = EXIT_USAGE;
    struct model_geometry geometry;
    struct predict result;
    if (!model_geometry_build(&config, &geometry, &error) || !predict_model(&geometry, options, &result, &error)) {
        message_error(COMMAND, "%s: %s", path, error.text);
    } else {
        status = compare_and_show(request, &result, path);
        predict_free(&result);
    }
    model_config_free(&config);
    return status;
}

int cmd_predict(int argc, char **argv)
{
    static struct request request;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"config", 'c', OPTION_TEXT, &request.config, "FILE", "the model's config.json, or the folder that holds it"},
        {"gpu", 'g', OPTION_TEXT, &request.gpu, "NAME", "a GPU of 'rooftap gpus'"},
        {"batch", 'b', OPTION_TEXT, &request.batch, "N", "sequences at once (default: 1)"},
        {"prompt", 'p', OPTION_TEXT, &request.prompt, "N", "tokens of each prompt (default: 2048)"},
        {"context", 'l', OPTION_TEXT, &request.context, "N", "tokens that a decode step attends to (default: the prompt's)"},
        {"chunk", 0, OPTION_TEXT, &request.chunk, "N", "prefill N tokens of one prompt at a time (default: all at once)"},
        {"weights", 'w', OPTION_TEXT, &request.weights, "FORMAT", "store linear layers as fp8, int4, q4_K, ... (default: config.json's)"},
        {"kv", 0, OPTION_TEXT, &request.kv, "FORMAT", "store the KV cache as fp8, ... (default: as activations)"},
        {"dtype", 0, OPTION_TEXT, &request.dtype, "FORMAT", "run in fp16, bf16 or fp32; fp8, int8, ...: linear layers only"},
        {"tp", 0, OPTION_TEXT, &request.tp, "N", "split the model over N GPUs (tensor parallel)"},
        {"fused", 0, OPTION_FLAG, &request.fused, NULL, "q, k and v as one GEMM, gate and up too, as engines do"},
        {"checkpoint", 0, OPTION_TEXT, &request.checkpoint, "FILE", "compare with a safetensors file or index, or a GGUF file\n"
         "                               (default: the safetensors that lie in the folder that --config names)"},
        {"gpu-table", 0, OPTION_TEXT, &request.table, "FILE", "GPU rows of your own before the built-in ones (cli/GPUS.md)"},
        {"json", 'j', OPTION_FLAG, &request.json, NULL, "print JSON; report/PREDICT_JSON.md documents it"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "--config FILE --gpu NAME [OPTION]...",
        .about = "Predicts the operators of one prefill and one decode step from a model's config.json and puts them "
                 "on the\n"
                 "roofline of a GPU: a bound, not a forecast. Needs no GPU and no run.",
        .rows = rows,
        .footer = "Exit status: 0; 1 where the checkpoint and config.json disagree; 2 where something can't be read, "
                  "used or printed.",
    };
    int first, status;
    request = (struct request){0};
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (first != argc) {
        message_error(COMMAND, "takes no argument, found '%s'", argv[first]);
        return EXIT_USAGE;
    }
    struct predict_options options = {0};
    return read_options(&request, &options) ? predict(&request, &options) : EXIT_USAGE;
}
