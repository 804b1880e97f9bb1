/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the host process and the command: every byte of a trace file is one of the structs below.
 * The shim writes them, the command reads them, nothing else crosses. FORMAT.md draws the same bytes.
 *
 * Rules: fields are added at the end; a meaning never changes within a major version; what is not known has a value of
 * its own (TRACE_UNKNOWN, 0xff.., a zero id) and is never guessed; little-endian, naturally aligned. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdint.h>

/* The columns below are read as a drawing of the bytes. */
/* clang-format off */

#define TRACE_MAGIC 0x0a504154464f4f52ull /* "ROOFTAP\n" */
#define TRACE_VERSION_MAJOR 1
#define TRACE_VERSION_MINOR 6
#define TRACE_BLOCK_BYTES 65536u
#define TRACE_HEADER_BYTES 128u
#define TRACE_SLOT_BLOCKS_MOST 64 /* of a process; more threads at one time are counted as without slot */
#define TRACE_FILE_SUFFIX ".trace"
#define TRACE_MORE_SUFFIX ".more.trace" /* of the file in which a process goes on whose collector is gone */
#define TRACE_CLOCKS_FILE "gpu.clocks" /* in a session folder, written beside the run: no process, CLOCKS records */

#define TRACE_UNKNOWN (-1) /* of every signed field that has no unknown of its own */

/* ---- blocks: a file is a sequence of them; each can be read alone and in any order ---- */

enum trace_block_kind {
    TRACE_BLOCK_RECORDS = 1, /* header, then records of one thread */
    TRACE_BLOCK_SLOTS = 2,   /* header, struct trace_counters, then struct trace_slot up to the end */
};

enum trace_block_state {
    TRACE_BLOCK_FREE = 0,   /* reserved ahead, holds nothing */
    TRACE_BLOCK_OPEN = 1,   /* being written: read up to the first record whose commit word does not fit */
    TRACE_BLOCK_SEALED = 2, /* used_bytes and checksum hold */
    TRACE_BLOCK_DRAINED = 3, /* since 1.4, in a ring: the collector has a copy; free to a reader */
};

enum trace_clock {
    TRACE_CLOCK_TSC = 1,       /* invariant time stamp counter; anchors relate it to clocks */
    TRACE_CLOCK_MONOTONIC = 2, /* clock_gettime(CLOCK_MONOTONIC), in ns */
};

struct trace_block_header {
    uint64_t magic;
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t block_bytes;
    uint32_t kind;                /* enum trace_block_kind */
    uint32_t state;               /* enum trace_block_state; atomic */
    uint64_t process_id_hash;     /* one value in all blocks of one process incarnation, 0 never */
    uint32_t pid;
    uint32_t tid;                 /* the thread whose records these are */
    uint64_t sequence;            /* order in which blocks were taken into use, from 1; part of each commit word */
    uint32_t clock;               /* enum trace_clock: what `ticks` fields count */
    uint32_t used_bytes;          /* sealed: bytes from the block's start to the end of its last record */
    uint64_t ticks_per_second;    /* 0: not known yet, see TRACE_RECORD_ANCHOR */
    uint64_t anchor_ticks;        /* when the block was taken into use, on both clocks */
    uint64_t anchor_realtime_ns;
    uint64_t checksum;            /* sealed: trace_checksum() over the block up to used_bytes, this field and state as 0 */
    uint64_t sealed_blocks;       /* since 1.4, in the first slots block of a ring, else 0; atomic: blocks sealed so far */
    uint64_t pid_namespace;       /* since 1.4, there too: inode of /proc/self/ns/pid, in which pid is meant; 0: not known */
    uint64_t reserved[3];
};

/* Every record starts with this word, stored last and with release order: a record whose commit word does not equal
 * trace_commit_word(sequence of its block, its offset in the block) was never committed. The word differs from block use
 * to block use, so what a recycled block held before can't be taken for a record of now. */
struct trace_record {
    uint16_t type;  /* enum trace_record_type; a reader skips what it does not know by size */
    uint16_t size;  /* whole record, header included, a multiple of 8, at least 8 */
    uint32_t commit;
};

static inline uint32_t trace_commit_word(uint64_t sequence, uint32_t offset)
{
    uint64_t x = (sequence << 16 ^ offset) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(x >> 32) | 1;
}

