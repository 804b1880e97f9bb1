/* SPDX-License-Identifier: Apache-2.0 */
/* One handler for each record type. Everything in a record is a claim of a stranger's process: sizes were checked by the
 * reader, values are checked here. */
#include "classify/operator_join.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/join_launches.h"
#include "classify/join_sums.h"
#include "classify/join_timing.h"
#include "classify/kernel_families.h"

enum { ENTRY_ID_LIMIT = 1 << 16 }; /* a damaged id must not make a huge table */

/* Text of a record as a C string that the caller frees; embedded NULs become IN_PLACE_OF_NUL. */
static char *text_of_record(const char *text, size_t bytes, char in_place_of_nul)
{
    while (bytes && text[bytes - 1] == '\0')
        bytes--;
    char *copy = allocate(bytes + 1, 1);
    memcpy(copy, text, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (copy[i] == '\0')
            copy[i] = in_place_of_nul;
    return copy;
}

/* ---- rows, made on first use ---- */

static void find_groups(const struct operator_join *join, struct joined_signature *signature)
{
    size_t count;
    const struct trace_group *groups = group_lists_find(&join->groups, signature->content.groups_id, &count);
    if (groups)
        signature->groups = work_sum_groups(&signature->content, groups, count);
}

static bool is_full(const struct operator_join *join, size_t count)
{
    return join->rows_most && count >= join->rows_most;
}

struct joined_signature *operator_join_signature(struct operator_join *join, const struct trace_signature *content)
{
    if (is_full(join, join->signature_count) && index_map_find(&join->signature_map, content->id, 0) == INDEX_MAP_NONE)
        return NULL;
    uint32_t *index = index_map_at(&join->signature_map, content->id, 0);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)join->signature_count;
        join->signatures =
            allocate_grow(join->signatures, join->signature_count, &join->signature_capacity, sizeof *join->signatures);
        struct joined_signature *added = &join->signatures[join->signature_count++];
        *added = (struct joined_signature){.id = content->id, .content = *content};
        sequence_call_of_signature(content, &added->sequence_call);
    }
    struct joined_signature *found = &join->signatures[*index];
    if (content->groups_id && !found->groups.known) /* the block it was first seen in may have lost the list */
        find_groups(join, found);
    return found;
}

struct joined_device *operator_join_device(struct operator_join *join, uint32_t ordinal)
{
    for (size_t i = 0; i < join->device_count; i++)
        if (join->devices[i].ordinal == ordinal)
            return &join->devices[i];
    if (join->rows_most && join->device_count == JOIN_DEVICES_MOST)
        return NULL;
    join->devices = allocate_grow(join->devices, join->device_count, &join->device_capacity, sizeof *join->devices);
    struct joined_device *device = &join->devices[join->device_count++];
    *device = (struct joined_device){.ordinal = ordinal};
    device->busy = join->rows_most ? interval_set_open_bounded(INTERVAL_SET_BUFFER, JOIN_STRETCHES_MOST)
                                   : interval_set_open(INTERVAL_SET_BUFFER);
    device_time_open(&device->time, join->rows_most != 0);
    return device;
}

static uint64_t place_of_row(uint32_t ordinal, enum graph_use_of of)
{
    return (uint64_t)ordinal * USE_COUNT + of;
}

const struct joined_kernels *operator_join_find_row(const struct operator_join *join, uint32_t ordinal,
                                                    struct graph_use use)
{
    const uint32_t index = index_map_find(&join->row_map, use.id, place_of_row(ordinal, use.of));
    return index == INDEX_MAP_NONE ? NULL : &join->rows[index];
}

struct joined_kernels *operator_join_row(struct operator_join *join, uint32_t ordinal, struct graph_use use)
{
    bool nameless = use.of == USE_NAME && !use.id; /* always has a row: at most one a device */
    if (is_full(join, join->row_count) && !nameless && !operator_join_find_row(join, ordinal, use))
        return NULL;
    uint32_t *index = index_map_at(&join->row_map, use.id, place_of_row(ordinal, use.of));
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)join->row_count;
        join->rows = allocate_grow(join->rows, join->row_count, &join->row_capacity, sizeof *join->rows);
        join->rows[join->row_count++] =
            (struct joined_kernels){.ordinal = ordinal, .use = use, .shortest_ns = UINT64_MAX};
    }
    return &join->rows[*index];
}

