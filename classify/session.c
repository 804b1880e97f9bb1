/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the traces of a folder one after another, joins each, and merges what they say: devices by identity, operators by
 * device and content. Then classifies each row. */
#include "classify/session.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/allocate.h"
#include "classify/kernel_patterns.h"

/* What lives while traces are read. */
struct reading {
    struct session *session;
    struct name_pool names; /* kernels' names of all processes */
    struct index_map operator_map;
    uint64_t *operator_name_ids; /* of kernel rows, to be resolved at the end; 0 for calls */
    size_t operator_name_capacity;
};

const char *operator_kind_name(enum operator_kind kind)
{
    static const char *const names[] = {
        [OPERATOR_GEMM] = "gemm",           [OPERATOR_GEMV] = "gemv",   [OPERATOR_LEVEL3] = "level3",
        [OPERATOR_ATTENTION] = "attention", [OPERATOR_OTHER] = "other",
    };
    return names[kind];
}

const char *provenance_name(enum trace_provenance provenance)
{
    static const char *const names[SESSION_PROVENANCE_COUNT] = {
        [TRACE_EXACT] = "exact",        [TRACE_DESCRIPTOR] = "descriptor", [TRACE_PARAMS] = "params",
        [TRACE_DEVICE_READ] = "device", [TRACE_AT_MOST] = "at_most",       [TRACE_NAME_ONLY] = "name",
        [TRACE_NONE] = "none",
    };
    return (unsigned)provenance < SESSION_PROVENANCE_COUNT ? names[provenance] : NULL;
}

/* ---- devices: several processes may see one, under different numbers ---- */

static bool same_device(const struct session_device *known, const struct joined_device *seen)
{
    static const uint8_t no_uuid[16];
    const struct trace_device *a = &known->facts, *b = &seen->facts;
    if (!known->described || !seen->described)
        return known->described == seen->described && a->ordinal == seen->ordinal;
    if (memcmp(a->uuid, no_uuid, sizeof no_uuid) && memcmp(b->uuid, no_uuid, sizeof no_uuid))
        return !memcmp(a->uuid, b->uuid, sizeof a->uuid);
    if (strcmp(a->name, b->name) || a->pci_device_id != b->pci_device_id)
        return false;
    bool placed = a->pci_domain || a->pci_bus || a->pci_slot || b->pci_domain || b->pci_bus || b->pci_slot;
    if (placed)
        return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus && a->pci_slot == b->pci_slot;
    return a->ordinal == b->ordinal;
}

static int merge_device(struct session *session, struct joined_device *seen)
{
    size_t i = 0;
    while (i < session->device_count && !same_device(&session->devices[i], seen))
        i++;
    if (i == session->device_count) {
        session->devices =
            allocate_grow(session->devices, session->device_count, &session->device_capacity, sizeof *session->devices);
        struct session_device *added = &session->devices[session->device_count++];
        *added = (struct session_device){.facts = seen->facts, .described = seen->described, .floor_ns = NAN};
        added->facts.ordinal = seen->ordinal;
        if (seen->described)
            added->roofs =
                device_roofs(gpu_spec_find(seen->facts.pci_device_id, seen->facts.name, seen->facts.simulated == 1),
                             seen->facts.sm_count, seen->facts.mig == 1, seen->facts.memory_bytes);
        else
            added->roofs = device_roofs(NULL, TRACE_UNKNOWN, false, TRACE_UNKNOWN);
        session->simulated |= seen->described && seen->facts.simulated == 1;
    }
    struct session_device *device = &session->devices[i];
    device->kernels += seen->kernels;
    device->kernel_ns += seen->kernel_ns;
    device->copies += seen->copies;
    device->copy_ns += seen->copy_ns;
    device->copy_bytes += seen->copy_bytes;
    if (device->intervals)
        interval_set_absorb(device->intervals, seen->busy);
    else
        device->intervals = seen->busy;
    seen->busy = NULL;
    return (int)i;
}

/* ---- operators ---- */

