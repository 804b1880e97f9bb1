/* SPDX-License-Identifier: Apache-2.0 */
/* The running step is a log of its calls with the addresses of its weights beside it. What a step's phase is may depend on
 * the two that follow, so a few wait, as facts and the numbers of their calls. */
#include "classify/step_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

struct logged_call {
    uint32_t number; /* step_call_number() */
    bool is_product, is_attention;
    uint8_t named; /* enum phase */
    uint64_t id;
    union {
        struct step_product product;
        struct step_attention attention;
    };
};

/* Where in the log a weight was read first. Places of an older generation are empty. */
struct weight_place {
    uint64_t weight;
    uint32_t generation, at;
};

struct waiting_step {
    struct step_facts facts;
    uint32_t *numbers; /* of its calls */
    size_t count;
    uint64_t first_call, last_call; /* as in struct step_span; 0: not known */
};

#define NO_SPAN SIZE_MAX

struct step_sequence {
    struct step_counts *counts;
    struct logged_call *log;
    size_t log_count, log_capacity;
    struct weight_place *places; /* open addressing, at most half full */
    uint32_t place_capacity, place_count, generation;
    struct waiting_step waiting[STEPS_WAITING]; /* oldest first */
    size_t waiting_count;
    struct step_facts before; /* the last step that waits no more */
    bool before_known;
    uint64_t longest_weight, longest; /* most products of a step that begins with this weight */
    size_t span;                      /* in counts->spans, of the last step; NO_SPAN */
};

/* ---- counts ---- */

const uint64_t *step_counts_of(const struct step_counts *counts, uint32_t number, bool launch)
{
    static const uint64_t none[PHASE_COUNT];
    uint32_t at = step_call_number(number, launch);
    return at < counts->calls_capacity ? counts->calls[at] : none;
}

static void make_room(struct step_counts *counts, uint32_t number)
{
    while (number >= counts->calls_capacity) {
        size_t before = counts->calls_capacity;
        counts->calls = allocate_grow(counts->calls, before, &counts->calls_capacity, sizeof *counts->calls);
        memset(counts->calls + before, 0, (counts->calls_capacity - before) * sizeof *counts->calls);
    }
}

static void count_call(struct step_counts *counts, uint32_t number, enum phase phase)
{
    make_room(counts, number);
    counts->calls[number][phase]++;
}

void step_counts_add(struct step_counts *counts, uint32_t number, bool launch, const uint64_t phases[PHASE_COUNT])
{
    uint32_t at = step_call_number(number, launch);
    make_room(counts, at);
    for (int p = 0; p < PHASE_COUNT; p++)
        sum_add(&counts->calls[at][p], phases[p]);
}

void step_counts_set(struct step_counts *counts, uint32_t number, bool launch, const uint64_t phases[PHASE_COUNT])
{
    uint32_t at = step_call_number(number, launch);
    make_room(counts, at);
    memcpy(counts->calls[at], phases, sizeof counts->calls[at]);
}

void step_counts_free(struct step_counts *counts)
{
    free(counts->calls);
    free(counts->spans);
    for (size_t i = 0; i < counts->order_count; i++)
        free(counts->orders[i].numbers);
    free(counts->orders);
    *counts = (struct step_counts){0};
}

/* ---- addresses of weights ---- */

