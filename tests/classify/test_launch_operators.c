/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that carry parameters as operators of a session. Traces are made record by record, and what must come out is
 * counted while they are made: each execution by what it computes, each helper's by whom it was launched for. Kernels and
 * their rows of the launch table are this test's own. */
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

#include "classify/join_sums.h"
#include "classify/join_timing.h"
#include "classify/launch_table.h"
#include "classify/session.h"
#include "tests/classify/trace_bytes.h"
#include "trace/launch_values.h"

enum { WORDS_MOST = 4, SHAPES_MOST = 64, RECORD_OF_NODE = 1, GRAPH = 9, FIRST_DEVICE = 0 };
static const uint64_t begin_ns = 1000000000ull * 1000000;

/* ---- kernels ---- */

enum kernel { GEMV, GEMV_WIDE, ATTENTION, QUANTIZE, FIX_UP, COMBINE, ROPE, NEWER, STRANGE, KERNELS };

static const struct {
    const char *name, *parameters; /* p: pointer, 4: int */
} kernels[KERNELS] = {
    [GEMV] = {"_Z6gemv_kILi1EEvPKvS1_Pfii", "ppp44"},
    [GEMV_WIDE] = {"_Z6gemv_kILi2EEvPKvS1_Pfii", "ppp44"},
    [ATTENTION] = {"_Z6attn_kPKvS0_S0_Pfii", "pppp44"},
    [QUANTIZE] = {"_Z7quant_kPKfPvi", "pp4"},
    [FIX_UP] = {"_Z5fix_kPfi", "p4"},
    [COMBINE] = {"_Z6comb_kPfi", "p4"},
    [ROPE] = {"_Z6rope_kPfi", "p4"},
    [NEWER] = {"_Z6gemv_kILi1EEvPKvS1_Pfiii", "ppp444"},
    [STRANGE] = {"_Z9strange_kPfi", "p4"},
};

static const char rows_text[] =
    "{\"kernel\": \"gemv_k\", \"types\": [\"void const*\", \"void const*\", \"float*\", \"int\", \"int\"], "
    "\"arguments\": 1, \"kind\": \"matmul\", \"m\": 1, \"n\": \"a4\", \"k\": \"a3\", \"weight\": 0, "
    "\"weight_format\": \"fp16\", \"a_format\": \"fp16\", \"d_format\": \"fp32\", \"path\": \"fp16\", "
    "\"checks\": [\"grid.x == a4\"]}\n"
    "{\"kernel\": \"attn_k\", \"types\": [\"void const*\", \"void const*\", \"void const*\", \"float*\", \"int\", "
    "\"int\"], \"kind\": \"attention\", \"n_q\": \"a4\", \"n_kv\": \"a4\", \"d\": 64, \"queries\": 1, \"keys\": "
    "\"a5\", "
    "\"keys_at_most\": true, \"q_format\": \"fp16\", \"k_format\": \"fp16\", \"v_format\": \"fp16\", "
    "\"o_format\": \"fp32\", \"path\": \"fp16\"}\n"
    "{\"kernel\": \"quant_k\", \"types\": [\"float const*\", \"void*\", \"int\"], \"kind\": \"helper\", "
    "\"serves\": \"next_matmul\"}\n"
    "{\"kernel\": \"fix_k\", \"types\": [\"float*\", \"int\"], \"kind\": \"helper\", \"serves\": \"last_matmul\"}\n"
    "{\"kernel\": \"comb_k\", \"types\": [\"float*\", \"int\"], \"kind\": \"helper\", \"serves\": \"last_attention\"}\n"
    "{\"kernel\": \"rope_k\", \"types\": [\"float*\", \"int\"], \"kind\": \"other\"}\n";

static int set_rows(void **state)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    struct launch_table_file *file = launch_table_file_parse("rows", rows_text, sizeof rows_text - 1, true, error);
    if (!file)
        fputs(error, stderr);
    launch_table_set_user_file(file);
    *state = file;
    return !file;
}

static int drop_rows(void **state)
{
    launch_table_set_user_file(NULL);
    launch_table_file_free(*state);
    return 0;
}

/* ---- a trace ---- */

struct shape {
    enum kernel kernel;
    bool valued;
    uint64_t id;
    _Alignas(8) unsigned char record[LAUNCH_SHAPE_BYTES_MOST];
    uint64_t block; /* in which it was written last */
    uint32_t offset;
};

struct run {
    struct trace_bytes trace;
    char path[64];
    uint64_t names[KERNELS];
    struct shape shapes[SHAPES_MOST];
    size_t shape_count;
    struct trace_signature signature;
    uint64_t signature_block;
    uint32_t signature_offset;
    uint64_t next_call, next_correlation, clock_ns;
    uint64_t stream;
    uint64_t kernel_ns, kernels; /* all that were timed */
};

static void put_text(struct run *run, enum trace_record_type type, uint64_t id, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    if (type == TRACE_RECORD_NAME) {
        struct trace_name *n = trace_bytes_put(&run->trace, type, offsetof(struct trace_name, name) + length);
        n->id = id;
        n->name_bytes = n->full_bytes = length;
        memcpy(n->name, text, length);
    } else {
        struct trace_entry *e = trace_bytes_put(&run->trace, type, offsetof(struct trace_entry, name) + length);
        e->id = (uint32_t)id;
        e->name_bytes = length;
        memcpy(e->name, text, length);
    }
}

