/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that cannot grow: a full file system, a limit on file sizes, a folder that vanished. The host goes on with no
 * signal, the trace says why once, and what is lost is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "producer.h"
#include "trace_fixture.h"

enum { CALLS = 300000 };

static void write_until_full(void)
{
    struct trace_thread *thread = trace_thread_get();
    uint64_t written = 0;
    CHECK(thread);
    for (int i = 0; i < CALLS; i++) {
        errno = 55;
        written += produce_call(thread, i % 3, NULL);
        CHECK(errno == 55);
        if (i % 500 == 0)
            trace_writer_tend();
        CHECK(errno == 55);
    }
    CHECK(written < CALLS && trace_thread_slot(thread)->records_dropped == CALLS - written);
    trace_writer_counters()->names_cut = written;
    for (int i = 0; i < 5; i++)
        trace_writer_tend();
}

struct note {
    int errno_value, count;
};

static void find_note(const struct trace_item *item, void *context)
{
    struct note *note = context;
    const struct trace_note *record = (const void *)item->record;
    if (item->record->type == TRACE_RECORD_NOTE && record->code == TRACE_NOTE_WRITER) {
        note->errno_value = record->value;
        note->count++;
    }
}

static void check_trace(const char *path, int expected_errno)
{
    struct seen seen;
    struct note note = {0, 0};
    assert_true(read_path(path, &seen, find_note, &note));
    assert_int_equal(note.count, 1);
    assert_int_equal(note.errno_value, expected_errno);
    assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], seen.counters.names_cut);
    assert_int_equal(seen.slot_drops, CALLS - seen.of_type[TRACE_RECORD_CALL]);
}

/* ---- a limit on file sizes: SIGXFSZ must not come ---- */

static void write_limited(const char *folder)
{
    struct rlimit limit = {6 << 20, 6 << 20};
    CHECK(trace_writer_open(folder));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    write_until_full();
}

static void file_size_limit(void **state)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_limited, folder, NULL), 0);
    folder_traces(folder, 0, 1, path);
    check_trace(path[0], EFBIG);
    folder_remove(folder);
}

static void open_limited(const char *folder)
{
    struct rlimit limit = {100 << 10, 100 << 10};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(!trace_writer_open(folder) && errno == EFBIG);
    CHECK(!trace_writer_is_open() && !trace_thread_get());
}

static void file_size_limit_from_the_start(void **state)
{
    char folder[PATH_MAX];
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(open_limited, folder, NULL), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing was left there */
}

/* ---- a limit on the address space: most of it is left to the host ---- */

static void write_in_little_space(const char *folder)
{
    struct rlimit limit = {1 << 30, 1 << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        _exit(1);
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 500000; i++) { /* 32 MB: several mappings */
        CHECK(produce_call(thread, i % 3, NULL));
        if (i % 500 == 0)
            trace_writer_tend();
    }
    void *host = malloc(700 << 20);
    CHECK(host);
    free(host);
}

static void address_space_limit(void **state)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    struct seen seen;
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizer's own shadow is beyond any such limit */
#endif
    folder_make(folder);
    assert_int_equal(in_child(write_in_little_space, folder, NULL), 0);
    folder_traces(folder, 0, 1, path);
    assert_true(read_path(path[0], &seen, NULL, NULL));
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 500000);
    folder_remove(folder);
}

/* ---- the file is gone ---- */

static void write_removed(const char *folder)
{
    char path[1][PATH_MAX];
    CHECK(trace_writer_open(folder));
    folder_traces(folder, getpid(), 1, path);
    CHECK(unlink(path[0]) == 0);
    FILE *other = fopen(path[0], "w"); /* another file of that name is not ours to grow */
    CHECK(other && fputs("mine", other) >= 0 && fclose(other) == 0);
    write_until_full();
    struct stat found;
    CHECK(stat(path[0], &found) == 0 && found.st_size == 4);
}

static void file_replaced(void **state)
{
    char folder[PATH_MAX];
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_removed, folder, NULL), 0);
    folder_remove(folder);
}

/* ---- a full file system ---- */

static bool mount_small(const char *folder)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("small", folder, "tmpfs", 0, "size=4m,mode=0700") == 0;
}

/* In one child, since the mount is seen only there. */
static void fill_and_check(const char *folder)
{
    char path[1][PATH_MAX];
    if (!mount_small(folder))
        _exit(77);
    pid_t writer = fork();
    if (writer == 0) {
        CHECK(trace_writer_open(folder));
        write_until_full();
        _exit(0);
    }
    int status;
    CHECK(waitpid(writer, &status, 0) == writer && status == 0);
    folder_traces(folder, 0, 1, path);
    check_trace(path[0], ENOSPC); /* an assertion that fails here ends the child with a status */
}

static void full_file_system(void **state)
{
    char folder[PATH_MAX];
    (void)state;
    folder_make(folder);
    int status = in_child(fill_and_check, folder, NULL);
    rmdir(folder);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* no right to mount */
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_size_limit),     cmocka_unit_test(file_size_limit_from_the_start),
        cmocka_unit_test(address_space_limit), cmocka_unit_test(file_replaced),
        cmocka_unit_test(full_file_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