enum trace_record_type {
    TRACE_RECORD_PROCESS = 1,      /* struct trace_process: first record of a process */
    TRACE_RECORD_ENTRY = 2,        /* struct trace_entry: id -> name of an interposed function */
    TRACE_RECORD_ANCHOR = 3,       /* struct trace_anchor: clocks read together */
    TRACE_RECORD_DEVICE = 4,       /* struct trace_device; of two for one ordinal the one with a PCI id holds */
    TRACE_RECORD_NOTE = 5,         /* struct trace_note: something was switched off, and why */
    TRACE_RECORD_NAME = 6,         /* struct trace_name: a kernel's name */
    TRACE_RECORD_SIGNATURE = 7,    /* struct trace_signature: what one kind of library call asks; before its first user in each block */
    TRACE_RECORD_CALL = 8,         /* struct trace_call: one library call that succeeded */
    TRACE_RECORD_CALL_FAILED = 9,  /* struct trace_call_failed */
    TRACE_RECORD_LAUNCH_SHAPE = 10,/* struct trace_launch_shape: kernel, grid, block; before its first user in each block */
    TRACE_RECORD_LAUNCH = 11,      /* struct trace_launch: one kernel launch that succeeded */
    TRACE_RECORD_KERNEL = 12,      /* struct trace_kernel: one kernel that ran, as CUPTI timed it */
    TRACE_RECORD_COPY = 13,        /* struct trace_copy: one memcpy or memset that ran */
    TRACE_RECORD_END = 14,         /* struct trace_end: the process left in an orderly way */
    TRACE_RECORD_CLOCKS = 15,      /* struct trace_clocks: what NVML said about one GPU; since 1.1 */
    TRACE_RECORD_GROUPS = 16,      /* struct trace_groups: the groups of a grouped call; before its signature in each block; since 1.2 */
    /* since 1.4, by a collector; the structs stand in trace_sums.h: */
    TRACE_RECORD_SUM_PROCESS = 17, /* struct trace_sum_process: this file holds sums in place of records */
    TRACE_RECORD_SUM_CALLS = 18,   /* struct trace_sum_calls */
    TRACE_RECORD_SUM_LAUNCHES = 19,/* struct trace_sum_launches */
    TRACE_RECORD_SUM_KERNELS = 20, /* struct trace_sum_kernels */
    TRACE_RECORD_SUM_GRID = 21,    /* struct trace_sum_grid */
    TRACE_RECORD_SUM_DEVICE = 22,  /* struct trace_sum_device */
    TRACE_RECORD_SUM_BUSY = 23,    /* struct trace_sum_busy */
    TRACE_RECORD_SUM_SEQUENCE = 24,/* struct trace_sum_sequence */
    TRACE_RECORD_SUM_SHAPE = 25,   /* struct trace_sum_shape */
    TRACE_RECORD_SAMPLE = 26,      /* struct trace_sample: one raw record out of many */
    TRACE_RECORD_ROTATED = 27,     /* struct trace_rotated: how much of this process was written over */
    /* since 1.5: */
    TRACE_RECORD_TIMING = 28,      /* struct trace_timing: how kernels are timed from now on, and why so */
    TRACE_RECORD_WINDOW = 29,      /* struct trace_window: kernels are timed from now on, or no more; or a mark of the user's */
    TRACE_RECORD_GRAPH_RUN = 30,   /* struct trace_graph_run: one launch of a whole graph that was timed as one */
    TRACE_RECORD_GRAPH_NODE = 31,  /* struct trace_graph_node: a kernel of an executable graph, and the call that was captured */
    TRACE_RECORD_GRAPH_LAUNCHES = 32, /* struct trace_graph_launches: how often an executable was launched so far */
    TRACE_RECORD_LENGTHS = 33,     /* struct trace_lengths: sequence lengths that stand in device memory */
    TRACE_RECORD_OVERHEAD = 34,    /* struct trace_overhead: what rooftap itself cost so far; the last one holds */
    /* by a collector, in trace_sums.h: */
    TRACE_RECORD_SUM_SLICES = 35,  /* struct trace_sum_slices */
    TRACE_RECORD_SUM_WINDOWS = 36, /* struct trace_sum_windows */
    TRACE_RECORD_SUM_GRAPH = 37,   /* struct trace_sum_graph */
    TRACE_RECORD_SUM_LENGTHS = 38, /* struct trace_sum_lengths */
    TRACE_RECORD_SUM_ACTIVITY = 39,/* struct trace_sum_activity */
    TRACE_RECORD_SUM_COPIES = 40,  /* struct trace_sum_copies */
    /* since 1.6: */
    TRACE_RECORD_PARAMETER_PLAN = 41, /* struct trace_parameter_plan: how the parameters of one kernel are kept; once a process */
    /* by a collector, in trace_sums.h: */
    TRACE_RECORD_SUM_SHAPE_KERNELS = 42, /* struct trace_sum_shape_kernels */
    TRACE_RECORD_SUM_HELPER = 43,  /* struct trace_sum_helper */
};

/* ---- facts about the process ---- */