static void put_plan(struct run *run, enum kernel kernel)
{
    const char *parameters = kernels[kernel].parameters;
    const size_t count = strlen(parameters);
    struct trace_parameter_plan *plan =
        trace_bytes_put(&run->trace, TRACE_RECORD_PARAMETER_PLAN, sizeof *plan + count * sizeof plan->parameter[0]);
    plan->name_id = run->names[kernel];
    plan->count = (uint32_t)count;
    plan->source = TRACE_PLAN_DRIVER;
    for (size_t i = 0; i < count; i++)
        plan->parameter[i] = parameters[i] == 'p'
                                 ? (struct trace_parameter){.bytes = 8, .kind = TRACE_PARAMETER_POINTER}
                                 : (struct trace_parameter){.bytes = 4, .kept = 4, .kind = TRACE_PARAMETER_VALUE};
}

static void put_device(struct run *run, uint32_t ordinal)
{
    struct trace_device *d = trace_bytes_put(&run->trace, TRACE_RECORD_DEVICE, sizeof *d);
    strcpy(d->name, "NVIDIA GeForce RTX 4090");
    d->ordinal = ordinal;
    d->pci_device_id = 0x2684;
    d->pci_bus = ordinal + 1;
    d->sm_count = 128;
    d->l2_bytes = TRACE_UNKNOWN;
}

static struct run *begin(bool with_plans)
{
    struct run *run = calloc(1, sizeof *run);
    snprintf(run->path, sizeof run->path, "/tmp/launch-operators-%ld.trace", (long)getpid());
    trace_bytes_open(&run->trace, run->path, begin_ns);
    run->clock_ns = begin_ns;
    run->stream = 7;
    struct trace_process *process = trace_bytes_put(&run->trace, TRACE_RECORD_PROCESS, sizeof *process);
    process->pid = 77;
    process->start_realtime_ns = begin_ns;
    put_text(run, TRACE_RECORD_ENTRY, 1, "cublasGemmEx");
    put_device(run, FIRST_DEVICE);
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        run->names[kernel] = trace_hash(kernels[kernel].name, (uint32_t)strlen(kernels[kernel].name));
        put_text(run, TRACE_RECORD_NAME, run->names[kernel], kernels[kernel].name);
        if (with_plans)
            put_plan(run, (enum kernel)kernel);
    }
    run->signature = (struct trace_signature){.entry = 1,
                                              .kind = TRACE_CALL_GEMM,
                                              .library = TRACE_LIBRARY_CUBLAS,
                                              .provenance = TRACE_EXACT,
                                              .trans_a = 1,
                                              .alpha = TRACE_SCALAR_ONE,
                                              .beta = TRACE_SCALAR_ZERO,
                                              .m = 96,
                                              .n = 5,
                                              .k = 80,
                                              .batch = 1,
                                              .type = {14, 14, 14, 14},
                                              .type_compute = 68};
    const size_t skip = offsetof(struct trace_signature, entry);
    run->signature.id = trace_hash((const char *)&run->signature + skip, (uint32_t)(sizeof run->signature - skip));
    return run;
}

/* A shape whose ints are A and B, as many as the kernel has; VALUED: it carries them. Returns its number. */
static size_t shape_of(struct run *run, enum kernel kernel, uint32_t grid, bool valued, uint32_t a, uint32_t b)
{
    struct shape *shape = &run->shapes[run->shape_count];
    struct trace_launch_shape *record = (struct trace_launch_shape *)shape->record;
    struct trace_launch_values *values = (struct trace_launch_values *)(record + 1);
    const uint32_t words[WORDS_MOST] = {a, b, 1};
    size_t ints = 0, bytes = sizeof *record;
    for (const char *at = kernels[kernel].parameters; *at; at++)
        ints += *at == '4';
    shape->kernel = kernel;
    shape->valued = valued;
    record->name_id = run->names[kernel];
    record->entry = 1;
    record->grid[0] = grid;
    record->grid[1] = record->grid[2] = 1;
    record->block[0] = record->block[1] = record->block[2] = 1;
    if (valued) {
        values->value_bytes = (uint16_t)(4 * ints);
        values->packed_bytes = (uint16_t)launch_values_pack(words, (unsigned)(4 * ints), values->packed);
        bytes = (sizeof *record + sizeof *values + values->packed_bytes + 7) & ~(size_t)7;
    }
    const size_t skip = offsetof(struct trace_launch_shape, name_id);
    record->record.size = (uint16_t)bytes;
    record->id = shape->id = trace_hash(shape->record + skip, (uint32_t)(bytes - skip));
    return run->shape_count++;
}

static size_t gemv(struct run *run, uint32_t n, uint32_t k)
{
    return shape_of(run, GEMV, n, true, k, n);
}

/* Returns the launch's call id. */
static uint64_t launch(struct run *run, size_t number)
{
    struct shape *shape = &run->shapes[number];
    const size_t bytes = ((struct trace_launch_shape *)shape->record)->record.size;
    struct trace_launch *r;
    trace_bytes_room(&run->trace, bytes + sizeof *r + sizeof(struct trace_launch_pointers));
    if (shape->block != run->trace.sequence) {
        shape->block = run->trace.sequence;
        shape->offset = run->trace.used;
        struct trace_launch_shape *s = trace_bytes_put(&run->trace, TRACE_RECORD_LAUNCH_SHAPE, bytes);
        memcpy(&s->id, shape->record + offsetof(struct trace_launch_shape, id), bytes - sizeof s->record);
    }
    r = trace_bytes_put(&run->trace, TRACE_RECORD_LAUNCH,
                        sizeof *r + (shape->valued ? sizeof(struct trace_launch_pointers) : 0));
    r->shape_offset = shape->offset;
    r->start_ticks = run->clock_ns;
    r->stream = run->stream;
    r->call_id = ++run->next_call;
    return r->call_id;
}

