/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child has nothing open, writes into no file of its parent's, and may open its own, whatever the parent's
 * threads were doing at that moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "check.h"
#include "producer.h"
#include "trace_fixture.h"

static const char *session;

static void wait_for(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* How many traces are mapped here. */
static int mapped_traces(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, TRACE_FILE_SUFFIX) != NULL;
    fclose(maps);
    return count;
}

static void child_writes_its_own(int depth)
{
    CHECK(!trace_writer_is_open() && !trace_thread_get() && !trace_writer_tend());
    trace_writer_end();
    CHECK(trace_writer_open(session) && trace_writer_is_open());
    CHECK(mapped_traces() == 1); /* the parent's is not kept */
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 100; i++)
        CHECK(produce_call(thread, depth, NULL));
    if (depth < 3) {
        pid_t child = fork();
        if (child == 0) {
            child_writes_its_own(depth + 1);
            _exit(0);
        }
        wait_for(child);
    }
    trace_writer_end();
}

static void write_and_fork(const char *folder)
{
    session = folder;
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 100; i++)
        CHECK(produce_call(thread, 0, NULL));
    pid_t quiet = fork(); /* a child that never opens: what it inherited refuses */
    if (quiet == 0) {
        CHECK(!trace_writer_is_open() && !trace_thread_get());
        CHECK(!produce_call(thread, 9, NULL));
        trace_note(thread, TRACE_NOTE_DEVICE, 1, "from a child");
        trace_writer_end();
        _exit(0);
    }
    wait_for(quiet);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* no fork handler runs */
    if (child == 0) {
        child_writes_its_own(1);
        _exit(0);
    }
    wait_for(child);
    CHECK(trace_writer_is_open() && trace_thread_get() == thread && produce_call(thread, 0, NULL));
    trace_writer_end();
}

static void check_owner(const struct trace_item *item, void *context)
{
    uint32_t *pid = context;
    if (*pid == 0)
        *pid = item->block->pid;
    assert_int_equal(item->block->pid, *pid);
}

static void each_its_own_file(void **state)
{
    char folder[PATH_MAX], paths[4][PATH_MAX];
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_and_fork, folder, NULL), 0);
    folder_traces(folder, 0, 4, paths);
    uint64_t calls = 0;
    for (int i = 0; i < 4; i++) {
        struct seen seen;
        uint32_t pid = 0;
        assert_true(read_path(paths[i], &seen, check_owner, &pid));
        calls += seen.of_type[TRACE_RECORD_CALL];
        assert_int_equal(seen.of_type[TRACE_RECORD_PROCESS], 1);
        assert_int_equal(seen.of_type[TRACE_RECORD_NOTE], 0);
        assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
        assert_true(seen.stats.ended);
    }
    assert_int_equal(calls, 401);
    folder_remove(folder);
}

/* ---- while other threads write, open and tend ---- */

static int stop;

static void *keep_writing(void *unused)
{
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++)
        produce_call(thread, i % 5, NULL);
    return unused;
}

static void *keep_tending(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        trace_writer_tend();
        CHECK(trace_writer_open(session));
        usleep(100);
    }
    return unused;
}

static void write_and_fork_often(const char *folder)
{
    pthread_t writers[2], tender;
    session = folder;
    CHECK(trace_writer_open(folder));
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&writers[i], NULL, keep_writing, NULL) == 0);
    CHECK(pthread_create(&tender, NULL, keep_tending, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            CHECK(!trace_writer_is_open());
            CHECK(trace_writer_open(folder));
            CHECK(produce_call(trace_thread_get(), 1, NULL));
            _exit(0);
        }
        wait_for(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    pthread_join(tender, NULL);
    trace_writer_end();
}

static void forks_of_a_busy_process(void **state)
{
    char folder[PATH_MAX], paths[51][PATH_MAX];
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_and_fork_often, folder, NULL), 0);
    folder_traces(folder, 0, 51, paths);
    int parents = 0;
    for (int i = 0; i < 51; i++) {
        struct seen seen;
        uint32_t pid = 0;
        assert_true(read_path(paths[i], &seen, check_owner, &pid));
        assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
        parents += seen.stats.ended;
        if (!seen.stats.ended)
            assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 1);
    }
    assert_int_equal(parents, 1);
    folder_remove(folder);
}

/* ---- from a signal handler that came in the middle of a record ---- */

static void fork_in_handler(int signal)
{
    (void)signal;
    pid_t child = fork();
    if (child == 0) {
        CHECK(!trace_writer_is_open() && trace_writer_open(session));
        CHECK(produce_call(trace_thread_get(), 1, NULL));
        return; /* into the record that the parent had begun */
    }
    wait_for(child);
}

static void write_and_fork_within(const char *folder)
{
    pid_t me = getpid();
    session = folder;
    CHECK(trace_writer_open(folder));
    signal(SIGUSR1, fork_in_handler);
    struct trace_thread *thread = trace_thread_get();
    struct trace_end *record = trace_reserve(thread, TRACE_RECORD_END, sizeof *record);
    CHECK(record);
    raise(SIGUSR1);
    record->ticks = 5;
    trace_commit(thread, record);
    if (getpid() != me) {
        CHECK(trace_writer_is_open() && produce_call(trace_thread_get(), 1, NULL));
        _exit(0);
    }
    CHECK(produce_call(trace_thread_get(), 1, NULL));
}

static void fork_inside_a_record(void **state)
{
    char folder[PATH_MAX], paths[2][PATH_MAX];
    uint64_t calls = 0, ends = 0;
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_and_fork_within, folder, NULL), 0);
    folder_traces(folder, 0, 2, paths);
    for (int i = 0; i < 2; i++) {
        struct seen seen;
        uint32_t pid = 0;
        assert_true(read_path(paths[i], &seen, check_owner, &pid));
        assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
        calls += seen.of_type[TRACE_RECORD_CALL];
        ends += seen.of_type[TRACE_RECORD_END];
    }
    assert_int_equal(calls, 3);
    assert_int_equal(ends, 1);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_its_own_file),
        cmocka_unit_test(forks_of_a_busy_process),
        cmocka_unit_test(fork_inside_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