struct trace_process {
    struct trace_record record;
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t start_realtime_ns;  /* when the trace was opened */
    uint64_t start_ticks;
    uint32_t uid;
    uint16_t command_bytes;      /* NUL-separated argv, as /proc/self/cmdline gives it, possibly cut */
    uint16_t version_bytes;      /* rooftap's version, not terminated */
    char text[];                 /* command, then version */
};

struct trace_entry {
    struct trace_record record;
    uint32_t id;                 /* from 1 */
    uint32_t name_bytes;
    char name[];
};

struct trace_anchor {
    struct trace_record record;
    uint64_t ticks;
    uint64_t realtime_ns;
    uint64_t monotonic_ns;
    uint64_t cupti_ns;           /* cuptiGetTimestamp, 0: not asked */
};

enum { TRACE_DEVICE_NAME_BYTES = 256 };

struct trace_device {
    struct trace_record record;
    uint32_t ordinal;            /* CUDA's number in this process */
    uint32_t pci_device_id;      /* as PCI has it, vendor excluded (0x2684), 0: not known */
    uint32_t pci_domain, pci_bus, pci_slot;
    int32_t sm_count;            /* TRACE_UNKNOWN if not known; so for all that follow */
    int32_t compute_major, compute_minor;
    int64_t memory_bytes;
    int64_t l2_bytes;
    int32_t sm_clock_khz;        /* highest */
    int32_t memory_clock_khz;
    int32_t memory_bus_bits;
    int32_t driver_version;      /* cuDriverGetVersion */
    int32_t mig;                 /* 0 no, 1 yes */
    int32_t simulated;           /* 1: the driver says so in its device name */
    uint8_t uuid[16];
    char name[TRACE_DEVICE_NAME_BYTES]; /* as the driver gives it, NUL-terminated */
};

enum trace_note_code {
    TRACE_NOTE_TIMING_ON = 1,      /* text: which CUPTI, its version, how it was found */
    TRACE_NOTE_TIMING_OFF = 2,     /* value: CUPTI's result; text: why; the report has shapes only */
    TRACE_NOTE_HOOK_LEVEL = 3,     /* text: "preload", "injection", ... */
    TRACE_NOTE_WRITER = 4,         /* value: errno; the trace can't grow (folder full): what follows is counted, not kept */
    TRACE_NOTE_DEVICE = 5,         /* text: what about the device could not be read */
    TRACE_NOTE_SHAPES_OFF = 6,     /* text: which entry point, and why its arguments are not read */
    TRACE_NOTE_TIMING_CUT = 7,     /* text: CUPTI did not answer in time at exit; the last kernels may be missing */
    TRACE_NOTE_JOIN = 8,           /* value: kernels; text: their ids matched no launch, and what is done instead */
    TRACE_NOTE_ESCAPED = 9,        /* value: functions; text: which the program got by name that launch unseen */
    TRACE_NOTE_GRAPH_NODES = 10,   /* since 1.3: value: nodes, 0: all; text: why they are not followed */
    TRACE_NOTE_BLAS = 11,          /* since 1.4: value: files of cuBLAS and cuBLASLt in the process, negative: not known; text: paths of those, a line each, that nothing was called of; the last note holds */
    TRACE_NOTE_RING = 12,          /* since 1.4: value: errno or 0; text: what became of the ring: it can't grow, its collector is gone */
    TRACE_NOTE_RANK = 13,          /* since 1.4: text: NAME=VALUE with blanks between, the variables that tell a job's processes apart */
    TRACE_NOTE_PROFILER = 14,      /* since 1.5: value: CUPTI's result or 0; text: another profiler uses CUPTI, and what was given up for it */
    TRACE_NOTE_GRAPHS = 15,        /* since 1.5: text: by which means nodes of graphs are followed */
    TRACE_NOTE_OVERHEAD = 16,      /* since 1.5: text: what was switched off to stay within the user's budget */
    TRACE_NOTE_LENGTHS = 17,       /* since 1.5: text: why sequence lengths on the device are not known */
    TRACE_NOTE_NO_RECORDS = 18,    /* since 1.5: text: CUPTI gives no records of kernels, though they are launched while it times */
    TRACE_NOTE_MARKS = 19,         /* since 1.5: value: marks of `rooftap ctl` that were lost so far; the last one holds */
};

struct trace_note {
    struct trace_record record;
    uint32_t code;               /* enum trace_note_code */
    int32_t value;
    uint64_t ticks;
    uint32_t text_bytes;
    uint32_t reserved;
    char text[];
};

struct trace_end {
    struct trace_record record;
    uint64_t ticks;
};

/* ---- beside the run: how fast the GPU was kept ---- */

#define TRACE_REASONS_UNKNOWN UINT64_MAX