static uint64_t call(struct run *run)
{
    struct trace_call *r;
    trace_bytes_room(&run->trace, sizeof run->signature + sizeof *r);
    if (run->signature_block != run->trace.sequence) {
        run->signature_block = run->trace.sequence;
        run->signature_offset = run->trace.used;
        struct trace_signature *s = trace_bytes_put(&run->trace, TRACE_RECORD_SIGNATURE, sizeof *s);
        const struct trace_record record = s->record;
        *s = run->signature;
        s->record = record;
    }
    r = trace_bytes_put(&run->trace, TRACE_RECORD_CALL, sizeof *r);
    r->signature_offset = run->signature_offset;
    r->start_ticks = run->clock_ns;
    r->stream = run->stream;
    r->call_id = ++run->next_call;
    return r->call_id;
}

static struct trace_kernel *kernel(struct run *run, uint64_t name_id, uint8_t owner, uint64_t owner_id,
                                   uint64_t call_id, uint64_t ns, uint32_t device)
{
    struct trace_kernel *k = trace_bytes_put(&run->trace, TRACE_RECORD_KERNEL, sizeof *k);
    k->name_id = name_id;
    k->start_ns = run->clock_ns;
    k->end_ns = run->clock_ns += ns;
    k->call_id = call_id;
    k->owner = owner;
    k->owner_id = owner_id;
    k->join = TRACE_JOIN_CORRELATION;
    k->correlation_id = (uint32_t)++run->next_correlation;
    k->device = device;
    k->grid[0] = k->grid[1] = k->grid[2] = k->block[0] = k->block[1] = k->block[2] = 1;
    run->kernel_ns += ns;
    run->kernels++;
    return k;
}

static struct trace_kernel *kernel_of(struct run *run, size_t number, uint64_t call_id, uint64_t ns, uint32_t device)
{
    const struct shape *shape = &run->shapes[number];
    return kernel(run, run->names[shape->kernel], shape->valued ? TRACE_OWNER_LAUNCH_VALUES : TRACE_OWNER_LAUNCH,
                  shape->id, call_id, ns, device);
}

static void timed(struct run *run, size_t number, uint64_t ns)
{
    kernel_of(run, number, launch(run, number), ns, FIRST_DEVICE);
}

static void node(struct run *run, unsigned place, size_t number, uint64_t call_id, uint64_t launches)
{
    const struct shape *shape = &run->shapes[number];
    struct trace_graph_node *r = trace_bytes_put(&run->trace, TRACE_RECORD_GRAPH_NODE, sizeof *r);
    r->graph_node_id = (uint64_t)GRAPH << 32 | place;
    r->call_id = call_id;
    r->owner_id = shape->id;
    r->owner = TRACE_OWNER_LAUNCH_VALUES;
    r->name_id = run->names[shape->kernel];
    r->ticks = run->clock_ns;
    r->graph_id = GRAPH;
    r->launches = launches;
}

static void graph_launches(struct run *run, uint64_t launches)
{
    struct trace_graph_launches *r = trace_bytes_put(&run->trace, TRACE_RECORD_GRAPH_LAUNCHES, sizeof *r);
    r->graph_id = GRAPH;
    r->launches = launches;
    r->realtime_ns = run->clock_ns;
}

static void end(struct run *run)
{
    struct trace_end *r = trace_bytes_put(&run->trace, TRACE_RECORD_END, sizeof *r);
    r->ticks = run->clock_ns;
    trace_bytes_close(&run->trace);
}

static struct session *open_trace(const char *path)
{
    struct session_error error;
    struct session *session = session_open(path, &error);
    if (!session)
        print_error("%s\n", error.text);
    assert_non_null(session);
    return session;
}

/* ---- the sums of a trace, as a trace ---- */

static void put_record(void *context, const struct trace_signature *signature, struct trace_record *record)
{
    struct trace_bytes *trace = context;
    trace_bytes_room(trace, record->size + (signature ? signature->record.size : 0u));
    const uint32_t at = trace->used;
    if (signature) {
        struct trace_record *r = trace_bytes_put(trace, TRACE_RECORD_SIGNATURE, signature->record.size);
        memcpy(r + 1, &signature->record + 1, signature->record.size - sizeof *r);
        memcpy(record + 1, &at, sizeof at);
    }
    struct trace_record *r = trace_bytes_put(trace, record->type, record->size);
    memcpy(r + 1, record + 1, record->size - sizeof *r);
}

/* As a collector does: block by block, written and read again every so many of them, so that sums are summed, too. */
static void sum_up(const char *from, const char *to)
{
    struct name_pool names = {0};
    struct operator_join join;
    struct trace_item item;
    struct trace_error error;
    struct trace_bytes *trace = calloc(1, sizeof *trace);
    struct trace_reader *reader = trace_reader_open(from, &error);
    const struct joined_sums sums = {.final = true};
    assert_non_null(reader);
    operator_join_open_bounded(&join, &names);
    while (trace_reader_next(reader, &item))
        operator_join_add(&join, &item);
    operator_join_end(&join);
    trace_bytes_open(trace, to, begin_ns & ~(uint64_t)0xfff);
    trace->sequence = (uint64_t)1 << 47;
    helper_nodes_count(&join);
    join_sums_write(&join, &sums, put_record, trace);
    struct trace_end *r = trace_bytes_put(trace, TRACE_RECORD_END, sizeof *r);
    r->ticks = begin_ns;
    trace_bytes_close(trace);
    operator_join_close(&join);
    name_pool_free(&names);
    trace_reader_close(reader);
    free(trace);
}

/* ---- what comes out ---- */

static const struct operator_row *find(const struct session *session, enum launch_kind kind, int64_t n, int64_t k,
                                       int device)
{
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->of_call && operator_row_has_work(op) && op->launch->kind == kind && op->device == device &&
            (kind == LAUNCH_MATMUL ? op->launch->n == n && op->launch->k == k
                                   : op->launch->n_q == n && op->launch->keys == k))
            return op;
    }
    fail_msg("no row of %d %ld x %ld", (int)kind, (long)n, (long)k);
    return NULL;
}

