/* SPDX-License-Identifier: Apache-2.0 */
/* A call's record names no device and its id no function that other processes know: both are settled here, once a process
 * was read whole. */
#include "classify/session_merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/helper_shares.h"
#include "classify/kernel_families.h"
#include "classify/launch_operators.h"
#include "classify/phase_shares.h"

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

/* A process without windows was timed while it used the device. */
static void time_all(struct device_time *time, struct interval_set *busy)
{
    struct interval_union all = interval_set_union(busy);
    if (all.known)
        device_time_add_window(time, all.first_ns, all.last_ns);
    else
        time->span_unknown |= !interval_set_is_empty(busy);
}

static void merge_time(struct session_device *device, struct joined_device *seen)
{
    if (device->intervals && seen->time.timed && !device->time_sets.timed)
        time_all(&device->time_sets, device->intervals);
    if (device->time_sets.timed && !seen->time.timed)
        time_all(&seen->time, seen->busy);
    device_time_absorb(&device->time_sets, &seen->time);
}

/* Devices have numbers of their process in its copies. */
static int64_t index_of_ordinal(const struct operator_join *join, const int *device_of, int64_t ordinal)
{
    for (size_t i = 0; i < join->device_count; i++)
        if (join->devices[i].ordinal == ordinal)
            return device_of[i];
    return -1;
}

static void merge_copies(struct session *session, const struct operator_join *join, const int *device_of)
{
    for (size_t i = 0; i < join->device_count; i++) {
        const struct copy_sums *copied = &join->devices[i].copied;
        for (size_t row = 0; row < copied->count; row++) {
            struct copy_sum sum = copied->rows[row];
            sum.from = index_of_ordinal(join, device_of, sum.from);
            sum.to = index_of_ordinal(join, device_of, sum.to);
            copy_sums_add(&session->devices[device_of[i]].copied, &sum);
        }
    }
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
            device_identify(&seen->facts, &added->roofs, &added->identity);
        else
            added->roofs = device_roofs(NULL, TRACE_UNKNOWN, false, TRACE_UNKNOWN);
        session->simulated |= seen->described && seen->facts.simulated == 1;
    }
    struct session_device *device = &session->devices[i];
    device->kernels += seen->kernels;
    sum_add(&device->kernel_ns, seen->kernel_ns);
    device->copies += seen->copies;
    sum_add(&device->copy_ns, seen->copy_ns);
    sum_add(&device->copy_bytes, seen->copy_bytes);
    merge_time(device, seen);
    if (device->intervals)
        interval_set_absorb(device->intervals, seen->busy);
    else
        device->intervals = seen->busy;
    seen->busy = NULL;
    return (int)i;
}

/* ---- operators ---- */