struct trace_clocks {
    struct trace_record record;
    uint64_t realtime_ns;        /* when NVML was asked; the times of kernels are on the same clock */
    uint32_t pci_domain, pci_bus, pci_slot; /* which GPU: NVML's order is not CUDA's, so it has no number here */
    uint32_t period_ms;          /* planned until the next record of this GPU */
    uint8_t uuid[16];            /* of the whole GPU, also where it is split into MIG instances; zeros: not known */
    int32_t sm_clock_mhz, memory_clock_mhz; /* TRACE_UNKNOWN if not known; so for the next two */
    int32_t power_mw;            /* of the board */
    int32_t temperature_c;       /* of the GPU */
    uint64_t throttle_reasons;   /* nvmlClocksThrottleReasons bits, TRACE_REASONS_UNKNOWN */
};

/* ---- what was asked ---- */

enum trace_call_kind { TRACE_CALL_GEMM = 1, TRACE_CALL_GEMV = 2, TRACE_CALL_LEVEL3 = 3 };
enum trace_library { TRACE_LIBRARY_CUBLAS = 1, TRACE_LIBRARY_CUBLASLT = 2 };
enum trace_provenance { TRACE_EXACT = 1, TRACE_DESCRIPTOR, TRACE_PARAMS, TRACE_DEVICE_READ, TRACE_AT_MOST, TRACE_NAME_ONLY, TRACE_NONE };
enum trace_scalar { TRACE_SCALAR_UNKNOWN = 0, TRACE_SCALAR_ZERO, TRACE_SCALAR_ONE, TRACE_SCALAR_OTHER, TRACE_SCALAR_ON_DEVICE };
enum trace_batch_mode { TRACE_BATCH_NONE = 0, TRACE_BATCH_STRIDED, TRACE_BATCH_POINTERS, TRACE_BATCH_GROUPED };
enum trace_signature_flag {
    TRACE_SIGNATURE_ARGS_NOT_READ = 1 << 0, /* a pointer that should have told a shape was NULL, or the call failed */
    TRACE_SIGNATURE_BIAS = 1 << 1,          /* a bias pointer was set */
    TRACE_SIGNATURE_AUX = 1 << 2,           /* an auxiliary epilogue output was set */
};
/* unsigned bytes use 0xff for "not known" */
#define TRACE_U8_UNKNOWN 0xffu

/* Operand order: A, B, C, D. cuBLAS has no D of its own: it repeats C there. */
struct trace_signature {
    struct trace_record record;
    uint64_t id;                 /* trace_hash() of all that follows; what kernels refer to */
    uint32_t entry;              /* struct trace_entry.id */
    uint8_t kind;                /* enum trace_call_kind */
    uint8_t library;             /* enum trace_library */
    uint8_t provenance;          /* enum trace_provenance */
    uint8_t batch_mode;          /* enum trace_batch_mode */
    uint32_t flags;              /* enum trace_signature_flag */
    uint8_t trans_a, trans_b;    /* cublasOperation_t: 0 N, 1 T, 2 C */
    uint8_t alpha, beta;         /* enum trace_scalar */
    int64_t m, n, k;             /* as cuBLAS names them; a gemv has k = 1, its ld are those of A, x (incx), y (incy) */
    int64_t batch;               /* matrices; 1 without batching */
    int64_t ld[4];
    int64_t batch_stride[4];     /* elements between matrices; 0 reads the same matrix again */
    int32_t type[4];             /* cudaDataType */
    int32_t type_compute;        /* cublasComputeType_t; for the typed entry points what their name fixes */
    int32_t type_scale;          /* cudaDataType */
    int32_t math_mode;           /* cublasMath_t */
    int32_t epilogue;            /* cublasLtEpilogue_t, 1 is the default one */
    int32_t type_bias, type_aux; /* cudaDataType */
    int32_t order[4];            /* cublasLtOrder_t, 0 is column-major */
    int32_t scale_mode[4];       /* cublasLtMatmulMatrixScale_t where a scale pointer is set, else TRACE_UNKNOWN */
    uint8_t pointer_mode;        /* 0 host, 1 device */
    uint8_t fill_mode, side;     /* level 3: cublasFillMode_t, cublasSideMode_t */
    uint8_t diagonal;            /* level 3, since 1.2: cublasDiagType_t + 1; 0: not known, or there is none */
    uint8_t reserved[4];
    int64_t aux_ld;
    /* since 1.2: */
    uint64_t groups_id;          /* struct trace_groups.id; 0: not grouped, or the groups are not known */
    int64_t plane_offset[4];     /* planar complex: bytes from the real to the imaginary plane; 0: interleaved or real */
};