static const struct operator_row *product(const struct session *session, int64_t n, int64_t k)
{
    return find(session, LAUNCH_MATMUL, n, k, 0);
}

static const struct operator_row *named(const struct session *session, enum kernel kernel)
{
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!operator_row_has_work(op) && op->name && !strcmp(op->name, kernels[kernel].name))
            return op;
    }
    return NULL;
}

static void check_helper(const struct operator_row *op, enum kernel kernel, uint64_t count, uint64_t ns)
{
    for (size_t i = 0; i < op->helper_count; i++) {
        if (strcmp(op->helpers[i].name, kernels[kernel].name))
            continue;
        assert_int_equal(op->helpers[i].kernels, count);
        assert_int_equal(op->helpers[i].time_ns, ns);
        return;
    }
    fail_msg("not served by %s", kernels[kernel].name);
}

static void check_sums(const struct session *session, uint64_t kernels_timed, uint64_t ns)
{
    uint64_t time_ns = 0, count = 0;
    double launched_ns = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        time_ns += session->operators[i].time_ns;
        count += session->operators[i].kernels;
    }
    assert_int_equal(time_ns, ns);
    assert_int_equal(count, kernels_timed);
    assert_true(session->coverage.gpu_time_ns == (double)ns);
    for (int i = 0; i < LAUNCH_READING_COUNT; i++)
        launched_ns += session->coverage.launch_time_ns_by_reading[i];
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        for (size_t h = 0; h < op->helper_count && op->of_call; h++)
            launched_ns -= (double)op->helpers[h].time_ns;
        launched_ns += op->of_call ? (double)op->time_ns : 0;
    }
    assert_true(launched_ns == (double)ns);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void check_same_row(const struct operator_row *a, const struct operator_row *b)
{
    assert_true(same_text(a->name, b->name));
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->device, b->device);
    assert_int_equal(a->shape_source, b->shape_source);
    assert_int_equal(a->calls, b->calls);
    assert_int_equal(a->executions, b->executions);
    assert_int_equal(a->kernels, b->kernels);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->evidence.executions, b->evidence.executions);
    assert_int_equal(a->evidence.executions_all, b->evidence.executions_all);
    assert_int_equal(a->evidence.kernels, b->evidence.kernels);
    assert_int_equal(a->evidence.time_ns, b->evidence.time_ns);
    assert_int_equal(a->launch != NULL, b->launch != NULL);
    assert_true(!a->launch || a->launch->reading == b->launch->reading);
    assert_int_equal(a->helper_count, b->helper_count);
    for (size_t i = 0; i < a->helper_count; i++) {
        assert_true(same_text(a->helpers[i].name, b->helpers[i].name));
        assert_int_equal(a->helpers[i].kernels, b->helpers[i].kernels);
        assert_int_equal(a->helpers[i].time_ns, b->helpers[i].time_ns);
    }
}

/* The trace, ended, must sum up and tell the same from its sums. Returns its session. */
static struct session *finish(struct run *run)
{
    char sums[80];
    end(run);
    struct session *session = open_trace(run->path);
    snprintf(sums, sizeof sums, "%s.sums.trace", run->path);
    sum_up(run->path, sums);
    struct session *summed = open_trace(sums);
    check_sums(session, run->kernels, run->kernel_ns);
    assert_int_equal(session->operator_count, summed->operator_count);
    for (size_t i = 0; i < session->operator_count; i++)
        check_same_row(&session->operators[i], &summed->operators[i]);
    assert_int_equal(session->coverage.helpers_uncharged, summed->coverage.helpers_uncharged);
    for (int i = 0; i < LAUNCH_READING_COUNT; i++)
        assert_int_equal(session->coverage.launches_by_reading[i], summed->coverage.launches_by_reading[i]);
    session_close(summed);
    unlink(sums);
    unlink(run->path);
    free(run);
    return session;
}

/* ---- rows ---- */

static void shapes_of_one_meaning_are_one_row(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t narrow = gemv(run, 64, 32), wide = shape_of(run, GEMV_WIDE, 64, true, 32, 64),
                 other = gemv(run, 64, 48);
    for (int i = 0; i < 10; i++) {
        timed(run, narrow, 100);
        timed(run, wide, 50);
        timed(run, other, 30);
    }
    launch(run, narrow); /* not timed */
    struct session *session = finish(run);
    const struct operator_row *op = product(session, 64, 32);
    assert_int_equal(session->operator_count, 2);
    assert_int_equal(op->kernels, 20);
    assert_int_equal(op->executions, 20);
    assert_int_equal(op->time_ns, 1500);
    assert_int_equal(op->calls, 21);
    assert_int_equal(op->evidence.executions_all, 21);
    assert_int_equal(op->kind, OPERATOR_GEMV); /* as its name says */
    assert_int_equal(op->shape_source, TRACE_PARAMS);
    assert_string_equal(op->name, kernels[GEMV].name);
    assert_true(op->work.shape_known);
    assert_int_equal(op->work.n, 64);
    assert_true(op->work.flops == 2. * 64 * 32);
    assert_true(op->work.bytes == 64 * 32 * 2 + 32 * 2 + 64 * 4); /* weight and activation of 2 bytes, output of 4 */
    assert_true(op->flops == 21 * 2. * 64 * 32);
    assert_true(op->roofline.t_roof_ns > 0);
    assert_true(op->gain_ns > 0);
    assert_int_equal(product(session, 64, 48)->time_ns, 300);
    assert_true(session->coverage.launch_share[TRACE_PARAMS] == 1);
    assert_true(session->coverage.gpu_time_share[TRACE_PARAMS] == 1);
    assert_int_equal(session->coverage.launches_by_reading[LAUNCH_READ], 31);
    session_close(session);
}