static struct operator_row *operator_at(struct reading *reading, uint64_t key, int device, bool of_call)
{
    struct session *session = reading->session;
    uint32_t *index = index_map_at(&reading->operator_map, key, (uint64_t)(device + 1) << 1 | of_call);
    if (*index != INDEX_MAP_NONE)
        return &session->operators[*index];
    *index = (uint32_t)session->operator_count;
    session->operators = allocate_grow(session->operators, session->operator_count, &session->operator_capacity,
                                       sizeof *session->operators);
    reading->operator_name_ids = allocate_grow(reading->operator_name_ids, session->operator_count,
                                               &reading->operator_name_capacity, sizeof *reading->operator_name_ids);
    reading->operator_name_ids[session->operator_count] = of_call ? 0 : key;
    struct operator_row *op = &session->operators[session->operator_count++];
    *op = (struct operator_row){.device = device, .of_call = of_call, .kind = OPERATOR_OTHER};
    return op;
}

static enum operator_kind kind_of_call(uint8_t kind)
{
    switch (kind) {
    case TRACE_CALL_GEMM:
        return OPERATOR_GEMM;
    case TRACE_CALL_GEMV:
        return OPERATOR_GEMV;
    case TRACE_CALL_LEVEL3:
        return OPERATOR_LEVEL3;
    default:
        return OPERATOR_OTHER;
    }
}

/* The row of a call: by content, since ids hold the process's own number of the function. */
static struct operator_row *operator_of_call(struct reading *reading, const struct operator_join *join,
                                             const struct joined_signature *signature, int device)
{
    const char *entry = operator_join_entry(join, signature->content.entry);
    struct trace_signature content = signature->content;
    content.record = (struct trace_record){0};
    content.id = 0;
    content.entry = 0;
    uint64_t key = trace_hash(&content, sizeof content);
    if (entry)
        key ^= trace_hash(entry, (uint32_t)strlen(entry)) * 0x9e3779b97f4a7c15ull;
    struct operator_row *op = operator_at(reading, key, device, true);
    if (op->signature.id)
        return op;
    op->signature = signature->content;
    op->signature.id = key | 1;
    op->kind = kind_of_call(signature->content.kind);
    op->name = allocate_text(entry);
    work_of_signature(&signature->content, entry, &op->work);
    op->shape_source = op->work.provenance;
    return op;
}

static void add_kernels(struct operator_row *op, const struct joined_kernels *row, const struct name_pool *names)
{
    op->timed = true;
    op->kernels += row->kernels;
    op->time_ns += row->time_ns;
    op->executions += row->executions;
    if (row->widest_blocks >= op->widest_blocks)
        op->widest_blocks = row->widest_blocks;
    /* Names may stand in a block that comes later, but always in this process's file, which is read whole by now. */
    op->persistent |= kernel_is_persistent(name_pool_find(names, row->widest_name_id));
}

/* A kernel that nobody named might be a GEMM: it does not set the floor. */
static bool sets_floor(const struct reading *reading, const struct joined_kernels *row)
{
    const char *name = row->of_call ? NULL : name_pool_find(&reading->names, row->id);
    return name && kernel_kind_of_name(name) == KERNEL_OTHER;
}

/* Index of the only device of a process, or SESSION_DEVICE_UNKNOWN. */
static int only_device(const struct operator_join *join, const int *device_of)
{
    int found = SESSION_DEVICE_UNKNOWN;
    size_t with_kernels = 0;
    for (size_t i = 0; i < join->device_count; i++)
        if (join->devices[i].kernels) {
            with_kernels++;
            found = device_of[i];
        }
    if (with_kernels == 1)
        return found;
    return with_kernels == 0 && join->device_count == 1 ? device_of[0] : SESSION_DEVICE_UNKNOWN;
}

static int device_of_ordinal(const struct operator_join *join, const int *device_of, uint32_t ordinal)
{
    for (size_t i = 0; i < join->device_count; i++)
        if (join->devices[i].ordinal == ordinal)
            return device_of[i];
    return SESSION_DEVICE_UNKNOWN;
}