/* One matrix size of a grouped call. A group of 0 matrices, or with m or n 0, has no work. */
struct trace_group {
    int64_t m, n, k;
    int64_t batch;               /* matrices of this size */
    int64_t ld[3];               /* A, B, C */
    uint8_t trans_a, trans_b;    /* cublasOperation_t */
    uint8_t alpha, beta;         /* enum trace_scalar */
    uint8_t reserved[4];
};

/* The groups in the order in which they were passed. The signature that refers to them has in m, n, k, ld, operations and
 * scalars what all groups with work have in common, else unknown, and in batch all matrices. */
struct trace_groups {
    struct trace_record record;
    uint64_t id;                 /* trace_hash() of the groups */
    uint32_t count;
    uint32_t reserved;
    struct trace_group group[];
};

enum { TRACE_GROUPS_MOST = 1000 }; /* of one call; the sizes of a call with more are not known */

/* The hot record: 64 bytes, one cache line. */
struct trace_call {
    struct trace_record record;
    uint32_t signature_offset;   /* of a TRACE_RECORD_SIGNATURE of the same block */
    uint32_t duration_ticks;     /* of the call on the CPU; saturates */
    uint64_t start_ticks;
    uint64_t stream;             /* handle value */
    uint64_t operand[3];         /* addresses of A, B, D: values, never followed */
    uint64_t call_id;            /* unique in the process; kernels refer to it */
};

struct trace_call_failed {
    struct trace_record record;
    uint32_t signature_offset;
    int32_t status;              /* what the real function returned */
    uint64_t start_ticks;
    uint64_t call_id;
};

struct trace_name {
    struct trace_record record;
    uint64_t id;                 /* trace_hash() of the whole name, cut or not */
    uint32_t name_bytes;         /* what is here */
    uint32_t full_bytes;         /* larger than name_bytes if cut */
    char name[];
};

struct trace_launch_shape {
    struct trace_record record;
    uint64_t id;                 /* trace_hash() of all that follows */
    uint64_t name_id;            /* struct trace_name.id, 0: the kernel's name is not known */
    uint32_t entry;              /* struct trace_entry.id */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;       /* dynamic */
};

/* Since 1.6, behind the LAUNCH_SHAPE of a launch whose kernel has a PARAMETER_PLAN, and part of what its id is the hash of: what the
 * plan keeps of the parameters' values. trace/launch_values.h reads it. */
struct trace_launch_values {
    uint32_t null_pointers;      /* bit i: the pointer that is number i among the plan's pointers is NULL */
    uint16_t value_bytes;        /* unpacked: a multiple of 4 */
    uint16_t packed_bytes;
    unsigned char packed[];      /* launch_values_pack() */
};

struct trace_launch {
    struct trace_record record;
    uint32_t shape_offset;       /* of a TRACE_RECORD_LAUNCH_SHAPE of the same block */
    uint32_t duration_ticks;
    uint64_t start_ticks;
    uint64_t stream;
    uint64_t call_id;
    uint64_t parent_call_id;     /* the library call inside which it was made, 0 none */
};

/* Since 1.6, behind a LAUNCH whose shape has values: addresses are no part of a shape, which is the same for all layers. */
enum { TRACE_LAUNCH_POINTERS = 4 };
struct trace_launch_pointers {
    uint64_t pointer[TRACE_LAUNCH_POINTERS]; /* the first of the plan's pointers that are not NULL, in order; 0: no more */
};

enum trace_parameter_kind {
    TRACE_PARAMETER_POINTER = 1, /* whether it is NULL stands in null_pointers; no bytes are kept */
    TRACE_PARAMETER_VALUE = 2,   /* its first KEPT bytes */
};
enum trace_plan_source {
    TRACE_PLAN_DRIVER = 1,       /* the driver told every parameter's size */
    TRACE_PLAN_NAME = 2,         /* sizes follow from the types in the mangled name; what no type tells is not kept */
};
struct trace_parameter {
    uint16_t bytes;              /* of the parameter; 0: not known */
    uint16_t kept;               /* of these, from the start; 0: none. Less than BYTES: the rest is not kept */
    uint8_t kind;                /* enum trace_parameter_kind */
    uint8_t addresses;           /* of a value, bit i: the 8 bytes at 8 * i are an address, of which is kept whether it is NULL: 0 or 1 */
    uint8_t reserved[2];
};
enum {
    TRACE_PARAMETERS_MOST = 64,   /* of one kernel; one with more has no plan */
    TRACE_POINTERS_MOST = 32,     /* a pointer beyond is a VALUE of which nothing is kept */
    TRACE_VALUE_BYTES_MOST = 512, /* of all values of one launch, unpacked, each rounded up to 4 bytes */
};

/* Values stand one behind the other in the order of parameters, each rounded up to a multiple of 4 bytes. */
struct trace_parameter_plan {
    struct trace_record record;
    uint64_t name_id;
    uint32_t count;
    uint32_t source;             /* enum trace_plan_source */
    struct trace_parameter parameter[];
};

