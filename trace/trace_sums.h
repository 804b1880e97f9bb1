/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the contract of trace.h, since 1.4: what a collector writes in place of records that it does not keep. Their sums
 * (`record --aggregate`), or how many of the oldest are gone (`record --max-size`). A host never writes these. A file that
 * holds sums is written whole, again and again; its blocks are numbered from TRACE_SUMS_SEQUENCE on, which no host reaches,
 * so that they are never taken for blocks of a ring. */
#ifndef TRACE_TRACE_SUMS_H
#define TRACE_TRACE_SUMS_H

#include "trace/trace.h"

/* The columns below are read as a drawing of the bytes. */
/* clang-format off */

#define TRACE_SUMS_SEQUENCE (1ull << 47)

enum {
    TRACE_SUMS_PHASES = 3,       /* unknown, prefill, decode */
    TRACE_SUMS_RECENT = 8,       /* executions of one row that may still get kernels */
    TRACE_SUMS_SIBLINGS = 8,
    TRACE_SUMS_GAP_LAUNCHES = 2, /* before each sibling */
    TRACE_SUMS_SOFTMAX_LAUNCHES = 8,
};

/* Of the whole process, once. Counts are of records, whether a row below holds them or not. */
struct trace_sum_process {
    struct trace_record record;
    uint32_t more_summed;        /* 1: what the process wrote into its *.more.trace is in here, so a reader leaves that file out */
    uint32_t final;              /* 1: the process has ended and all of it is in here */
    uint64_t written_realtime_ns;
    uint64_t blocks, records;    /* that were summed */
    uint64_t blocks_damaged, records_damaged, records_unknown;
    uint64_t blocks_lost;        /* that the collector could not take */
    uint64_t calls, failed_calls, launches, kernels;
    uint64_t kernels_without_owner, kernels_invalid;
    uint64_t graph_kernels_unowned, graph_time_unowned_ns;
    uint64_t steps[TRACE_SUMS_PHASES];
    double rows[TRACE_SUMS_PHASES]; /* sum over those steps of their mean M */
    uint64_t steps_dropped, sequences_dropped;
    /* Of more different things than are told apart: these calls are in no row, kernels and launches in that without a name. */
    uint64_t calls_beyond, failed_beyond, launches_beyond, kernels_beyond, time_beyond_ns;
    uint64_t names_beyond;       /* kernels' names that are not kept */
    uint64_t samples_of;         /* records out of which the SAMPLE records were drawn */
    /* since 1.6: */
    uint64_t shapes_beyond;      /* launches and kernels by name, whose parameters there was no room for */
};

/* Of one signature, which stands before it in the same block. */
struct trace_sum_calls {
    struct trace_record record;
    uint32_t signature_offset;
    int32_t failed_status;       /* of the last failed call */
    uint64_t calls, failed;
    uint64_t phase_calls[TRACE_SUMS_PHASES];
    /* Of a grouped call, whose GROUPS record is not kept: what its groups ask together. */
    uint32_t groups_known, groups_at_most;
    double groups_flops, groups_bytes;
};

/* Launches of one kernel that the program itself made. */
struct trace_sum_launches {
    struct trace_record record;
    uint64_t name_id;            /* 0: not known */
    uint64_t shape_id;           /* where it is not: struct trace_launch_shape.id; 0: of all that are not told apart. Since 1.6
                                  * also beside a name: of a launch whose parameters are kept */
    uint64_t launches;
    uint64_t phase_launches[TRACE_SUMS_PHASES];
};

/* Launches of one shape whose kernels have this name: what launches without a name are called. */
struct trace_sum_shape {
    struct trace_record record;
    uint64_t shape_id, name_id, launches;
};

/* A time and how often: bucket << 48 | count. A bucket is one of 32 equal parts of an octave: times below 32 ns have a bucket
 * of their own; of times from 2^e ns on, e >= 5, it is (e - 4) * 32 + the 5 bits behind the leading one. */
#define TRACE_SUMS_BUCKET_SHIFT 48
enum { TRACE_SUMS_BUCKETS = 60 * 32 };

/* Kernels of one device that belong together: of one signature, or of one name. */
struct trace_sum_kernels {
    struct trace_record record;
    uint64_t id;                 /* struct trace_signature.id or trace_name.id */
    uint32_t device;             /* CUDA's number in the process */
    uint32_t of_call;            /* 1: id is that of a signature */
    uint64_t kernels, time_ns, shortest_ns;
    uint64_t widest_blocks;      /* of a kernel by name */
    uint64_t executions;         /* of a call: as told by call ids, replays of graphs counted */
    uint32_t grids_left_out;     /* 1: SUM_GRID records of this row are missing */
    uint32_t recent_next;
    uint64_t recent[TRACE_SUMS_RECENT];    /* executions whose time is not in the buckets yet; 0: none */
    uint64_t recent_ns[TRACE_SUMS_RECENT];
    uint32_t bucket_count;
    uint32_t reserved;
    uint64_t buckets[];          /* ascending; times of executions of a call, or of single kernels by name */
};

