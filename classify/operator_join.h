/* SPDX-License-Identifier: Apache-2.0 */
/* The records of one process, joined: a library call with the kernels that it owns, launches and unowned kernels by the
 * kernel's name. Holds one row for each different thing and device, so memory does not grow with the trace. Records may
 * come in any order; nothing is resolved before the last one. */
#ifndef CLASSIFY_OPERATOR_JOIN_H
#define CLASSIFY_OPERATOR_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/call_sequence.h"
#include "classify/clock_relation.h"
#include "classify/copy_sums.h"
#include "classify/device_time.h"
#include "classify/duration_histogram.h"
#include "classify/graph_replays.h"
#include "classify/grid_times.h"
#include "classify/group_lists.h"
#include "classify/helper_nodes.h"
#include "classify/index_map.h"
#include "classify/interval_set.h"
#include "classify/kernel_families.h"
#include "classify/launch_names.h"
#include "classify/launch_shapes.h"
#include "classify/live_lengths.h"
#include "classify/name_pool.h"
#include "classify/time_slices.h"
#include "classify/timing_windows.h"
#include "classify/window_spans.h"
#include "classify/work.h"
#include "trace/trace_reader.h"

struct joined_signature {
    uint64_t id;
    struct trace_signature content;
    struct sequence_call sequence_call;
    struct work_of_groups groups; /* of a grouped call */
    uint64_t calls, failed;
    int32_t failed_status;     /* of the last failed call */
    struct time_slices slices; /* all: calls */
};

enum { JOINED_RECENT_CALLS = 8 };

/* Kernels of one device that belong together. */
struct joined_kernels {
    uint32_t ordinal;
    struct graph_use use; /* id is a trace_signature.id, a trace_launch_shape.id, or a trace_name.id */
    uint64_t name_id;     /* of a shape; 0: not known */
    uint64_t kernels, time_ns;
    uint64_t shortest_ns;
    uint64_t widest_blocks; /* of a kernel by name; a call's are in grid_times, by number of the row */
    uint64_t executions;    /* calls (graph replays counted) that these kernels belong to; of a shape: kernels */
    uint64_t recent[JOINED_RECENT_CALLS];      /* the last ones: kernels of streams side by side interleave */
    uint64_t recent_node[JOINED_RECENT_CALLS]; /* of graphs: the node that each began with */
    uint64_t recent_ns[JOINED_RECENT_CALLS];
    unsigned recent_next;
    uint64_t launches_placed;            /* of a kernel by name: launches counted for it so far, when rows are merged */
    struct duration_histogram durations; /* of executions, complete after operator_join_end(); of kernels by name */
    bool grids_left_out;                 /* of a bounded join: its grid_times are not all there */
    struct time_slices slices;           /* timed: executions, or kernels by name; time_ns */
    bool activity_known;                 /* COMPUTE or COMMUNICATION, as the name says */
    enum device_activity activity;
    struct interval_set *unnamed; /* when its kernels ran whose name had not come; NULL: none */
};

/* Launches of one kernel that the program itself made, timed or not; of one shape, where their records have no name, or where
 * launch_shapes_take() took it for a row. */
struct joined_launches {
    uint64_t name_id;  /* 0: launch_names may know it */
    uint64_t shape_id; /* 0: by name; without one, of all that a bounded join can't tell apart */
    uint64_t launches;
    bool phase_known; /* its name has come: phase is what that says */
    enum phase phase;
    enum kernel_kind named;    /* likewise */
    struct time_slices slices; /* all: launches */
};

struct joined_device {
    uint32_t ordinal;
    bool described; /* a DEVICE record was seen */
    struct trace_device facts;
    struct interval_set *busy;
    struct device_time time;
    unsigned activity_sums; /* a bit for each enum device_activity of which the trace has sums */
    struct copy_sums copied;
    uint64_t kernels, kernel_ns, copies, copy_ns, copy_bytes;
};

struct joined_note {
    uint32_t code;
    int32_t value;
    char *text;
    uint64_t realtime_ns; /* when it was written; 0: not known */
};

/* What a bounded join had no row for. Kernels and launches went to the row without a name. */
struct joined_beyond {
    uint64_t calls, failed, launches, kernels, time_ns, names;
    uint64_t shapes; /* launches and kernels by name, whose parameters there was no room for */
};

/* Of a trace that holds sums, as who summed says. */
struct joined_sums {
    bool present; /* false: the trace holds the records themselves */
    bool final;
    bool more_summed; /* the part in which the process went on, too */
    uint64_t written_realtime_ns;
    uint64_t blocks, records, blocks_damaged, records_damaged, records_unknown, blocks_lost;
    uint64_t samples, samples_of; /* raw records that are kept, and out of how many */
};