/* ---- how long it took ---- */

enum trace_join {
    TRACE_JOIN_NONE = 0,         /* no call is known for it */
    TRACE_JOIN_CORRELATION = 1,  /* correlation id seen in a launch callback under a call id */
    TRACE_JOIN_EXTERNAL = 2,     /* CUPTI external correlation */
    TRACE_JOIN_GRAPH_NODE = 3,   /* since 1.3: by its node. The call is the one that was captured; 0: none, the program built the node */
    TRACE_JOIN_EVENTS = 4,       /* since 1.5: no kernel but all that one call did on the GPU, between two events of CUDA: grid and block are 0, of a library call name_id too */
};
enum trace_owner {
    TRACE_OWNER_NONE = 0,
    TRACE_OWNER_CALL = 1,
    TRACE_OWNER_LAUNCH = 2,
    TRACE_OWNER_LAUNCH_VALUES = 3, /* since 1.6: a launch whose shape has values */
};
static inline int trace_owner_is_launch(uint32_t owner)
{
    return owner == TRACE_OWNER_LAUNCH || owner == TRACE_OWNER_LAUNCH_VALUES;
}

/* Since 1.5: of kernels and nodes of graphs, the upper bits of a call id tell copies of one graph in another apart, each of which
 * runs the call; 0: not in a copy. */
#define TRACE_CALL_COPY_SHIFT 56
static inline uint64_t trace_call_without_copy(uint64_t call_id)
{
    return call_id & ((1ull << TRACE_CALL_COPY_SHIFT) - 1);
}
static inline uint64_t trace_call_in_copy(uint64_t call_id, uint32_t graph_id)
{
    return call_id ? trace_call_without_copy(call_id) | (uint64_t)(graph_id % 255 + 1) << TRACE_CALL_COPY_SHIFT : 0;
}

struct trace_kernel {
    struct trace_record record;
    uint64_t name_id;
    uint64_t start_ns, end_ns;   /* CUPTI's clock: CLOCK_REALTIME */
    uint64_t call_id;            /* 0: none */
    uint64_t owner_id;           /* struct trace_signature.id or trace_launch_shape.id, 0: none */
    uint8_t owner;               /* enum trace_owner */
    uint8_t join;                /* enum trace_join */
    uint16_t registers;
    uint32_t correlation_id;
    uint32_t device, context, stream;
    uint32_t graph_id;
    uint64_t graph_node_id;
    uint32_t grid[3], block[3];
    uint32_t static_shared_bytes, dynamic_shared_bytes;
};

enum trace_copy_kind { TRACE_COPY_MEMCPY = 1, TRACE_COPY_MEMSET = 2 };

struct trace_copy {
    struct trace_record record;
    uint64_t start_ns, end_ns;
    uint64_t bytes;
    uint32_t kind;               /* enum trace_copy_kind */
    uint32_t direction;          /* CUpti_ActivityMemcpyKind, 0 for a memset */
    uint32_t device, stream;
    uint32_t correlation_id, graph_id;
    uint64_t graph_node_id;
    /* since 1.5: */
    uint32_t context;
    uint32_t is_peer;            /* 1: between two devices, device is then where it was asked for; the next three are known */
    uint32_t from_device, to_device;
};

/* ---- since 1.5: how kernels are timed, and when ---- */

enum trace_timing_mode {
    TRACE_TIMING_OFF = 0,        /* shapes only */
    TRACE_TIMING_AUTO = 1,       /* as asked only: the writer chooses */
    TRACE_TIMING_NODE = 2,       /* each kernel, those of graphs by their node */
    TRACE_TIMING_GRAPH = 3,      /* each kernel outside of graphs, each launch of a graph as a whole */
    TRACE_TIMING_SAMPLED = 4,    /* as NODE, in windows that were drawn at random */
    TRACE_TIMING_EVENTS = 5,     /* calls outside of captures by events of CUDA, without CUPTI */
};

/* Once when the mode is chosen, and again when it changes. */
struct trace_timing {
    struct trace_record record;
    uint64_t ticks;
    uint32_t asked, mode;        /* enum trace_timing_mode */
    uint32_t cupti_version;      /* cuptiGetVersion; 0: none */
    uint32_t text_bytes;
    uint64_t window_ns, period_ns; /* sampled: one window of this length is drawn in each period; else 0 */
    uint64_t graph_records_most; /* records of kernels in graphs after which the mode changes; 0: no bound */
    char text[];                 /* by which rule */
};