/* Kernels first: they know their device. */
static void merge_kernels(struct reading *reading, struct operator_join *join, const int *device_of)
{
    for (size_t i = 0; i < join->row_count; i++) {
        const struct joined_kernels *row = &join->rows[i];
        int device = device_of_ordinal(join, device_of, row->ordinal);
        uint32_t signature = row->of_call ? index_map_find(&join->signature_map, row->id, 0) : INDEX_MAP_NONE;
        struct operator_row *op;
        if (signature != INDEX_MAP_NONE)
            op = operator_of_call(reading, join, &join->signatures[signature], device);
        else /* also where the call's record was lost: the widest kernel's name is what is left */
            op = operator_at(reading, row->of_call ? row->widest_name_id : row->id, device, false);
        add_kernels(op, row, &reading->names);
        if (device >= 0 && sets_floor(reading, row)) {
            double *floor_ns = &reading->session->devices[device].floor_ns;
            *floor_ns = isnan(*floor_ns) ? (double)row->shortest_ns : fmin(*floor_ns, (double)row->shortest_ns);
        }
    }
}

/* A call's record names no device. Where a process used one only, it is that one; else the calls whose kernels were seen
 * go where those ran, and the rest stays without a device. */
static void merge_calls(struct reading *reading, struct operator_join *join, const int *device_of, bool timed)
{
    int only = only_device(join, device_of);
    for (size_t i = 0; i < join->signature_count; i++) {
        const struct joined_signature *signature = &join->signatures[i];
        uint64_t left = signature->calls;
        for (size_t d = 0; only == SESSION_DEVICE_UNKNOWN && d < join->device_count && left; d++) {
            uint32_t index = index_map_find(&join->row_map, signature->id, (uint64_t)join->devices[d].ordinal << 1 | 1);
            if (index == INDEX_MAP_NONE)
                continue;
            uint64_t here = join->rows[index].executions;
            struct operator_row *op = operator_of_call(reading, join, signature, device_of[d]);
            op->calls += here < left ? here : left;
            left -= here < left ? here : left;
        }
        if (!left)
            continue; /* failed calls have no row: merge_failures() counts them */
        struct operator_row *op = operator_of_call(reading, join, signature, only);
        op->calls += left;
        op->timed |= timed;
    }
}