/* How long a call's kernels of one name and number of blocks took. */
struct trace_sum_grid {
    struct trace_record record;
    uint64_t id;                 /* of the SUM_KERNELS record with of_call 1, and its device */
    uint32_t device, reserved;
    uint64_t name_id, blocks, time_ns;
};

struct trace_sum_device {
    struct trace_record record;
    uint32_t device, reserved;
    uint64_t kernels, kernel_ns, copies, copy_ns, copy_bytes;
    uint64_t busy_gap_ns;        /* stretches of SUM_BUSY hold gaps up to this */
    uint32_t busy_known, reserved2; /* 0: some kernel came too late to tell what of it was new */
};

/* A stretch of time, not overlapping another one of the device, and how much of it the device was busy. */
struct trace_stretch {
    uint64_t start_ns, end_ns, busy_ns;
};

struct trace_sum_busy {
    struct trace_record record;
    uint32_t device;
    uint32_t count;
    struct trace_stretch stretches[];
};

/* Products that read one activation, or two around a softmax: signatures by id, kernels between by name. */
enum trace_sequence_kind { TRACE_SEQUENCE_SIBLINGS = 1, TRACE_SEQUENCE_ATTENTION = 2 };

struct trace_sum_sequence {
    struct trace_record record;
    uint32_t kind;               /* enum trace_sequence_kind */
    uint32_t count;              /* of signatures: siblings 2 to 8; attention 2 */
    uint32_t scores_read, reserved; /* attention: 1: the second reads what the first wrote */
    uint64_t times;
    uint64_t signatures[TRACE_SUMS_SIBLINGS];
    uint64_t launched[TRACE_SUMS_SIBLINGS * TRACE_SUMS_GAP_LAUNCHES]; /* siblings: 2 before each; attention: the first 8; 0: none */
};

/* One raw record, drawn so that each of the run was as likely as any other. CALL, CALL_FAILED, LAUNCH, KERNEL or COPY; its
 * offset of a signature or shape means nothing here, content_id does. */
struct trace_sample {
    struct trace_record record;
    uint32_t tid;
    uint32_t record_bytes;       /* of the record that follows, its header included; a multiple of 8 */
    uint64_t content_id;         /* of its signature or shape; 0: none */
    uint64_t ticks_per_second, anchor_ticks, anchor_realtime_ns; /* of the block that it stood in */
    uint32_t content_bytes;      /* of a launch: its LAUNCH_SHAPE record follows behind it */
    uint32_t reserved;
    unsigned char bytes[];
};

/* What rotation wrote over, the oldest first. Of a process once, brought up to date in place. */
struct trace_rotated {
    struct trace_record record;
    uint64_t blocks;             /* 0: nothing yet */
    uint64_t calls, failed_calls, launches, kernels, copies;
    uint64_t said_once_lost;     /* names and the like in those blocks for which there was no room among what is kept of them */
    uint64_t first_realtime_ns;  /* when the oldest of these blocks was taken into use */
    uint64_t last_realtime_ns;   /* the same of the newest */
};

/* ---- since 1.5 ---- */

/* By the time at which it began: slice i is of CLOCK_REALTIME from (first + i) << shift on, for 1 << shift ns. */
enum trace_slices_of {
    TRACE_SLICES_CALLS = 1,      /* id: of a signature; all: its calls */
    TRACE_SLICES_LAUNCHES = 2,   /* id: of a name, shape_id as in SUM_LAUNCHES; all: launches */
    TRACE_SLICES_KERNELS = 3,    /* id, device, of_call as in SUM_KERNELS; timed: executions, or kernels by name; time_ns */
    TRACE_SLICES_REPLAYS = 4,    /* id, of_call: by launches of graphs; all: executions; timed: calls among them that were captured */
    TRACE_SLICES_GRAPH = 5,      /* id: of an executable; all: launches; timed, time_ns: GRAPH_RUN records */
    TRACE_SLICES_WINDOWS = 6,    /* all: windows drawn at random that opened; time_ns: for how long they were open */
    /* since 1.6: */
    TRACE_SLICES_SHAPE_KERNELS = 7, /* as KERNELS; id: as in SUM_SHAPE_KERNELS */
    TRACE_SLICES_SHAPE_REPLAYS = 8, /* as REPLAYS; id: of a launch shape */
};
enum { TRACE_SLICES_MOST = 128 };

struct trace_slice {
    uint64_t all, timed, time_ns;
};

struct trace_sum_slices {
    struct trace_record record;
    uint32_t of;                 /* enum trace_slices_of */
    uint32_t device;
    uint64_t id, shape_id;
    uint64_t first;
    uint32_t of_call;
    uint16_t shift, count;
    struct trace_slice slices[];
};

/* Windows that have closed, by enum trace_window_why of their OPEN. Those that are open, marks, TIMING and OVERHEAD stand in
 * records of their own. */
enum { TRACE_SUMS_WINDOW_REASONS = 16 };

struct trace_sum_windows {
    struct trace_record record;
    uint64_t windows[TRACE_SUMS_WINDOW_REASONS];
    uint64_t open_ns[TRACE_SUMS_WINDOW_REASONS];
    uint64_t first_open_ns, last_close_ns; /* CLOCK_REALTIME; 0: none */
    uint64_t marks_beyond, changes_beyond; /* MARK and TIMING records that were too many to be kept */
    uint64_t last_why_ns;                  /* when the latest CLOSE came, */
    uint32_t last_why, reserved;           /* and its enum trace_window_why; 0: there was none */
};

