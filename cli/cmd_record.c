/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap record -- cmd`: makes the session folder, puts the library (and stand-ins) in the
 * target's environment, runs it and hands its end on. Everything that can go wrong is found out
 * before the target starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "classify/gpu_specs.h"
#include "cli/clock_sampler.h"
#include "cli/collecting.h"
#include "cli/commands.h"
#include "cli/doctor_examination.h"
#include "cli/environment.h"
#include "cli/gpu_names.h"
#include "cli/layout.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/program.h"
#include "cli/record_sink.h"
#include "cli/session_folder.h"
#include "cli/sim_options.h"
#include "cli/simulation.h"
#include "cli/target.h"
#include "cli/timing_options.h"
#include "cli/timing_page.h"
#include "preload/settings.h"
#include "trace/refusals.h"
#include "trace/trace.h"
#include "trace/unused_cuda.h"

#define COMMAND "record"

struct record_options {
    const char *folder;
    const char *simulate;
    const char *simulate_cuda;
    struct option_list sim_options;
    struct timing_options timing;
    const char *ring;
    struct record_sink sink;
    bool no_clocks;
    bool strict;
    bool require_timing;
    const char *parameters; /* NULL: as the environment has it */
    bool redact_args;
    bool audit;
    bool quiet;
};

struct recording {
    const struct record_options *options;
    char **argv;
    const struct gpu_spec *gpu; /* to simulate, NULL: none */
    struct session_folder session;
    struct layout layout;
    struct program program;
    bool program_found;
    struct environment environment;
    struct clock_sampler sampler;
    struct collecting collecting;
    bool has_page; /* of `rooftap ctl` */
    struct target target;
};

/* The host has to live with nonsense in a ROOFTAP_ variable; here somebody can be told. */
static bool check_settings(void)
{
    size_t count;
    const struct setting *rows = settings_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *text = getenv(rows[i].variable);
        bool understood = true;
        if (rows[i].kind == SETTING_SWITCH)
            settings_switch(&rows[i], text, &understood);
        if (rows[i].kind == SETTING_NUMBER)
            settings_number(&rows[i], text, &understood);
        if (rows[i].kind == SETTING_CHOICE)
            settings_choice(&rows[i], text, &understood);
        struct length_rule rules[LENGTH_RULES_MOST];
        if (!strcmp(rows[i].variable, SETTING_LENGTHS))
            settings_length_rules(text, rules, &understood);
        if (understood)
            continue;
        if (rows[i].kind == SETTING_TEXT)
            message_error(COMMAND, "%s is '%s'; it takes %s", rows[i].variable, text, rows[i].help);
        else if (rows[i].kind == SETTING_SWITCH)
            message_error(COMMAND, "%s is '%s'; it takes on or off", rows[i].variable, text);
        else if (rows[i].kind == SETTING_CHOICE)
            message_error(COMMAND, "%s is '%s'; it takes %s", rows[i].variable, text, rows[i].choices);
        else
            message_error(COMMAND, "%s is '%s'; it takes a number from %lld to %lld", rows[i].variable, text,
                          (long long)rows[i].minimum, (long long)rows[i].maximum);
        return false;
    }
    return true;
}

static bool find_gpu(struct recording *recording)
{
    const struct record_options *options = recording->options;
    if (!options->simulate) {
        if (options->sim_options.count == 0 && !options->simulate_cuda)
            return true;
        message_error(COMMAND, "%s needs --simulate GPU", options->simulate_cuda ? "--simulate-cuda" : "--sim-option");
        return false;
    }
    recording->gpu = gpu_names_find(options->simulate, COMMAND);
    if (!recording->gpu)
        return false;
    if (!simulation_possible(recording->gpu)) {
        message_error(COMMAND, "'%s' is no CUDA device and can't be simulated; 'rooftap gpus' tells which can",
                      recording->gpu->key);
        return false;
    }
    return sim_options_check(&options->sim_options, COMMAND);
}

static bool fill_environment(struct recording *recording)
{
    struct environment *environment = &recording->environment;
    const char *shim = recording->layout.shim;
    bool good = environment_copy(environment) && environment_set(environment, SETTING_DIR, recording->session.folder) &&
                environment_append(environment, "LD_PRELOAD", shim) &&
                collecting_set_environment(&recording->collecting, environment);
    good = good && timing_options_set_environment(&recording->options->timing, environment);
    if (good && recording->options->audit)
        good = environment_append(environment, "LD_AUDIT", recording->layout.audit);
    if (good && recording->options->parameters)
        good = environment_set(environment, SETTING_PARAMETERS, recording->options->parameters);
    if (good && recording->options->redact_args)
        good = environment_set(environment, SETTING_REDACT_ARGS, "on");
    /* The driver loads this library at cuInit: timing starts before the first launch, and only
     * where CUDA is used. */
    const char *injection = environment_get(environment, "CUDA_INJECTION64_PATH");
    if (good && (!injection || !*injection))
        good = environment_set(environment, "CUDA_INJECTION64_PATH", shim);
    if (!good) {
        message_error(COMMAND, "out of memory");
        return false;
    }
    const char *major = recording->options->simulate_cuda;
    if (recording->gpu && !simulation_prepare(environment, &recording->layout, recording->session.folder,
                                              major ? atoi(major) : recording->program.cuda_major, COMMAND))
        return false;
    /* A loader that can't load ours says so, or gives up. */
    return !program_has_other_loader(&recording->program) ||
           (environment_restore(environment, "LD_PRELOAD") && environment_restore(environment, "LD_AUDIT"));
}

/* The ROOFTAP_ variables as the target gets them, ROOFTAP_DIR left out, since folders may be moved, and ROOFTAP_RING, which has
 * a place of its own. */
static json_t *settings_of(const struct environment *environment)
{
    size_t count;
    const struct setting *rows = settings_table(&count);
    json_t *values = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *text = environment_get(environment, rows[i].variable);
        if (strcmp(rows[i].variable, SETTING_DIR) != 0 && strcmp(rows[i].variable, SETTING_RING) != 0)
            json_object_set_new(values, rows[i].variable, json_string(text && *text ? text : rows[i].default_text));
    }
    return values;
}

/* False: --strict forbids to run what can't be recorded. */
static bool examine_target(struct recording *recording)
{
    if (!recording->program_found)
        return true;
    bool strict = recording->options->strict;
    const char *obstacle = program_obstacle(&recording->program);
    if (obstacle)
        message_error(COMMAND, "'%s' %s; it %s", recording->program.path, obstacle,
                      strict ? "is not started, since --strict was given" : "runs, but is not recorded");
    else if (recording->gpu)
        simulation_examine(&recording->program, COMMAND);
    return !obstacle || !strict;
}

/* Before the target starts, so that NVML is ready soon; nothing waits for it. */
static void start_sampler(struct recording *recording)
{
    char library[PATH_MAX], device[PATH_MAX];
    const char *folder = recording->session.folder;
    session_folder_add_file(&recording->session, TRACE_CLOCKS_FILE);
    if (!recording->gpu) {
        clock_sampler_start(&recording->sampler, folder, NULL, NULL);
    } else if (snprintf(library, sizeof library, "%s/libnvidia-ml.so.1", recording->layout.simulator_folder) <
                   PATH_MAX &&
               snprintf(device, sizeof device, "%s/" SIMULATION_DEVICE_FILE, folder) < PATH_MAX) {
        clock_sampler_start(&recording->sampler, folder, library, device);
    }
}

/* The trace of a process that lives on may still be in shared memory only. */
static bool has_recorded(const struct recording *recording)
{
    const struct collector_result *result = &recording->collecting.result;
    return session_folder_has_trace(&recording->session) || result->rings_alive || !result->settled;
}

/* Says in session.json what there is. Where nothing was recorded the file tells nothing and goes. */
static void end_sampler(struct recording *recording)
{
    struct session_folder *session = &recording->session;
    bool recorded = has_recorded(recording);
    struct clock_sampler_result result = {.why = "switched off by --no-clocks"};
    if (!recording->options->no_clocks)
        result = clock_sampler_stop(&recording->sampler, recorded);
    if (!recorded)
        session_folder_remove_file(session, TRACE_CLOCKS_FILE);
    else
        json_object_set_new(session->document, "clocks",
                            json_pack("{s:I, s:i, s:i, s:s?}", "samples", (json_int_t)result.samples, "gpus",
                                      (int)result.devices, "period_ms", (int)result.period_ms, "problem", result.why));
    clock_sampler_free(&recording->sampler);
}

/* Everything up to the target's first instruction. False: one line has been printed. */
static bool prepare(struct recording *recording)
{
    struct session_folder *session = &recording->session;
    bool found = layout_find(&recording->layout, session->folder, COMMAND) &&
                 (!recording->options->audit || layout_has_audit(&recording->layout, COMMAND));
    if (recording->layout.linked)
        session_folder_add_file(session, LAYOUT_LINK);
    if (!found)
        return false;
    if (refusals_make(session->folder))
        session_folder_add_file(session, TRACE_REFUSALS_FILE);
    if (!recording->gpu && unused_cuda_make(session->folder)) /* the simulator's libraries are in every process */
        session_folder_add_file(session, TRACE_UNUSED_CUDA_FILE);
    if ((recording->has_page = timing_page_make(session->folder)))
        session_folder_add_file(session, TIMING_CONTROL_FILE);
    if (recording->gpu) {
        if (!simulation_write_device(session->folder, recording->gpu, &recording->options->sim_options, COMMAND))
            return false;
        session_folder_add_file(session, SIMULATION_DEVICE_FILE);
    }
    const struct record_sink *sink = &recording->options->sink;
    bool quiet = recording->options->quiet || record_sink_needs_ring(sink);
    collecting_prepare(&recording->collecting, session, recording->options->ring, quiet, COMMAND);
    if (record_sink_needs_ring(sink) && !*recording->collecting.ring_folder) {
        record_sink_refuse(sink, COMMAND);
        return false;
    }
    if (*recording->collecting.ring_folder)
        ring_folder_limit_more(recording->collecting.ring_folder, record_sink_more_bytes(sink));
    recording->program_found = program_examine(&recording->program, recording->argv[0]);
    if (!fill_environment(recording) || !examine_target(recording))
        return false;
    if (!target_prepare(&recording->target, recording->argv, recording->environment.entries)) {
        message_error(COMMAND, "no process could be made: %m");
        return false;
    }
    json_t *settings = settings_of(&recording->environment);
    session->redact_args = settings_switch(settings_find(SETTING_REDACT_ARGS),
                                           environment_get(&recording->environment, SETTING_REDACT_ARGS), NULL);
    bool begun = session_folder_begin(session, recording->argv, recording->target.pid,
                                      recording->gpu ? recording->gpu->key : NULL, settings, COMMAND);
    json_decref(settings);
    if (!begun) {
        target_cancel(&recording->target);
        return false;
    }
    collecting_start(&recording->collecting, session, record_sink_make(sink, session->folder), COMMAND);
    if (!recording->options->no_clocks)
        start_sampler(recording);
    return true;
}

static void tell_session(const struct recording *recording)
{
    const struct session_folder *session = &recording->session;
    struct refusal refusals[REFUSAL_SLOTS];
    size_t count = refusals_read(session->folder, refusals);
    bool recorded = has_recorded(recording);
    if (count)
        message_error(COMMAND, "process %lld%s could not be recorded: no trace could be made in '%s' (%s)",
                      (long long)refusals[0].pid, count > 1 ? " and others" : "", session->shown,
                      strerror((int)refusals[0].error));
    collecting_tell(&recording->collecting, session, COMMAND);
    if (recorded)
        message_error(COMMAND, "the session is in %s; 'rooftap report %s' shows it", session->shown, session->shown);
    else if (!count)
        message_error(COMMAND, "nothing was recorded: no process used CUDA with rooftap loaded; the session is in %s",
                      session->shown);
}

/* A file that says nothing goes. */
static void end_refusals(const struct session_folder *session)
{
    struct refusal refusals[REFUSAL_SLOTS];
    if (!refusals_read(session->folder, refusals))
        session_folder_remove_file(session, TRACE_REFUSALS_FILE);
}

/* What the processes without a trace said goes into session.json; an empty list tells as well. */
static void end_unused(const struct recording *recording)
{
    const struct session_folder *session = &recording->session;
    struct unused_cuda processes[UNUSED_CUDA_SLOTS];
    if (recording->gpu)
        return;
    size_t count = unused_cuda_read(session->folder, processes);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)processes[i].pid, "runtime",
                                        json_string(processes[i].runtime), "driver", json_string(processes[i].driver)));
    json_object_set_new(session->document, "unused_cuda", list);
    session_folder_remove_file(session, TRACE_UNUSED_CUDA_FILE);
}

static int run(struct recording *recording)
{
    environment_free(&recording->environment); /* the child has its copy */
    if (recording->has_page)
        timing_page_begin(recording->session.folder);
    int error = target_start(&recording->target);
    if (error) {
        errno = error;
        message_error(COMMAND, "'%s' can't be run: %m", recording->argv[0]);
        clock_sampler_stop(&recording->sampler, false);
        clock_sampler_free(&recording->sampler);
        collecting_cancel(&recording->collecting);
        session_folder_discard(&recording->session);
        return target_exec_status(error);
    }
    struct simulation_watch watch = {recording->layout.simulator_folder, COMMAND, false};
    int status = target_wait(&recording->target, recording->gpu ? simulation_watch : NULL, &watch);
    collecting_finish(&recording->collecting, &recording->session);
    end_sampler(recording);
    end_refusals(&recording->session);
    end_unused(recording);
    if (recording->has_page &&
        !timing_page_is_used(recording->session.folder)) /* else ctl still reaches those that live on */
        session_folder_remove_file(&recording->session, TIMING_CONTROL_FILE);
    bool ended = session_folder_end(&recording->session, status, COMMAND);
    if (ended && !recording->options->quiet) /* else the line about session.json is the one to act on */
        tell_session(recording);
    session_folder_close(&recording->session);
    return target_pass_on(status);
}

/* False: one line has been printed. */
static bool check_timing(const struct recording *recording)
{
    const struct record_options *options = recording->options;
    const char *major = options->simulate_cuda;
    return !options->require_timing ||
           doctor_examination_requires_timing(recording->gpu, &options->sim_options, major ? atoi(major) : 0,
                                              options->timing.mode, recording->argv, COMMAND);
}

static int record(const struct record_options *options, char **argv)
{
    struct recording recording = {
        .options = options, .argv = argv, .sampler = {.gate = -1}, .collecting = {.collector = {.gate = -1}}};
    if (!check_settings() || !timing_options_check(&options->timing, COMMAND) ||
        !collecting_check(options->ring, COMMAND) || !record_sink_check(&options->sink, options->ring, COMMAND) ||
        !find_gpu(&recording) || !check_timing(&recording) ||
        !session_folder_open(&recording.session, options->folder, COMMAND))
        return EXIT_USAGE;
    if (!prepare(&recording)) {
        collecting_cancel(&recording.collecting);
        session_folder_discard(&recording.session);
        environment_free(&recording.environment);
        return EXIT_USAGE;
    }
    return run(&recording);
}

static const char about_status[] =
    "The exit status is COMMAND's own, and so is a death by a signal; 126 or 127 if it can't be run,\n"
    "as in a shell; 2 for bad usage, a folder that can't be used, or --strict, before COMMAND starts.";

static const char about_audit[] =
    "--audit has the loader ask rooftap about each function that it binds, in all processes: from glibc\n"
    "2.35 on that costs at start and in each dlopen(), and nothing in a call; an older glibc is slower in\n"
    "every call from one library to another, and does not ask for what is bound at start (-z now). Not\n"
    "asked about: functions called by the address that was stored for them (-fno-plt), and other\n"
    "namespaces (dlmopen). The report names libraries whose calls were missed.";

/* Those that record sets for what it starts, and those that a user may. */
static void write_variables(char *text, size_t size)
{
    size_t count, used = (size_t)snprintf(text, size, "Environment variables of COMMAND, with their defaults:\n");
    const struct setting *rows = settings_table(&count);
    for (size_t i = 0; i < count && used < size; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", rows[i].variable, *rows[i].default_text ? "=" : "", rows[i].default_text);
        used += (size_t)snprintf(text + used, size - used, "  %-26s %s\n", name, rows[i].help);
    }
}

int cmd_record(int argc, char **argv)
{
    static struct record_options options;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"output",     'o', OPTION_TEXT,   &options.folder,      "DIR",       "session folder; without it ./rooftap-<UTC time>-<pid>"},
        {"simulate",   's', OPTION_TEXT,   &options.simulate,    "GPU",       "run on a simulated GPU: a name that 'rooftap gpus' lists"},
        {"simulate-cuda", 0, OPTION_CHOICE, &options.simulate_cuda, "12|13", "CUDA's major on the simulated GPU; without it that of COMMAND's libraries, else the newest"},
        {"sim-option",  0,  OPTION_LIST,   &options.sim_options, "KEY=VALUE", "change the simulated GPU, for example gemm_kernels=2; keys below"},
        {"timing",      0,  OPTION_CHOICE, &options.timing.mode, TIMING_OPTIONS_MODES, "how kernels are timed (auto, the default; on is the same); told below"},
        {"delay",       0,  OPTION_TEXT,   &options.timing.delay, "TIME|ctl", "time no kernels before TIME after the start, or before 'rooftap ctl start'"},
        {"duration",    0,  OPTION_TEXT,   &options.timing.duration, "TIME",  "time kernels for TIME, from the start, from --delay on, or from each 'rooftap ctl start' on"},
        {"sample-budget", 0, OPTION_TEXT,  &options.timing.sample_budget, "PERCENT", "sampled timing: how much of the time it times (0.5)"},
        {"max-overhead", 0, OPTION_TEXT,   &options.timing.max_overhead, "PERCENT", "most that rooftap may take of the time in the program's threads: above it timing, then shapes are given up, and that is said"},
        {"kv-lengths",  0,  OPTION_CHOICE, &options.timing.kv_lengths, "off|watch|read", "sequence lengths that kernels read on the device: of the copies that fill their buffers (watch, the default), or where those do not tell, read back behind some replays of graphs"},
        {"parameters",  0,  OPTION_CHOICE, &options.parameters,  "on|off",    "keep the values of kernels' parameters, from which the report reads shapes where no library call tells them (on, the default)"},
        {"audit",       0,  OPTION_FLAG,   &options.audit,       NULL,        "also take calls that are bound past LD_PRELOAD (RTLD_DEEPBIND), by LD_AUDIT; what it costs is told below"},
        {"ring",        0,  OPTION_TEXT,   &options.ring,        "SIZE|off",  "most shared memory that a process takes for what is not in the session folder yet (16M); off: it writes there itself"},
        {"aggregate",   0,  OPTION_FLAG,   &options.sink.aggregate, NULL,     "keep sums, histograms and a few raw records of the whole run instead of all records: constant memory and disk"},
        {"max-size",    0,  OPTION_TEXT,   &options.sink.max_size, "SIZE",    "keep the session folder below SIZE (4M or more; K, M, G): the oldest records are written over, and counted"},
        {"no-clocks",   0,  OPTION_FLAG,   &options.no_clocks,   NULL,        "don't note the GPU's clocks beside the run (with NVML, from a process of its own)"},
        {"require-timing", 0, OPTION_FLAG, &options.require_timing, NULL,     "don't run COMMAND where kernels can't be timed, as 'rooftap doctor' finds out"},
        {"strict",      0,  OPTION_FLAG,   &options.strict,      NULL,        "don't run a COMMAND that can't be recorded (static, setuid, of another C library)"},
        {"redact-args", 0,  OPTION_FLAG,   &options.redact_args, NULL,        "keep the arguments of COMMAND and of its children out of the session"},
        {"quiet",      'q', OPTION_FLAG,   &options.quiet,       NULL,        "don't say where the session lies"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    char variables[6144], footer[12288];
    write_variables(variables, sizeof variables);
    snprintf(footer, sizeof footer, "%s\n\n%s\n\n%s\n\n%s\n%s", timing_options_help, about_status, about_audit,
             variables, sim_options_help());
    const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]...",
        .about = "Runs COMMAND and notes the matrix multiplies and kernel launches that it and its "
                 "children ask of\n"
                 "the GPU, with shapes and times. 'rooftap report' shows them.",
        .rows = rows,
        .footer = footer,
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    if (first == argc) {
        message_error(COMMAND, "no command to run; rooftap record [OPTION]... -- COMMAND [ARGUMENT]...");
        return EXIT_USAGE;
    }
    status = record(&options, argv + first);
    free(options.sim_options.values);
    return status;
}
