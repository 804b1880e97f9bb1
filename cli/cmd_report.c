/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap report [DIR]`: chooses the session; report/ does the rest. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "classify/books.h"
#include "classify/model/gguf_model.h"
#include "classify/session_info.h"
#include "cli/commands.h"
#include "cli/gpu_options.h"
#include "cli/kernel_table.h"
#include "cli/launch_table.h"
#include "cli/message.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "cli/report_page.h"
#include "cli/session_folder.h"
#include "report/report.h"

#define COMMAND "report"

/* The UTC time in a name that `record` chose, as nanoseconds; -1: it is no such name. */
static int64_t time_of_name(const char *folder)
{
    const char *name = strrchr(folder, '/');
    struct tm time = {0};
    const char *end = strptime(name ? name + 1 : folder, "rooftap-%Y%m%dT%H%M%SZ", &time);
    return end && *end == '-' ? (int64_t)timegm(&time) * 1000000000 : -1;
}

/* When a recording began. Not the time of session.json: that is written again at the end, and a copy of it is newer. */
static int64_t time_of_session(const char *folder)
{
    struct session_info info = session_info_read(folder);
    int64_t started_ns = info.started_realtime_ns;
    session_info_free(&info);
    return started_ns >= 0 ? started_ns : time_of_name(folder);
}

/* The one that was started last; a folder without session.json is none of `record`'s. */
static bool find_newest(char *out)
{
    glob_t found;
    int64_t newest_ns = 0;
    bool any = false;
    if (glob("./rooftap-*/" SESSION_FILE, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char folder[PATH_MAX];
        const char *path = found.gl_pathv[i];
        snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
        int64_t started_ns = time_of_session(folder);
        if (any && started_ns < newest_ns)
            continue;
        any = true;
        newest_ns = started_ns;
        memcpy(out, folder, sizeof folder);
    }
    globfree(&found);
    return any;
}

/* The one that was named, or else the newest here. */
static const char *choose_session(int count, char **arguments)
{
    static char newest[PATH_MAX];
    if (count > 1) {
        message_error(COMMAND, "expected one session folder, found also '%s'", arguments[1]);
        return NULL;
    }
    if (count == 1)
        return arguments[0];
    if (find_newest(newest))
        return newest;
    message_error(COMMAND,
                  "no ./rooftap-* session here; name its folder, or make one with 'rooftap record -- COMMAND'");
    return NULL;
}

/* Options that contradict each other, or a key that the table doesn't have. */
static bool options_agree(const struct report_options *options, const struct page_request *page)
{
    char keys[REPORT_KEYS_BYTES];
    bool text_only = options->all || options->skinny || options->sort || options->by;
    if ((options->json || page_request_any(page)) && text_only) {
        message_error(COMMAND, "%s holds everything; --all, --by, --skinny and --sort are about the text",
                      options->json ? "--json"
                      : page->file  ? "--html"
                                    : "the page of --open");
        return false;
    }
    if (options->all && options->top) {
        message_error(COMMAND, "--all prints every row, --top %zu only some: expected one of the two", options->top);
        return false;
    }
    if (options->skinny && options->by) {
        message_error(COMMAND, "--skinny is by weight already; expected no --by");
        return false;
    }
    if (!report_sort_key_known(options)) {
        report_sort_keys(options, keys);
        message_error(COMMAND, "--sort takes one of %s here, not '%s'", keys, options->sort);
        return false;
    }
    return true;
}

/* What only a model's config.json makes use of. */
struct model_request {
    const char *model; /* of --model or --predict, whichever was given: either takes either kind of file */
    const char *tp, *weights, *kv, *context, *batch, *checkpoint;
};

/* A GGUF is told by its first bytes; anything else is read as a config.json, or the folder of one. */
static bool choose_model(const struct model_request *request, struct report_options *options)
{
    if (request->model && options->config) {
        message_error(COMMAND, "--model and --predict both name a model; expected one of the two");
        return false;
    }
    if (request->model && access(request->model, F_OK)) {
        message_error(COMMAND, "--model %s: %s; expected a .gguf file, a config.json or its folder", request->model,
                      strerror(errno));
        return false;
    }
    if (request->model)
        options->config = request->model;
    if (options->config && gguf_model_is(options->config)) {
        options->gguf = options->config;
        options->config = NULL;
    }
    return true;
}

/* PAGE: a page is to be made. */
static bool read_model(const struct model_request *request, bool page, struct report_options *options,
                       struct books_options *model)
{
    if (!choose_model(request, options))
        return false;
    bool any =
        request->tp || request->weights || request->kv || request->context || request->batch || request->checkpoint;
    if (!options->config && any) {
        message_error(COMMAND,
                      "--batch, --checkpoint, --context, --kv, --tp and --weights are about the config.json of "
                      "--predict or --model; expected that, too");
        return false;
    }
    bool table_only = options->skinny || options->sort || options->by || (options->top && !options->json && !page);
    if (options->config && table_only) {
        message_error(COMMAND, "--predict, or --model with a config.json, prints a table of its own; expected no --by, "
                               "--skinny, --sort or --top");
        return false;
    }
    options->model = model;
    model->checkpoint = request->checkpoint;
    return model_options_number(COMMAND, "tp", request->tp, 1, &model->model.tensor_parallel) &&
           model_options_number(COMMAND, "context", request->context, 0, &model->context) &&
           model_options_number(COMMAND, "batch", request->batch, 0, &model->batch) &&
           model_options_weights(COMMAND, request->weights, &model->model.weights) &&
           model_options_format(COMMAND, "kv", request->kv, MODEL_FORMAT_KV, &model->kv);
}

int cmd_report(int argc, char **argv)
{
    static struct report_options options;
    static struct option_list peak_values;
    static struct peak_options peaks;
    static const char *table, *kernel_table, *launch_table;
    static struct model_request request;
    static struct books_options model;
    static struct page_request page;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"json", 'j', OPTION_FLAG, &options.json, NULL, "print JSON, as report/JSON.md describes it"},
        {"html", 0, OPTION_TEXT, &page.file, "FILE", "write one HTML file that needs nothing else, for a browser; -: standard output"},
        {"open", 0, OPTION_FLAG, &page.open, NULL, "show that page on the desktop, or print its path (default FILE: report.html in DIR)"},
        {"all",  'a', OPTION_FLAG, &options.all,  NULL, "print every row, also on a terminal"},
        {"top",  'n', OPTION_COUNT, &options.top, "N", "print that many rows, and one for the rest; with --json or --html: hold as many"},
        {"sort", 's', OPTION_TEXT, &options.sort, "KEY", "order rows by time, calls, m, n, k, intensity, roof, gain, name, ... (a wrong KEY lists all)"},
        {"by",   0, OPTION_CHOICE, &options.by, REPORT_BY, "one row for each shape (default), weight, or kernel name"},
        {"skinny", 0, OPTION_FLAG, &options.skinny, NULL, "print skinny and starved weights alone, all of them"},
        {"model", 'm', OPTION_TEXT, &request.model, "FILE",
         "a model's .gguf: names its matrices, and closes the books of weight bytes; or a config.json, as --predict"},
        {"predict", 'p', OPTION_TEXT, &options.config, "FILE",
         "set measured weights beside those of a model's config.json: what matched, what is missing"},
        {"tp", 0, OPTION_TEXT, &request.tp, "N", "--predict: the model is split over N GPUs (tensor parallel)"},
        {"weights", 'w', OPTION_TEXT, &request.weights, "FORMAT", "--predict: stored as fp8, int4, q4_K, ... (default: config.json's)"},
        {"checkpoint", 0, OPTION_TEXT, &request.checkpoint, "FILE", "--predict: a safetensors file or index, or a GGUF file (default: one beside)"},
        {"context", 'l', OPTION_TEXT, &request.context, "N", "--predict: tokens that a decode step attends to"},
        {"batch", 'b', OPTION_TEXT, &request.batch, "N", "--predict: sequences of a decode step (default: its rows)"},
        {"kv", 0, OPTION_TEXT, &request.kv, "FORMAT", "--predict: KV cache as fp8, ... (default: as activations)"},
        {"peak", 0, OPTION_LIST, &peak_values, "[GPU:]TYPE=N,bw=N",
         "peaks of a GPU without a row in the table, in TFLOP/s and GB/s: bf16=165.2,bw=1008"},
        {"calibration", 0, OPTION_TEXT, &options.calibration_file, "FILE",
         "what 'rooftap calibrate -o FILE' measured; without it what it kept for this GPU, if anything"},
        {"gpu-table", 0, OPTION_TEXT, &table, "FILE", "GPU rows of your own, as cli/GPUS.md describes them"},
        {"kernel-table", 0, OPTION_TEXT, &kernel_table, "FILE",
         "patterns of kernel names of your own, as cli/KERNELS.md describes them"},
        {"launch-table", 0, OPTION_TEXT, &launch_table, "FILE",
         "how launches of your own kernels are read, as classify/LAUNCHES.md describes it"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [DIR]",
        .about = "Puts each operator of the session in DIR on the roofline of its GPU. Without DIR: the newest\n"
                 "./rooftap-* session.",
        .rows = rows,
        .anywhere = true,
        .footer =
            "--peak stands for the GPU as it is (nothing is scaled); it may be given more than once. GPU is its\n"
            "number in the report; with it, figures of the table are replaced, too. TYPE: 'rooftap gpus --help'.\n"
            "Without --gpu-table, ~/.config/rooftap/gpus.json is read if it is there, so is kernels.json without\n"
            "--kernel-table, and launches.jsonl without --launch-table.\n\n"
            "The exit status is 0, also for a recording that was cut short; 1 if nothing was recorded; 2 for\n"
            "bad usage, for a folder or file that is no session, or one of a newer rooftap, and for a model's file "
            "that\n"
            "can't be used.",
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (!options_agree(&options, &page) || !read_model(&request, page_request_any(&page), &options, &model))
        return EXIT_USAGE;
    if (!kernel_table_load(kernel_table, COMMAND) || !launch_table_load(launch_table, COMMAND) ||
        !gpu_options_load_table(table, COMMAND) || !gpu_options_read_peaks(&peak_values, &peaks, COMMAND))
        return EXIT_USAGE;
    options.peaks = &peaks;
    options.session_folder = choose_session(argc - first, argv + first);
    if (!options.session_folder)
        return EXIT_USAGE;
    return page_request_any(&page) ? report_page_command(&page, &options, COMMAND)
                                   : report_command(&options, stdout, stderr);
}
