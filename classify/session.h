/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded session, read and classified: what a report shows, as plain facts in structs. Numbers that are not known are
 * NAN or negative, texts NULL; texts come from strangers and may hold any byte but NUL. */
#ifndef CLASSIFY_SESSION_H
#define CLASSIFY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/calibration.h"
#include "classify/device_identity.h"
#include "classify/duration_histogram.h"
#include "classify/held_clock.h"
#include "classify/kernel_families.h"
#include "classify/launch_decode.h"
#include "classify/operator_join.h"
#include "classify/peak_option.h"
#include "classify/phases.h"
#include "classify/roofline.h"
#include "classify/session_info.h"
#include "classify/time_evidence.h"
#include "classify/timing_windows.h"
#include "classify/weights.h"
#include "classify/work.h"

enum { SESSION_DEVICE_UNKNOWN = -1, SESSION_PROVENANCE_COUNT = TRACE_NONE + 1 };

struct session_device {
    struct trace_device facts; /* of the first process that described it */
    bool described;            /* false: only its number is known, and facts holds nothing else */
    struct device_roofs roofs;
    struct device_identity identity; /* which row, and what contradicts it */
    struct gpu_spec *peak_row;       /* of --peak, which roofs then has; NULL: none */
    struct interval_set *intervals;
    struct interval_union busy;
    bool sampled; /* times of operators stand for more than was timed, and so for more than BUSY */
    struct device_time time_sets;
    struct device_time_sum time;     /* how busy it was, with what */
    struct copy_sums copied;         /* PEERS by index of the device in the session; longest time first */
    struct held_clock clocks;        /* while it was busy */
    struct calibration *calibration; /* NULL: none */
    char *calibration_file;
    char calibration_source[192];   /* when and how, in a few words */
    struct measured_roofs measured; /* what device_roof_achievable() takes of it; zeros without */
    uint64_t kernels, kernel_ns, copies, copy_ns, copy_bytes;
    uint64_t steps[PHASE_COUNT]; /* of the processes that used it; also where they used others as well */
    /* An empty kernel as calibrated; else the shortest kernel without a work model; NAN: there was none. */
    double floor_ns;
};

/* Launches of executable graphs of one process, as counted, and what of them was timed. */
struct session_replays {
    uint64_t graphs;         /* that were launched, or whose nodes are known */
    uint64_t graphs_unknown; /* of those: whose nodes are not */
    uint64_t launches;
    uint64_t kernels_launched; /* by the nodes of those that are known */
    uint64_t kernels_timed;    /* KERNEL records of those */
    uint64_t runs, run_ns;     /* launches that were timed as a whole */
};

enum session_timing { SESSION_TIMING_UNKNOWN, SESSION_TIMING_ON, SESSION_TIMING_OFF };

struct session_in_flight {
    uint32_t tid;
    char *entry;         /* NULL: not known */
    int64_t argument[7]; /* m n k batch lda ldb ldc */
};

struct session_process {
    char *file;              /* without the folder */
    int64_t pid, parent_pid; /* negative: not known */
    char *command, *hook_level, *version;
    char *rank; /* "RANK=3 LOCAL_RANK=1", as the environment said */
    enum session_timing timing;
    char *timing_text;
    bool timing_cut; /* CUPTI did not hand over in time what it held at exit */
    uint64_t start_realtime_ns;
    char *end;              /* "exit 0", "signal 9", "orderly", "running", "unknown" */
    bool running;           /* its trace is still written, and is not cut short */
    uint64_t named_kernels; /* GEMMs and attention by their names alone, that no library call owns */
    uint64_t shapeless_gemms,
        shapeless_gemm_time_ns; /* kernels among them that are named like a GEMM or GEMV, as timed */
    double kernel_time_ns;      /* of all of its kernels that were timed */
    int64_t blas_files;         /* files of cuBLAS and cuBLASLt in it; negative: not known */
    char *blas_unreached;       /* their paths, a line each, as far as nothing was called of them; NULL: not known */
    uint64_t calls, failed_calls, launches, kernels;
    struct session_in_flight *in_flight;
    size_t in_flight_count;
    struct joined_note *notes;
    size_t note_count;
    struct trace_reader_stats stats;
    struct joined_sums sums; /* present: its trace holds sums, not records */
    struct joined_rotation rotated;
    struct trace_counters counters;
    uint64_t records_dropped; /* by threads, CUPTI and the helper together */
    uint64_t drops_untold;    /* how often CUPTI didn't say: RECORDS_DROPPED is then the least */
    bool timed;               /* CUPTI was on, or said something: its number of kernels is known */
    struct clock_relation clock;
    /* As its threads counted; missing: recorded, but the blocks that held them are not in the file. */
    uint64_t calls_begun, launches_begun, launches_failed, calls_missing, launches_missing;
    struct timing_windows windows; /* modes, windows, marks, overhead */
    struct live_lengths lengths;
    struct session_replays replays;
};

enum operator_kind { OPERATOR_GEMM, OPERATOR_GEMV, OPERATOR_LEVEL3, OPERATOR_ATTENTION, OPERATOR_OTHER };