/* Of one executable graph; its live nodes stand in GRAPH_NODE records behind it. */
struct trace_sum_graph {
    struct trace_record record;
    uint32_t graph_id;
    uint32_t ended;
    uint64_t launches, realtime_ns;             /* of the last GRAPH_LAUNCHES record; */
    uint64_t least_launches, least_realtime_ns; /* of the first one; UINT64_MAX: there was none */
    uint64_t made_ns;            /* CLOCK_REALTIME of its first GRAPH_NODE record; 0: not known */
    uint64_t runs, run_ns;       /* GRAPH_RUN records */
    uint32_t device;             /* of those */
    uint32_t nodes_beyond;       /* 1: of more nodes than are kept */
    uint64_t kernels;            /* KERNEL records of its replays */
    uint64_t node_launches;      /* kernels that it launched, of nodes that hold no more */
};

struct trace_sum_lengths {
    struct trace_record record;
    uint64_t call_id;            /* of the last LENGTHS record */
    uint64_t address;
    uint32_t how, graph_id, count, cumulative;
    int64_t least, most;
    uint64_t launches;
    double total;                /* sum of all lengths of all launches */
};

/* When one device did what, as SUM_BUSY tells when it did anything. Stretches of one activity don't overlap each other. */
enum trace_activity {
    TRACE_ACTIVITY_KERNELS = 1,  /* of any kind, before COMPUTE; left out where there is no communication: then as COMPUTE */
    TRACE_ACTIVITY_COMPUTE = 2,
    TRACE_ACTIVITY_COMMUNICATION = 3,
    TRACE_ACTIVITY_COPIES = 4,   /* memsets too */
    TRACE_ACTIVITY_TIMED = 5,    /* none of a device: windows of the process that have closed */
};

/* Else at least one record a device and activity 2 to 4, also of none. */
struct trace_sum_activity {
    struct trace_record record;
    uint32_t device;
    uint32_t activity;           /* enum trace_activity */
    uint64_t gap_ns;             /* stretches hold gaps up to this */
    uint32_t known;              /* 0: some came too late, or it is not known of some kernel which it was */
    uint32_t count;
    struct trace_stretch stretches[];
};

struct trace_sum_copies {
    struct trace_record record;
    uint32_t device;
    uint32_t kind;               /* enum trace_copy_kind; 0: of all that are beyond what is told apart */
    uint32_t direction;          /* CUpti_ActivityMemcpyKind; PTOP between two devices; 0: not known */
    uint32_t reserved;
    int64_t from_device, to_device; /* of PTOP; TRACE_UNKNOWN if not known */
    uint64_t copies, bytes, time_ns;
};

/* ---- since 1.6: launches whose parameters are kept. Their LAUNCH_SHAPE and PARAMETER_PLAN records stand in the file, too ---- */

/* Kernels of one device that launches of one shape own. */
struct trace_sum_shape_kernels {
    struct trace_record record;
    uint64_t shape_id, name_id;  /* of the name: 0: not known */
    uint32_t device;             /* CUDA's number in the process */
    uint32_t bucket_count;
    uint64_t kernels, time_ns, shortest_ns, widest_blocks;
    uint64_t buckets[];          /* as in SUM_KERNELS; times of single kernels */
};

/* Launches of one shape that serve an operator beside them in the order of one thread and stream. */
enum trace_served { TRACE_SERVED_CALL = 1, TRACE_SERVED_SHAPE = 2 };

struct trace_sum_helper {
    struct trace_record record;
    uint64_t shape_id;           /* of the helper */
    uint64_t served_id;          /* struct trace_signature.id or trace_launch_shape.id */
    uint32_t served, reserved;   /* enum trace_served */
    uint64_t launches, captured; /* with a LAUNCH record; of them, captured */
    uint64_t replayed;           /* executions by launches of graphs, up to the `launches` of their SUM_GRAPH */
};

_Static_assert(sizeof(struct trace_sum_shape_kernels) == 64 && sizeof(struct trace_sum_helper) == 56, "1.6");
_Static_assert(sizeof(struct trace_sum_activity) == 32 && sizeof(struct trace_sum_copies) == 64, "1.5");
_Static_assert(sizeof(struct trace_sum_slices) == 48 && sizeof(struct trace_sum_windows) == 312 &&
                   sizeof(struct trace_sum_graph) == 96 && sizeof(struct trace_sum_lengths) == 72,
               "1.5");
_Static_assert(sizeof(struct trace_sum_process) % 8 == 0 && sizeof(struct trace_sum_calls) % 8 == 0, "sums");
_Static_assert(sizeof(struct trace_sum_kernels) % 8 == 0 && sizeof(struct trace_sample) % 8 == 0, "sums");
_Static_assert(sizeof(struct trace_sum_sequence) % 8 == 0 && sizeof(struct trace_sum_device) % 8 == 0, "sums");

#endif
