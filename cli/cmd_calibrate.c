/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap calibrate`: measures what this GPU reaches and keeps it for reports. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/calibrate.h"
#include "cli/calibration_table.h"
#include "cli/commands.h"
#include "cli/gpu_names.h"
#include "cli/layout.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/sim_options.h"
#include "cli/simulation.h"

#define COMMAND "calibrate"

enum { EXIT_NOT_MEASURED = 1, SECONDS = 60, QUICK_SECONDS = 10 };

struct calibrate_arguments {
    const char *device;
    const char *output;
    const char *simulate;
    struct option_list sim_options;
    bool quick, json;
};

/* ---- the simulated GPU, in this very process ---- */

struct stand_ins {
    char folder[PATH_MAX]; /* temporary, with the device file and perhaps a link */
    struct layout layout;
};

/* How the simulator is to time calibrate's kernels: by their bytes, full with a block an SM. */
static bool add_byte_kernels(struct option_list *options, const struct gpu_spec *gpu, char text[2][96])
{
    int blocks = gpu->sm_count > 0 ? gpu->sm_count : 100; /* the simulator's own default */
    for (int i = 0; i < options->count; i++)
        if (sscanf(options->values[i], "sm_count=%d", &blocks) == 1 && blocks < 1)
            blocks = 1;
    const char **values = calloc((size_t)options->count + 2, sizeof *values);
    if (!values)
        return false;
    snprintf(text[0], 96, "byte_kernel = rooftap_copy:2:2:%d", blocks);
    snprintf(text[1], 96, "byte_kernel = rooftap_read:2:1:%d", blocks);
    values[0] = text[0];
    values[1] = text[1];
    for (int i = 0; i < options->count; i++)
        values[i + 2] = options->values[i];
    *options = (struct option_list){values, options->count + 2};
    return true;
}

static void remove_stand_ins(const struct stand_ins *stand_ins)
{
    static const char *const names[] = {SIMULATION_DEVICE_FILE, LAYOUT_LINK};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", stand_ins->folder, names[i]) < PATH_MAX)
            unlink(path);
    }
    rmdir(stand_ins->folder);
}

static bool prepare_stand_ins(const struct calibrate_arguments *arguments, struct stand_ins *stand_ins)
{
    char text[2][96], device[PATH_MAX];
    struct option_list options = arguments->sim_options;
    const struct gpu_spec *gpu = gpu_names_find(arguments->simulate, COMMAND);
    if (!gpu)
        return false;
    if (!simulation_possible(gpu)) {
        message_error(COMMAND, "'%s' is no CUDA device and can't be simulated; 'rooftap gpus' tells which can",
                      gpu->key);
        return false;
    }
    const char *temporary = getenv("TMPDIR");
    snprintf(stand_ins->folder, sizeof stand_ins->folder, "%s/rooftap-calibrate-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!sim_options_check(&options, COMMAND))
        return false;
    if (!add_byte_kernels(&options, gpu, text) || !mkdtemp(stand_ins->folder)) {
        message_error(COMMAND, "no temporary folder could be made: %m");
        return false;
    }
    bool good = layout_find(&stand_ins->layout, stand_ins->folder, COMMAND) &&
                simulation_write_device(stand_ins->folder, gpu, &options, COMMAND);
    free(options.values);
    if (good && access(stand_ins->layout.simulator_folder, R_OK) != 0) {
        message_error(COMMAND, "no stand-in libraries in '%s'; build rooftap with -DROOFTAP_SIM=ON",
                      stand_ins->layout.simulator_folder);
        good = false;
    }
    if (good && (snprintf(device, sizeof device, "%s/" SIMULATION_DEVICE_FILE, stand_ins->folder) >= PATH_MAX ||
                 setenv("SIMGPU_DEVICE", device, 1) != 0))
        good = false;
    if (!good)
        remove_stand_ins(stand_ins);
    return good;
}

/* ---- the command ---- */

static void show_progress(void *context, const char *what, double share)
{
    (void)context;
    fprintf(stderr, "\r\033[K%3.0f %% of the time, %s", share * 100, what);
    fflush(stderr);
}

static bool measure(const struct calibrate_arguments *arguments, int ordinal, const char *library_folder,
                    struct calibration *calibration)
{
    struct calibration_error error;
    bool terminal = isatty(STDERR_FILENO) == 1;
    const struct calibrate_options options = {
        .ordinal = ordinal,
        .quick = arguments->quick,
        .seconds = arguments->quick ? QUICK_SECONDS : SECONDS,
        .library_folder = library_folder,
        .progress = terminal ? show_progress : NULL,
    };
    bool good = calibrate(&options, calibration, &error);
    if (terminal)
        fputs("\r\033[K", stderr);
    if (!good)
        message_error(COMMAND, "%s", error.text);
    return good;
}

/* Where it went, freed by the caller; NULL: one line has been printed. */
static char *keep(const struct calibration *calibration, const char *output)
{
    struct calibration_error error;
    char *path = output ? strdup(output) : calibration_path(&calibration->device);
    if (!path) {
        message_error(COMMAND, "there is no place to keep it (no UUID of the GPU, or no HOME); name a file with -o");
        return NULL;
    }
    if (!output && !calibration_make_folders(path)) {
        message_error(COMMAND, "the folder of '%s' can't be made: %m; name a file with -o", path);
        free(path);
        return NULL;
    }
    if (calibration_write(calibration, path, &error))
        return path;
    message_error(COMMAND, "%s", error.text);
    free(path);
    return NULL;
}

/* Before a minute is spent. */
static bool can_write(const char *output)
{
    char folder[PATH_MAX];
    struct stat status;
    const char *slash = strrchr(output, '/');
    if (stat(output, &status) == 0 && !S_ISREG(status.st_mode)) {
        message_error(COMMAND, "'%s' is no regular file; give another one with -o", output);
        return false;
    }
    if (slash == output ||
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) : 1, slash ? output : ".") >= PATH_MAX)
        return true; /* the writing will tell */
    if (access(folder, W_OK) == 0)
        return true;
    message_error(COMMAND, "'%s' can't be written: %m; give another file with -o", output);
    return false;
}

static bool parse_ordinal(const char *text, int *ordinal)
{
    char *end;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (text && (errno || end == text || *end || value < 0 || value > 1023)) {
        message_error(COMMAND, "--device is '%s'; it takes CUDA's number of the GPU, from 0", text);
        return false;
    }
    *ordinal = (int)value;
    return true;
}

static int run(const struct calibrate_arguments *arguments)
{
    static struct calibration calibration;
    static struct stand_ins stand_ins;
    int ordinal;
    if (!parse_ordinal(arguments->device, &ordinal) || (arguments->output && !can_write(arguments->output)))
        return EXIT_USAGE;
    if (!arguments->simulate && arguments->sim_options.count) {
        message_error(COMMAND, "--sim-option needs --simulate GPU");
        return EXIT_USAGE;
    }
    if (arguments->simulate && !prepare_stand_ins(arguments, &stand_ins))
        return EXIT_USAGE;
    bool measured =
        measure(arguments, ordinal, arguments->simulate ? stand_ins.layout.simulator_folder : NULL, &calibration);
    if (arguments->simulate)
        remove_stand_ins(&stand_ins);
    if (!measured)
        return EXIT_NOT_MEASURED;
    char *path = keep(&calibration, arguments->output);
    if (!path)
        return EXIT_USAGE;
    if (arguments->json) {
        char *text = calibration_text(&calibration);
        puts(text ? text : "");
        free(text);
    } else {
        calibration_table_print(&calibration, path, stdout);
    }
    free(path);
    return 0;
}

int cmd_calibrate(int argc, char **argv)
{
    static struct calibrate_arguments arguments;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"device",     'd', OPTION_TEXT, &arguments.device,      "N",         "CUDA's number of the GPU, as CUDA_VISIBLE_DEVICES leaves it; 0 without it"},
        {"output",     'o', OPTION_TEXT, &arguments.output,      "FILE",      "where to keep it; without it where 'report' finds it by the GPU's UUID"},
        {"quick",      'q', OPTION_FLAG, &arguments.quick,       NULL,        "one shape a path, at most 10 seconds"},
        {"json",       'j', OPTION_FLAG, &arguments.json,        NULL,        "print what is kept, as classify/CALIBRATION.md describes it"},
        {"simulate",   's', OPTION_TEXT, &arguments.simulate,    "GPU",       "measure a simulated GPU: a name that 'rooftap gpus' lists"},
        {"sim-option",  0,  OPTION_LIST, &arguments.sim_options, "KEY=VALUE", "change the simulated GPU, as with 'rooftap record'"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]...",
        .about =
            "Measures what this GPU reaches: cuBLAS on every path, memory bandwidth and how many blocks it takes,\n"
            "and the least that a kernel takes. Lasts a minute at most. 'rooftap report' then shows the achievable\n"
            "roof beside the specification, for this very GPU.",
        .rows = rows,
        .footer =
            "Kept in ${XDG_DATA_HOME:-~/.local/share}/rooftap/calibration/, one file a GPU.\n"
            "The exit status is 0; 1 if there is no GPU, driver or cuBLAS, or the GPU failed; 2 for bad usage and a\n"
            "file that can't be written.",
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (first != argc) {
        message_error(COMMAND, "takes no argument, found '%s'", argv[first]);
        return EXIT_USAGE;
    }
    status = run(&arguments);
    free(arguments.sim_options.values);
    return status;
}