enum operator_graph {
    OPERATOR_GRAPH_NONE,
    OPERATOR_GRAPH_REST,    /* of its time, what is not shared out among its nodes */
    OPERATOR_GRAPH_UNKNOWN, /* all of its time: its nodes are not known */
};

/* Kernels of another name that serve an operator, whose time is part of its. */
struct operator_helper {
    char *name; /* NULL: not known */
    uint64_t kernels, time_ns;
};

/* A row of the report. */
struct operator_row {
    enum operator_kind kind;
    enum kernel_family family; /* of a kernel that no library call owns; unknown for a call */
    enum kernel_role role;
    char *name;   /* of the library function, or of the kernel; NULL: not known */
    int device;   /* index, or SESSION_DEVICE_UNKNOWN */
    bool of_call; /* a library call; signature and work hold */
    struct trace_signature signature;
    struct work work;
    enum trace_provenance shape_source;
    bool calls_known; /* false: kernels whose launch nobody saw */
    uint64_t calls;
    uint64_t executions; /* calls that TIME_NS covers; graph replays count */
    bool timed;          /* some process could have timed it */
    uint64_t kernels, time_ns;
    uint64_t blocks; /* of a call's kernel that took most of its time; of a kernel by name the most; 0: not known */
    bool persistent; /* that kernel is, by its name */
    bool blocks_left_out; /* some of its kernels' blocks are not known, so BLOCKS is not */
    struct duration_histogram
        durations;                 /* of executions of a call, of single kernels by name; as far as they were timed */
    struct time_evidence evidence; /* what TIME_NS, EXECUTIONS and KERNELS rest on */
    enum operator_graph graph;     /* no kernel, but what is left of an executable graph that was timed as a whole */
    uint32_t graph_id;
    double bandwidth_fill; /* share of the bandwidth that so many blocks can draw, as calibrated; NAN: not known */
    double flops, bytes, t_roof_ns; /* of all calls */
    double share;                   /* of the kernel time of all devices; NAN without any */
    double rows_at_ridge;           /* M*; INFINITY: no number of rows makes it compute-bound; NAN: not known */
    struct roofline roofline;
    /* Of a kernel by name that the table of launches has: what its launches mean. Products and attention that were read
     * differ by what they mean, and work, shape_source and kind follow from it; else it is why they were not, of several
     * readings the one there is most to do about. NULL: a library call, or a kernel that the table does not have. */
    struct launch_decode *launch;
    double bytes_least;              /* of all calls, where only bounds are known (experts, at_most); NAN: not known */
    struct operator_helper *helpers; /* KERNELS and TIME_NS hold them too; EXECUTIONS and CALLS don't */
    size_t helper_count;
    size_t merged_at; /* its place before the rows were sorted */
    /* Executions by the phase of their step, replays of graphs as well where it is known what they replayed (classify/
     * replay_phases.h); then captured calls are not in it. The sum may be less than all. */
    uint64_t phase_calls[PHASE_COUNT];
    bool replays_phased; /* they are, of all processes that launched graphs */
    double gain_ns;      /* what would be saved at the roof, at most the device's busy time; NAN: not known */
};

struct session_coverage {
    size_t processes_timed, processes_untimed; /* of those that used the GPU */
    bool kernels_known;                        /* false: no process was timed; all that CUPTI counts is not known */
    uint64_t calls, failed_calls, in_flight;
    uint64_t launches, failed_launches, kernels, kernels_invalid, kernels_unjoined;
    uint64_t kernels_untimed; /* invalid ones, and the calls and launches of processes that were not timed */
    uint64_t graph_kernels_unjoined, graph_time_unjoined_ns; /* kernels of graph replays that no call owns */
    uint64_t calls_missing, launches_missing;
    uint64_t records_dropped, drops_untold, records_damaged, blocks_damaged, records_unknown, buffers_lost;
    uint64_t copies_invalid; /* copies and memsets without a usable time */
    uint64_t
        records_foreign; /* of CUPTI, of kinds that were not asked for, or launched by nobody here: another client's */
    uint64_t copies;
    struct joined_beyond beyond;    /* of all processes that hold sums: more different things than they tell apart */
    struct joined_rotation rotated; /* of all processes */
    uint64_t newest_realtime_ns;    /* when the newest of all blocks was taken into use */
    uint64_t traces_cut;
    uint64_t
        sequences_dropped; /* calls and launches in more threads, streams or lists than are told apart: no siblings,
                                 * attention or phase is claimed of them */
    double gpu_time_ns;    /* all kernels of all devices that were timed, or stand for such; NAN: not known */
    struct time_evidence evidence;    /* of gpu_time_ns; executions of rows of calls and kernels by name together */
    uint64_t executions_without_time; /* executions that no time stands for, in rows that could be timed */
    double graph_shared_ns;  /* of gpu_time_ns: of graphs that were timed as a whole, shared out among their nodes, */
    double graph_rest_ns;    /* and what of them is not */
    double graph_unknown_ns; /* graph replays whose shapes are not known, timed as a whole or not */
    double launch_share
        [SESSION_PROVENANCE_COUNT]; /* by enum trace_provenance, of GEMM and attention launches; NAN: none */
    double gpu_time_share[SESSION_PROVENANCE_COUNT]; /* of gpu_time_ns */
    /* By enum launch_reading, of launches that no library call owns: executions, and their kernels' time. */
    uint64_t launches_by_reading[LAUNCH_READING_COUNT];
    double launch_time_ns_by_reading[LAUNCH_READING_COUNT];
    uint64_t helpers_uncharged; /* executions of helpers that no operator was found for; they keep rows of their own */
    /* Kernels that no library call owns and no pattern of names knows: operators whose family is unknown, longest first. */
    uint64_t unknown_family_kernels;
    double unknown_family_time_ns, unknown_family_share; /* NAN: not known */
};