/* ---- records ---- */

static void add_process(struct operator_join *join, const struct trace_item *item)
{
    const struct trace_process *process = (const struct trace_process *)item->record;
    if (join->process_seen)
        return;
    join->process_seen = true;
    join->process = *process;
    size_t command = process->command_bytes;
    if (command > item->text_bytes)
        command = item->text_bytes;
    size_t version = process->version_bytes;
    if (version > item->text_bytes - command)
        version = item->text_bytes - command;
    join->command = text_of_record(item->text, command, ' ');
    join->version = text_of_record(item->text + command, version, ' ');
}

static void add_entry(struct operator_join *join, const struct trace_item *item)
{
    uint32_t id = ((const struct trace_entry *)item->record)->id;
    if (id >= ENTRY_ID_LIMIT)
        return;
    while (id >= join->entry_capacity) {
        size_t before = join->entry_capacity;
        join->entries = allocate_grow(join->entries, before, &join->entry_capacity, sizeof *join->entries);
        memset(join->entries + before, 0, (join->entry_capacity - before) * sizeof *join->entries);
    }
    if (!join->entries[id])
        join->entries[id] = text_of_record(item->text, item->text_bytes, '?');
}

static void add_name(struct operator_join *join, const struct trace_item *item)
{
    const struct trace_name *name = (const struct trace_name *)item->record;
    if (!name->id)
        return;
    const struct name_pool *pool = join->names;
    if (is_full(join, pool->count) || (join->rows_most && pool->bytes + item->text_bytes > JOIN_NAME_BYTES_MOST)) {
        if (!name_pool_find(pool, name->id))
            join->beyond.names++;
        return;
    }
    char *text = text_of_record(item->text, item->text_bytes, '?');
    if (name->full_bytes > item->text_bytes) {
        static const char mark[] = "...";
        size_t length = strlen(text);
        char *marked = allocate(length + sizeof mark, 1);
        memcpy(marked, text, length);
        memcpy(marked + length, mark, sizeof mark);
        free(text);
        text = marked;
    }
    name_pool_add(join->names, name->id, text);
}

/* While the counter's rate is not known, which is in a process's first second, that of its block. */
uint64_t operator_join_realtime(const struct trace_block_header *block, uint64_t ticks)
{
    double apart =
        block->ticks_per_second ? ((double)ticks - (double)block->anchor_ticks) / (double)block->ticks_per_second : 0;
    double realtime_ns = (double)block->anchor_realtime_ns + apart * 1e9;
    return block->anchor_realtime_ns && realtime_ns > 0 && realtime_ns < 9e18 ? (uint64_t)realtime_ns : 0;
}

static void add_note(struct operator_join *join, const struct trace_item *item)
{
    enum { NOTE_LIMIT = 256 }; /* a process writes a handful; more of them are no news */
    const struct trace_note *note = (const struct trace_note *)item->record;
    if (join->note_count == NOTE_LIMIT)
        return;
    join->notes = allocate_grow(join->notes, join->note_count, &join->note_capacity, sizeof *join->notes);
    join->notes[join->note_count++] =
        (struct joined_note){note->code, note->value, text_of_record(item->text, item->text_bytes, ' '),
                             operator_join_realtime(item->block, note->ticks)};
}

static void add_device(struct operator_join *join, const struct trace_item *item)
{
    const struct trace_device *facts = (const struct trace_device *)item->record;
    struct joined_device *device = operator_join_device(join, facts->ordinal);
    /* A process tells what it knows at once, and with the PCI id a little later. */
    if (!device || (device->described && (device->facts.pci_device_id || !facts->pci_device_id)))
        return;
    device->described = true;
    device->facts = *facts;
    device->facts.name[TRACE_DEVICE_NAME_BYTES - 1] = '\0';
}

static void add_call(struct operator_join *join, const struct trace_item *item)
{
    struct joined_signature *signature = operator_join_signature(join, item->signature);
    join->calls++;
    if (!signature) {
        join->beyond.calls++;
        sum_add(&join->sequence.dropped, 1);
        return;
    }
    signature->calls++;
    time_slices_add(&signature->slices,
                    operator_join_realtime(item->block, ((const struct trace_call *)item->record)->start_ticks),
                    (struct trace_slice){.all = 1});
    call_sequence_call(&join->sequence, item->block, (const struct trace_call *)item->record,
                       (uint32_t)(signature - join->signatures), &signature->sequence_call);
    join_launches_note_call(join, item);
}

