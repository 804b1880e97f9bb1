/* SPDX-License-Identifier: Apache-2.0 */
/* Sums beside a ring and a file in which the process went on: whoever reads them, and whenever, no call counts twice. A host
 * that is a few blocks laid out by hand, and the sink of sums itself. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "classify/session.h"
#include "collect/aggregate_sink.h"
#include "collect/loss_book.h"
#include "collect/ring.h"
#include "collect/ring_folder.h"
#include "trace/ring_control.h"
#include "trace/ring_snapshot.h"
#include "trace_fixture.h"

enum { CALLS = 100, READS = 200, IDLE_BLOCKS = 100 }; /* CALLS: of a block */

static const char name[] = "7-8-0123456789abcdef" TRACE_FILE_SUFFIX;
static const char more[] = "7-8-0123456789abcdef" TRACE_MORE_SUFFIX;
static char folder[PATH_MAX], ring[RING_FOLDER_BYTES];

/* Slots first; records in the blocks behind them, the first of which names the process. */
static void add_block(struct builder *builder, enum trace_block_kind kind)
{
    builder_block(builder, kind);
    if (kind == TRACE_BLOCK_SLOTS)
        return;
    if (builder->sequence == 2) {
        builder_text(builder, TRACE_RECORD_PROCESS, "a.out");
        builder_text(builder, TRACE_RECORD_ENTRY, "cublasSgemm_v2");
    }
    uint32_t signature = builder_signature(builder, 1);
    for (uint64_t call = 1; call <= CALLS; call++)
        builder_call(builder, signature, builder->sequence << 40 | call);
    builder_seal(builder);
}

static const unsigned char *last(const struct builder *builder)
{
    return builder->bytes + builder->block;
}

static void put_at(const char *in, const char *file, size_t place, const void *bytes, size_t size, size_t offset)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", in, file);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && pwrite(fd, bytes, size, (off_t)(place * TRACE_BLOCK_BYTES + offset)) == (ssize_t)size);
    close(fd);
}

static void write_session(void)
{
    char text[512];
    int length = snprintf(text, sizeof text, "{\"command\": [\"a.out\"], \"ring\": \"%s\"}\n", ring);
    put_at(folder, "session.json", 0, text, (size_t)length, 0);
}

static void begin(void)
{
    folder_make(folder);
    CHECK(ring_folder_make(ring, RING_BYTES_LEAST, folder));
    write_session();
}

static void end(void)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", ring, name);
    unlink(path);
    CHECK(ring_folder_remove(ring));
    folder_remove(folder);
}

static uint64_t reported(void)
{
    struct session_error error;
    struct session *session = session_open(folder, &error);
    CHECK(session && session->bad_file_count == 0);
    uint64_t calls = session->coverage.calls;
    session_close(session);
    return calls;
}

/* ---- a reader beside a collector that writes its sums after each block ---- */

struct shared {
    uint64_t begun, summed; /* calls: perhaps in the ring already; surely in the file */
    uint32_t stop;
    uint32_t read_us; /* the last reading took */
};

/* Taken by threads that have not written yet: a reader copies them all, after the block that goes. */
static void add_idle_blocks(void)
{
    struct builder builder = {.sequence = 1u << 30};
    builder_block(&builder, TRACE_BLOCK_RECORDS);
    for (size_t place = 2; place < 2 + IDLE_BLOCKS; place++) {
        builder_header(&builder)->sequence++;
        put_at(ring, name, place, last(&builder), TRACE_BLOCK_BYTES, 0);
    }
    builder_free(&builder);
}

static uint64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void collect_for_ever(struct shared *shared)
{
    const uint32_t drained = TRACE_BLOCK_DRAINED;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a parent that found a fault */
    struct sink *sink = aggregate_sink_make(folder);
    struct sink_process *process = sink->open(sink, name);
    uint64_t now_ns = 1;
    struct builder builder = {0};
    add_block(&builder, TRACE_BLOCK_SLOTS);
    put_at(ring, name, 0, last(&builder), TRACE_BLOCK_BYTES, 0);
    sink->slots(process, 0, last(&builder));
    add_idle_blocks();
    while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
        builder.size = TRACE_BLOCK_BYTES; /* over the last one */
        add_block(&builder, TRACE_BLOCK_RECORDS);
        __atomic_fetch_add(&shared->begun, CALLS, __ATOMIC_RELEASE);
        put_at(ring, name, 1, last(&builder), TRACE_BLOCK_BYTES, 0);
        usleep(300); /* some reader has it copied when it goes, and is done before the next one comes */
        CHECK(sink->records(process, last(&builder)));
        put_at(ring, name, 1, &drained, sizeof drained, offsetof(struct trace_block_header, state));
        CHECK(sink->tick(sink, now_ns += 3600000000000u));
        __atomic_fetch_add(&shared->summed, CALLS, __ATOMIC_RELEASE);
        /* A reader tries anew when sums came meanwhile. They are written seconds apart, longer than any reading takes. */
        usleep(30000 + 2 * __atomic_load_n(&shared->read_us, __ATOMIC_RELAXED));
    }
    _exit(0);
}