/* Calls of one library function that failed alike. */
struct session_failure {
    char *name;     /* NULL: not known */
    int32_t status; /* what the last of them returned */
    uint64_t calls;
    struct operator_row first; /* only what the first of them asked: of_call, signature, work */
};

/* Of the traces that were read: what lay in the rings of a session still. */
struct session_in_memory {
    size_t traces;
    uint64_t bytes;
    bool collector; /* one is at work on them */
};

struct session_bad_file {
    char *text; /* one line: which, and why */
    bool newer_major;
};

/* What no trace tells: of the model that ran, as the user says with its config.json. */
struct session_model {
    int64_t query_heads, head_dim;
    int64_t
        window; /* keys that a row of every layer sees at most, its own included; 0: some layers see more, or not known */
};

struct session {
    char *path;                 /* as session_open() was given it */
    struct session_model model; /* zeros: none given */
    struct session_info info;
    bool simulated;
    struct held_clock_readings clocks; /* noted beside the run */
    struct session_device *devices;
    size_t device_count, device_capacity;
    struct session_process *processes;
    size_t process_count, process_capacity;
    struct operator_row *operators; /* longest time first */
    size_t operator_count, operator_capacity;
    struct weight_row *weights; /* longest time first */
    size_t weight_count;
    struct sibling_group *sibling_groups; /* most saved first */
    size_t sibling_group_count;
    struct naive_attention *naive_attention;
    size_t naive_attention_count;
    struct product_order *product_orders;
    size_t product_order_count;
    struct phase_sum phases[PHASE_COUNT]; /* of all operators with known work, by phase */
    struct phase_sum step;                /* of all of them together */
    struct session_coverage coverage;
    struct session_failure *failures;
    size_t failure_count, failure_capacity;
    struct session_bad_file *bad_files; /* traces that could not be read at all */
    size_t bad_file_count, bad_file_capacity;
    size_t trace_count; /* files that look like traces by name */
    struct session_in_memory in_memory;
};

struct session_error {
    char text[1024]; /* one line: what, where, what was expected, what to do */
};

/* What else a session is classified by. */
struct session_options {
    const struct peak_options *peaks; /* figures of --peak; NULL: none */
    struct session_model model;       /* zeros: none given */
    const char *calibration_file;     /* NULL: what `rooftap calibrate` kept for the GPUs of the session, if anything */
};

/* PATH is a session folder or one trace file. NULL and *error filled if it is neither. Traces in it that can't be read are
 * no error: they are in bad_files. */
struct session *session_open(const char *path, struct session_error *error);
/* OPTIONS may be NULL. One that does not fit the session is an error, too. */
struct session *session_open_with(const char *path, const struct session_options *options, struct session_error *error);
/* As the driver says, else as the row does; NAN: not known. */
double session_device_l2_bytes(const struct session_device *device);
/* What it computes is known: work, flops, bytes and roofline hold. A library call, or launches that were read. */
bool operator_row_has_work(const struct operator_row *op);
/* What its work runs on, on the GPU of SPEC, which may be NULL; work.path until the rows are classified. */
enum gpu_path operator_row_path(const struct operator_row *op, const struct gpu_spec *spec);
/* Executions that TIME_NS covers: of a kernel by name, kernels. */
uint64_t operator_row_covered(const struct operator_row *op);
/* All there were of a row, timed or not, replays of graphs counted. */
uint64_t operator_row_executions(const struct operator_row *op);
bool session_is_empty(const struct session *session); /* no process used the GPU */
/* What times of day are told from: when the launcher started the command, else when the first process was seen; 0: not known. */
uint64_t session_start_realtime_ns(const struct session *session);
/* A call, launch or kernel is in its trace, or its threads counted one. */
bool session_process_used_gpu(const struct session_process *process);
/* What rooftap itself took of the process's own threads, measured calls and callbacks standing for all, and of its wall time;
 * NAN: not known. */
double session_overhead_ns(const struct session_process *process);
double session_overhead_share(const struct session_process *process);
/* It ran kernels that are named like a GEMM or attention, and made no library call that was seen. */
bool session_process_asks_unseen(const struct session_process *process);
void session_close(struct session *session);

const char *operator_kind_name(enum operator_kind kind);
const char *provenance_name(enum trace_provenance provenance);
const char *note_name(uint32_t code);   /* of enum trace_note_code; NULL: a code of a newer minor version */
bool note_tells_of_loss(uint32_t code); /* something is missing that nothing else in a report tells of */

#endif
