/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths from many threads at once, and where there is no room: what is recorded is right, what is lost is not made up. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cupti/cuda_driver.h"
#include "cupti/length_log.h"
#include "cupti/lengths.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "trace/trace_writer.h"

enum { THREADS = 4, STEPS = 3000, STEPS_A_LOOK = 200, COUNT = 16 }; /* of all threads fewer than there is room for */

static _Atomic int looking;
static _Atomic unsigned looks;

static void start_watching(void)
{
    trace_of_test_open();
    fake_cuda_init();
    CHECK(cuda_driver_mapped() != NULL);
    lengths_configure(LENGTHS_WATCH);
}

static void look(bool last)
{
    if (lengths_begin())
        lengths_end(last);
}

static void *keep_looking(void *unused)
{
    while (atomic_load(&looking)) {
        look(false);
        atomic_fetch_add(&looks, 1);
    }
    return unused;
}

static void finish(struct trace_content *c)
{
    look(true);
    trace_of_test_read(c);
}

static struct lengths_buffer buffer_of(uint64_t address, uint32_t count, uint64_t call_id)
{
    return (struct lengths_buffer){.address = address, .element_bytes = 4, .count = count, .call_id = call_id};
}

/* The device's address is one that nothing lies at. */
static uint64_t address_of(int number)
{
    return 0x7000000000ull + (uint64_t)number * 65536;
}

static void copy_to(uint64_t address, const int32_t *lengths, uint32_t count)
{
    errno = EDOM;
    lengths_copied(address, lengths, count * sizeof *lengths, LENGTHS_SOURCE_HOST, NULL);
    CHECK(errno == EDOM);
}

static void wait_for_looks(void)
{
    for (unsigned before = atomic_load(&looks); atomic_load(&looks) - before < 2;)
        sched_yield();
}

/* Each step's lengths are its number, the first one thread's own: a record of two steps' would be seen. */
static void *steps_of_thread(void *argument)
{
    int thread = (int)(intptr_t)argument;
    struct lengths_buffer buffer = buffer_of(address_of(thread), COUNT, (uint64_t)thread + 1);
    int32_t lengths[COUNT];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < COUNT; i++)
            lengths[i] = 1000 * (thread + 1) + step % 700;
        if (lengths_are_watched())
            copy_to(buffer.address, lengths, COUNT);
        CHECK(lengths_watch(&buffer));
        if (step % STEPS_A_LOOK == STEPS_A_LOOK - 1)
            wait_for_looks();
    }
    return NULL;
}

static void threads(void)
{
    pthread_t worker[THREADS], looker;
    struct trace_content c;
    uint64_t launches = 0;
    start_watching();
    atomic_store(&looking, 1);
    CHECK(pthread_create(&looker, NULL, keep_looking, NULL) == 0);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&worker[i], NULL, steps_of_thread, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(worker[i], NULL) == 0);
    atomic_store(&looking, 0);
    CHECK(pthread_join(looker, NULL) == 0);
    finish(&c);
    for (size_t i = 0; i < c.length_count; i++) {
        const struct trace_lengths *l = &c.lengths[i];
        int64_t thread = (int64_t)l->call_id - 1;
        CHECK(thread >= 0 && thread < THREADS && l->address == address_of((int)thread) && l->count == COUNT);
        CHECK(l->least == l->most && l->sum == COUNT * l->least && l->least / 1000 == thread + 1);
        CHECK(l->how == TRACE_LENGTHS_COPIED && l->graph_id == 0);
        launches += l->launches;
    }
    CHECK(launches == (uint64_t)THREADS * (STEPS - 1)); /* the first was filled before it was watched */
}

/* Nobody looks for longer than the log is: all of that is forgotten, and known again with the next copy. */
static void too_many_items(void)
{
    struct trace_content c;
    int32_t lengths[COUNT] = {7};
    struct lengths_buffer buffer = buffer_of(address_of(0), COUNT, 1);
    start_watching();
    lengths_watch(&buffer);
    copy_to(buffer.address, lengths, COUNT);
    for (int i = 0; i < LENGTH_LOG_ITEMS + 100; i++)
        lengths_watch(&buffer);
    lengths[0] = 9; /* this copy is lost, too */
    copy_to(buffer.address, lengths, COUNT);
    look(false);
    lengths_watch(&buffer); /* after which copy? */
    look(false);
    copy_to(buffer.address, lengths, COUNT);
    lengths_watch(&buffer);
    lengths_watch(&buffer);
    finish(&c);
    CHECK(c.length_count == 1 && c.lengths[0].most == 9 && c.lengths[0].least == 0 && c.lengths[0].sum == 9);
    CHECK(c.lengths[0].launches == 2);
    const struct text_note *note = content_note(&c, TRACE_NOTE_LENGTHS);
    CHECK(note && note->value >= 1);
}