/* A signature's list stands before it in its own block, so none of another block's is needed any more. */
static void add_groups(struct operator_join *join, const struct trace_item *item)
{
    if (join->groups_block != item->block->sequence) {
        group_lists_free(&join->groups);
        join->groups = (struct group_lists){0};
        join->groups_block = item->block->sequence;
    }
    group_lists_add(&join->groups, (const struct trace_groups *)item->record);
}

static void add_failed_call(struct operator_join *join, const struct trace_item *item)
{
    struct joined_signature *signature = operator_join_signature(join, item->signature);
    join->failed_calls++;
    if (!signature) {
        join->beyond.failed++;
        return;
    }
    signature->failed++;
    signature->failed_status = ((const struct trace_call_failed *)item->record)->status;
}

/* True: KERNEL is the first of its execution. */
static bool count_execution(struct joined_kernels *row, const struct trace_kernel *kernel, uint64_t duration)
{
    /* Kernels of a graph keep the call id of the capture: each replay has a correlation id of its own. */
    uint64_t execution = kernel->call_id;
    if (kernel->graph_id)
        execution ^= (kernel->correlation_id + 1ull) * 0x9e3779b97f4a7c15ull;
    if (!execution)
        return false;
    unsigned at = 0;
    while (at < JOINED_RECENT_CALLS && row->recent[at] != execution)
        at++;
    /* A launch comes to a node again only where the body of a loop runs once more. */
    const bool again = at < JOINED_RECENT_CALLS && kernel->graph_id && kernel->graph_node_id &&
                       kernel->graph_node_id == row->recent_node[at];
    if (at < JOINED_RECENT_CALLS && !again) {
        sum_add(&row->recent_ns[at], duration);
        return false;
    }
    if (!again)
        at = row->recent_next++ % JOINED_RECENT_CALLS;
    if (row->recent[at])
        duration_histogram_add(&row->durations, duration_bucket(row->recent_ns[at]), 1);
    row->recent[at] = execution;
    row->recent_node[at] = kernel->graph_node_id;
    row->recent_ns[at] = duration;
    row->executions++;
    return true;
}

/* The last executions get no more kernels. */
static void end_executions(struct joined_kernels *row)
{
    for (unsigned i = 0; i < JOINED_RECENT_CALLS; i++) {
        if (row->recent[i])
            duration_histogram_add(&row->durations, duration_bucket(row->recent_ns[i]), 1);
        row->recent[i] = 0;
    }
}

