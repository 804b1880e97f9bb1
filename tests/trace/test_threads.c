/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads at once, and one after the other: each record once, call ids never twice, slots used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "check.h"
#include "producer.h"
#include "trace/block_queue.h"
#include "trace_fixture.h"

static int stop_helper;

static void *helper(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop_helper, __ATOMIC_ACQUIRE))
        if (!trace_writer_tend())
            sched_yield();
    return NULL;
}

/* A record that had to wait for the helper is tried again: these tests are about each record being there once. */
static uint64_t must_produce(struct trace_thread *thread, int64_t kind)
{
    uint64_t id = 0;
    while (!produce_call(thread, kind, &id))
        sched_yield();
    return id;
}

/* ---- at once ---- */

enum { THREADS = 8, CALLS = 20000, NAMES = 6000, CHURN = 10000 };

static void *produce_many(void *number)
{
    struct trace_thread *thread = trace_thread_get();
    char name[32];
    CHECK(thread);
    for (int i = 0; i < CALLS; i++) {
        must_produce(thread, i % 11);
        if (i < NAMES) {
            snprintf(name, sizeof name, "kernel_%d", i);
            trace_name_intern(thread, name);
        }
    }
    __atomic_fetch_add((int *)number, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void write_at_once(const char *folder)
{
    pthread_t threads[THREADS], tender;
    int done = 0;
    CHECK(trace_writer_open(folder));
    CHECK(pthread_create(&tender, NULL, helper, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, produce_many, &done) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop_helper, 1, __ATOMIC_RELEASE);
    pthread_join(tender, NULL);
    CHECK(done == THREADS);
    trace_writer_tend();
    trace_writer_end();
}

struct ids {
    uint64_t *id;
    size_t count;
};

static void collect(const struct trace_item *item, void *context)
{
    struct ids *ids = context;
    if (item->record->type == TRACE_RECORD_CALL) {
        const struct trace_call *call = (const void *)item->record;
        assert_int_equal(item->signature->m, call->duration_ticks);
        ids->id[ids->count++] = call->call_id;
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_unique(struct ids *ids)
{
    qsort(ids->id, ids->count, sizeof *ids->id, compare_ids);
    for (size_t i = 0; i < ids->count; i++)
        assert_true(ids->id[i] != 0 && (i == 0 || ids->id[i] != ids->id[i - 1]));
}

static void run(void (*body)(const char *), size_t expected, struct seen *seen)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    struct ids ids = {calloc(expected + 1, sizeof *ids.id), 0};
    folder_make(folder);
    assert_int_equal(in_child(body, folder, NULL), 0);
    folder_traces(folder, 0, 1, path);
    assert_true(read_path(path[0], seen, collect, &ids));
    assert_int_equal(seen->stats.records_damaged + seen->stats.blocks_damaged, 0);
    assert_int_equal(ids.count, expected);
    check_unique(&ids);
    free(ids.id);
    folder_remove(folder);
}

static void threads_at_once(void **state)
{
    struct seen seen;
    (void)state;
    run(write_at_once, (size_t)THREADS * CALLS, &seen);
    /* A name again is allowed only while the table waits for the helper to grow it; how long that is, the scheduler says. */
    assert_true(seen.of_type[TRACE_RECORD_NAME] >= NAMES && seen.of_type[TRACE_RECORD_NAME] < THREADS * NAMES);
    assert_int_equal(seen.counters.threads_without_slot, 0);
    assert_true(seen.stats.blocks_sealed > THREADS);
}

/* ---- one after the other ---- */

static void *produce_one(void *kind)
{
    struct trace_thread *thread = trace_thread_get();
    CHECK(thread);
    trace_thread_slot(thread)->calls_begun++;
    must_produce(thread, (int64_t)(intptr_t)kind);
    CHECK(trace_thread_slot(thread)->tid == (uint32_t)syscall(SYS_gettid));
    return NULL;
}

static void write_churn(const char *folder)
{
    pthread_t thread;
    CHECK(trace_writer_open(folder));
    for (intptr_t i = 0; i < CHURN; i++) {
        CHECK(pthread_create(&thread, NULL, produce_one, (void *)(i % 5)) == 0);
        pthread_join(thread, NULL);
        if (i % 8 == 0)
            trace_writer_tend();
    }
    trace_writer_tend();
    trace_writer_end();
}

static void ten_thousand_threads(void **state)
{
    struct seen seen;
    (void)state;
    run(write_churn, CHURN, &seen);
    assert_int_equal(seen.slots, 2); /* the main thread's, and one that all others had */
    assert_int_equal(seen.slot_calls, CHURN);
    assert_int_equal(seen.counters.threads_without_slot, 0);
    assert_true(seen.stats.blocks_sealed >= CHURN);
}

/* ---- more threads than were prepared ---- */

enum { CROWD = 700 };
static pthread_barrier_t all_here, may_go;

static void *wait_with_slot(void *unused)
{
    (void)unused;
    struct trace_thread *thread = trace_thread_get();
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&may_go);
    if (!thread)
        thread = trace_thread_get(); /* the helper came by meanwhile */
    CHECK(thread);
    must_produce(thread, 1);
    return NULL;
}

static void write_crowd(const char *folder)
{
    static pthread_t threads[CROWD], tender;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    CHECK(trace_writer_open(folder));
    pthread_barrier_init(&all_here, NULL, CROWD + 1);
    pthread_barrier_init(&may_go, NULL, CROWD + 1);
    for (int i = 0; i < CROWD; i++)
        CHECK(pthread_create(&threads[i], &small, wait_with_slot, NULL) == 0);
    pthread_barrier_wait(&all_here);
    uint64_t without = trace_writer_counters()->threads_without_slot;
    CHECK(without == CROWD - 508 && trace_writer_counters()->calls_without_slot == without);
    trace_writer_tend();
    CHECK(pthread_create(&tender, NULL, helper, NULL) == 0);
    pthread_barrier_wait(&may_go);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop_helper, 1, __ATOMIC_RELEASE);
    pthread_join(tender, NULL);
    trace_writer_end();
}

static void threads_beyond_those_prepared(void **state)
{
    struct seen seen;
    (void)state;
    run(write_crowd, CROWD, &seen);
    assert_int_equal(seen.counters.threads_without_slot, CROWD - 508);
}

/* ---- threads that end in their own ways ---- */

static pthread_key_t late_key;

/* A destructor of the host's that calls after ours ran, over and over: its state is found again by the sweep. */
static void call_late(void *value)
{
    trace_thread_get();
    pthread_setspecific(late_key, value);
}

static void *end_late(void *unused)
{
    CHECK(pthread_setspecific(late_key, &late_key) == 0 && trace_thread_get());
    return unused;
}

static void write_late(const char *folder)
{
    pthread_t thread;
    CHECK(trace_writer_open(folder));
    CHECK(pthread_key_create(&late_key, call_late) == 0);
    for (int i = 0; i < 2000; i++) {
        CHECK(pthread_create(&thread, NULL, end_late, NULL) == 0);
        pthread_join(thread, NULL);
        for (int j = 0; j < 2; j++)
            trace_writer_tend();
    }
    CHECK(trace_writer_counters()->threads_without_slot == 0);
    trace_writer_end();
}

static void threads_that_call_while_they_end(void **state)
{
    struct seen seen;
    (void)state;
    run(write_late, 0, &seen);
    assert_true(seen.slots < 400); /* not one a thread */
}

/* ---- the queue alone ---- */

enum { QUEUED = 200000 };
static struct block_queue queue;
static uint64_t taken_sum, taken_count;

static void *take_all(void *unused)
{
    while (__atomic_load_n(&taken_count, __ATOMIC_RELAXED) < QUEUED) {
        void *block = block_queue_pop(&queue);
        if (!block) {
            sched_yield();
            continue;
        }
        __atomic_fetch_add(&taken_sum, (uintptr_t)block, __ATOMIC_RELAXED);
        __atomic_fetch_add(&taken_count, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

static void queue_loses_and_doubles_nothing(void **state)
{
    static struct block_queue_cell cells[16];
    pthread_t takers[4];
    uint64_t sum = 0;
    (void)state;
    block_queue_init(&queue, cells, 16);
    assert_null(block_queue_pop(&queue));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&takers[i], NULL, take_all, NULL), 0);
    for (uintptr_t i = 1; i <= QUEUED; i++) {
        sum += i;
        while (!block_queue_push(&queue, (void *)i))
            sched_yield();
    }
    for (int i = 0; i < 4; i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(taken_sum, sum);
    assert_int_equal(block_queue_count(&queue), 0);
    for (uintptr_t i = 1; i <= 16; i++)
        assert_true(block_queue_push(&queue, (void *)i));
    assert_false(block_queue_push(&queue, (void *)17));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_loses_and_doubles_nothing),
        cmocka_unit_test(threads_at_once),
        cmocka_unit_test(ten_thousand_threads),
        cmocka_unit_test(threads_beyond_those_prepared),
        cmocka_unit_test(threads_that_call_while_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
