/* SPDX-License-Identifier: Apache-2.0 */
/* By epochs: the nodes of one graph that hold from the same launch on come from one capture. Which step that was is what
 * most of their call ids lie in: kernels before a step's first product still count for the step before it. */
#include "classify/replay_phases.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

struct epoch {
    uint32_t graph;
    uint64_t from;                  /* launches of the graph before */
    uint64_t first_call, last_call; /* of its nodes; 0: none is known */
    uint64_t launches;              /* for which it held */
    uint64_t realtime_ns;           /* when it began; 0: not known */
    bool captures;                  /* it has the first sight of what was captured */
    const struct step_span *span;   /* NULL: in no step */
    uint64_t begun;                 /* first products of steps among its calls */
};

struct epochs {
    struct epoch *items;
    size_t count, capacity;
    struct index_map map;         /* by graph and its launches before */
    const struct epoch **updates; /* those of graphs that were captured anew and updated; by graph, then launches */
    size_t update_count;
    uint64_t (*phases_before)[PHASE_COUNT]; /* of each update, and behind the last: updates before it, by phase */
};

/* ---- epochs ---- */

static struct epoch *epoch_of(struct epochs *epochs, const struct graph_past *node)
{
    uint32_t *index = index_map_at(&epochs->map, node->graph, node->from);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)epochs->count;
        epochs->items = allocate_grow(epochs->items, epochs->count, &epochs->capacity, sizeof *epochs->items);
        epochs->items[epochs->count++] = (struct epoch){.graph = node->graph, .from = node->from};
    }
    return &epochs->items[*index];
}

static void add_to_epoch(struct epochs *epochs, const struct graph_past *node)
{
    struct epoch *epoch = epoch_of(epochs, node);
    if (node->launches > epoch->launches)
        epoch->launches = node->launches;
    epoch->captures |= node->captured > 0;
    if (!epoch->realtime_ns)
        epoch->realtime_ns = node->realtime_ns;
    if (!node->first_call)
        return;
    if (!epoch->first_call || node->first_call < epoch->first_call)
        epoch->first_call = node->first_call;
    if (node->last_call > epoch->last_call)
        epoch->last_call = node->last_call;
}

/* ---- spans ---- */

static int by_first_call(const void *left, const void *right)
{
    const struct step_span *a = left, *b = right;
    return (a->first_call > b->first_call) - (a->first_call < b->first_call);
}

static uint64_t common_calls(const struct step_span *span, const struct epoch *epoch)
{
    const uint64_t from = span->first_call > epoch->first_call ? span->first_call : epoch->first_call;
    const uint64_t to = span->last_call < epoch->last_call ? span->last_call : epoch->last_call;
    return to >= from ? to - from + 1 : 0;
}

/* How many of the span's steps begin from FIRST to LAST. */
static uint64_t begun_between(const struct step_span *span, uint64_t first, uint64_t last)
{
    if (span->steps == 1 || !span->stride)
        return span->first_call >= first && span->first_call <= last;
    const uint64_t end = span->first_call + (span->steps - 1) * span->stride;
    if (first > end || last < span->first_call)
        return 0;
    const uint64_t low = first > span->first_call ? (first - span->first_call + span->stride - 1) / span->stride : 0;
    const uint64_t high = last < end ? (last - span->first_call) / span->stride : span->steps - 1;
    return high >= low ? high - low + 1 : 0;
}

/* SPANS are sorted; those of one thread do not overlap, and threads have ids of their own. */
static void place(struct epoch *epoch, const struct step_span *spans, size_t count)
{
    size_t low = 0, high = count;
    uint64_t most = 0;
    if (!epoch->first_call)
        return;
    while (low < high) { /* the first that ends behind the first call */
        const size_t middle = low + (high - low) / 2;
        if (spans[middle].last_call < epoch->first_call)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < count && spans[i].first_call <= epoch->last_call; i++) {
        const uint64_t common = common_calls(&spans[i], epoch);
        if (common > most) {
            most = common;
            epoch->span = &spans[i];
        }
    }
    if (epoch->span)
        epoch->begun = begun_between(epoch->span, epoch->first_call, epoch->last_call);
}

/* ---- counts ---- */

static uint32_t row_of_launch(const struct operator_join *join, struct graph_use use)
{
    const struct launch_shape *shape = use.of == USE_SHAPE ? launch_shapes_find(&join->launch_shapes, use.id) : NULL;
    if (use.of == USE_NAME)
        return index_map_find(&join->launch_map, use.id, 0);
    return index_map_find(&join->launch_map, shape ? shape->name_id : 0, use.id);
}