static struct operator_row *operator_at(struct session_merge *merge, uint64_t key, int device, enum graph_use_of of)
{
    struct session *session = merge->session;
    uint32_t *index = index_map_at(&merge->operator_map, key, (uint64_t)(device + 1) * USE_COUNT + of);
    if (*index != INDEX_MAP_NONE)
        return &session->operators[*index];
    *index = (uint32_t)session->operator_count;
    session->operators = allocate_grow(session->operators, session->operator_count, &session->operator_capacity,
                                       sizeof *session->operators);
    merge->operator_name_ids = allocate_grow(merge->operator_name_ids, session->operator_count,
                                             &merge->operator_name_capacity, sizeof *merge->operator_name_ids);
    merge->operator_name_ids[session->operator_count] = of == USE_NAME ? key : 0;
    struct operator_row *op = &session->operators[session->operator_count];
    *op =
        (struct operator_row){.device = device, .of_call = of == USE_CALL, .kind = OPERATOR_OTHER, .bytes_least = NAN};
    op->merged_at = session->operator_count++;
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
static struct operator_row *operator_of_call(struct session_merge *merge, const struct operator_join *join,
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
    struct operator_row *op = operator_at(merge, key, device, USE_CALL);
    if (op->signature.id)
        return op;
    op->signature = signature->content;
    op->signature.id = key | 1;
    op->kind = kind_of_call(signature->content.kind);
    op->name = allocate_text(entry);
    work_of_signature(&signature->content, entry, &op->work);
    work_take_groups(&signature->content, &signature->groups, &op->work);
    op->shape_source = op->work.provenance;
    return op;
}

size_t session_merge_operator_of_call(struct session_merge *merge, const struct operator_join *join,
                                      const struct joined_signature *signature, int device)
{
    return (size_t)(operator_of_call(merge, join, signature, device) - merge->session->operators);
}

size_t session_merge_operator_of_name(struct session_merge *merge, uint64_t key, int device)
{
    return (size_t)(operator_at(merge, key, device, USE_NAME) - merge->session->operators);
}

size_t session_merge_operator_of_meaning(struct session_merge *merge, uint64_t key, int device)
{
    return (size_t)(operator_at(merge, key, device, USE_SHAPE) - merge->session->operators);
}

struct operator_row *session_merge_operator_of_use(struct session_merge *merge, struct operator_join *join,
                                                   struct graph_use use, uint64_t name_id, int device)
{
    const uint32_t signature = use.of == USE_CALL ? index_map_find(&join->signature_map, use.id, 0) : INDEX_MAP_NONE;
    if (use.of == USE_CALL)
        return signature != INDEX_MAP_NONE ? operator_of_call(merge, join, &join->signatures[signature], device) : NULL;
    const size_t index = launch_operators_at(merge, join, use, name_id, device); /* the array may move in here */
    return &merge->session->operators[index];
}

static uint64_t whole(double number)
{
    return number > 0 ? number < 9e18 ? (uint64_t)(number + 0.5) : INT64_MAX : 0;
}

/* Of a row that stands for more than was timed: its time, and executions and kernels in proportion. */
static void add_estimate(struct operator_row *op, const struct joined_kernels *row, const struct sampled_row *sampled)
{
    const uint64_t timed = row->use.of == USE_CALL ? row->executions : row->kernels;
    const double times = timed ? sampled->time.covered / (double)timed : 1;
    sum_add(&op->time_ns, whole(sampled->time.time_ns));
    sum_add(&op->kernels, whole(times * (double)row->kernels));
    sum_add(&op->executions, whole(times * (double)row->executions));
    time_evidence_add(&op->evidence, &sampled->time);
}

void session_merge_add_kernels(struct operator_row *op, const struct joined_kernels *row,
                               const struct sampled_row *sampled)
{
    op->timed = true;
    if (sampled && sampled->estimated) {
        add_estimate(op, row, sampled);
    } else {
        op->kernels += row->kernels;
        sum_add(&op->time_ns, row->time_ns);
        op->executions += row->executions;
    }
    sum_add(&op->evidence.executions, row->use.of == USE_CALL ? row->executions : row->kernels);
    sum_add(&op->evidence.kernels, row->kernels);
    sum_add(&op->evidence.time_ns, row->time_ns);
    duration_histogram_add_all(&op->durations, &row->durations);
    op->blocks_left_out |= row->grids_left_out;
    if (!op->of_call && row->widest_blocks > op->blocks)
        op->blocks = row->widest_blocks;
}

/* Names may stand in a block that comes later, but every file is read whole by now. */
void session_merge_find_grids(struct session_merge *merge)
{
    struct session *session = merge->session;
    const struct grid_time **longest = grid_times_longest(&merge->grid_times, session->operator_count);
    for (size_t i = 0; i < session->operator_count; i++) {
        struct operator_row *op = &session->operators[i];
        if (op->blocks_left_out) {
            op->blocks = 0;
            continue;
        }
        if (longest[i])
            op->blocks = longest[i]->blocks;
        uint64_t name_id = longest[i] ? longest[i]->name_id : merge->operator_name_ids[i];
        op->persistent = kernel_is_persistent(name_pool_find(&merge->names, name_id));
    }
    free(longest);
}

/* A kernel that nobody named might be a GEMM: it does not set the floor. */
static bool sets_floor(const struct session_merge *merge, const struct joined_kernels *row)
{
    const char *name = row->use.of == USE_CALL ? NULL : name_pool_find(&merge->names, joined_kernels_name(row));
    return kernel_family_sets_floor(name);
}

int session_merge_only_device(const struct operator_join *join, const int *device_of)
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
static void merge_kernels(struct session_merge *merge, struct operator_join *join, const int *device_of,
                          const struct sampled_rows *sampled)
{
    const struct grid_time **longest = grid_times_longest(&join->grid_times, join->row_count);
    uint32_t *operator_of_row = allocate(join->row_count, sizeof *operator_of_row);
    for (size_t i = 0; i < join->row_count; i++) {
        const struct joined_kernels *row = &join->rows[i];
        int device = device_of_ordinal(join, device_of, row->ordinal);
        struct operator_row *op;
        if (launch_operators_is_helper(join, row->use)) { /* helper_shares_add() has them */
            op = NULL;
        } else {
            op = session_merge_operator_of_use(merge, join, row->use, joined_kernels_name(row), device);
            if (!op) /* the call's record was lost: the longest kernel's name is what is left */
                op = operator_at(merge, longest[i] ? longest[i]->name_id : 0, device, USE_NAME);
            session_merge_add_kernels(op, row, sampled->rows ? &sampled->rows[i] : NULL);
        }
        operator_of_row[i] = op ? (uint32_t)(op - merge->session->operators) : 0; /* only calls have grids */
        if (device >= 0 && sets_floor(merge, row)) {
            double *floor_ns = &merge->session->devices[device].floor_ns;
            *floor_ns = isnan(*floor_ns) ? (double)row->shortest_ns : fmin(*floor_ns, (double)row->shortest_ns);
        }
    }
    for (size_t i = 0; i < join->grid_times.count; i++) {
        const struct grid_time *grid = &join->grid_times.grids[i];
        grid_times_add(&merge->grid_times, operator_of_row[grid->owner], grid->name_id, grid->blocks, grid->time_ns,
                       SIZE_MAX);
    }
    free(operator_of_row);
    free(longest);
}

static uint64_t timed_of(const struct joined_kernels *row)
{
    return row->use.of == USE_CALL ? row->executions : row->kernels;
}

static const struct joined_kernels *row_on(const struct operator_join *join, struct graph_use use, size_t device)
{
    return operator_join_find_row(join, join->devices[device].ordinal, use);
}

/* A call's record names no device. Where a process used one only, it is that one; else the calls whose kernels were seen
 * go where those ran, and the rest stays without a device. */
static void merge_calls(struct session_merge *merge, struct operator_join *join, const int *device_of, bool timed,
                        const struct sampled_rows *sampled)
{
    int only = session_merge_only_device(join, device_of);
    for (size_t i = 0; i < join->signature_count; i++) {
        const struct joined_signature *signature = &join->signatures[i];
        uint64_t left = signature->calls;
        for (size_t d = 0; only == SESSION_DEVICE_UNKNOWN && d < join->device_count && left; d++) {
            const struct joined_kernels *row = row_on(join, (struct graph_use){USE_CALL, signature->id}, d);
            if (!row)
                continue;
            const size_t index = (size_t)(row - join->rows);
            bool estimated = sampled->rows && sampled->rows[index].estimated;
            uint64_t here = estimated ? whole(sampled->rows[index].time.covered) : join->rows[index].executions;
            struct operator_row *op = operator_of_call(merge, join, signature, device_of[d]);
            op->calls += here < left ? here : left;
            left -= here < left ? here : left;
        }
        if (!left)
            continue; /* failed calls have no row: merge_failures() counts them */
        struct operator_row *op = operator_of_call(merge, join, signature, only);
        op->calls += left;
        op->timed |= timed;
    }
}

/* Several shares may have one name. */
static uint64_t place_launches(struct joined_kernels *row, uint64_t left)
{
    uint64_t room = row->kernels - row->launches_placed;
    uint64_t here = room < left ? room : left;
    row->launches_placed += here;
    return here;
}

static void merge_launches(struct session_merge *merge, struct operator_join *join, const int *device_of, bool timed)
{
    int only = session_merge_only_device(join, device_of);
    for (size_t i = 0; i < join->launch_share_count; i++) {
        const struct launch_share *share = &join->launch_shares[i];
        const struct graph_use use = launch_share_use(join, share);
        uint64_t left = helper_shares_uncharged_launches(join, use, share->launches);
        for (size_t d = 0; only == SESSION_DEVICE_UNKNOWN && d < join->device_count && left; d++) {
            const struct joined_kernels *row = row_on(join, use, d);
            if (!row)
                continue;
            uint64_t here = place_launches(&join->rows[row - join->rows], left);
            struct operator_row *op = session_merge_operator_of_use(merge, join, use, share->name_id, device_of[d]);
            op->calls_known = true;
            op->calls += here;
            left -= here;
        }
        if (!left)
            continue;
        struct operator_row *op = session_merge_operator_of_use(merge, join, use, share->name_id, only);
        op->calls_known = true;
        op->calls += left;
        op->timed |= timed;
    }
}

static void add_executions(struct session_merge *merge, struct operator_join *join, struct graph_use use, int device,
                           uint64_t executions, struct phase_share *phases)
{
    struct operator_row *op =
        executions ? session_merge_operator_of_use(merge, join, use, use.of == USE_NAME ? use.id : 0, device) : NULL;
    if (!op)
        return;
    sum_add(&op->evidence.executions_all, executions);
    phase_share_take(phases, executions, op->phase_calls);
    op->replays_phased |= join->sequence.steps.replays_counted;
}

/* Executions of one thing, timed or not: those that were timed where they were, or all in that proportion where those are a
 * sample; the rest as calls. */
static void place_executions(struct session_merge *merge, struct operator_join *join, const int *device_of,
                             const struct execution_count *count, const struct sampled_rows *sampled,
                             struct phase_share *phases)
{
    const uint64_t executions = helper_shares_uncharged(join, count->use, count->executions);
    uint64_t timed = 0, left = executions;
    for (size_t d = 0; d < join->device_count; d++) {
        const struct joined_kernels *row = row_on(join, count->use, d);
        sum_add(&timed, row ? timed_of(row) : 0);
    }
    for (size_t d = 0; d < join->device_count; d++) {
        const struct joined_kernels *row = row_on(join, count->use, d);
        if (!row)
            continue;
        const bool estimated = sampled->rows && sampled->rows[row - join->rows].estimated;
        const double share = timed ? (double)timed_of(row) / (double)timed : 0;
        const uint64_t wanted = estimated ? whole((double)executions * share) : timed_of(row);
        const uint64_t placed = wanted < left ? wanted : left;
        add_executions(merge, join, count->use, device_of[d], placed, phases);
        left -= placed;
    }
    add_executions(merge, join, count->use, session_merge_only_device(join, device_of), left, phases);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static struct operator_row failed_row(const struct joined_signature *signature, const char *entry)
{
    struct operator_row row = {.device = SESSION_DEVICE_UNKNOWN, .of_call = true, .signature = signature->content};
    row.kind = kind_of_call(signature->content.kind);
    work_of_signature(&signature->content, entry, &row.work);
    return row;
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
                (struct session_failure){allocate_text(name), signature->failed_status, 0, failed_row(signature, name)};
        }
        session->failures[f].calls += signature->failed;
    }
}