static void test_read_while_it_is_summed(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    CHECK(shared != MAP_FAILED);
    begin();
    pid_t collector = fork();
    CHECK(collector >= 0);
    if (!collector)
        collect_for_ever(shared);
    while (!__atomic_load_n(&shared->summed, __ATOMIC_ACQUIRE))
        usleep(1000);
    for (int i = 0; i < READS; i++) {
        uint64_t least = __atomic_load_n(&shared->summed, __ATOMIC_ACQUIRE), begun_us = monotonic_us();
        uint64_t calls = reported();
        __atomic_store_n(&shared->read_us, (uint32_t)(monotonic_us() - begun_us), __ATOMIC_RELAXED);
        CHECK(calls <= __atomic_load_n(&shared->begun, __ATOMIC_ACQUIRE));
        CHECK(calls + CALLS >= least); /* the newest may be neither in that ring nor in that file */
    }
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
    CHECK(waitpid(collector, &status, 0) == collector && status == 0);
    end();
    munmap(shared, sizeof *shared);
}

/* ---- what the process wrote itself ---- */

static void sum_two_blocks(struct sink **sink, struct sink_process **process, struct builder *builder)
{
    *sink = aggregate_sink_make(folder);
    *process = (*sink)->open(*sink, name);
    add_block(builder, TRACE_BLOCK_SLOTS);
    CHECK((*sink)->slots(*process, 0, last(builder)));
    for (int i = 0; i < 2; i++) {
        add_block(builder, TRACE_BLOCK_RECORDS);
        CHECK((*sink)->records(*process, last(builder)));
    }
}

static void write_more(struct builder *builder)
{
    for (size_t place = 0; place < 3; place++) {
        builder->size = TRACE_BLOCK_BYTES;
        builder->sequence = 10 + place;
        add_block(builder, TRACE_BLOCK_RECORDS);
        put_at(folder, more, place, last(builder), TRACE_BLOCK_BYTES, 0);
    }
}

static void test_what_went_aside_is_summed(void)
{
    char path[2 * PATH_MAX];
    struct builder builder = {0};
    struct sink *sink;
    struct sink_process *process;
    begin();
    snprintf(path, sizeof path, "%s/%s", folder, more);
    sum_two_blocks(&sink, &process, &builder);
    write_more(&builder);
    CHECK(sink->tick(sink, 1));
    CHECK(reported() == 5 * CALLS && access(path, F_OK) == 0);
    sink->close(process, true);
    sink->end(sink);
    CHECK(reported() == 5 * CALLS && access(path, F_OK) != 0);
    write_more(&builder); /* as one that was killed before it removed it leaves it */
    CHECK(reported() == 5 * CALLS);
    builder_free(&builder);
    end();
}

/* Of a process that lives on it stays: there may come more. */
static void test_what_may_grow_is_left(void)
{
    char path[2 * PATH_MAX];
    struct builder builder = {0};
    struct sink *sink;
    struct sink_process *process;
    begin();
    snprintf(path, sizeof path, "%s/%s", folder, more);
    sum_two_blocks(&sink, &process, &builder);
    write_more(&builder);
    sink->close(process, false);
    sink->end(sink);
    CHECK(reported() == 5 * CALLS && access(path, F_OK) == 0);
    builder_free(&builder);
    end();
}

/* ---- what a collector that was killed left ---- */