static void too_many_readers(void)
{
    struct trace_content c;
    unsigned watched = 0, kept = 0;
    start_watching();
    for (uint64_t i = 0; i < LENGTHS_BUFFERS_MOST + 10; i++) {
        struct lengths_buffer buffer = buffer_of(address_of((int)i), 4, i + 1);
        watched += lengths_watch(&buffer);
    }
    CHECK(watched == LENGTHS_BUFFERS_MOST);
    for (uint32_t i = 0; i < LENGTHS_READERS_MOST + 10; i++) {
        struct lengths_buffer buffer = buffer_of(address_of(0), 8 + i, 5000 + i);
        kept += lengths_watch(&buffer);
    }
    CHECK(kept == LENGTHS_READERS_MOST - LENGTHS_BUFFERS_MOST);
    finish(&c);
    const struct text_note *note = content_note(&c, TRACE_NOTE_LENGTHS);
    CHECK(note && note->value > 0 && c.length_count == 0);
}

static void impossible(void)
{
    struct trace_content c;
    int32_t negative[COUNT] = {-1}, falling[COUNT + 1] = {5, 4, 3};
    start_watching();
    struct lengths_buffer good = buffer_of(address_of(0), COUNT, 1), sums = good, bad;
    bad = good, bad.count = 0;
    CHECK(!lengths_watch(&bad));
    bad = good, bad.count = LENGTH_BUFFER_BYTES / 4 + 1;
    CHECK(!lengths_watch(&bad));
    bad = good, bad.count = UINT32_MAX, bad.cumulative = true;
    CHECK(!lengths_watch(&bad));
    bad = good, bad.element_bytes = 2;
    CHECK(!lengths_watch(&bad));
    bad = good, bad.address = 0;
    CHECK(!lengths_watch(&bad));
    sums.cumulative = true, sums.address = address_of(1);
    CHECK(lengths_watch(&good) && lengths_watch(&sums));
    copy_to(good.address, negative, COUNT);
    copy_to(sums.address, falling, COUNT + 1);
    CHECK(lengths_watch(&good) && lengths_watch(&sums));
    lengths_copied(good.address, (const void *)8, 64, LENGTHS_SOURCE_HOST, NULL); /* nothing is there */
    lengths_copied(UINT64_MAX - 8, negative, 64, LENGTHS_SOURCE_HOST, NULL);
    CHECK(lengths_watch(&good));
    finish(&c);
    CHECK(c.length_count == 0);
}

static void partly_known(void)
{
    struct trace_content c;
    int32_t lengths[COUNT];
    for (int i = 0; i < COUNT; i++)
        lengths[i] = i + 1;
    start_watching();
    struct lengths_buffer whole = buffer_of(address_of(0), COUNT, 1), first = buffer_of(address_of(0), 4, 2);
    CHECK(lengths_watch(&whole) && lengths_watch(&first));
    copy_to(whole.address, lengths, 4);
    CHECK(lengths_watch(&whole) && lengths_watch(&first)); /* only the second is known */
    copy_to(whole.address + 16, lengths + 4, COUNT - 4);
    CHECK(lengths_watch(&whole));
    lengths_copied(whole.address + 2, lengths, 1, LENGTHS_SOURCE_HOST, NULL); /* a part of an element */
    CHECK(lengths_watch(&whole) && lengths_watch(&first));
    finish(&c);
    CHECK(c.length_count == 2);
    for (size_t i = 0; i < 2; i++) {
        int64_t count = c.lengths[i].call_id == 1 ? COUNT : 4;
        CHECK(c.lengths[i].count == count && c.lengths[i].most == count && c.lengths[i].sum == count * (count + 1) / 2);
        CHECK(c.lengths[i].launches == 1 && c.lengths[i].least == 1);
    }
}

/* Without a capture that tells its id a captured launch is not watched; nodes of others change nothing. */
static void nodes_of_graphs(void)
{
    struct trace_content c;
    int32_t lengths[4] = {1, 2, 3, 4};
    start_watching();
    struct lengths_buffer buffer = buffer_of(address_of(0), 4, 1);
    CHECK(lengths_watch(&buffer));
    fake_cuda_set_capturing(NULL, 1);
    CHECK(!lengths_watch(&buffer));
    copy_to(buffer.address, lengths, 4); /* captured: it has not run */
    fake_cuda_set_capturing(NULL, 0);
    CHECK(lengths_watch(&buffer));
    for (uint64_t node = 0; node < 10000; node++)
        lengths_node(7ull << 32 | node, node);
    lengths_graph_launched(7, NULL);
    finish(&c);
    CHECK(c.length_count == 0);
}

static const struct scenario scenarios[] = {
    {"threads", threads},       {"too_many_items", too_many_items}, {"too_many_readers", too_many_readers},
    {"impossible", impossible}, {"partly_known", partly_known},     {"nodes_of_graphs", nodes_of_graphs},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