static uint64_t blocks_of(const struct trace_kernel *kernel)
{
    double blocks = (double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    return blocks < 9e18 ? (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] : UINT64_MAX;
}

/* No kernel or copy takes longer than a year, and no clock gets to the top bit: such times are no times. */
bool operator_join_times_are_possible(uint64_t start_ns, uint64_t end_ns)
{
    const uint64_t longest_ns = 366ull * 24 * 3600 * 1000000000;
    return start_ns && end_ns >= start_ns && end_ns <= INT64_MAX && end_ns - start_ns <= longest_ns;
}

void sum_add(uint64_t *sum, uint64_t more)
{
    *sum = *sum > INT64_MAX || more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

/* A node that the program built itself has no call and lacks none. */
static bool is_unowned_replay(const struct trace_kernel *kernel)
{
    bool built = kernel->join == TRACE_JOIN_GRAPH_NODE && kernel->call_id == 0;
    return kernel->owner == TRACE_OWNER_NONE && kernel->graph_id && !built;
}

static struct graph_use use_of_kernel(struct operator_join *join, const struct trace_kernel *kernel)
{
    if (kernel->owner == TRACE_OWNER_CALL && kernel->owner_id)
        return (struct graph_use){USE_CALL, kernel->owner_id};
    if (launch_shapes_take(&join->launch_shapes, kernel->owner, kernel->owner_id, kernel->name_id))
        return (struct graph_use){USE_SHAPE, kernel->owner_id};
    return (struct graph_use){USE_NAME, kernel->name_id};
}

static struct joined_kernels *row_of_kernel(struct operator_join *join, const struct trace_kernel *kernel,
                                            uint64_t duration)
{
    struct graph_use use = use_of_kernel(join, kernel);
    struct joined_kernels *row = operator_join_row(join, kernel->device, use);
    if (!row && use.of == USE_SHAPE) {
        join->launch_shapes.beyond++;
        row = operator_join_row(join, kernel->device, (struct graph_use){USE_NAME, kernel->name_id});
    }
    if (row) {
        row->name_id = row->use.of == USE_SHAPE ? kernel->name_id : row->name_id;
        return row;
    }
    join->beyond.kernels++;
    sum_add(&join->beyond.time_ns, duration);
    return operator_join_row(join, kernel->device, (struct graph_use){USE_NAME, 0});
}

/* ---- compute or communication ---- */

static bool find_activity(const struct operator_join *join, struct joined_kernels *row)
{
    const bool of_call = row->use.of == USE_CALL;
    const char *name = row->activity_known || of_call ? NULL : name_pool_find(join->names, joined_kernels_name(row));
    if (of_call || name) {
        bool communicates = name && kernel_family_of_name(name) == KERNEL_FAMILY_COMMUNICATION;
        row->activity_known = true;
        row->activity = communicates ? DEVICE_COMMUNICATION : DEVICE_COMPUTE;
    }
    return row->activity_known;
}

static void place_kernel(const struct operator_join *join, struct joined_device *device, struct joined_kernels *row,
                         const struct trace_kernel *kernel)
{
    if (row->activity_known || find_activity(join, row)) {
        device_time_add(&device->time, row->activity, kernel->start_ns, kernel->end_ns);
        return;
    }
    if (!row->unnamed)
        row->unnamed = join->rows_most ? interval_set_open_bounded(INTERVAL_SET_BUFFER, JOIN_STRETCHES_MOST)
                                       : interval_set_open(INTERVAL_SET_BUFFER);
    interval_set_add(row->unnamed, kernel->start_ns, kernel->end_ns);
}

/* Names may come after their kernels. One that never came may be that of any kernel. */
static void place_unnamed(struct operator_join *join)
{
    for (size_t i = 0; i < join->row_count; i++) {
        struct joined_kernels *row = &join->rows[i];
        struct joined_device *device = row->unnamed ? operator_join_device(join, row->ordinal) : NULL;
        if (!device)
            continue;
        device->time.split_unknown |= !find_activity(join, row);
        device_time_add_set(&device->time, row->activity_known ? row->activity : DEVICE_COMPUTE, row->unnamed);
        row->unnamed = NULL;
    }
}

bool operator_join_has_unnamed(const struct operator_join *join, uint32_t ordinal)
{
    for (size_t i = 0; i < join->row_count; i++)
        if (join->rows[i].unnamed && join->rows[i].ordinal == ordinal)
            return true;
    return false;
}

/* Of copies that sums count, those of 1.4, no more is known than how many. */
static void place_rest_of_copies(struct joined_device *device)
{
    struct copy_sum rest = {.direction = COPY_DIRECTION_UNKNOWN,
                            .from = -1,
                            .to = -1,
                            .copies = device->copies,
                            .bytes = device->copy_bytes,
                            .ns = device->copy_ns};
    for (size_t i = 0; i < device->copied.count; i++) {
        const struct copy_sum *row = &device->copied.rows[i];
        rest.copies -= row->copies < rest.copies ? row->copies : rest.copies;
        rest.bytes -= row->bytes < rest.bytes ? row->bytes : rest.bytes;
        rest.ns -= row->ns < rest.ns ? row->ns : rest.ns;
    }
    if (rest.copies)
        copy_sums_add(&device->copied, &rest);
}

static void end_devices(struct operator_join *join)
{
    place_unnamed(join);
    for (size_t i = 0; i < join->device_count; i++) {
        struct joined_device *device = &join->devices[i];
        bool summed = device->activity_sums & 1u << DEVICE_COMPUTE;
        device->time.split_unknown |= join->sums.present && !summed && (device->kernels || device->copies);
        window_spans_give(&join->window_spans, &device->time);
        place_rest_of_copies(device);
    }
}

static void add_kernel(struct operator_join *join, const struct trace_kernel *kernel)
{
    if (!operator_join_times_are_possible(kernel->start_ns, kernel->end_ns)) {
        join->kernels_invalid++;
        return;
    }
    uint64_t duration = kernel->end_ns - kernel->start_ns;
    struct joined_device *device = operator_join_device(join, kernel->device);
    if (!device) { /* no machine has so many */
        join->kernels_invalid++;
        return;
    }
    interval_set_add(device->busy, kernel->start_ns, kernel->end_ns);
    device->kernels++;
    sum_add(&device->kernel_ns, duration);
    join->kernels++;
    launch_names_add(&join->launch_names, kernel, join->rows_most ? join->rows_most : SIZE_MAX);

    if (kernel->owner == TRACE_OWNER_NONE)
        join->kernels_without_owner++;
    if (is_unowned_replay(kernel)) {
        join->graph_kernels_unowned++;
        sum_add(&join->graph_time_unowned_ns, duration);
    }
    struct joined_kernels *row = row_of_kernel(join, kernel, duration);
    place_kernel(join, device, row, kernel);
    row->kernels++;
    sum_add(&row->time_ns, duration);
    if (duration < row->shortest_ns)
        row->shortest_ns = duration;
    uint64_t blocks = blocks_of(kernel);
    bool begins = true;
    if (row->use.of == USE_CALL) {
        row->grids_left_out |= !grid_times_add(&join->grid_times, (uint32_t)(row - join->rows), kernel->name_id, blocks,
                                               duration, join->rows_most ? JOIN_GRIDS_MOST : SIZE_MAX);
        begins = count_execution(row, kernel, duration);
    } else {
        duration_histogram_add(&row->durations, duration_bucket(duration), 1);
        row->executions += row->use.of == USE_SHAPE;
        if (blocks > row->widest_blocks)
            row->widest_blocks = blocks;
    }
    time_slices_add(&row->slices, kernel->start_ns, (struct trace_slice){.timed = begins, .time_ns = duration});
    if (kernel->graph_id)
        graph_replays_add_kernel(&join->replays, kernel);
}

static void add_copy(struct operator_join *join, const struct trace_copy *copy)
{
    if (!operator_join_times_are_possible(copy->start_ns, copy->end_ns))
        return;
    struct joined_device *device = operator_join_device(join, copy->device);
    if (!device)
        return;
    const struct copy_sum sum = copy_sum_of(copy);
    interval_set_add(device->busy, copy->start_ns, copy->end_ns);
    device_time_add(&device->time, DEVICE_COPIES, copy->start_ns, copy->end_ns);
    copy_sums_add(&device->copied, &sum);
    device->copies++;
    sum_add(&device->copy_ns, copy->end_ns - copy->start_ns);
    sum_add(&device->copy_bytes, copy->bytes);
}

/* On the host's clock from here on. */
static void add_placed_kernel(struct operator_join *join, const struct trace_kernel *kernel)
{
    struct trace_kernel placed = *kernel;
    clock_relation_place(&join->clock, &placed.start_ns, &placed.end_ns);
    add_kernel(join, &placed);
}

static void add_placed_copy(struct operator_join *join, const struct trace_copy *copy)
{
    struct trace_copy placed = *copy;
    clock_relation_place(&join->clock, &placed.start_ns, &placed.end_ns);
    add_copy(join, &placed);
}

void operator_join_add(struct operator_join *join, const struct trace_item *item)
{
    const uint64_t begun_ns = item->block->anchor_realtime_ns;
    if (begun_ns > join->newest_realtime_ns && begun_ns <= INT64_MAX)
        join->newest_realtime_ns = begun_ns;
    switch (item->record->type) {
    case TRACE_RECORD_PROCESS:
        add_process(join, item);
        break;
    case TRACE_RECORD_ENTRY:
        add_entry(join, item);
        break;
    case TRACE_RECORD_DEVICE:
        add_device(join, item);
        break;
    case TRACE_RECORD_NOTE:
        add_note(join, item);
        break;
    case TRACE_RECORD_NAME:
        add_name(join, item);
        break;
    case TRACE_RECORD_SIGNATURE:
        operator_join_signature(join, item->signature);
        break;
    case TRACE_RECORD_LAUNCH_SHAPE:
        launch_shapes_add(&join->launch_shapes, (const struct trace_launch_shape *)item->record);
        break;
    case TRACE_RECORD_PARAMETER_PLAN:
        launch_shapes_add_plan(&join->launch_shapes, (const struct trace_parameter_plan *)item->record);
        break;
    case TRACE_RECORD_GROUPS:
        add_groups(join, item);
        break;
    case TRACE_RECORD_CALL:
        add_call(join, item);
        break;
    case TRACE_RECORD_CALL_FAILED:
        add_failed_call(join, item);
        break;
    case TRACE_RECORD_LAUNCH:
        join_launches_add(join, item);
        break;
    case TRACE_RECORD_KERNEL:
        add_placed_kernel(join, (const struct trace_kernel *)item->record);
        break;
    case TRACE_RECORD_COPY:
        add_placed_copy(join, (const struct trace_copy *)item->record);
        break;
    case TRACE_RECORD_ANCHOR:
        clock_relation_add(&join->clock, (const struct trace_anchor *)item->record);
        break;
    case TRACE_RECORD_END:
        join->end_realtime_ns = operator_join_realtime(item->block, ((const struct trace_end *)item->record)->ticks);
        break;
    case TRACE_RECORD_WINDOW:
        window_spans_add(&join->window_spans, (const struct trace_window *)item->record);
        /* fall through */
    default:
        join_timing_add(join, item);
        join_sums_add(join, item);
        break;
    }
}

void operator_join_open(struct operator_join *join, struct name_pool *names)
{
    *join = (struct operator_join){.names = names, .launch_shapes = {.names = names}};
    call_sequence_open(&join->sequence);
}

void operator_join_open_bounded(struct operator_join *join, struct name_pool *names)
{
    operator_join_open(join, names);
    join->rows_most = JOIN_ROWS_MOST;
    join->window_spans.bounded = true;
}

void operator_join_end(struct operator_join *join)
{
    call_sequence_end(&join->sequence);
    launch_names_share(join);
    join->beyond.shapes = join->launch_shapes.beyond;
    for (size_t i = 0; i < join->row_count; i++)
        end_executions(&join->rows[i]);
    end_devices(join);
}

bool operator_join_shape_is_known(struct operator_join *join, struct graph_use use)
{
    const struct launch_decode *decode =
        use.of == USE_SHAPE ? launch_shapes_decode_last(&join->launch_shapes, use.id) : NULL;
    return use.of == USE_CALL || (decode && decode->reading == LAUNCH_READ);
}

const char *operator_join_entry(const struct operator_join *join, uint32_t id)
{
    return id < join->entry_capacity ? join->entries[id] : NULL;
}

void operator_join_close(struct operator_join *join)
{
    for (size_t i = 0; i < join->note_count; i++)
        free(join->notes[i].text);
    for (size_t i = 0; i < join->entry_capacity; i++)
        free(join->entries[i]);
    for (size_t i = 0; i < join->device_count; i++) {
        interval_set_close(join->devices[i].busy);
        device_time_close(&join->devices[i].time);
        copy_sums_free(&join->devices[i].copied);
    }
    window_spans_free(&join->window_spans);
    for (size_t i = 0; i < join->row_count; i++) {
        duration_histogram_free(&join->rows[i].durations);
        interval_set_close(join->rows[i].unnamed);
        time_slices_free(&join->rows[i].slices);
    }
    for (size_t i = 0; i < join->signature_count; i++)
        time_slices_free(&join->signatures[i].slices);
    for (size_t i = 0; i < join->launch_count; i++)
        time_slices_free(&join->launches[i].slices);
    timing_windows_free(&join->timing);
    graph_replays_free(&join->replays);
    live_lengths_free(&join->lengths);
    free(join->command);
    free(join->version);
    free(join->notes);
    free(join->signatures);
    group_lists_free(&join->groups);
    free(join->rows);
    grid_times_free(&join->grid_times);
    free(join->launches);
    free(join->launch_shares);
    launch_names_free(&join->launch_names);
    launch_shapes_free(&join->launch_shapes);
    helper_nodes_free(&join->helper_nodes);
    free(join->devices);
    free(join->entries);
    call_sequence_close(&join->sequence);
    index_map_free(&join->signature_map);
    index_map_free(&join->row_map);
    index_map_free(&join->launch_map);
    *join = (struct operator_join){0};
}