static void test_rings_that_are_left_are_told(void)
{
    struct session_error error;
    struct builder builder = {0};
    begin();
    for (size_t place = 0; place < 2; place++) {
        add_block(&builder, place ? TRACE_BLOCK_RECORDS : TRACE_BLOCK_SLOTS);
        put_at(ring, name, place, last(&builder), TRACE_BLOCK_BYTES, 0);
    }
    struct ring_control *control = ring_control_map(ring);
    CHECK(control);
    struct session *session = session_open(folder, &error);
    CHECK(session && session->in_memory.traces == 1 && session->in_memory.bytes == 2 * TRACE_BLOCK_BYTES);
    CHECK(session->in_memory.collector); /* it is about to begin */
    session_close(session);
    control->collector_pid = 1;
    CHECK(!ring_snapshot_has_collector(ring));
    control->heartbeat_ns = 1; /* long ago */
    char other[RING_FOLDER_BYTES];
    CHECK(ring_folder_make(other, RING_BYTES_LEAST, folder) && ring_folder_remove(other));
    CHECK(access(ring, F_OK) == 0); /* another recording takes away no records */
    session = session_open(folder, &error);
    CHECK(session && session->coverage.calls == CALLS && !session->in_memory.collector);
    session_close(session);
    ring_control_unmap(control);
    builder_free(&builder);
    end();
}

static void test_empty_folders_are_removed(void)
{
    char other[RING_FOLDER_BYTES];
    folder_make(folder);
    CHECK(ring_folder_make(ring, RING_BYTES_LEAST, folder));
    struct ring_control *control = ring_control_map(ring);
    CHECK(control);
    control->heartbeat_ns -= 30 * UINT64_C(1000000000); /* a slow start */
    CHECK(ring_folder_make(other, RING_BYTES_LEAST, folder) && ring_folder_remove(other));
    CHECK(access(ring, F_OK) == 0);
    control->heartbeat_ns = 1;
    control->collector_pid = 1; /* killed when all was taken */
    CHECK(ring_folder_make(other, RING_BYTES_LEAST, folder) && ring_folder_remove(other));
    CHECK(access(ring, F_OK) != 0);
    ring_control_unmap(control);
    folder_remove(folder);
}

/* ---- a ring in which the collector may not write ---- */

static void count_blocks(void *context, const unsigned char *block)
{
    (void)block;
    ++*(int *)context;
}

static void skip_slots(void *context, unsigned index, const unsigned char *block)
{
    (void)context, (void)index, (void)block;
}

static void test_no_block_is_taken_twice(void)
{
    struct builder builder = {0};
    struct ring opened;
    struct rlimit before, narrow;
    int taken = 0, at;
    const struct ring_taker taker = {count_blocks, skip_slots, &taken};
    begin();
    for (size_t place = 0; place < 3; place++) {
        add_block(&builder, place ? TRACE_BLOCK_RECORDS : TRACE_BLOCK_SLOTS);
        put_at(ring, name, place, last(&builder), TRACE_BLOCK_BYTES, 0);
    }
    at = open(ring, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(at >= 0 && ring_open(&opened, at, name));
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    narrow = before;
    narrow.rlim_cur = TRACE_BLOCK_BYTES; /* of the launcher; the host has raised its own */
    CHECK(setrlimit(RLIMIT_FSIZE, &narrow) == 0);
    CHECK(ring_drain(&opened, &taker, 1, true) == 2);
    CHECK(ring_drain(&opened, &taker, 2, true) == 0);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(ring_drain_rest(&opened, &taker) == 0 && taken == 2);
    ring_close(&opened);
    close(at);
    builder_free(&builder);
    end();
}

/* ---- what an earlier collector lost ---- */

static void test_losses_add_up(void)
{
    struct loss losses[LOSS_SLOTS];
    folder_make(folder);
    CHECK(losses_make(folder));
    static struct loss_book book;
    loss_book_open(&book, folder);
    loss_book_add_many(&book, "one.trace", 1, 10, ENOSPC);
    loss_book_write(&book);
    loss_book_open(&book, folder); /* `rooftap collect` */
    CHECK(book.records == 0 && book.first_errno == 0);
    loss_book_add_many(&book, "two.trace", 2, 20, EIO);
    loss_book_add_many(&book, "one.trace", 3, 30, EIO);
    loss_book_write(&book);
    CHECK(book.records == 50 && book.first_errno == EIO);
    CHECK(losses_read(folder, losses) == 2);
    CHECK(!strcmp(losses[0].name, "one.trace") && losses[0].blocks == 4 && losses[0].records == 40 &&
          losses[0].error == ENOSPC);
    CHECK(!strcmp(losses[1].name, "two.trace") && losses[1].blocks == 2 && losses[1].records == 20);
    folder_remove(folder);
}

int main(void)
{
    if (access("/dev/shm", W_OK) != 0)
        return 77;
    test_read_while_it_is_summed();
    test_what_went_aside_is_summed();
    test_what_may_grow_is_left();
    test_rings_that_are_left_are_told();
    test_empty_folders_are_removed();
    test_no_block_is_taken_twice();
    test_losses_add_up();
    return 0;
}