/* False: its record is lost. */
static bool number_of(const struct operator_join *join, struct graph_use use, uint32_t *number)
{
    const bool launch = use.of != USE_CALL;
    const uint32_t row = launch ? row_of_launch(join, use) : index_map_find(&join->signature_map, use.id, 0);
    *number = step_call_number(row, launch);
    return row != INDEX_MAP_NONE;
}

static void make_room(struct replay_phases *replays, uint32_t number)
{
    const size_t before = replays->capacity;
    if (number < before)
        return;
    size_t capacity = before ? before : 64;
    while (number >= capacity)
        capacity *= 2;
    uint64_t(*grown[2])[PHASE_COUNT] = {allocate(capacity, sizeof *grown[0]), allocate(capacity, sizeof *grown[1])};
    if (before) {
        memcpy(grown[0], replays->added, before * sizeof *grown[0]);
        memcpy(grown[1], replays->captured, before * sizeof *grown[1]);
    }
    free(replays->added);
    free(replays->captured);
    replays->added = grown[0];
    replays->captured = grown[1];
    replays->capacity = capacity;
}

static void count_captured(struct replay_phases *replays, uint32_t number, const struct epoch *epoch, uint64_t calls)
{
    make_room(replays, number);
    sum_add(&replays->captured[number][epoch->span->phase], calls);
}

static void count_node(struct replay_phases *replays, const struct operator_join *join, struct epochs *epochs,
                       const struct graph_past *node)
{
    const struct epoch *epoch = epoch_of(epochs, node);
    uint32_t number;
    if (!epoch->span || !number_of(join, node->use, &number))
        return;
    make_room(replays, number);
    sum_add(&replays->added[number][epoch->span->phase], node->executions);
    count_captured(replays, number, epoch, node->captured);
}

static void count_steps(struct replay_phases *replays, const struct epoch *epoch)
{
    if (!epoch->span || !epoch->begun)
        return;
    const enum phase phase = epoch->span->phase;
    const double rows = epoch->span->rows * (double)epoch->begun;
    uint64_t steps;
    if (__builtin_mul_overflow(epoch->begun, epoch->launches, &steps))
        steps = UINT64_MAX;
    sum_add(&replays->steps[phase], steps);
    replays->rows[phase] += rows * (double)epoch->launches;
    if (!epoch->captures)
        return;
    sum_add(&replays->captured_steps[phase], epoch->begun);
    replays->captured_rows[phase] += rows;
}

/* ---- graphs that are captured anew ---- */

/* A graph that is captured anew to be updated has records of what changed alone: a node whose call is like the one before keeps
 * that one. Its new call was captured all the same, as the changed ones beside it were. */
static bool is_update(const struct epoch *epoch)
{
    return epoch->from && epoch->captures && epoch->span;
}