enum trace_window_what { TRACE_WINDOW_OPEN = 1, TRACE_WINDOW_CLOSE = 2, TRACE_WINDOW_MARK = 3 };
enum trace_window_why {
    TRACE_WINDOW_START = 1,      /* of the run, of the timing */
    TRACE_WINDOW_OPTION = 2,     /* --delay, --duration */
    TRACE_WINDOW_CONTROL = 3,    /* rooftap ctl */
    TRACE_WINDOW_SAMPLED = 4,
    TRACE_WINDOW_BOUND = 5,      /* graph_records_most was reached */
    TRACE_WINDOW_OVERHEAD = 6,   /* the user's budget was reached */
    TRACE_WINDOW_PROFILER = 7,   /* another profiler took CUPTI over */
    TRACE_WINDOW_END = 8,        /* of the process */
};

/* A process without any is timed from its TIMING_ON note to its end. Launches before OPEN and from CLOSE on have no kernel
 * records, so that a row's calls are more than its timed ones. */
struct trace_window {
    struct trace_record record;
    uint64_t ticks;
    uint64_t realtime_ns;
    uint32_t what;               /* enum trace_window_what */
    uint32_t why;                /* enum trace_window_why */
    uint32_t number;             /* of the window in this process, from 1; CLOSE has that of its OPEN; of a mark the open one, 0: none */
    uint32_t text_bytes;
    char text[];                 /* of a mark: its name */
};

struct trace_graph_run {
    struct trace_record record;
    uint64_t start_ns, end_ns;
    uint32_t correlation_id;
    uint32_t graph_id;           /* of the executable */
    uint32_t device, context, stream;
    uint32_t reserved;
};

/* Written before the first launch of an executable is counted, and again for nodes that an update in place gave to another
 * call: the last one of a node holds from then on. */
struct trace_graph_node {
    struct trace_record record;
    uint64_t graph_node_id;      /* graph << 32 | node */
    uint64_t call_id, owner_id;  /* as in struct trace_kernel; 0: not known */
    uint64_t name_id;            /* 0: not known */
    uint64_t ticks;
    uint32_t graph_id;           /* of the executable */
    uint8_t owner;               /* enum trace_owner */
    uint8_t retired;             /* 1: the node is no more */
    uint16_t summed;             /* by a collector, in a file of sums: 1 or 2: its capture is counted there; 2: so is its call, by another node */
    uint64_t launches;           /* of the executable, before this held */
};

/* While it runs now and then, at each end of a window, and when the executable or the process ends; counts only grow. */
struct trace_graph_launches {
    struct trace_record record;
    uint64_t realtime_ns;
    uint64_t launches;           /* that succeeded, since the executable was made */
    uint32_t graph_id;
    uint32_t ended;              /* 1: the executable was destroyed */
};

enum trace_lengths_how {
    TRACE_LENGTHS_COPIED = 1,    /* the host's source of the copy that filled the buffer was read */
    TRACE_LENGTHS_READ = 2,      /* read back from the device */
};

/* What stood in a buffer of lengths when a kernel that reads it was launched. Of several launches of one capture that read the
 * same buffer, the layers of a model, the first stands for all; eager ones count each. */
struct trace_lengths {
    struct trace_record record;
    uint64_t ticks;
    uint64_t call_id;            /* launch whose kernel reads it; of a graph the captured one */
    uint64_t address;            /* of the buffer on the device */
    uint32_t how;                /* enum trace_lengths_how */
    uint32_t graph_id;           /* executable whose launch this was, 0: none */
    uint32_t count;              /* lengths in the buffer */
    uint32_t cumulative;         /* 1: the buffer holds count + 1 running sums; below stand the differences */
    int64_t least, most, sum;
    uint64_t launches;           /* in a row for which these held */
};

/* Sums over the process's life so far. */
struct trace_overhead {
    struct trace_record record;
    uint64_t ticks;
    uint64_t wall_ns;            /* since the process was first recorded */
    uint64_t calls, calls_ns;    /* calls and launches that were measured, and rooftap's own time in them, clock readings included */
    uint64_t callbacks, callbacks_ns; /* of CUPTI into rooftap that were measured */
    uint64_t records, records_ns;     /* activity records, and the time in the timing's thread */
    uint64_t calls_all, callbacks_all; /* measured or not */
    uint64_t buffers, buffer_bytes;   /* activity buffers that were filled, and the memory they take */
    uint64_t helper_cpu_ns, timing_cpu_ns; /* CPU time of rooftap's own threads; UINT64_MAX: not known */
    uint64_t level;              /* what was given up for the budget: 0 nothing, 1 timing sampled, 2 timing off, 3 parameters too */
};

/* ---- slots: what was going on at death; counters: what was lost ---- */

