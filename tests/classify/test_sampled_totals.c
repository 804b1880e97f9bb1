/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of sampled timing against what a generator knows to be true. A run whose mix and durations change half-way is timed
 * in windows of 1 ms, one at a uniform place in each period, as cupti/timing_sample.c draws them. Of a hundred seeds the
 * estimates must be unbiased, near, and as uncertain as they say. Seeds are fixed, so the test always does the same.
 *
 *   test_sampled_totals [PLAN PATH] */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "classify/session.h"
#include "tests/classify/trace_bytes.h"

enum { SEEDS = 100, THINGS = 4, ROWS = 3, MS = 1000000 };
static const uint64_t begin_ns = 1000000000ull * 1000000; /* some time after the epoch */

enum { CALL_A, CALL_B, NAMED, GRAPH_CALL }; /* GRAPH_CALL: a call that only graphs execute */

struct plan {
    const char *name;
    uint64_t run_ns, period_ns, later_period_ns; /* later: of the second half */
    bool node_first;                             /* the first half is timed throughout */
    double jitter;                               /* of single durations, relative */
    double drift;                                /* of all durations of the same tenth of a second */
    double mean_ns[THINGS][2];                   /* in each half; 0: it is not called there */
    double apart_ns;                             /* mean time from launch to launch */
    uint64_t behind_ns;                          /* kernels run so much later than they are launched */
    bool uncounted;                              /* launches of NAMED are in no record */
    double within;                               /* of the truth, each seed's sum */
};

/* clang-format off */
static const struct plan plans[] = {
    {"mix", 10000 * (uint64_t)MS, 200 * MS, 200 * MS, false, .1, .02, {{20e3, 0}, {60e3, 90e3}, {8e3, 30e3}, {40e3, 10e3}}, 70e3, 0, false, .02},
    {"thinned", 16000 * (uint64_t)MS, 100 * MS, 400 * MS, false, .1, .02, {{20e3, 20e3}, {30e3, 90e3}, {0, 30e3}, {40e3, 10e3}}, 100e3, 0, false, .02},
    {"node_first", 10000 * (uint64_t)MS, 100 * MS, 100 * MS, true, .1, .02, {{20e3, 0}, {60e3, 90e3}, {8e3, 30e3}, {40e3, 10e3}}, 70e3, 0, false, .02},
    {"behind", 6000 * (uint64_t)MS, 100 * MS, 100 * MS, false, .1, .02, {{20e3, 20e3}, {60e3, 60e3}, {8e3, 8e3}, {40e3, 40e3}}, 100e3, 7000 * (uint64_t)MS, false, .02},
    {"uncounted", 16000 * (uint64_t)MS, 100 * MS, 100 * MS, false, .1, .02, {{20e3, 0}, {60e3, 90e3}, {8e3, 30e3}, {0, 0}}, 150e3, 0, true, .05},
};
/* clang-format on */

/* ---- chance ---- */

static uint64_t state;