static void attention_has_work(void **state)
{
    (void)state;
    struct run *run = begin(true);
    timed(run, shape_of(run, ATTENTION, 1, true, 8, 256), 400);
    struct session *session = finish(run);
    const struct operator_row *op = find(session, LAUNCH_ATTENTION, 8, 256, 0);
    assert_int_equal(op->kind, OPERATOR_ATTENTION);
    assert_int_equal(op->shape_source, TRACE_AT_MOST);
    assert_true(op->work.flops == 2. * (64 + 64) * 256 * 8); /* 2 (d + d_v) for each key and head */
    /* Q of 2 bytes, K and V of 2 bytes, the output of 4; 8 heads of 64 */
    assert_true(op->work.bytes == 8 * 64 * 2 + 2 * 256 * 8 * 64 * 2 + 8 * 64 * 4);
    assert_true(op->roofline.intensity == op->work.flops / op->work.bytes);
    assert_true(session->coverage.launch_share[TRACE_AT_MOST] == 1);
    session_close(session);
}

static void what_is_not_read_is_a_row_by_name(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t refused = shape_of(run, GEMV, 63, true, 32, 64), bare = shape_of(run, GEMV, 64, false, 32, 64);
    const size_t newer = shape_of(run, NEWER, 64, true, 32, 64), rope = shape_of(run, ROPE, 4, true, 5, 0);
    size_t strange[3];
    for (uint32_t i = 0; i < 3; i++)
        strange[i] = shape_of(run, STRANGE, 4, true, i, 0);
    timed(run, refused, 10);
    timed(run, bare, 20);
    timed(run, bare, 20);
    timed(run, newer, 40);
    timed(run, rope, 80);
    for (int i = 0; i < 3; i++)
        timed(run, strange[i], 160);
    struct session *session = finish(run);
    assert_int_equal(session->operator_count, 4);
    assert_int_equal(named(session, GEMV)->time_ns, 50);
    assert_int_equal(named(session, GEMV)->launch->reading, LAUNCH_REFUSED); /* there is most to do about it */
    assert_int_equal(named(session, GEMV)->shape_source, TRACE_NAME_ONLY);
    assert_int_equal(named(session, NEWER)->launch->reading, LAUNCH_OTHER_REVISION);
    assert_int_equal(named(session, ROPE)->launch->reading, LAUNCH_READ);
    assert_int_equal(named(session, STRANGE)->kernels, 3);
    assert_null(named(session, STRANGE)->launch);
    const struct session_coverage *coverage = &session->coverage;
    static const struct {
        uint64_t launches;
        double time_ns;
    } expected[LAUNCH_READING_COUNT] = {
        [LAUNCH_NOT_IN_TABLE] = {3, 480}, [LAUNCH_OTHER_REVISION] = {1, 40}, [LAUNCH_NO_VALUES] = {2, 40},
        [LAUNCH_REFUSED] = {1, 10},       [LAUNCH_READ] = {1, 80},
    };
    for (int i = 0; i < LAUNCH_READING_COUNT; i++) {
        assert_int_equal(coverage->launches_by_reading[i], expected[i].launches);
        assert_true(coverage->launch_time_ns_by_reading[i] == expected[i].time_ns);
    }
    session_close(session);
}

/* Without a plan, or with two that differ, values mean nothing. */
static void plans_must_agree(void **state)
{
    (void)state;
    for (int differing = 0; differing < 2; differing++) {
        struct run *run = begin(differing);
        const size_t shape = gemv(run, 64, 32);
        timed(run, shape, 10);
        if (differing) {
            struct trace_parameter_plan *plan = trace_bytes_put(&run->trace, TRACE_RECORD_PARAMETER_PLAN, sizeof *plan);
            plan->name_id = run->names[GEMV];
        }
        timed(run, shape, 10);
        struct session *session = finish(run);
        assert_int_equal(session->operator_count, 1);
        assert_int_equal(named(session, GEMV)->launch->reading, LAUNCH_NO_VALUES);
        assert_int_equal(named(session, GEMV)->time_ns, 20);
        session_close(session);
    }
}

/* ---- helpers ---- */

static void helpers_are_part_of_what_they_serve(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t a = gemv(run, 64, 32), b = gemv(run, 96, 32), quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    const size_t fix = shape_of(run, FIX_UP, 1, true, 1, 0), rope = shape_of(run, ROPE, 1, true, 1, 0);
    const size_t attention = shape_of(run, ATTENTION, 1, true, 8, 256), combine = shape_of(run, COMBINE, 1, true, 2, 0);
    timed(run, fix, 1000); /* nothing was before it */
    for (int i = 0; i < 3; i++) {
        timed(run, quantize, 10);
        timed(run, rope, 1);
        timed(run, a, 100);
        timed(run, fix, 5);
        timed(run, attention, 70);
        timed(run, combine, 7);
        timed(run, quantize, 10);
        timed(run, b, 200);
    }
    timed(run, quantize, 10);
    kernel(run, 0, TRACE_OWNER_CALL, run->signature.id, call(run), 300, FIRST_DEVICE);
    timed(run, fix, 5);
    timed(run, quantize, 10); /* nothing comes behind it */
    struct session *session = finish(run);
    const struct operator_row *op = product(session, 64, 32);
    assert_int_equal(op->executions, 3);
    assert_int_equal(op->calls, 3);
    assert_int_equal(op->kernels, 3 + 3 + 3);
    /* 8 launches of quantize took 80, 3 of them for a, 3 for b, one each for the call and for nobody; of fix 5 took 1020. */
    check_helper(op, QUANTIZE, 3, 30);
    check_helper(op, FIX_UP, 3, 1020 * 3 / 5);
    assert_int_equal(op->time_ns, 300 + 30 + 612);
    check_helper(product(session, 96, 32), QUANTIZE, 3, 30);
    check_helper(find(session, LAUNCH_ATTENTION, 8, 256, 0), COMBINE, 3, 21);
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].of_call) {
            check_helper(&session->operators[i], QUANTIZE, 1, 10);
            check_helper(&session->operators[i], FIX_UP, 1, 204);
            assert_int_equal(session->operators[i].executions, 1);
            assert_int_equal(session->operators[i].time_ns, 300 + 10 + 204);
        }
    assert_int_equal(named(session, QUANTIZE)->kernels, 1);
    assert_int_equal(named(session, QUANTIZE)->calls, 1);
    assert_int_equal(named(session, FIX_UP)->time_ns, 204);
    assert_null(named(session, COMBINE));
    assert_int_equal(session->coverage.helpers_uncharged, 2);
    session_close(session);
}