static void merge_launches(struct reading *reading, struct operator_join *join, const int *device_of, bool timed)
{
    int only = only_device(join, device_of);
    for (size_t i = 0; i < join->launch_count; i++) {
        const struct joined_launches *launches = &join->launches[i];
        uint64_t left = launches->launches;
        for (size_t d = 0; only == SESSION_DEVICE_UNKNOWN && d < join->device_count && left; d++) {
            uint32_t index = index_map_find(&join->row_map, launches->name_id, (uint64_t)join->devices[d].ordinal << 1);
            if (index == INDEX_MAP_NONE)
                continue;
            uint64_t here = join->rows[index].kernels;
            struct operator_row *op = operator_at(reading, launches->name_id, device_of[d], false);
            op->calls_known = true;
            op->calls += here < left ? here : left;
            left -= here < left ? here : left;
        }
        if (!left)
            continue;
        struct operator_row *op = operator_at(reading, launches->name_id, only, false);
        op->calls_known = true;
        op->calls += left;
        op->timed |= timed;
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void merge_failures(struct session *session, const struct operator_join *join)
{
    for (size_t i = 0; i < join->signature_count; i++) {
        const struct joined_signature *signature = &join->signatures[i];
        const char *name = operator_join_entry(join, signature->content.entry);
        size_t f = 0;
        if (!signature->failed)
            continue;
        while (f < session->failure_count &&
               (session->failures[f].status != signature->failed_status || !same_text(session->failures[f].name, name)))
            f++;
        if (f == session->failure_count) {
            session->failures = allocate_grow(session->failures, session->failure_count, &session->failure_capacity,
                                              sizeof *session->failures);
            session->failures[session->failure_count++] =
                (struct session_failure){allocate_text(name), signature->failed_status, 0};
        }
        session->failures[f].calls += signature->failed;
    }
}

/* ---- processes ---- */

static void read_notes(struct session_process *process, struct operator_join *join)
{
    for (size_t i = 0; i < join->note_count; i++) {
        const struct joined_note *note = &join->notes[i];
        if (note->code == TRACE_NOTE_HOOK_LEVEL) {
            free(process->hook_level);
            process->hook_level = allocate_text(note->text);
        } else if (note->code == TRACE_NOTE_TIMING_ON || note->code == TRACE_NOTE_TIMING_OFF) {
            process->timing = note->code == TRACE_NOTE_TIMING_ON ? SESSION_TIMING_ON : SESSION_TIMING_OFF;
            free(process->timing_text);
            process->timing_text = allocate_text(note->text);
        }
    }
    process->notes = join->notes;
    process->note_count = join->note_count;
    join->notes = NULL;
    join->note_count = join->note_capacity = 0;
}

static void read_slots(struct session_process *process, const struct operator_join *join,
                       const struct trace_reader *reader)
{
    size_t capacity = 0, slots = trace_reader_slot_count(reader);
    process->counters = *trace_reader_counters(reader);
    process->records_dropped = process->counters.calls_without_slot + process->counters.cupti_records_dropped +
                               process->counters.records_dropped;
    for (size_t i = 0; i < slots; i++) {
        const struct trace_slot *slot = trace_reader_slot(reader, i);
        process->records_dropped += slot->records_dropped;
        if (!slot->entry)
            continue;
        process->in_flight =
            allocate_grow(process->in_flight, process->in_flight_count, &capacity, sizeof *process->in_flight);
        struct session_in_flight *call = &process->in_flight[process->in_flight_count++];
        *call = (struct session_in_flight){slot->tid, allocate_text(operator_join_entry(join, slot->entry)), {0}};
        memcpy(call->argument, slot->argument, sizeof call->argument);
    }
}

static struct session_process *add_process(struct session *session, const char *file)
{
    session->processes = allocate_grow(session->processes, session->process_count, &session->process_capacity,
                                       sizeof *session->processes);
    struct session_process *process = &session->processes[session->process_count++];
    *process = (struct session_process){.file = allocate_text(file), .pid = -1, .parent_pid = -1};
    return process;
}

static void fill_process(struct session_process *process, struct operator_join *join, const struct trace_reader *reader,
                         uint32_t block_pid)
{
    if (join->process_seen) {
        process->pid = join->process.pid;
        process->parent_pid = join->process.parent_pid;
        process->start_realtime_ns = join->process.start_realtime_ns;
        process->command = allocate_text(join->command);
        process->version = allocate_text(join->version);
    } else if (block_pid) {
        process->pid = block_pid;
    }
    process->calls = join->calls;
    process->failed_calls = join->failed_calls;
    process->launches = join->launches_recorded;
    process->kernels = join->kernels;
    process->stats = *trace_reader_stats(reader);
    read_notes(process, join);
    read_slots(process, join, reader);
}

static void merge_process(struct reading *reading, struct operator_join *join, bool timed)
{
    int *device_of = allocate(join->device_count, sizeof *device_of);
    for (size_t i = 0; i < join->device_count; i++)
        device_of[i] = merge_device(reading->session, &join->devices[i]);
    merge_kernels(reading, join, device_of);
    merge_calls(reading, join, device_of, timed);
    merge_launches(reading, join, device_of, timed);
    merge_failures(reading->session, join);
    free(device_of);
}

static void add_process_coverage(struct session_coverage *coverage, const struct session_process *process,
                                 const struct operator_join *join)
{
    coverage->calls += process->calls;
    coverage->failed_calls += process->failed_calls;
    coverage->in_flight += process->in_flight_count;
    coverage->launches += process->launches;
    coverage->kernels += process->kernels;
    coverage->kernels_invalid += process->counters.kernels_invalid + join->kernels_invalid;
    coverage->kernels_untimed += process->counters.kernels_invalid + join->kernels_invalid;
    if (process->timing == SESSION_TIMING_OFF && !process->kernels)
        coverage->kernels_untimed += process->launches;
    coverage->kernels_unjoined += process->counters.kernels_unjoined;
    coverage->records_dropped += process->records_dropped;
    coverage->buffers_lost += process->counters.buffers_lost;
    coverage->records_damaged += process->stats.records_damaged;
    coverage->records_unknown += process->stats.records_unknown;
    coverage->blocks_damaged += process->stats.blocks_damaged;
    coverage->traces_cut += process->stats.cut_short;
}

/* ---- files ---- */

static void add_bad_file(struct session *session, const struct trace_error *error)
{
    session->bad_files = allocate_grow(session->bad_files, session->bad_file_count, &session->bad_file_capacity,
                                       sizeof *session->bad_files);
    session->bad_files[session->bad_file_count++] =
        (struct session_bad_file){allocate_text(error->text), error->newer_major};
}

/* True if a process died before it wrote anything: an empty file, or one that is all zeros where the first header goes. */
static bool is_blank(const char *path)
{
    unsigned char header[TRACE_HEADER_BYTES];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t bytes = fread(header, 1, sizeof header, file);
    bool blank = !ferror(file);
    for (size_t i = 0; i < bytes; i++)
        blank &= header[i] == 0;
    fclose(file);
    return blank;
}

static void read_trace(struct reading *reading, const char *path)
{
    struct session *session = reading->session;
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    struct trace_error error = {0};
    session->trace_count++;
    struct trace_reader *reader = trace_reader_open(path, &error);
    if (!reader) {
        if (is_blank(path)) {
            add_process(session, file)->stats.cut_short = true;
            session->coverage.traces_cut++;
        } else {
            add_bad_file(session, &error);
        }
        return;
    }
    struct operator_join join;
    struct trace_item item;
    uint32_t block_pid = 0;
    operator_join_open(&join, &reading->names);
    while (trace_reader_next(reader, &item)) {
        block_pid = item.block->pid;
        operator_join_add(&join, &item);
    }
    struct session_process *process = add_process(session, file);
    fill_process(process, &join, reader, block_pid);
    merge_process(reading, &join, process->timing == SESSION_TIMING_ON || join.kernels);
    add_process_coverage(&session->coverage, process, &join);
    operator_join_close(&join);
    trace_reader_close(reader);
}

static bool is_trace_name(const char *name)
{
    size_t length = strlen(name), suffix = sizeof TRACE_FILE_SUFFIX - 1;
    return length > suffix && !strcmp(name + length - suffix, TRACE_FILE_SUFFIX);
}

static int choose_trace(const struct dirent *entry)
{
    return is_trace_name(entry->d_name);
}

static bool read_folder(struct reading *reading, const char *folder, struct session_error *error)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, choose_trace, alphasort);
    if (count < 0) {
        snprintf(error->text, sizeof error->text, "%s can't be read: %s; expected a folder that `rooftap record` made",
                 folder, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        char *path = allocate(strlen(folder) + strlen(entries[i]->d_name) + 2, 1);
        sprintf(path, "%s/%s", folder, entries[i]->d_name);
        read_trace(reading, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    if (!count && !reading->session->info.present) {
        snprintf(error->text, sizeof error->text,
                 "%s holds neither %s nor *%s; expected a folder that `rooftap record` made", folder, SESSION_INFO_FILE,
                 TRACE_FILE_SUFFIX);
        return false;
    }
    return true;
}

static bool read_path(struct reading *reading, const char *path, struct session_error *error)
{
    struct stat status;
    if (stat(path, &status)) {
        snprintf(error->text, sizeof error->text,
                 "%s: %s; expected a folder that `rooftap record` made, or a trace file in it", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        reading->session->info = session_info_read(path);
        return read_folder(reading, path, error);
    }
    read_trace(reading, path);
    return true;
}

/* ---- conclusions ---- */

static enum operator_kind kind_of_kernel(const char *name)
{
    switch (kernel_kind_of_name(name)) {
    case KERNEL_GEMM:
        return OPERATOR_GEMM;
    case KERNEL_GEMV:
        return OPERATOR_GEMV;
    case KERNEL_ATTENTION:
        return OPERATOR_ATTENTION;
    default:
        return OPERATOR_OTHER;
    }
}

static void classify_operator(const struct session *session, struct operator_row *op)
{
    static const struct device_roofs no_roofs = {NULL, 1, 1};
    const struct session_device *device = op->device >= 0 ? &session->devices[op->device] : NULL;
    op->flops = op->bytes = op->t_roof_ns = NAN;
    op->rows_at_ridge = NAN;
    struct roofline_input input = {
        .flops = NAN,
        .bytes = NAN,
        .path = GPU_PATH_UNKNOWN,
        .kernels = op->kernels,
        .time_ns = op->kernels ? (double)op->time_ns : NAN,
        .floor_ns = device ? device->floor_ns : NAN,
        .blocks = op->widest_blocks,
        .persistent = op->persistent,
        .sm_count = device && device->described ? device->facts.sm_count : TRACE_UNKNOWN,
    };
    if (op->of_call) {
        if (op->kernels && !op->executions) /* a record without a call id: take the calls as they were counted */
            op->executions = op->calls;
        double all = (double)(op->calls > op->executions ? op->calls : op->executions);
        double covered = op->kernels ? (double)op->executions : all;
        op->flops = op->work.flops * all;
        op->bytes = op->work.bytes * all;
        input.flops = op->work.flops * covered;
        input.bytes = op->work.bytes * covered;
        input.path = op->work.path;
    }
    roofline_classify(&input, device ? &device->roofs : &no_roofs, &op->roofline);
    if (op->of_call) {
        op->roofline.intensity = op->work.intensity; /* holds with no call that succeeded, too */
        op->t_roof_ns = input.bytes > 0 ? op->roofline.t_roof_ns * (op->bytes / input.bytes) : op->roofline.t_roof_ns;
        op->rows_at_ridge = work_rows_at_ridge(&op->work, op->roofline.ridge);
    }
}

static void name_operator(const struct reading *reading, size_t index)
{
    struct operator_row *op = &reading->session->operators[index];
    if (op->of_call) {
        op->calls_known = true;
        return;
    }
    op->name = allocate_text(name_pool_find(&reading->names, reading->operator_name_ids[index]));
    op->kind = kind_of_kernel(op->name);
    op->shape_source = op->name ? TRACE_NAME_ONLY : TRACE_NONE;
}

/* Rows without anything, as of signatures that only a lost call used. */
static void drop_empty_operators(struct session *session)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        if (session->operators[i].calls || session->operators[i].kernels)
            session->operators[kept++] = session->operators[i];
        else
            free(session->operators[i].name);
    }
    session->operator_count = kept;
}

static int compare_numbers(double a, double b)
{
    return (a < b) - (a > b); /* larger first; NAN equals everything, and never meets a number here */
}

static int compare_operators(const void *a, const void *b)
{
    const struct operator_row *x = a, *y = b;
    int order = compare_numbers((double)x->time_ns, (double)y->time_ns);
    if (!order)
        order = compare_numbers(isnan(x->t_roof_ns) ? -1 : x->t_roof_ns, isnan(y->t_roof_ns) ? -1 : y->t_roof_ns);
    if (!order)
        order = compare_numbers(isnan(x->flops) ? -1 : x->flops, isnan(y->flops) ? -1 : y->flops);
    if (!order)
        order = compare_numbers((double)x->calls, (double)y->calls);
    if (!order)
        order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    if (!order)
        order = x->device - y->device;
    return order ? order : (x->signature.id > y->signature.id) - (x->signature.id < y->signature.id);
}

static void find_shares(struct session *session)
{
    struct session_coverage *coverage = &session->coverage;
    double launches = 0, launch_count[SESSION_PROVENANCE_COUNT] = {0}, time[SESSION_PROVENANCE_COUNT] = {0};
    for (size_t i = 0; i < session->operator_count; i++)
        coverage->gpu_time_ns += (double)session->operators[i].time_ns;
    for (size_t i = 0; i < session->operator_count; i++) {
        struct operator_row *op = &session->operators[i];
        op->share = coverage->gpu_time_ns > 0 ? (double)op->time_ns / coverage->gpu_time_ns : NAN;
        time[op->shape_source] += (double)op->time_ns;
        if (op->kind == OPERATOR_OTHER)
            continue;
        uint64_t times = op->of_call ? op->executions : op->kernels;
        double here = (double)(op->calls > times ? op->calls : times);
        launch_count[op->shape_source] += here;
        launches += here;
    }
    for (int i = 0; i < SESSION_PROVENANCE_COUNT; i++) {
        coverage->launch_share[i] = launches > 0 ? launch_count[i] / launches : NAN;
        coverage->gpu_time_share[i] = coverage->gpu_time_ns > 0 ? time[i] / coverage->gpu_time_ns : NAN;
    }
}

/* Only the launcher knows how its target ended. An exec keeps the pid: the end is that of the last trace with it. */
static void find_ends(struct session *session)
{
    const struct session_info *info = &session->info;
    struct session_process *target = NULL;
    for (size_t i = 0; i < session->process_count; i++) {
        struct session_process *process = &session->processes[i];
        if (info->end != SESSION_END_UNKNOWN && process->pid >= 0 && process->pid == info->target_pid &&
            (!target || process->start_realtime_ns > target->start_realtime_ns))
            target = process;
        process->end = allocate_text(process->stats.ended ? "orderly" : "unknown");
    }
    if (!target)
        return;
    char text[64];
    snprintf(text, sizeof text, "%s %lld", info->end == SESSION_END_EXIT ? "exit" : "signal",
             (long long)info->end_value);
    free(target->end);
    target->end = allocate_text(text);
}

static void conclude(struct reading *reading)
{
    struct session *session = reading->session;
    session->simulated |= session->info.simulate != NULL;
    for (size_t i = 0; i < session->device_count; i++) {
        session->devices[i].busy = interval_set_union(session->devices[i].intervals);
        session->coverage.copies += session->devices[i].copies;
    }
    for (size_t i = 0; i < session->operator_count; i++) {
        name_operator(reading, i);
        classify_operator(session, &session->operators[i]);
    }
    drop_empty_operators(session);
    find_shares(session);
    find_ends(session);
    if (session->operator_count)
        qsort(session->operators, session->operator_count, sizeof *session->operators, compare_operators);
}

struct session *session_open(const char *path, struct session_error *error)
{
    struct reading reading = {.session = allocate(1, sizeof *reading.session)};
    reading.session->info.target_pid = -1;
    reading.session->info.started_realtime_ns = reading.session->info.ended_realtime_ns = -1;
    bool readable = read_path(&reading, path, error);
    if (readable)
        conclude(&reading);
    name_pool_free(&reading.names);
    index_map_free(&reading.operator_map);
    free(reading.operator_name_ids);
    if (readable)
        return reading.session;
    session_close(reading.session);
    return NULL;
}

bool session_is_empty(const struct session *session)
{
    const struct session_coverage *c = &session->coverage;
    return !c->calls && !c->failed_calls && !c->in_flight && !c->launches && !c->kernels;
}

static void process_free(struct session_process *process)
{
    free(process->file);
    free(process->command);
    free(process->hook_level);
    free(process->version);
    free(process->timing_text);
    free(process->end);
    for (size_t i = 0; i < process->in_flight_count; i++)
        free(process->in_flight[i].entry);
    free(process->in_flight);
    for (size_t i = 0; i < process->note_count; i++)
        free(process->notes[i].text);
    free(process->notes);
}

void session_close(struct session *session)
{
    if (!session)
        return;
    session_info_free(&session->info);
    for (size_t i = 0; i < session->device_count; i++)
        interval_set_close(session->devices[i].intervals);
    for (size_t i = 0; i < session->process_count; i++)
        process_free(&session->processes[i]);
    for (size_t i = 0; i < session->operator_count; i++)
        free(session->operators[i].name);
    for (size_t i = 0; i < session->bad_file_count; i++)
        free(session->bad_files[i].text);
    for (size_t i = 0; i < session->failure_count; i++)
        free(session->failures[i].name);
    free(session->failures);
    free(session->devices);
    free(session->processes);
    free(session->operators);
    free(session->bad_files);
    free(session);
}