static struct weight_place *place_of(const struct step_sequence *steps, uint64_t weight)
{
    uint32_t mask = steps->place_capacity - 1;
    uint32_t i = (uint32_t)(weight * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (steps->places[i].generation == steps->generation && steps->places[i].weight != weight)
        i = (i + 1) & mask;
    return &steps->places[i];
}

static void forget_places(struct step_sequence *steps)
{
    steps->place_count = 0;
    if (++steps->generation)
        return;
    steps->generation = 1;
    if (steps->places)
        memset(steps->places, 0, steps->place_capacity * sizeof *steps->places);
}

static void grow_places(struct step_sequence *steps)
{
    struct step_sequence old = *steps;
    steps->place_capacity = old.place_capacity ? 2 * old.place_capacity : 256;
    steps->places = allocate(steps->place_capacity, sizeof *steps->places);
    for (uint32_t i = 0; i < old.place_capacity; i++)
        if (old.places[i].generation == steps->generation)
            *place_of(steps, old.places[i].weight) = old.places[i];
    free(old.places);
}

/* The place in the log where WEIGHT was read before, or -1; then AT is noted. */
static int64_t note_weight(struct step_sequence *steps, uint64_t weight, size_t at)
{
    if (2 * (steps->place_count + 1) > steps->place_capacity)
        grow_places(steps);
    struct weight_place *place = place_of(steps, weight);
    if (place->generation == steps->generation)
        return place->at;
    *place = (struct weight_place){weight, steps->generation, (uint32_t)at};
    steps->place_count++;
    return -1;
}

/* ---- steps that wait ---- */

/* True: STEP goes on as the steps of SPAN did. */
static bool continues(const struct step_span *span, const struct waiting_step *step, enum phase phase)
{
    const uint64_t apart = step->first_call - (span->first_call + (span->steps - 1) * span->stride);
    return span->phase == phase && span->rows == step_rows(&step->facts) && step->first_call > span->first_call &&
           (span->steps == 1 || apart == span->stride);
}

static void note_span(struct step_sequence *steps, const struct waiting_step *step, enum phase phase)
{
    struct step_counts *counts = steps->counts;
    if (!step->first_call)
        return;
    if (steps->span != NO_SPAN && continues(&counts->spans[steps->span], step, phase)) {
        struct step_span *span = &counts->spans[steps->span];
        if (span->steps++ == 1)
            span->stride = step->first_call - span->first_call;
        span->last_call = step->last_call;
        return;
    }
    steps->span = NO_SPAN;
    if (counts->span_count == STEP_SPANS_MOST)
        return;
    counts->spans = allocate_grow(counts->spans, counts->span_count, &counts->span_capacity, sizeof *counts->spans);
    steps->span = counts->span_count++;
    counts->spans[steps->span] = (struct step_span){.first_call = step->first_call,
                                                    .last_call = step->last_call,
                                                    .steps = 1,
                                                    .rows = step_rows(&step->facts),
                                                    .phase = phase};
}

static void judge_oldest(struct step_sequence *steps)
{
    struct waiting_step *step = &steps->waiting[0];
    struct step_counts *counts = steps->counts;
    if (step->facts.first_weight == steps->longest_weight)
        step->facts.most_products = steps->longest;
    enum phase phase = phase_of_step(&step->facts, steps->before_known ? &steps->before : NULL,
                                     steps->waiting_count > 1 ? &steps->waiting[1].facts : NULL,
                                     steps->waiting_count > 2 ? &steps->waiting[2].facts : NULL);
    counts->steps[phase]++;
    counts->rows[phase] += step_rows(&step->facts);
    note_span(steps, step, phase);
    for (size_t i = 0; i < step->count; i++)
        count_call(counts, step->numbers[i], phase);
    counts->held -= step->count;
    free(step->numbers);
    steps->before = step->facts;
    steps->before_known = true;
    steps->waiting_count--;
    memmove(&steps->waiting[0], &steps->waiting[1], steps->waiting_count * sizeof steps->waiting[0]);
}

/* ---- from the log to a step ---- */

struct shape_count {
    int64_t n, k;
    uint64_t times;
};

static void take_attention(struct step_facts *facts, const struct step_attention *attention)
{
    const bool known =
        attention->queries > 0 && attention->sequences > 0 && attention->queries <= INT64_MAX / attention->sequences;
    const int64_t rows = known ? attention->queries * attention->sequences : 0;
    if (rows > facts->query_rows)
        facts->query_rows = rows;
    if (known && attention->queries > facts->queries)
        facts->queries = attention->queries;
}

static struct step_facts facts_of_log(const struct logged_call *log, size_t count)
{
    struct step_facts facts = {0};
    struct shape_count shapes[STEP_SHAPES_MOST];
    const struct shape_count *last_shape = NULL;
    bool too_many = false;
    double rows = 0;
    for (size_t i = 0; i < count; i++) {
        const struct step_product *product = &log[i].product;
        size_t s = 0;
        facts.named[log[i].named] = true;
        if (log[i].is_attention)
            take_attention(&facts, &log[i].attention);
        if (!log[i].is_product || product->experts)
            continue;
        if (!facts.products++)
            facts.first_weight = product->weight;
        else if (facts.last_rows > facts.rows)
            facts.rows = facts.last_rows;
        facts.last_weight = product->weight;
        facts.last_rows = product->m;
        rows += (double)product->m;
        while (s < facts.shapes && (shapes[s].n != product->n || shapes[s].k != product->k))
            s++;
        if (s == STEP_SHAPES_MOST) {
            too_many = true;
            continue;
        }
        if (s == facts.shapes)
            shapes[facts.shapes++] = (struct shape_count){product->n, product->k, 0};
        shapes[s].times++;
        last_shape = &shapes[s];
    }
    if (too_many)
        facts.shapes = 0;
    facts.projected = !too_many && last_shape && last_shape->times == 1;
    facts.mean_rows = facts.products > 1 ? (rows - (double)facts.last_rows) / (double)(facts.products - 1) : rows;
    return facts;
}

/* One long step must not hold its memory for as long as its thread lives. */
static void forget_log(struct step_sequence *steps)
{
    enum { KEPT_CALLS = 4096 };
    steps->counts->held -= steps->log_count;
    steps->log_count = 0;
    forget_places(steps);
    if (steps->log_capacity > KEPT_CALLS) {
        free(steps->log);
        free(steps->places);
        steps->log = NULL;
        steps->places = NULL;
        steps->log_capacity = steps->place_capacity = 0;
    }
}

/* LOG has PRODUCTS products. */
static void note_order(struct step_counts *counts, const struct logged_call *log, size_t products)
{
    size_t count = 0, i = 0;
    if (!products || products > STEP_ORDER_PRODUCTS_MOST)
        return;
    uint32_t *numbers = allocate(products, sizeof *numbers);
    for (; count < products; log++)
        if (log->is_product)
            numbers[count++] = log->number;
    const uint64_t hash = trace_hash(numbers, (uint32_t)(count * sizeof *numbers));
    while (i < counts->order_count && counts->orders[i].hash != hash)
        i++;
    if (i < counts->order_count) {
        counts->orders[i].times++;
        free(numbers);
    } else if (i == STEP_ORDERS_MOST) {
        free(numbers);
    } else {
        counts->orders =
            allocate_grow(counts->orders, counts->order_count, &counts->order_capacity, sizeof *counts->orders);
        counts->orders[counts->order_count++] = (struct step_order){numbers, count, hash, 1};
    }
}

static size_t products_of(const struct logged_call *log, size_t count)
{
    size_t products = 0;
    for (size_t i = 0; i < count; i++)
        products += log[i].is_product;
    return products;
}

static const struct logged_call *first_product(const struct logged_call *log)
{
    while (!log->is_product)
        log++;
    return log;
}

/* The log from BEGIN on becomes a step; all of it is forgotten. */
static void end_step(struct step_sequence *steps, size_t begin)
{
    struct step_counts *counts = steps->counts;
    if (steps->waiting_count == STEPS_WAITING)
        judge_oldest(steps);
    size_t count = steps->log_count - begin;
    struct waiting_step *step = &steps->waiting[steps->waiting_count];
    *step = (struct waiting_step){.facts = facts_of_log(steps->log + begin, count), .count = count};
    if (step->facts.products) {
        step->numbers = allocate(count, sizeof *step->numbers);
        for (size_t i = 0; i < count; i++)
            step->numbers[i] = steps->log[begin + i].number;
        note_order(counts, steps->log + begin, products_of(steps->log + begin, count));
        step->first_call = first_product(steps->log + begin)->id;
        step->last_call = steps->log[begin + count - 1].id;
        counts->held += count;
        steps->waiting_count++;
        if (step->facts.first_weight != steps->longest_weight)
            steps->longest = 0;
        steps->longest_weight = step->facts.first_weight;
        if (step->facts.products > steps->longest)
            steps->longest = step->facts.products;
    }
    forget_log(steps);
}

static void log_call(struct step_sequence *steps, const struct logged_call *call)
{
    if (steps->log_count == STEP_CALLS_MOST || steps->counts->held >= STEP_CALLS_HELD_MOST) {
        sum_add(&steps->counts->dropped, steps->log_count);
        forget_log(steps);
    }
    if (call->is_product) {
        int64_t seen_at = note_weight(steps, call->product.weight, steps->log_count);
        if (seen_at >= 0) {
            end_step(steps, (size_t)seen_at);
            note_weight(steps, call->product.weight, 0);
        }
    }
    steps->log = allocate_grow(steps->log, steps->log_count, &steps->log_capacity, sizeof *steps->log);
    steps->log[steps->log_count++] = *call;
    steps->counts->held++;
}

void step_sequence_add_call(struct step_sequence *steps, uint32_t number, uint64_t id,
                            const struct step_product *product)
{
    struct logged_call call = {.number = step_call_number(number, false), .id = id, .is_product = product != NULL};
    if (product)
        call.product = *product;
    log_call(steps, &call);
}

void step_sequence_add_launch(struct step_sequence *steps, uint32_t number, uint64_t id,
                              const struct step_launch *launch)
{
    struct logged_call call = {.number = step_call_number(number, true), .id = id, .named = (uint8_t)launch->named};
    if (launch->product) {
        call.is_product = true;
        call.product = *launch->product;
    } else if (launch->attention) {
        call.is_attention = true;
        call.attention = *launch->attention;
    }
    log_call(steps, &call);
}

struct step_sequence *step_sequence_open(struct step_counts *counts)
{
    struct step_sequence *steps = allocate(1, sizeof *steps);
    steps->counts = counts;
    steps->generation = 1;
    steps->span = NO_SPAN;
    return steps;
}

void step_sequence_break(struct step_sequence *steps)
{
    end_step(steps, 0);
    while (steps->waiting_count)
        judge_oldest(steps);
    steps->before_known = false;
    steps->span = NO_SPAN;
}

void step_sequence_close(struct step_sequence *steps)
{
    if (!steps)
        return;
    steps->counts->held -= steps->log_count;
    for (size_t i = 0; i < steps->waiting_count; i++) {
        steps->counts->held -= steps->waiting[i].count;
        free(steps->waiting[i].numbers);
    }
    free(steps->log);
    free(steps->places);
    free(steps);
}
