/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap doctor [-- COMMAND]`: what will work here and why not, a line a check. Whatever may crash or hang is asked in a
 * child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/doctor_examination.h"
#include "cli/doctor_questions.h"
#include "cli/gpu_names.h"
#include "cli/gpu_options.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/sim_options.h"
#include "cli/simulation.h"

#define COMMAND "doctor"

enum { EXIT_FAIL = 1, LONGEST_TIMEOUT_S = 3600, MOST_CHECKS = 64 };

struct doctor_options {
    const char *folder, *simulate, *simulate_cuda, *sysroot, *timeout;
    struct option_list sim_options;
    bool json;
};

/* As they are shown, and as they stand in JSON. */
static const struct {
    const char *shown, *word;
} statuses[DOCTOR_STATUS_COUNT] = {
    [DOCTOR_OK] = {"OK", "ok"},
    [DOCTOR_WARN] = {"WARN", "warn"},
    [DOCTOR_FAIL] = {"FAIL", "fail"},
    [DOCTOR_UNKNOWN] = {"unknown", "unknown"},
};

struct findings {
    const struct doctor_check *checks[MOST_CHECKS];
    struct doctor_finding rows[MOST_CHECKS];
    int count, of_status[DOCTOR_STATUS_COUNT];
};

static void look(const struct doctor *doctor, struct findings *findings)
{
    for (const struct doctor_check *check = doctor_checks; check->name && findings->count < MOST_CHECKS; check++) {
        if (check->of_target && !doctor->argv)
            continue;
        struct doctor_finding *finding = &findings->rows[findings->count];
        findings->checks[findings->count++] = check;
        doctor_say(finding, DOCTOR_UNKNOWN, "nothing was found out");
        check->look(doctor, finding);
        findings->of_status[finding->status]++;
    }
}

/* ---- for people ---- */

/* What stands in evidence comes from files and drivers: one line stays one line. */
static void print_clean(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

static void print_text(const struct doctor *doctor, const struct findings *findings)
{
    if (doctor->gpu)
        printf("SIMULATED %s: what is said of the driver, GPUs and CUPTI is of the stand-ins\n", doctor->gpu->key);
    for (int i = 0; i < findings->count; i++) {
        const struct doctor_finding *finding = &findings->rows[i];
        printf("%-7s  %-13s  ", statuses[finding->status].shown, findings->checks[i]->name);
        print_clean(finding->evidence);
        if (*finding->fix) {
            printf("; to do: ");
            print_clean(finding->fix);
        }
        putchar('\n');
    }
    printf("%d checks: %d OK, %d WARN, %d FAIL, %d unknown\n", findings->count, findings->of_status[DOCTOR_OK],
           findings->of_status[DOCTOR_WARN], findings->of_status[DOCTOR_FAIL], findings->of_status[DOCTOR_UNKNOWN]);
}

/* ---- as JSON ---- */

/* A path or a driver's text need not be UTF-8. */
static json_t *text_or_null(const char *text)
{
    char clean[DOCTOR_EVIDENCE];
    json_t *value = json_string(text);
    if (value)
        return value;
    snprintf(clean, sizeof clean, "%s", text);
    for (char *c = clean; *c; c++)
        if ((unsigned char)*c >= 127)
            *c = '?';
    return json_string(clean);
}

static json_t *checks_of(const struct findings *findings)
{
    json_t *list = json_array();
    for (int i = 0; i < findings->count; i++) {
        const struct doctor_finding *finding = &findings->rows[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o, s:s}", "name", findings->checks[i]->name, "status",
                                        statuses[finding->status].word, "evidence", text_or_null(finding->evidence),
                                        "fix", *finding->fix ? text_or_null(finding->fix) : json_null(), "source",
                                        findings->checks[i]->source));
    }
    return list;
}

static json_t *command_of(char **argv)
{
    if (!argv)
        return json_null();
    json_t *list = json_array();
    for (; *argv; argv++)
        json_array_append_new(list, text_or_null(*argv));
    return list;
}

static bool print_json(const struct doctor *doctor, const struct findings *findings)
{
    json_t *root = json_pack("{s:i, s:s, s:s?, s:o, s:o}", "schema", 1, "rooftap_version", ROOFTAP_VERSION, "simulate",
                             doctor->gpu ? doctor->gpu->key : NULL, "command", command_of(doctor->argv), "checks",
                             checks_of(findings));
    json_t *summary = json_object();
    for (int status = 0; status < DOCTOR_STATUS_COUNT; status++)
        json_object_set_new(summary, statuses[status].word, json_integer(findings->of_status[status]));
    json_object_set_new(root, "summary", summary);
    bool good = root && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return good;
}

/* ---- the command ---- */

static bool find_gpu(const struct doctor_options *options, struct doctor *doctor)
{
    if (!options->simulate) {
        if (options->sim_options.count == 0 && !options->simulate_cuda)
            return true;
        message_error(COMMAND, "%s needs --simulate GPU", options->simulate_cuda ? "--simulate-cuda" : "--sim-option");
        return false;
    }
    doctor->gpu = gpu_names_find(options->simulate, COMMAND);
    if (!doctor->gpu)
        return false;
    if (!simulation_possible(doctor->gpu)) {
        message_error(COMMAND, "'%s' is no CUDA device and can't be simulated; 'rooftap gpus' tells which can",
                      doctor->gpu->key);
        return false;
    }
    return sim_options_check(&options->sim_options, COMMAND);
}

static bool read_timeout(const char *text, unsigned *timeout_s)
{
    size_t digits = text ? strspn(text, "0123456789") : 0;
    *timeout_s = DOCTOR_TIMEOUT_S;
    if (!text)
        return true;
    *timeout_s = digits > 0 && digits <= 4 && !text[digits] ? (unsigned)atoi(text) : 0;
    if (*timeout_s >= 1 && *timeout_s <= LONGEST_TIMEOUT_S)
        return true;
    message_error(COMMAND, "--timeout takes seconds, a whole number from 1 to %d, not '%s'", LONGEST_TIMEOUT_S, text);
    return false;
}

static int examine(const struct doctor_options *options, char **argv)
{
    struct findings *findings = calloc(1, sizeof *findings);
    struct doctor *doctor = calloc(1, sizeof *doctor);
    int status = EXIT_USAGE;
    bool good = true;
    if (!findings || !doctor) {
        message_error(COMMAND, "out of memory");
    } else if (find_gpu(options, doctor) && read_timeout(options->timeout, &doctor->timeout_s) &&
               gpu_options_load_table(NULL, COMMAND)) {
        doctor->folder = options->folder ? options->folder : ".";
        doctor->sysroot = options->sysroot ? options->sysroot : "";
        doctor->argv = argv;
        if (doctor_examine(doctor, &options->sim_options, options->simulate_cuda ? atoi(options->simulate_cuda) : 0,
                           COMMAND)) {
            look(doctor, findings);
            if (options->json)
                good = print_json(doctor, findings);
            else
                print_text(doctor, findings);
            status = !good ? EXIT_USAGE : findings->of_status[DOCTOR_FAIL] ? EXIT_FAIL : 0;
            doctor_examination_free(doctor);
        }
    }
    if (!good)
        message_not_printed(COMMAND);
    free(doctor);
    free(findings);
    return status;
}

int cmd_doctor(int argc, char **argv)
{
    static struct doctor_options options;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"output",        'o', OPTION_TEXT,   &options.folder,        "DIR",       "where the session would go; without it the current folder"},
        {"simulate",      's', OPTION_TEXT,   &options.simulate,      "GPU",       "look at the stand-ins of a simulated GPU: a name that 'rooftap gpus' lists"},
        {"simulate-cuda",  0,  OPTION_CHOICE, &options.simulate_cuda, "12|13",     "CUDA's major on the simulated GPU"},
        {"sim-option",     0,  OPTION_LIST,   &options.sim_options,   "KEY=VALUE", "change the simulated GPU, as for record"},
        {"timeout",        0,  OPTION_TEXT,   &options.timeout,       "SECONDS",   "longest that one question to the driver may take (30)"},
        {"sysroot",        0,  OPTION_TEXT,   &options.sysroot,       "DIR",       "read /proc and /dev below DIR, a copy from elsewhere"},
        {"json",          'j', OPTION_FLAG,   &options.json,          NULL,        "print JSON, as cli/DOCTOR.md describes it"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
        .about =
            "Tells what of a recording will work here and why not, a line a check: OK, WARN, FAIL or unknown, what\n"
            "was found, and what to do. With COMMAND also of that program, which is not run. Each question to the\n"
            "driver, NVML and CUPTI is asked in a process of its own; no context is made and nothing is launched.",
        .rows = rows,
        .footer = "The exit status is 0 if no check fails, 1 if one does, 2 for bad usage.",
    };
    int first, status;
    if (argc > 2 && strcmp(argv[1], "--probe") == 0) /* of cli/doctor_probe.c alone */
        return doctor_questions_ask(argc - 2, argv + 2);
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    status = examine(&options, first < argc ? argv + first : NULL);
    free(options.sim_options.values);
    return status;
}