/* What rotation wrote over, of this process. */
struct joined_rotation {
    uint64_t blocks, calls, failed_calls, launches, kernels, copies;
    uint64_t first_realtime_ns, last_realtime_ns;
};

void joined_rotation_add(struct joined_rotation *sum, const struct joined_rotation *more);

struct operator_join {
    struct name_pool *names; /* borrowed */
    size_t rows_most;        /* of signatures, of kernels, of launches; 0: as many as there are */
    struct joined_beyond beyond;
    struct joined_sums sums;
    struct joined_rotation rotated;
    uint64_t newest_realtime_ns; /* when the newest of its blocks was taken into use */
    struct clock_relation clock; /* times of kernels and copies are put on the host's clock by it */

    bool process_seen;
    struct trace_process process; /* without its text */
    char *command, *version;
    struct joined_note *notes;
    size_t note_count, note_capacity;

    struct joined_signature *signatures;
    size_t signature_count, signature_capacity;
    struct index_map signature_map;
    struct group_lists groups; /* of grouped calls, those of the block that is being read */
    uint64_t groups_block;
    struct joined_kernels *rows;
    size_t row_count, row_capacity;
    struct grid_times grid_times; /* of the rows of calls */
    struct index_map row_map;
    struct joined_launches *launches;
    size_t launch_count, launch_capacity;
    struct index_map launch_map; /* by name and shape */
    struct launch_names launch_names;
    struct launch_shapes launch_shapes;
    struct helper_nodes helper_nodes;
    struct launch_share *launch_shares; /* launches by row and name, after operator_join_end() */
    size_t launch_share_count, launch_share_capacity;
    struct call_sequence sequence; /* calls by number of signature, launches by number of row */
    struct joined_device *devices;
    size_t device_count, device_capacity;
    char **entries; /* by id */
    size_t entry_capacity;
    struct timing_windows timing;
    struct window_spans window_spans;
    struct graph_replays replays;
    struct live_lengths lengths;
    uint64_t end_realtime_ns; /* of the END record; 0: none */

    uint64_t calls, failed_calls, launches_recorded, kernels, kernels_without_owner, kernels_invalid;
    uint64_t graph_kernels_unowned, graph_time_unowned_ns; /* of replays: whose kernels these are is not known */
};

/* Some of the device's kernels have no name so far. */
bool operator_join_has_unnamed(const struct operator_join *join, uint32_t ordinal);
/* What no kernel or copy ever was: end before start, a clock at its top bit, a year. */
bool operator_join_times_are_possible(uint64_t start_ns, uint64_t end_ns);
/* CLOCK_REALTIME of a record of BLOCK; 0: not known. */
uint64_t operator_join_realtime(const struct trace_block_header *block, uint64_t ticks);

/* Sums stay at the largest number that JSON's readers take, however much a stranger's records claim. */
void sum_add(uint64_t *sum, uint64_t more);

void operator_join_open(struct operator_join *join, struct name_pool *names);
/* The same in bounded memory, for a process that never ends: what is beyond the bounds is counted in `beyond`. */
enum {
    JOIN_ROWS_MOST = 1 << 16,
    JOIN_GRIDS_MOST = 1 << 17,
    JOIN_NAME_BYTES_MOST = 1 << 25,
    JOIN_DEVICES_MOST = 64,
    JOIN_STRETCHES_MOST = 4096, /* of the busy time of one device */
};
void operator_join_open_bounded(struct operator_join *join, struct name_pool *names);
void operator_join_add(struct operator_join *join, const struct trace_item *item);
void operator_join_end(struct operator_join *join);                             /* after the last record */
const char *operator_join_entry(const struct operator_join *join, uint32_t id); /* NULL if not known */
void operator_join_close(struct operator_join *join);

/* Rows, made on first use; for what adds sums. NULL, SIZE_MAX: a bounded join has no more room. */
struct joined_signature *operator_join_signature(struct operator_join *join, const struct trace_signature *content);
struct joined_device *operator_join_device(struct operator_join *join, uint32_t ordinal);
struct joined_kernels *operator_join_row(struct operator_join *join, uint32_t ordinal, struct graph_use use);
size_t operator_join_launches(struct operator_join *join, uint64_t name_id, uint64_t shape_id);
const struct joined_kernels *operator_join_find_row(const struct operator_join *join, uint32_t ordinal,
                                                    struct graph_use use); /* NULL: there is none */

static inline uint64_t joined_kernels_name(const struct joined_kernels *row)
{
    return row->use.of == USE_NAME ? row->use.id : row->name_id;
}
/* A library call, or a launch whose parameters were read. After the last record. */
bool operator_join_shape_is_known(struct operator_join *join, struct graph_use use);

#endif