static void add_steps(struct session *session, const struct operator_join *join, const int *device_of)
{
    int only = session_merge_only_device(join, device_of);
    for (size_t i = 0; i < join->device_count; i++)
        for (int p = 0; p < PHASE_COUNT && (join->devices[i].kernels || device_of[i] == only); p++)
            sum_add(&session->devices[device_of[i]].steps[p], join->sequence.steps.steps[p]);
}

static void find_sampled(struct session *session, const struct operator_join *join, const int *device_of,
                         const struct sampled_rows *sampled)
{
    for (size_t i = 0; sampled->any && i < join->row_count; i++) {
        const int device = device_of_ordinal(join, device_of, join->rows[i].ordinal);
        if (device >= 0)
            session->devices[device].sampled |= sampled->rows[i].estimated;
    }
    for (size_t i = 0; sampled->any && i < join->replays.graph_count; i++) {
        const int device = device_of_ordinal(join, device_of, join->replays.graphs[i].device);
        if (device >= 0)
            session->devices[device].sampled |= sampled->graphs[i].estimated;
    }
}

void session_merge_add(struct session_merge *merge, struct operator_join *join, bool timed)
{
    int *device_of = allocate(join->device_count, sizeof *device_of);
    for (size_t i = 0; i < join->device_count; i++)
        device_of[i] = merge_device(merge->session, &join->devices[i]);
    merge_copies(merge->session, join, device_of);
    struct execution_book book = execution_book_of(join);
    struct sampled_rows sampled = sampled_rows_of(join, &book);
    merge_kernels(merge, join, device_of, &sampled);
    merge_calls(merge, join, device_of, timed, &sampled);
    merge_launches(merge, join, device_of, timed);
    struct phase_share *phases = phase_shares_of(join, &book);
    for (size_t i = 0; i < book.count; i++)
        place_executions(merge, join, device_of, &book.counts[i], &sampled, &phases[i]);
    free(phases);
    helper_shares_add(merge, join, device_of, &book, &sampled);
    launch_operators_cover(merge->session, join, &book, &sampled);
    graph_shares_add(merge, join, device_of, &sampled);
    if (sampled.any)
        time_evidence_add(&merge->session->coverage.evidence, &sampled.sum);
    merge_failures(merge->session, join);
    sequence_merge_add(merge, join, session_merge_only_device(join, device_of), device_of);
    add_steps(merge->session, join, device_of);
    find_sampled(merge->session, join, device_of, &sampled);
    sampled_rows_free(&sampled);
    execution_book_free(&book);
    free(device_of);
}

const char *session_merge_name(const struct session_merge *merge, size_t operator_index)
{
    return name_pool_find(&merge->names, merge->operator_name_ids[operator_index]);
}

void session_merge_free(struct session_merge *merge)
{
    name_pool_free(&merge->names);
    index_map_free(&merge->operator_map);
    index_map_free(&merge->traces);
    sequence_merge_free(&merge->sequences);
    graph_shares_free(&merge->shares);
    grid_times_free(&merge->grid_times);
    free(merge->operator_name_ids);
    *merge = (struct session_merge){0};
}