static int by_graph(const void *left, const void *right)
{
    const struct epoch *a = *(const struct epoch *const *)left, *b = *(const struct epoch *const *)right;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

static void find_updates(struct epochs *epochs)
{
    epochs->updates = allocate(epochs->count, sizeof *epochs->updates);
    for (size_t i = 0; i < epochs->count; i++)
        if (is_update(&epochs->items[i]))
            epochs->updates[epochs->update_count++] = &epochs->items[i];
    if (epochs->update_count)
        qsort(epochs->updates, epochs->update_count, sizeof epochs->updates[0], by_graph);
    epochs->phases_before = allocate(epochs->update_count + 1, sizeof *epochs->phases_before);
    for (size_t i = 0; i < epochs->update_count; i++) {
        memcpy(epochs->phases_before[i + 1], epochs->phases_before[i], sizeof epochs->phases_before[i]);
        epochs->phases_before[i + 1][epochs->updates[i]->span->phase]++;
    }
}

/* The first update of GRAPH that FROM launches, or more, came before. */
static size_t first_update_from(const struct epochs *epochs, uint32_t graph, uint64_t from)
{
    size_t low = 0, high = epochs->update_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct epoch *update = epochs->updates[middle];
        if (update->graph < graph || (update->graph == graph && update->from < from))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first update of GRAPH after launch FROM. */
static size_t first_update(const struct epochs *epochs, uint32_t graph, uint64_t from)
{
    return from == UINT64_MAX ? first_update_from(epochs, graph + 1, 0) : first_update_from(epochs, graph, from + 1);
}

/* Updates that NODE lived through: from *FIRST on, up to *END. LIVES: it still holds. */
static void updates_through(const struct epochs *epochs, const struct graph_past *node, bool lives, size_t *first,
                            size_t *end)
{
    const uint64_t until = node->from + node->launches + lives;
    *first = first_update(epochs, node->graph, node->from);
    *end = first_update_from(epochs, node->graph, until);
    if (*end < *first)
        *end = *first;
}

/* CAPTURED, where it is wanted, gets the same as counts of captured calls of its own. A node that holds for a whole run is
 * there for every update: what is counted is looked up, not walked. */
static void count_unchanged(struct replay_phases *replays, const struct operator_join *join,
                            const struct epochs *epochs, const struct graph_past *node, bool lives,
                            struct graph_replays *captured)
{
    size_t first, end;
    uint32_t number;
    updates_through(epochs, node, lives, &first, &end);
    if (!node->leading || !node->first_call || first == end || !number_of(join, node->use, &number))
        return;
    make_room(replays, number);
    for (int p = 0; p < PHASE_COUNT; p++) {
        const uint64_t updates = epochs->phases_before[end][p] - epochs->phases_before[first][p];
        uint64_t calls;
        if (__builtin_mul_overflow(updates, node->leading, &calls))
            calls = UINT64_MAX;
        sum_add(&replays->captured[number][p], calls);
    }
    for (size_t i = first; captured && i < end; i++)
        time_slices_add(&graph_replays_count(captured, node->use)->slices, epochs->updates[i]->realtime_ns,
                        (struct trace_slice){.timed = node->leading});
}

static int by_most_begun(const void *left, const void *right)
{
    const struct epoch *a = *(const struct epoch *const *)left, *b = *(const struct epoch *const *)right;
    return (a->begun < b->begun) - (a->begun > b->begun);
}

/* The first update from NUMBER on that nothing was said of; NEXT of one of which it was leads on. */
static size_t first_open(size_t *next, size_t number)
{
    while (next[number] != number)
        number = next[number] = next[next[number]];
    return number;
}

/* For each update the most first products of one epoch that lasted until it. To be freed. */
static uint64_t *begun_before_updates(const struct epochs *epochs)
{
    const struct epoch **begun = allocate(epochs->count, sizeof *begun);
    uint64_t *most = allocate(epochs->update_count, sizeof *most);
    size_t *next = allocate(epochs->update_count + 1, sizeof *next), count = 0;
    for (size_t i = 0; i < epochs->count; i++)
        if (epochs->items[i].begun)
            begun[count++] = &epochs->items[i];
    if (count)
        qsort(begun, count, sizeof begun[0], by_most_begun);
    for (size_t i = 0; i <= epochs->update_count; i++)
        next[i] = i;
    for (size_t i = 0; i < count; i++) {
        const struct epoch *epoch = begun[i];
        size_t at = first_open(next, first_update(epochs, epoch->graph, epoch->from));
        for (; at < epochs->update_count && epochs->updates[at]->graph == epoch->graph &&
               epochs->updates[at]->from <= epoch->from + epoch->launches;
             at = first_open(next, at)) {
            most[at] = epoch->begun;
            next[at] = at + 1;
        }
    }
    free(begun);
    free(next);
    return most;
}

/* Of those steps whose first product did not change. */
static void count_unchanged_steps(struct replay_phases *replays, const struct epochs *epochs)
{
    uint64_t *most = begun_before_updates(epochs);
    for (size_t i = 0; i < epochs->update_count; i++) {
        const struct epoch *update = epochs->updates[i];
        if (most[i] <= update->begun)
            continue;
        const uint64_t begun = most[i] - update->begun;
        sum_add(&replays->captured_steps[update->span->phase], begun);
        replays->captured_rows[update->span->phase] += (double)begun * update->span->rows;
    }
    free(most);
}

typedef void take_node(void *context, const struct graph_past *node, bool lives);

/* Every node that held for some launches, those that still do, too. */
static void for_each_node(const struct graph_replays *replays, take_node *take, void *context)
{
    for (size_t i = 0; i < replays->past_count; i++)
        take(context, &replays->past[i], false);
    for (size_t i = 0; i < replays->node_count; i++) {
        const struct graph_node *node = &replays->nodes[i];
        const struct graph_past now = graph_replays_past_of(replays, node, replays->graphs[node->graph].launches);
        if (!node->retired)
            take(context, &now, true);
    }
}

struct finding {
    struct replay_phases *replays;
    const struct operator_join *join;
    struct graph_replays *captured; /* NULL: not wanted */
    struct epochs epochs;
};

static void take_epoch(void *context, const struct graph_past *node, bool lives)
{
    (void)lives;
    add_to_epoch(&((struct finding *)context)->epochs, node);
}

static void take_count(void *context, const struct graph_past *node, bool lives)
{
    struct finding *finding = context;
    count_unchanged(finding->replays, finding->join, &finding->epochs, node, lives, finding->captured);
    count_node(finding->replays, finding->join, &finding->epochs, node);
}

static void find(const struct operator_join *join, struct replay_phases *replays, struct graph_replays *captured)
{
    const struct step_counts *steps = &join->sequence.steps;
    struct finding finding = {.replays = replays, .join = join, .captured = captured};
    *replays = (struct replay_phases){0};
    if (!join->replays.graph_count || !steps->span_count)
        return;
    struct step_span *spans = allocate(steps->span_count, sizeof *spans);
    memcpy(spans, steps->spans, steps->span_count * sizeof *spans);
    qsort(spans, steps->span_count, sizeof *spans, by_first_call);
    for_each_node(&join->replays, take_epoch, &finding);
    for (size_t i = 0; i < finding.epochs.count; i++) {
        place(&finding.epochs.items[i], spans, steps->span_count);
        count_steps(replays, &finding.epochs.items[i]);
    }
    find_updates(&finding.epochs);
    count_unchanged_steps(replays, &finding.epochs);
    for_each_node(&join->replays, take_count, &finding);
    free(spans);
    free(finding.epochs.updates);
    free(finding.epochs.phases_before);
    free(finding.epochs.items);
    index_map_free(&finding.epochs.map);
}

void replay_phases_find(const struct operator_join *join, struct replay_phases *replays)
{
    find(join, replays, NULL);
}

void replay_phases_captured(const struct operator_join *join, struct graph_replays *captured)
{
    struct replay_phases replays;
    find(join, &replays, captured);
    replay_phases_free(&replays);
}

void replay_phases_free(struct replay_phases *replays)
{
    free(replays->added);
    free(replays->captured);
    *replays = (struct replay_phases){0};
}

/* ---- asking ---- */

static uint64_t without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

void replay_phases_of(const struct replay_phases *replays, const struct operator_join *join, uint32_t number,
                      bool launch, uint64_t phases[PHASE_COUNT])
{
    const uint32_t at = step_call_number(number, launch);
    memcpy(phases, step_counts_of(&join->sequence.steps, number, launch), PHASE_COUNT * sizeof phases[0]);
    for (int p = 0; p < PHASE_COUNT && at < replays->capacity; p++) {
        phases[p] = without(phases[p], replays->captured[at][p]);
        sum_add(&phases[p], replays->added[at][p]);
    }
}

uint64_t replay_phases_steps(const struct replay_phases *replays, const struct operator_join *join, enum phase phase,
                             double *rows)
{
    const struct step_counts *steps = &join->sequence.steps;
    uint64_t sum = without(steps->steps[phase], replays->captured_steps[phase]);
    sum_add(&sum, replays->steps[phase]);
    *rows = steps->rows[phase] - replays->captured_rows[phase] + replays->rows[phase];
    return sum;
}

void replay_phases_apply(struct operator_join *join)
{
    struct step_counts *steps = &join->sequence.steps;
    struct replay_phases replays;
    find(join, &replays, &join->replays);
    steps->replays_counted |= join->replays.graph_count && steps->span_count;
    for (int p = 0; p < PHASE_COUNT; p++) {
        double rows;
        const uint64_t count = replay_phases_steps(&replays, join, p, &rows);
        steps->steps[p] = count;
        steps->rows[p] = rows;
    }
    for (uint32_t at = 0; at < replays.capacity; at++) {
        uint64_t phases[PHASE_COUNT];
        static const uint64_t none[PHASE_COUNT];
        if (!memcmp(replays.added[at], none, sizeof none) && !memcmp(replays.captured[at], none, sizeof none))
            continue;
        replay_phases_of(&replays, join, at >> 1, at & 1, phases);
        step_counts_set(steps, at >> 1, at & 1, phases);
    }
    replay_phases_free(&replays);
}
