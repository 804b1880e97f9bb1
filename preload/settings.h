/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables through which the command talks to the library in the host: one table, both sides read it.
 * The only header of preload/ that code outside may include. Reading settings allocates nothing and can't fail. */
#ifndef PRELOAD_SETTINGS_H
#define PRELOAD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTING_CUPTI_API     "ROOFTAP_CUPTI_API"
#define SETTING_DELAY_MS      "ROOFTAP_DELAY_MS"
#define SETTING_DIR           "ROOFTAP_DIR"
#define SETTING_DISABLE       "ROOFTAP_DISABLE"
#define SETTING_DURATION_MS   "ROOFTAP_DURATION_MS"
#define SETTING_GRAPH_MOST    "ROOFTAP_GRAPH_KERNELS_MOST"
#define SETTING_SAMPLE_BUDGET "ROOFTAP_SAMPLE_BUDGET_PPM"
#define SETTING_SAMPLE_SEED   "ROOFTAP_SAMPLE_SEED"
#define SETTING_SAMPLE_WINDOW "ROOFTAP_SAMPLE_WINDOW_US"
#define SETTING_TIMING        "ROOFTAP_TIMING"
#define SETTING_EXIT_WAIT_MS  "ROOFTAP_EXIT_WAIT_MS"
#define SETTING_GRAPHS        "ROOFTAP_GRAPHS"
#define SETTING_JOIN          "ROOFTAP_JOIN"
#define SETTING_KV_LENGTHS    "ROOFTAP_KV_LENGTHS"
#define SETTING_LENGTHS       "ROOFTAP_LENGTHS"
#define SETTING_LOOKUP        "ROOFTAP_LOOKUP"
#define SETTING_MAX_OVERHEAD  "ROOFTAP_MAX_OVERHEAD_PPM"
#define SETTING_PARAMETERS    "ROOFTAP_PARAMETERS"
#define SETTING_REDACT_ARGS   "ROOFTAP_REDACT_ARGS"
#define SETTING_RING          "ROOFTAP_RING"

enum setting_kind { SETTING_PATH = 1, SETTING_SWITCH, SETTING_NUMBER, SETTING_CHOICE, SETTING_TEXT };
#define SETTING_DELAY_NEVER_MS INT64_C(315360000000) /* ten years: until `rooftap ctl start` */

enum setting_timing { /* as its choices stand */
                      SETTING_TIMING_AUTO,
                      SETTING_TIMING_NODE,
                      SETTING_TIMING_GRAPH,
                      SETTING_TIMING_SAMPLED,
                      SETTING_TIMING_EVENTS,
                      SETTING_TIMING_OFF,
                      SETTING_TIMING_ON, /* the same as auto */
};
enum setting_graphs { SETTING_GRAPHS_AUTO, SETTING_GRAPHS_CALLBACKS, SETTING_GRAPHS_CAPTURE, SETTING_GRAPHS_OFF };
enum setting_kv_lengths { SETTING_KV_OFF, SETTING_KV_WATCH, SETTING_KV_READ };            /* the same */
enum setting_join { SETTING_JOIN_AUTO, SETTING_JOIN_CORRELATION, SETTING_JOIN_EXTERNAL }; /* as its choices stand */
enum setting_cupti_api { SETTING_CUPTI_AUTO, SETTING_CUPTI_V1, SETTING_CUPTI_V2 };        /* the same */

struct setting {
    const char *variable;
    enum setting_kind kind;
    const char *default_text; /* "" for a path that has none */
    int64_t minimum, maximum; /* of SETTING_NUMBER */
    const char *help;         /* one line, without a full stop */
    const char *choices;      /* of SETTING_CHOICE, with | between them */
};

/* Rows in alphabetical order of variable; *COUNT rows. */
const struct setting *settings_table(size_t *count);
const struct setting *settings_find(const char *variable);

struct settings {
    const char *dir;  /* absolute folder of the session, points into the environment; NULL: record nothing */
    const char *ring; /* absolute folder of rings that somebody empties, points there too; NULL: record into files */
    bool disable;
    enum setting_timing timing;
    int64_t delay_ms;           /* SETTING_DELAY_NEVER_MS: until `rooftap ctl start` */
    int64_t duration_ms;        /* 0: without end */
    int64_t graph_kernels_most; /* 0: as CUPTI's version has it */
    uint32_t max_overhead_ppm;  /* 0: no bound */
    uint32_t sample_budget_ppm, sample_window_us;
    int64_t sample_seed; /* 0: drawn */
    bool redact_args;
    bool lookup;
    bool parameters;
    uint32_t exit_wait_ms;
    enum setting_join join;
    enum setting_kv_lengths kv_lengths;
    const char *lengths; /* buffers named by hand, points into the environment; NULL: none */
    enum setting_graphs graphs;
    enum setting_cupti_api cupti_api;
};

/* What TEXT means for ROW; NULL and nonsense mean the default. *UNDERSTOOD (may be NULL) tells nonsense apart, so that
 * the command can refuse what the host has to live with. */
bool settings_switch(const struct setting *row, const char *text, bool *understood);
int64_t settings_number(const struct setting *row, const char *text, bool *understood);
int settings_choice(const struct setting *row, const char *text, bool *understood); /* place in the choices, from 0 */

/* ---- ROOFTAP_LENGTHS: which parameter of which kernel points to sequence lengths ----
 *
 *   KERNEL:PARAMETER:COUNT[:int64][:cumulative][,...]
 *       KERNEL: name as in the binary, mangled; a * at its end stands for any rest. PARAMETER: the pointer, from 0.
 *       COUNT: how many lengths, a number; pN: the 32-bit integer that is parameter N; gx, gy, gz: that size of the grid
 *
 * Elements are of 32 bits unless int64 is said; cumulative: COUNT + 1 running sums. */
enum { LENGTH_RULES_MOST = 16, LENGTH_RULE_NAME_BYTES = 256 };

enum length_count { LENGTH_COUNT_NUMBER, LENGTH_COUNT_PARAMETER, LENGTH_COUNT_GRID };

struct length_rule {
    char kernel[LENGTH_RULE_NAME_BYTES];
    bool is_prefix;
    bool cumulative;
    uint32_t element_bytes;
    uint32_t parameter;
    enum length_count count_of;
    uint32_t count; /* number, parameter, or axis of the grid */
};

/* TEXT: as above; may be NULL. How many rules came of it; *UNDERSTOOD: all of it was one. */
int settings_length_rules(const char *text, struct length_rule rules[LENGTH_RULES_MOST], bool *understood);

/* From this process's environment. */
void settings_read(struct settings *settings);

/* From another: VALUE_OF gives a variable's value, NULL if it is not set. */
void settings_read_from(struct settings *settings, const char *(*value_of)(const char *name, const void *context),
                        const void *context);

#endif