/* Streams and threads have an order of their own, and what could not be read may be what is served. */
static void order_is_that_of_a_stream(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t a = gemv(run, 64, 32), b = gemv(run, 96, 32), quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    const size_t refused = shape_of(run, GEMV, 1, true, 32, 64);
    run->stream = 1;
    timed(run, quantize, 10);
    run->stream = 2;
    timed(run, b, 200);
    timed(run, quantize, 10);
    run->stream = 1;
    timed(run, a, 100);
    run->stream = 3; /* named like a product */
    timed(run, quantize, 10);
    timed(run, refused, 10);
    timed(run, b, 200);
    timed(run, quantize, 10);
    timed(run, b, 200);
    struct session *session = finish(run);
    check_helper(product(session, 64, 32), QUANTIZE, 1, 10);
    check_helper(product(session, 96, 32), QUANTIZE, 1, 10);
    assert_int_equal(session->coverage.helpers_uncharged, 2);
    session_close(session);
}

/* ---- graphs ---- */

enum { CAPTURES = 3 };

/* One token after another in a graph that is updated in place as the cache grows: each capture has other calls and another
 * attention, and only some launches are timed by their nodes. */
static void replays_are_counted_exactly(void **state)
{
    (void)state;
    static const uint64_t until[CAPTURES] = {254, 510, 600};
    enum { NODES = 6 };
    for (int timed_each = 1; timed_each < 8; timed_each += 6) {
        struct run *run = begin(true);
        const size_t a = gemv(run, 64, 32), b = gemv(run, 96, 32), quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
        const size_t combine = shape_of(run, COMBINE, 1, true, 2, 0);
        size_t attention[CAPTURES];
        uint64_t timed_of[CAPTURES] = {0}, all_timed = 0, launches = 0;
        for (uint32_t i = 0; i < CAPTURES; i++)
            attention[i] = shape_of(run, ATTENTION, 1, true, 8, 256 * (i + 1));
        for (int i = 0; i < CAPTURES; i++) {
            const size_t nodes[NODES] = {quantize, a, attention[i], combine, quantize, b};
            static const uint64_t ns[NODES] = {10, 100, 50, 7, 10, 200};
            uint64_t calls[NODES];
            for (int place = 0; place < NODES; place++)
                calls[place] = launch(run, nodes[place]);
            for (unsigned place = 0; place < NODES; place++)
                node(run, place + 1, nodes[place], calls[place], launches);
            for (; launches < until[i]; launches++) {
                if (launches % (uint64_t)timed_each)
                    continue;
                for (unsigned place = 0; place < NODES; place++) {
                    struct trace_kernel *k = kernel_of(run, nodes[place], calls[place], ns[place], FIRST_DEVICE);
                    k->graph_id = GRAPH;
                    k->graph_node_id = (uint64_t)GRAPH << 32 | (place + 1);
                    k->join = TRACE_JOIN_GRAPH_NODE;
                }
                timed_of[i]++;
                all_timed++;
            }
            graph_launches(run, launches);
        }
        struct session *session = finish(run);
        const struct operator_row *op = product(session, 64, 32);
        assert_int_equal(op->executions, all_timed);
        assert_int_equal(op->evidence.executions_all, 600);
        check_helper(op, QUANTIZE, all_timed, all_timed * 10);
        check_helper(product(session, 96, 32), QUANTIZE, all_timed, all_timed * 10);
        uint64_t combined = 0;
        for (int i = 0; i < CAPTURES; i++) {
            op = find(session, LAUNCH_ATTENTION, 8, 256 * (i + 1), 0);
            const uint64_t executions = until[i] - (i ? until[i - 1] : 0);
            assert_int_equal(op->evidence.executions_all, executions);
            assert_int_equal(op->executions, timed_of[i]);
            combined += op->helpers[0].kernels;
            /* By how often each was launched: exact where all were timed. */
            assert_true(fabs((double)op->helpers[0].kernels - (double)all_timed * (double)executions / 600) < 1);
            if (timed_each == 1)
                check_helper(op, COMBINE, executions, executions * 7);
        }
        assert_int_equal(combined, all_timed);
        assert_int_equal(session->coverage.helpers_uncharged, 0);
        assert_int_equal(session->coverage.launches_by_reading[LAUNCH_READ], 600 * NODES);
        assert_null(named(session, COMBINE));
        session_close(session);
    }
}

/* Of an update in place that found most nodes as they were only the others have records: the combining kernel goes on as it was
 * while the attention that it serves becomes another. */