struct trace_counters {          /* of the whole process, in its first slots block; atomic */
    uint64_t threads_without_slot;   /* calls of such threads are not recorded */
    uint64_t calls_without_slot;
    uint64_t cupti_records_dropped;  /* CUPTI's own word for it */
    uint64_t kernels_invalid;        /* start 0, end 0 or end before start: not recorded as kernels */
    uint64_t kernels_unjoined;       /* recorded, but no call was found */
    uint64_t records_dropped;        /* of threads that have no slot: CUPTI's, the helper's */
    uint64_t buffers_lost;           /* activity buffers that went to the scratch buffer */
    uint64_t names_cut;
    uint64_t records_unknown;        /* activity records of kinds that were not asked for */
    uint64_t calls_before_timing;    /* library calls and launches that succeeded before timing could start: their kernels
                                      * are in no record, nor is it known how many there were */
    uint64_t calls_without_events;   /* since 1.5: calls and launches, not captured, that were to be timed by events and
                                      * were not: no pair of events was free, or the stream is not known */
    uint64_t cupti_drops_untold;     /* since 1.5: how often CUPTI, asked for cupti_records_dropped, did not say */
    uint64_t copies_invalid;         /* since 1.5: copies and memsets with such times as kernels_invalid: not recorded */
    uint64_t reserved[19];
};

struct trace_slot {              /* one a thread; atomic fields, written by that thread only */
    uint32_t tid;                    /* 0: free */
    uint32_t entry;                  /* in flight: struct trace_entry.id; 0: nothing in flight */
    uint64_t start_ticks;
    uint64_t calls_begun;            /* outermost library calls */
    uint64_t calls_recorded;
    uint64_t calls_failed;
    uint64_t launches_begun;
    uint64_t launches_recorded;
    uint64_t launches_failed;
    uint64_t records_dropped;        /* no block was ready */
    int64_t argument[7];             /* by-value arguments of the call in flight: m n k batch lda ldb ldc; of a launch:
                                      * grid x y z, block x y z, dynamic shared bytes */
};

_Static_assert(sizeof(struct trace_block_header) == TRACE_HEADER_BYTES, "block header");
_Static_assert(sizeof(struct trace_record) == 8, "record header");
_Static_assert(sizeof(struct trace_call) == 64, "a call is one cache line");
_Static_assert(sizeof(struct trace_slot) == 128, "slot");
_Static_assert(sizeof(struct trace_counters) == 256, "counters");
_Static_assert(sizeof(struct trace_signature) % 8 == 0, "signature");
_Static_assert(sizeof(struct trace_kernel) % 8 == 0, "kernel");
_Static_assert(sizeof(struct trace_clocks) == 72, "clocks");
_Static_assert(sizeof(struct trace_timing) == 56 && sizeof(struct trace_window) == 40 && sizeof(struct trace_graph_run) == 48 &&
                   sizeof(struct trace_graph_node) == 64 && sizeof(struct trace_graph_launches) == 32 &&
                   sizeof(struct trace_lengths) == 80 && sizeof(struct trace_overhead) == 128 && sizeof(struct trace_copy) == 80,
               "1.5");
_Static_assert(sizeof(struct trace_launch_values) == 8 && sizeof(struct trace_launch_pointers) == 32 &&
                   sizeof(struct trace_parameter) == 8 && sizeof(struct trace_parameter_plan) == 24,
               "1.6");
_Static_assert(sizeof(struct trace_group) == 64 && sizeof(struct trace_groups) == 24, "groups");

/* Hash of content, 16 bytes a step: both words meet in one 64x64 multiplication whose halves are folded, so that every bit
 * reaches all others at once. (A multiplication that keeps its low half only does not spread the top bits: pairs of
 * flipped bits cancelled.) The last bytes are padded with zeros; the length is part of the hash. This is the definition
 * that files carry: a change is a new major version. Never returns 0. */
static inline uint64_t trace_hash_fold(uint64_t left, uint64_t right)
{
    __extension__ typedef unsigned __int128 product;
    product p = (product)left * right;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t trace_hash(const void *content, uint32_t bytes)
{
    const unsigned char *p = content;
    uint64_t hash = 0x9e3779b97f4a7c15ull, w[2];
    const uint64_t length = bytes;
    for (; bytes >= 16; p += 16, bytes -= 16) {
        __builtin_memcpy(w, p, 16);
        hash = trace_hash_fold(w[0] ^ 0x9fb21c651e98df25ull, w[1] ^ hash);
    }
    if (bytes) {
        w[0] = w[1] = 0;
        __builtin_memcpy(w, p, bytes);
        hash = trace_hash_fold(w[0] ^ 0x9fb21c651e98df25ull, w[1] ^ hash);
    }
    hash = trace_hash_fold(hash ^ 0xc2b2ae3d27d4eb4full, length ^ 0xff51afd7ed558ccdull);
    return hash ? hash : 1;
}

#endif