/* splitmix64, as published by S. Vigna. */
static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static double uniform(void)
{
    return ((double)(next_random() >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- one run ---- */

struct run {
    const struct plan *plan;
    struct trace_bytes trace;
    struct trace_signature signature[THINGS];
    uint32_t offset[THINGS];
    uint64_t block_of[THINGS];
    struct trace_launch_shape shape;
    uint64_t name_id, next_call, next_correlation;
    double truth_ns[THINGS];
    uint64_t executions[THINGS];
    uint64_t windows[4096][2]; /* open, close */
    size_t window_count;
    uint64_t gpu_free_ns, graph_launches;
    uint64_t captured_call;
};

static struct trace_signature signature_of(int thing)
{
    struct trace_signature s = {
        .entry = 1,
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .trans_a = 1,
        .alpha = TRACE_SCALAR_ONE,
        .beta = TRACE_SCALAR_ZERO,
        .m = 4096,
        .n = 16 + thing,
        .k = 4096,
        .batch = 1,
        .type = {14, 14, 14, 14},
        .type_compute = 68,
    };
    const size_t skip = offsetof(struct trace_signature, entry);
    s.id = trace_hash((const char *)&s + skip, (uint32_t)(sizeof s - skip));
    return s;
}

static void write_head(struct run *run)
{
    static const char entry[] = "cublasGemmEx", name[] = "elementwise_kernel", device[] = "NVIDIA GeForce RTX 4090";
    struct trace_process *process = trace_bytes_put(&run->trace, TRACE_RECORD_PROCESS, sizeof *process);
    process->pid = 77;
    process->start_realtime_ns = begin_ns;
    struct trace_entry *e =
        trace_bytes_put(&run->trace, TRACE_RECORD_ENTRY, offsetof(struct trace_entry, name) + sizeof entry - 1);
    e->id = 1;
    e->name_bytes = sizeof entry - 1;
    memcpy(e->name, entry, sizeof entry - 1);
    struct trace_device *d = trace_bytes_put(&run->trace, TRACE_RECORD_DEVICE, sizeof *d);
    memcpy(d->name, device, sizeof device);
    d->pci_device_id = 0x2684;
    d->sm_count = 128;
    struct trace_name *n =
        trace_bytes_put(&run->trace, TRACE_RECORD_NAME, offsetof(struct trace_name, name) + sizeof name - 1);
    n->id = run->name_id = trace_hash(name, sizeof name - 1);
    n->name_bytes = n->full_bytes = sizeof name - 1;
    memcpy(n->name, name, sizeof name - 1);
}

static void write_mode(struct run *run, uint64_t at_ns, enum trace_timing_mode mode, uint64_t period_ns)
{
    struct trace_timing *t = trace_bytes_put(&run->trace, TRACE_RECORD_TIMING, sizeof *t);
    t->ticks = at_ns;
    t->asked = TRACE_TIMING_AUTO;
    t->mode = (uint32_t)mode;
    t->window_ns = mode == TRACE_TIMING_SAMPLED ? MS : 0;
    t->period_ns = mode == TRACE_TIMING_SAMPLED ? period_ns : 0;
}

static void write_window(struct run *run, uint64_t at_ns, uint32_t what, uint32_t why, uint32_t number)
{
    struct trace_window *w = trace_bytes_put(&run->trace, TRACE_RECORD_WINDOW, sizeof *w);
    w->ticks = w->realtime_ns = at_ns;
    w->what = what;
    w->why = why;
    w->number = number;
}

static void draw_windows(struct run *run)
{
    const struct plan *plan = run->plan;
    const uint64_t half_ns = begin_ns + plan->run_ns / 2, end_ns = begin_ns + plan->run_ns;
    uint64_t at_ns = begin_ns;
    if (plan->node_first) {
        run->windows[run->window_count][0] = begin_ns;
        run->windows[run->window_count++][1] = half_ns;
        at_ns = half_ns;
    }
    while (at_ns < end_ns) {
        const uint64_t period_ns = at_ns < half_ns ? plan->period_ns : plan->later_period_ns;
        const uint64_t open_ns = at_ns + (uint64_t)(uniform() * (double)(period_ns - MS));
        run->windows[run->window_count][0] = open_ns;
        run->windows[run->window_count++][1] = open_ns + MS;
        at_ns += period_ns;
    }
    write_mode(run, begin_ns, plan->node_first ? TRACE_TIMING_NODE : TRACE_TIMING_SAMPLED, plan->period_ns);
    if (plan->node_first || plan->later_period_ns != plan->period_ns)
        write_mode(run, half_ns, TRACE_TIMING_SAMPLED, plan->later_period_ns);
    for (size_t i = 0; i < run->window_count; i++) {
        const bool first = plan->node_first && i == 0;
        const uint32_t why = first ? TRACE_WINDOW_START : TRACE_WINDOW_SAMPLED;
        write_window(run, run->windows[i][0], TRACE_WINDOW_OPEN, why, (uint32_t)i + 1);
        write_window(run, run->windows[i][1], TRACE_WINDOW_CLOSE, why, (uint32_t)i + 1);
    }
}

static void write_kernel(struct run *run, int thing, uint64_t start_ns, uint64_t end_ns, uint64_t call_id)
{
    struct trace_kernel *k = trace_bytes_put(&run->trace, TRACE_RECORD_KERNEL, sizeof *k);
    k->name_id = run->name_id;
    k->start_ns = start_ns;
    k->end_ns = end_ns;
    k->call_id = call_id;
    k->owner_id = thing == NAMED ? run->shape.id : run->signature[thing].id;
    k->owner = thing == NAMED ? TRACE_OWNER_LAUNCH : TRACE_OWNER_CALL;
    k->join = thing == GRAPH_CALL ? TRACE_JOIN_GRAPH_NODE : TRACE_JOIN_CORRELATION;
    k->correlation_id = (uint32_t)++run->next_correlation;
    k->graph_id = thing == GRAPH_CALL ? 5 : 0;
    k->graph_node_id = thing == GRAPH_CALL ? 5ull << 32 | 1 : 0;
    k->stream = 7;
    k->grid[0] = k->grid[1] = k->grid[2] = 64;
}

static uint64_t write_call(struct run *run, int thing, uint64_t at_ns)
{
    struct trace_signature *s;
    trace_bytes_room(&run->trace, sizeof *s + sizeof(struct trace_call));
    if (run->block_of[thing] != run->trace.sequence) {
        run->offset[thing] = run->trace.used;
        run->block_of[thing] = run->trace.sequence;
        s = trace_bytes_put(&run->trace, TRACE_RECORD_SIGNATURE, sizeof *s);
        const struct trace_record record = s->record;
        *s = run->signature[thing];
        s->record = record;
    }
    struct trace_call *call = trace_bytes_put(&run->trace, TRACE_RECORD_CALL, sizeof *call);
    call->signature_offset = run->offset[thing];
    call->start_ticks = at_ns;
    call->stream = 7;
    call->call_id = ++run->next_call;
    return call->call_id;
}

static uint64_t write_launch(struct run *run, uint64_t at_ns)
{
    struct trace_launch_shape *shape;
    trace_bytes_room(&run->trace, sizeof *shape + sizeof(struct trace_launch));
    if (run->block_of[NAMED] != run->trace.sequence) {
        run->offset[NAMED] = run->trace.used;
        run->block_of[NAMED] = run->trace.sequence;
        shape = trace_bytes_put(&run->trace, TRACE_RECORD_LAUNCH_SHAPE, sizeof *shape);
        const struct trace_record record = shape->record;
        *shape = run->shape;
        shape->record = record;
    }
    struct trace_launch *launch = trace_bytes_put(&run->trace, TRACE_RECORD_LAUNCH, sizeof *launch);
    launch->shape_offset = run->offset[NAMED];
    launch->start_ticks = at_ns;
    launch->stream = 7;
    launch->call_id = ++run->next_call;
    return launch->call_id;
}

static void write_graph(struct run *run)
{
    run->captured_call = write_call(run, GRAPH_CALL, begin_ns);
    struct trace_graph_node *node = trace_bytes_put(&run->trace, TRACE_RECORD_GRAPH_NODE, sizeof *node);
    node->graph_node_id = 5ull << 32 | 1;
    node->call_id = run->captured_call;
    node->owner_id = run->signature[GRAPH_CALL].id;
    node->owner = TRACE_OWNER_CALL;
    node->name_id = run->name_id;
    node->ticks = begin_ns;
    node->graph_id = 5;
}

static void write_graph_launches(struct run *run, uint64_t at_ns)
{
    struct trace_graph_launches *l = trace_bytes_put(&run->trace, TRACE_RECORD_GRAPH_LAUNCHES, sizeof *l);
    l->realtime_ns = at_ns;
    l->launches = run->graph_launches;
    l->graph_id = 5;
}

static bool is_in_window(const struct run *run, size_t *window, uint64_t at_ns)
{
    while (*window < run->window_count && run->windows[*window][1] <= at_ns)
        ++*window;
    return *window < run->window_count && at_ns >= run->windows[*window][0];
}

/* Launches come at random; which thing it is depends on the half. */
static void play(struct run *run)
{
    const struct plan *plan = run->plan;
    const uint64_t end_ns = begin_ns + plan->run_ns;
    uint64_t tenth = 0, said_ns = begin_ns;
    size_t window = 0;
    double clock = 1;
    write_graph(run);
    for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns += (uint64_t)(-plan->apart_ns * log(uniform()))) {
        const int half = at_ns >= begin_ns + plan->run_ns / 2;
        const int thing = (int)(next_random() % THINGS);
        const double mean_ns = plan->mean_ns[thing][half];
        if (at_ns / (100 * MS) != tenth) {
            tenth = at_ns / (100 * MS);
            clock = 1 + plan->drift * normal();
        }
        if (!(mean_ns > 0))
            continue;
        const uint64_t took_ns = (uint64_t)(mean_ns * clock * exp(plan->jitter * normal()));
        const uint64_t start_ns = at_ns > run->gpu_free_ns ? at_ns + 3000 : run->gpu_free_ns;
        uint64_t call_id = run->captured_call;
        run->gpu_free_ns = start_ns + took_ns;
        run->truth_ns[thing] += (double)took_ns;
        run->executions[thing]++;
        if (thing == NAMED)
            call_id = plan->uncounted ? 0 : write_launch(run, at_ns);
        else if (thing == GRAPH_CALL)
            run->graph_launches++;
        else
            call_id = write_call(run, thing, at_ns);
        if (is_in_window(run, &window, at_ns))
            write_kernel(run, thing, start_ns + plan->behind_ns, run->gpu_free_ns + plan->behind_ns, call_id);
        if (at_ns - said_ns > 50 * MS) {
            write_graph_launches(run, at_ns);
            said_ns = at_ns;
        }
    }
    write_graph_launches(run, end_ns);
    struct trace_end *end = trace_bytes_put(&run->trace, TRACE_RECORD_END, sizeof *end);
    end->ticks = end_ns;
}

static void make_run(struct run *run, const struct plan *plan, const char *path, uint64_t seed)
{
    *run = (struct run){.plan = plan};
    state = seed * 0x5851f42d4c957f2dull + 1;
    for (int thing = 0; thing < THINGS; thing++)
        run->signature[thing] = signature_of(thing);
    trace_bytes_open(&run->trace, path, begin_ns);
    write_head(run);
    run->shape =
        (struct trace_launch_shape){.name_id = run->name_id, .entry = 1, .grid = {64, 64, 64}, .block = {128, 1, 1}};
    const size_t skip = offsetof(struct trace_launch_shape, name_id);
    run->shape.id = trace_hash((const char *)&run->shape + skip, (uint32_t)(sizeof run->shape - skip));
    draw_windows(run);
    play(run);
    trace_bytes_close(&run->trace);
}

/* ---- what comes out ---- */

static const struct operator_row *row_of(const struct session *session, const struct run *run, int thing)
{
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (thing == NAMED ? !op->of_call : op->of_call && op->signature.n == run->signature[thing].n)
            return op;
    }
    return NULL;
}

struct score {
    int held, near;
    double bias, width;
};

static void judge(struct score *score, double truth_ns, double time_ns, double low_ns, double high_ns, double within)
{
    score->held += low_ns <= truth_ns && truth_ns <= high_ns;
    score->near += fabs(time_ns / truth_ns - 1) <= within;
    score->bias += (time_ns / truth_ns - 1) / SEEDS;
    score->width += (high_ns - low_ns) / truth_ns / SEEDS;
}

static void print_score(const char *plan, const char *what, const struct score *score)
{
    printf("%-10s %-8s holds the truth in %d of %d, %d near, mean error %+.2f %%, interval of %.2f %%\n", plan, what,
           score->held, SEEDS, score->near, 100 * score->bias, 100 * score->width);
}

static void sampled_totals(void **state_of_test)
{
    static const char *const names[THINGS] = {"call a", "call b", "named", "graph"};
    const struct plan *plan = *state_of_test;
    struct score all = {0}, score[THINGS] = {{0}};
    struct run *run = malloc(sizeof *run);
    char path[64];
    snprintf(path, sizeof path, "/tmp/sampled-totals-%ld.trace", (long)getpid());
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct session_error error;
        make_run(run, plan, path, seed);
        struct session *session = session_open(path, &error);
        assert_non_null(session);
        double truth_ns = 0;
        for (int thing = 0; thing < THINGS; thing++) {
            const struct operator_row *op = row_of(session, run, thing);
            truth_ns += run->truth_ns[thing];
            if (!(run->truth_ns[thing] > 0))
                continue;
            assert_non_null(op);
            if (thing != NAMED || !plan->uncounted)
                assert_int_equal(op->evidence.executions_all, run->executions[thing]);
            if (!op->evidence.estimated) { /* it only ran where everything was timed */
                assert_true(plan->node_first);
                assert_true((double)op->time_ns == run->truth_ns[thing]);
                continue;
            }
            judge(&score[thing], run->truth_ns[thing], (double)op->time_ns, op->evidence.low_ns, op->evidence.high_ns,
                  plan->within);
        }
        const struct session_coverage *coverage = &session->coverage;
        judge(&all, truth_ns, coverage->gpu_time_ns, coverage->evidence.low_ns, coverage->evidence.high_ns,
              plan->within);
        session_close(session);
    }
    unlink(path);
    free(run);
    print_score(plan->name, "sum", &all);
    for (int thing = 0; thing < THINGS; thing++)
        if (score[thing].width > 0)
            print_score(plan->name, names[thing], &score[thing]);
    assert_true(all.held >= 90);
    assert_int_equal(all.near, SEEDS);
    assert_true(fabs(all.bias) < 0.005);
    for (int thing = 0; thing < THINGS; thing++)
        if (score[thing].width > 0) {
            assert_true(score[thing].held >= 90);
            assert_true(fabs(score[thing].bias) < 0.01);
        }
}

/* For tests of others: PATH becomes the trace of seed 1 of the plan. */
static int make_one(const char *plan, const char *path)
{
    struct run *run = malloc(sizeof *run);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (!strcmp(plans[i].name, plan)) {
            make_run(run, &plans[i], path, 1);
            free(run);
            return 0;
        }
    free(run);
    return 2;
}

int main(int argc, char **argv)
{
    enum { PLANS = sizeof plans / sizeof plans[0] };
    if (argc == 3)
        return make_one(argv[1], argv[2]);
    struct CMUnitTest tests[PLANS];
    for (size_t i = 0; i < PLANS; i++)
        tests[i] = (struct CMUnitTest){plans[i].name, sampled_totals, NULL, NULL, (void *)(uintptr_t)&plans[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