static void updates_change_whom_a_node_serves(void **state)
{
    (void)state;
    enum { NODES = 5 };
    static const uint64_t until[CAPTURES] = {254, 510, 600}, ns[NODES] = {10, 100, 5, 50, 7};
    struct run *run = begin(true);
    const size_t a = gemv(run, 64, 32), quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    const size_t fix = shape_of(run, FIX_UP, 1, true, 1, 0), combine = shape_of(run, COMBINE, 1, true, 2, 0);
    size_t attention[CAPTURES];
    uint64_t launches = 0, calls[NODES];
    for (uint32_t i = 0; i < CAPTURES; i++)
        attention[i] = shape_of(run, ATTENTION, 1, true, 8, 256 * (i + 1));
    for (int i = 0; i < CAPTURES; i++) {
        const size_t nodes[NODES] = {quantize, a, fix, attention[i], combine};
        for (unsigned place = 0; place < NODES; place++) {
            const uint64_t call_id = launch(run, nodes[place]);
            if (i && place != 3)
                continue;
            calls[place] = call_id;
            node(run, place + 1, nodes[place], call_id, launches);
        }
        for (; launches < until[i]; launches++)
            for (unsigned place = 0; place < NODES; place++)
                kernel_of(run, nodes[place], calls[place], ns[place], FIRST_DEVICE)->graph_id = GRAPH;
        graph_launches(run, launches);
    }
    struct session *session = finish(run);
    for (int i = 0; i < CAPTURES; i++) {
        const uint64_t executions = until[i] - (i ? until[i - 1] : 0);
        const struct operator_row *op = find(session, LAUNCH_ATTENTION, 8, 256 * (i + 1), 0);
        assert_int_equal(op->executions, executions);
        check_helper(op, COMBINE, executions, executions * 7);
    }
    check_helper(product(session, 64, 32), QUANTIZE, 600, 6000);
    check_helper(product(session, 64, 32), FIX_UP, 600, 3000);
    assert_int_equal(session->coverage.helpers_uncharged, 0);
    assert_null(named(session, COMBINE));
    session_close(session);
}

/* Where launches have no record any more, as of the oldest blocks of a long run, the order of the capture is in its nodes. */
static void nodes_tell_the_order_of_what_is_lost(void **state)
{
    (void)state;
    enum { NODES = 6, LAUNCHES = 20 };
    struct run *run = begin(true);
    const size_t a = gemv(run, 64, 32), b = gemv(run, 96, 32), quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    const size_t fix = shape_of(run, FIX_UP, 1, true, 1, 0);
    const size_t captured[NODES] = {quantize, a, fix, quantize, b, quantize};
    for (int place = 0; place < NODES; place++) {
        const struct trace_launch_shape *shape = (const struct trace_launch_shape *)run->shapes[captured[place]].record;
        struct trace_launch_shape *s = trace_bytes_put(&run->trace, TRACE_RECORD_LAUNCH_SHAPE, shape->record.size);
        memcpy(&s->id, &shape->id, shape->record.size - sizeof s->record);
    }
    for (unsigned place = NODES; place-- > 0;)
        node(run, place + 1, captured[place], 100 + place, 0);
    for (int i = 0; i < LAUNCHES; i++)
        for (int place = 0; place < NODES; place++)
            kernel_of(run, captured[place], 100 + (uint64_t)place, 10, FIRST_DEVICE)->graph_id = GRAPH;
    graph_launches(run, LAUNCHES);
    struct session *session = finish(run);
    check_helper(product(session, 64, 32), QUANTIZE, LAUNCHES, LAUNCHES * 10);
    check_helper(product(session, 64, 32), FIX_UP, LAUNCHES, LAUNCHES * 10);
    check_helper(product(session, 96, 32), QUANTIZE, LAUNCHES, LAUNCHES * 10);
    assert_int_equal(session->coverage.helpers_uncharged, LAUNCHES);
    session_close(session);
}

/* Time of a graph that was timed as a whole goes to products and attention by their roofs. */
static void whole_graphs_are_shared_out(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t a = gemv(run, 4096, 4096), b = gemv(run, 8192, 4096),
                 quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    const size_t nodes[] = {quantize, a, quantize, b};
    for (unsigned place = 0; place < 4; place++)
        node(run, place + 1, nodes[place], launch(run, nodes[place]), 0);
    for (int i = 0; i < 10; i++) {
        struct trace_graph_run *r = trace_bytes_put(&run->trace, TRACE_RECORD_GRAPH_RUN, sizeof *r);
        r->start_ns = run->clock_ns;
        r->end_ns = run->clock_ns += 1000000;
        r->graph_id = GRAPH;
        run->kernel_ns += 1000000;
    }
    graph_launches(run, 10);
    end(run);
    struct session *session = open_trace(run->path);
    const struct operator_row *small = product(session, 4096, 4096), *large = product(session, 8192, 4096);
    assert_int_equal(small->time_ns + large->time_ns, 10000000);
    assert_int_equal(small->executions, 10);
    assert_true(large->evidence.shared_ns > small->evidence.shared_ns);
    assert_true(fabs(large->evidence.shared_ns / small->evidence.shared_ns -
                     large->roofline.t_roof_ns / small->roofline.t_roof_ns) < 1e-5);
    session_close(session);
    unlink(run->path);
    free(run);
}

/* ---- devices, and programs that nobody wrote ---- */

static void devices_have_rows_of_their_own(void **state)
{
    (void)state;
    struct run *run = begin(true);
    const size_t both = gemv(run, 64, 32), second = gemv(run, 96, 32),
                 quantize = shape_of(run, QUANTIZE, 1, true, 32, 0);
    put_device(run, 1);
    for (int i = 0; i < 8; i++) {
        const uint32_t device = i % 4 == 3;
        run->stream = 7 + device;
        kernel_of(run, quantize, launch(run, quantize), 10, device);
        kernel_of(run, both, launch(run, both), 100, device);
    }
    for (int i = 0; i < 6; i++) {
        kernel_of(run, quantize, launch(run, quantize), 10, 1);
        kernel_of(run, second, launch(run, second), 200, 1);
    }
    struct session *session = finish(run);
    const struct operator_row *op = find(session, LAUNCH_MATMUL, 64, 32, 0);
    assert_int_equal(op->executions, 6);
    assert_int_equal(op->calls, 6);
    check_helper(op, QUANTIZE, 6, 60);
    op = find(session, LAUNCH_MATMUL, 64, 32, 1);
    assert_int_equal(op->executions, 2);
    check_helper(op, QUANTIZE, 2, 20);
    check_helper(find(session, LAUNCH_MATMUL, 96, 32, 1), QUANTIZE, 6, 60);
    assert_int_equal(session->coverage.helpers_uncharged, 0);
    session_close(session);
}

static uint32_t chance(uint32_t below)
{
    static uint64_t state = 1;
    uint64_t z = (state += 0x9e3779b97f4a7c15ull); /* splitmix64, as published by S. Vigna */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ z >> 31) % below);
}

/* Whatever is launched in whatever order, each operator's helpers are what was launched for it, and nothing is lost. A shape
 * takes the same time in all its launches, so that sharing by counts is what each launch took. */
static void random_programs_add_up(void **state)
{
    (void)state;
    enum { PRODUCTS = 5, QUANTS = 3, FIXES = 2, STREAMS = 3 };
    for (int program = 0; program < 40; program++) {
        struct run *run = begin(true);
        size_t products[PRODUCTS], quants[QUANTS], fixes[FIXES];
        int last[STREAMS];
        uint64_t own[PRODUCTS] = {0}, quant_count[PRODUCTS][QUANTS] = {{0}}, fix_count[PRODUCTS][FIXES] = {{0}};
        int waiting[STREAMS][QUANTS], uncharged = 0;
        memset(waiting, 0, sizeof waiting);
        for (uint32_t i = 0; i < PRODUCTS; i++)
            products[i] = gemv(run, 64 + i, 32);
        for (uint32_t i = 0; i < QUANTS; i++)
            quants[i] = shape_of(run, QUANTIZE, 1, true, i, 0);
        for (uint32_t i = 0; i < FIXES; i++)
            fixes[i] = shape_of(run, FIX_UP, 1, true, i, 0);
        for (int s = 0; s < STREAMS; s++)
            last[s] = -1;
        for (int event = 0; event < 400; event++) {
            const uint32_t s = chance(STREAMS), what = chance(3);
            run->stream = 7 + s;
            if (what == 0) {
                const uint32_t p = chance(PRODUCTS);
                timed(run, products[p], 1000);
                own[p]++;
                for (int q = 0; q < QUANTS; q++) {
                    quant_count[p][q] += (uint64_t)waiting[s][q];
                    waiting[s][q] = 0;
                }
                last[s] = (int)p;
            } else if (what == 1) {
                const uint32_t q = chance(QUANTS);
                if (waiting[s][0] + waiting[s][1] + waiting[s][2] >= 8)
                    continue; /* more wait for nothing */
                timed(run, quants[q], 10 + q);
                waiting[s][q]++;
            } else {
                const uint32_t f = chance(FIXES);
                timed(run, fixes[f], 5 + f);
                if (last[s] >= 0)
                    fix_count[last[s]][f]++;
                else
                    uncharged++;
            }
        }
        for (int s = 0; s < STREAMS; s++)
            uncharged += waiting[s][0] + waiting[s][1] + waiting[s][2];
        struct session *session = finish(run);
        for (uint32_t p = 0; p < PRODUCTS; p++) {
            if (!own[p])
                continue;
            const struct operator_row *op = product(session, 64 + p, 32);
            uint64_t ns = own[p] * 1000, count = own[p];
            for (uint32_t q = 0; q < QUANTS; q++) {
                ns += quant_count[p][q] * (10 + q);
                count += quant_count[p][q];
            }
            for (uint32_t f = 0; f < FIXES; f++) {
                ns += fix_count[p][f] * (5 + f);
                count += fix_count[p][f];
            }
            assert_int_equal(op->executions, own[p]);
            /* Each shape's parts are differences of rounded running sums, so a part is off by less than one. */
            assert_true(fabs((double)op->time_ns - (double)ns) < QUANTS + FIXES);
            assert_true(fabs((double)op->kernels - (double)count) < QUANTS + FIXES);
        }
        assert_int_equal(session->coverage.helpers_uncharged, uncharged);
        session_close(session);
    }
}

/* ---- bounds ---- */

static void shapes_are_bounded(void **state)
{
    (void)state;
    enum { SHAPES = LAUNCH_SHAPES_MOST + 100 };
    struct run *run = begin(true);
    for (uint32_t i = 0; i < SHAPES; i++) {
        run->shape_count = 0;
        run->shapes[0].block = 0;
        timed(run, gemv(run, i + 1, 32), 10);
    }
    end(run);
    struct session *session = open_trace(run->path);
    assert_int_equal(session->operator_count, LAUNCH_SHAPES_MOST + 1);
    assert_int_equal(named(session, GEMV)->kernels, 100);
    assert_int_equal(named(session, GEMV)->launch->reading, LAUNCH_NO_VALUES);
    assert_int_equal(session->coverage.beyond.shapes, 200); /* launches and kernels */
    check_sums(session, run->kernels, run->kernel_ns);
    session_close(session);
    unlink(run->path);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_one_meaning_are_one_row),
        cmocka_unit_test(attention_has_work),
        cmocka_unit_test(what_is_not_read_is_a_row_by_name),
        cmocka_unit_test(plans_must_agree),
        cmocka_unit_test(helpers_are_part_of_what_they_serve),
        cmocka_unit_test(order_is_that_of_a_stream),
        cmocka_unit_test(replays_are_counted_exactly),
        cmocka_unit_test(updates_change_whom_a_node_serves),
        cmocka_unit_test(nodes_tell_the_order_of_what_is_lost),
        cmocka_unit_test(whole_graphs_are_shared_out),
        cmocka_unit_test(devices_have_rows_of_their_own),
        cmocka_unit_test(random_programs_add_up),
        cmocka_unit_test(shapes_are_bounded),
    };
    return cmocka_run_group_tests(tests, set_rows, drop_rows);
}
