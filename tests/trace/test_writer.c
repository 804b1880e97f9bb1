/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer leaves in its file, as the reader sees it; one child a test, since a process opens one trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "check.h"
#include "producer.h"
#include "trace/writer_state.h"
#include "trace_fixture.h"

static void run(void (*body)(const char *), void (*each)(const struct trace_item *, void *), void *context,
                struct seen *seen)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    folder_make(folder);
    int status = in_child(body, folder, NULL);
    assert_int_equal(status, 0);
    folder_traces(folder, 0, 1, path);
    assert_true(read_path(path[0], seen, each, context));
    assert_int_equal(seen->stats.records_damaged + seen->stats.blocks_damaged + seen->stats.records_unknown, 0);
    folder_remove(folder);
}

/* ---- each record comes back as it was written ---- */

static char long_name[40001];

static void write_one_of_each(const char *folder)
{
    CHECK(trace_writer_open(folder) && trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    CHECK(thread);
    trace_entry_write(thread, 3, "cublasGemmEx");
    trace_note(thread, TRACE_NOTE_TIMING_OFF, -7, "no %s", "CUPTI");
    trace_anchor(thread, 42);
    CHECK(trace_name_intern(thread, "kernel") == trace_hash("kernel", 6));
    CHECK(trace_name_intern(thread, "kernel") == trace_hash("kernel", 6));
    memset(long_name, 'n', sizeof long_name - 1);
    CHECK(trace_name_intern(thread, long_name) == trace_hash(long_name, 40000));
    struct trace_device *device = trace_reserve(thread, TRACE_RECORD_DEVICE, sizeof *device);
    CHECK(device);
    memset(&device->ordinal, 0, sizeof *device - sizeof device->record);
    strcpy(device->name, "GPU");
    trace_commit(thread, device);
    CHECK(produce_call(thread, 5, NULL) && produce_call(thread, 6, NULL) && produce_call(thread, 5, NULL));
    struct trace_launch_shape shape = {.name_id = 9, .grid = {1, 2, 3}};
    uint64_t id;
    uint32_t offset;
    struct trace_launch *launch = trace_reserve_with(thread, TRACE_RECORD_LAUNCH_SHAPE, &shape, sizeof shape,
                                                     TRACE_RECORD_LAUNCH, sizeof *launch, &id, &offset);
    CHECK(launch && id == trace_content_id(&shape, sizeof shape));
    launch->shape_offset = offset;
    trace_commit(thread, launch);
    trace_writer_counters()->kernels_invalid += 4;
    trace_thread_slot(thread)->calls_begun += 3;
    trace_writer_end();
}

static void check_each(const struct trace_item *item, void *context)
{
    unsigned *order = context;
    if ((*order)++ == 0)
        assert_int_equal(item->record->type, TRACE_RECORD_PROCESS);
    switch (item->record->type) {
    case TRACE_RECORD_PROCESS: {
        const struct trace_process *process = (const void *)item->record;
        assert_int_equal(process->pid, item->block->pid);
        assert_int_equal(process->parent_pid, getpid());
        assert_non_null(memmem(item->text, process->command_bytes, "test_writer", 11));
        assert_memory_equal(item->text + process->command_bytes, ROOFTAP_VERSION, process->version_bytes);
        break;
    }
    case TRACE_RECORD_ENTRY:
        assert_int_equal(item->text_bytes, 12);
        assert_memory_equal(item->text, "cublasGemmEx", 12);
        break;
    case TRACE_RECORD_NOTE:
        assert_memory_equal(item->text, "no CUPTI", 8);
        break;
    case TRACE_RECORD_NAME:
        if (item->text_bytes != 6) {
            const struct trace_name *name = (const void *)item->record;
            assert_int_equal(name->name_bytes, 16384);
            assert_int_equal(name->full_bytes, 40000);
        }
        break;
    case TRACE_RECORD_CALL: {
        const struct trace_call *call = (const void *)item->record;
        assert_int_equal(item->signature->m, call->duration_ticks);
        assert_true(item->signature->id == call->operand[0]);
        break;
    }
    case TRACE_RECORD_LAUNCH:
        assert_int_equal(item->shape->grid[2], 3);
        break;
    default:
        break;
    }
}

static void round_trip(void **state)
{
    static const uint64_t expected[TRACE_RECORD_END + 1] = {
        [TRACE_RECORD_PROCESS] = 1,   [TRACE_RECORD_ENTRY] = 1, [TRACE_RECORD_ANCHOR] = 3,
        [TRACE_RECORD_DEVICE] = 1,    [TRACE_RECORD_NOTE] = 1,  [TRACE_RECORD_NAME] = 2,
        [TRACE_RECORD_SIGNATURE] = 2, [TRACE_RECORD_CALL] = 3,  [TRACE_RECORD_LAUNCH_SHAPE] = 1,
        [TRACE_RECORD_LAUNCH] = 1,    [TRACE_RECORD_END] = 1};
    struct seen seen;
    unsigned order = 0;
    (void)state;
    run(write_one_of_each, check_each, &order, &seen);
    for (size_t i = 0; i <= TRACE_RECORD_END; i++)
        assert_int_equal(seen.of_type[i], expected[i]);
    assert_true(seen.stats.ended && !seen.stats.cut_short);
    assert_int_equal(seen.counters.kernels_invalid, 4);
    assert_int_equal(seen.counters.names_cut, 1);
    assert_int_equal(seen.slots, 1);
    assert_int_equal(seen.slot_calls, 3);
}

/* ---- many blocks ---- */

enum { MANY = 40000, KINDS = 700 };

static void write_many(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < MANY; i++) {
        CHECK(produce_call(thread, i % KINDS, NULL));
        if (i % 1000 == 0)
            trace_writer_tend();
    }
    trace_writer_tend();
    trace_writer_end();
}

static void count_ids(const struct trace_item *item, void *context)
{
    unsigned char *seen = context;
    if (item->record->type == TRACE_RECORD_CALL) {
        const struct trace_call *call = (const void *)item->record;
        assert_int_equal(item->signature->m, call->duration_ticks);
        seen[call->call_id & 0xffff]++;
    }
}

static void contents_are_repeated_in_each_block(void **state)
{
    static unsigned char ids[65536];
    struct seen seen;
    (void)state;
    run(write_many, count_ids, ids, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(ids[i], 1);
    assert_true(seen.stats.blocks_sealed > 30);
    assert_int_equal(seen.slot_drops, 0);
}

static void write_few_kinds(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 900; i++)
        CHECK(produce_call(thread, i % 7, NULL));
    trace_writer_end();
}

static void a_content_is_written_once_a_block(void **state)
{
    struct seen seen;
    (void)state;
    run(write_few_kinds, NULL, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 900);
    assert_int_equal(seen.of_type[TRACE_RECORD_SIGNATURE], 7);
}

/* A record that was begun and given up leaves nothing, and is no drop; one that asked for more room than it took keeps the
 * rest for what follows: list, signature and call are in one block, however full it was. */
static void write_groups(const char *folder)
{
    enum { COUNT = 100, SIZE = sizeof(struct trace_groups) + COUNT * sizeof(struct trace_group) };
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 200; i++) {
        struct trace_groups *groups = trace_reserve(thread, TRACE_RECORD_GROUPS,
                                                    SIZE + sizeof(struct trace_signature) + sizeof(struct trace_call));
        CHECK(groups);
        memset(groups->group, i, COUNT * sizeof groups->group[0]);
        if (i % 4 == 3) {
            trace_abandon(thread);
            continue;
        }
        groups->count = COUNT;
        groups->id = trace_hash(groups->group, COUNT * (uint32_t)sizeof groups->group[0]);
        struct trace_signature signature = {.entry = 1, .m = i, .groups_id = groups->id};
        trace_shrink(groups, SIZE);
        trace_commit(thread, groups);
        uint64_t id;
        uint32_t offset;
        struct trace_call *call = trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                                     TRACE_RECORD_CALL, sizeof *call, &id, &offset);
        CHECK(call);
        call->signature_offset = offset;
        trace_commit(thread, call);
        if (i % 8 == 0)
            trace_writer_tend(); /* a block holds nine of them */
    }
    trace_writer_end();
}

struct last_groups {
    uint64_t id, block;
};

static void check_groups(const struct trace_item *item, void *context)
{
    struct last_groups *last = context;
    if (item->record->type == TRACE_RECORD_GROUPS)
        *last = (struct last_groups){((const struct trace_groups *)item->record)->id, item->block->sequence};
    if (item->record->type == TRACE_RECORD_CALL)
        assert_true(item->signature->groups_id == last->id && item->block->sequence == last->block);
}

static void lists_stand_before_their_calls(void **state)
{
    struct last_groups last = {0, 0};
    struct seen seen;
    (void)state;
    run(write_groups, check_groups, &last, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_GROUPS], 150);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 150);
    assert_int_equal(seen.slot_drops, 0);
    assert_true(seen.stats.blocks > 15);
}

/* Signatures that differ only where the cache's key does not look are still told apart. */
static void write_look_alikes(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 300; i++) {
        struct trace_signature signature = {.entry = 1, .m = 1, .aux_ld = i % 3};
        uint64_t id;
        uint32_t offset;
        struct trace_call *call = trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                                     TRACE_RECORD_CALL, sizeof *call, &id, &offset);
        CHECK(call && id == trace_content_id(&signature, sizeof signature));
        call->signature_offset = offset;
        call->call_id = (uint64_t)i % 3;
        trace_commit(thread, call);
    }
    trace_writer_end();
}

static void check_look_alike(const struct trace_item *item, void *context)
{
    (void)context;
    if (item->record->type == TRACE_RECORD_CALL)
        assert_int_equal(item->signature->aux_ld, ((const struct trace_call *)(const void *)item->record)->call_id);
}

static void look_alikes_are_told_apart(void **state)
{
    struct seen seen;
    (void)state;
    run(write_look_alikes, check_look_alike, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 300);
}

/* Two of them find room side by side: neither is written again. */
static void write_two_look_alikes(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 300; i++) {
        struct trace_signature signature = {.entry = 1, .m = 1, .aux_ld = i % 2};
        uint64_t id;
        uint32_t offset;
        struct trace_call *call = trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                                     TRACE_RECORD_CALL, sizeof *call, &id, &offset);
        CHECK(call);
        call->signature_offset = offset;
        call->call_id = (uint64_t)i % 2;
        trace_commit(thread, call);
    }
    trace_writer_end();
}

static void two_look_alikes_share_a_set(void **state)
{
    struct seen seen;
    (void)state;
    run(write_two_look_alikes, check_look_alike, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 300);
    assert_int_equal(seen.of_type[TRACE_RECORD_SIGNATURE], 2);
}

/* ---- drops, odd sizes ---- */

static void write_without_helper(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    uint64_t dropped = 0;
    CHECK(!trace_reserve(thread, TRACE_RECORD_NAME, TRACE_BLOCK_BYTES));
    CHECK(!trace_reserve(thread, TRACE_RECORD_NAME, (size_t)1 << 40));
    for (int i = 0; i < 50000; i++) {
        errno = 77;
        dropped += !produce_call(thread, i % 3, NULL);
        CHECK(errno == 77);
    }
    CHECK(dropped > 1000 && trace_thread_slot(thread)->records_dropped == dropped + 2);
    CHECK(trace_writer_tend());
    CHECK(produce_call(thread, 1, NULL)); /* goes on when the helper is back */
    trace_writer_counters()->calls_without_slot = 50001 - dropped;
}

static void drops_are_counted(void **state)
{
    struct seen seen;
    (void)state;
    run(write_without_helper, NULL, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], seen.counters.calls_without_slot);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL] + seen.slot_drops, 50003);
    assert_true(seen.stats.cut_short);
}

/* ---- an orderly exit after a burst has its END ---- */

static void write_burst_and_end(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    while (!trace_thread_slot(thread)->records_dropped)
        produce_call(thread, 1, NULL);
    while (trace_thread_slot(thread)->records_dropped < 100) /* the block that is left has no room for an END either */
        trace_note(thread, TRACE_NOTE_WRITER, 0, "burst");
    trace_writer_end();
}

static void end_after_a_burst(void **state)
{
    (void)state;
    struct seen seen;
    run(write_burst_and_end, NULL, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_END], 1);
    assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
}

/* ---- threads that come by the hundred and take a block each ---- */

enum { BURST_THREADS = 200 };

static void *call_once(void *argument)
{
    struct trace_thread *thread = trace_thread_get();
    *(int *)argument += produce_call(thread, 1, NULL);
    return NULL;
}

static int write_from_many(void)
{
    int written = 0;
    for (int i = 0; i < BURST_THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, call_once, &written) == 0 && pthread_join(thread, NULL) == 0);
    }
    return written;
}

static void write_two_bursts(const char *folder)
{
    CHECK(trace_writer_open(folder));
    CHECK(write_from_many() < BURST_THREADS);
    trace_writer_tend();
    CHECK(write_from_many() == BURST_THREADS);
    trace_writer_end();
}

static void a_second_burst_is_met(void **state)
{
    (void)state;
    struct seen seen;
    run(write_two_bursts, NULL, NULL, &seen);
    assert_true(seen.of_type[TRACE_RECORD_CALL] > BURST_THREADS && seen.slot_drops > 0);
}

static void write_odd_sizes(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    char name[400];
    for (size_t length = 0; length < sizeof name - 1; length++) {
        memset(name, 'a', length);
        name[length] = 0;
        trace_name_intern(thread, name);
        trace_entry_write(thread, 1, name);
    }
    unsigned char *largest = trace_reserve(thread, 4000, TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES);
    CHECK(largest);
    memset(largest + 8, 1, TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES - 8);
    trace_commit(thread, largest);
    trace_writer_end();
}

static void odd_sizes(void **state)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    struct seen seen;
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_odd_sizes, folder, NULL), 0);
    folder_traces(folder, 0, 1, path);
    assert_true(read_path(path[0], &seen, NULL, NULL));
    assert_int_equal(seen.of_type[TRACE_RECORD_NAME], 399);
    assert_int_equal(seen.of_type[TRACE_RECORD_ENTRY], 399);
    assert_int_equal(seen.stats.records_unknown, 1);
    assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
    folder_remove(folder);
}

/* ---- a host's own affairs ---- */

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void write_quietly(const char *folder)
{
    umask(0777);
    int before = descriptors();
    CHECK(before > 0);
    sigset_t blocked, now;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    CHECK(chdir(folder) == 0);
    errno = 99;
    CHECK(trace_writer_open("."));
    CHECK(chdir("/") == 0);
    CHECK(descriptors() == before);
    struct trace_thread *thread = trace_thread_get();
    for (int i = 0; i < 20000; i++) {
        produce_call(thread, i, NULL);
        if (i % 500 == 0)
            trace_writer_tend();
    }
    CHECK(descriptors() == before);
    trace_writer_end();
    CHECK(errno == 99);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGXFSZ) == 0);
    umask(022);
}

static void host_sees_nothing(void **state)
{
    char folder[PATH_MAX], path[1][PATH_MAX];
    struct stat found;
    struct seen seen;
    (void)state;
    folder_make(folder);
    assert_int_equal(in_child(write_quietly, folder, NULL), 0);
    folder_traces(folder, 0, 1, path);
    assert_int_equal(stat(path[0], &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    assert_true(read_path(path[0], &seen, NULL, NULL));
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 20000);
    folder_remove(folder);
}

static void write_nowhere(const char *folder)
{
    char missing[PATH_MAX + 8];
    snprintf(missing, sizeof missing, "%s/none", folder);
    CHECK(!trace_writer_open(missing) && errno == ENOENT);
    CHECK(!trace_writer_is_open() && !trace_thread_get() && !trace_writer_tend());
    trace_writer_counters()->names_cut++;
    trace_writer_end();
    CHECK(trace_writer_open(folder)); /* a second try may do better */
    CHECK(trace_thread_get());
}

static void unusable_folder(void **state)
{
    struct seen seen;
    (void)state;
    run(write_nowhere, NULL, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_PROCESS], 1);
    assert_int_equal(seen.counters.names_cut, 0);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled, refused, in_a_record;

static void handler(int signal)
{
    (void)signal;
    handled++;
    if (in_a_record)
        CHECK(!trace_thread_get());
    if (!produce_call(trace_thread_get(), 1000, NULL))
        refused++;
}

static void write_interrupted(const char *folder)
{
    CHECK(trace_writer_open(folder));
    struct trace_thread *thread = trace_thread_get();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    /* In the very middle of a record. */
    struct trace_call *call = trace_reserve(thread, TRACE_RECORD_NOTE, sizeof(struct trace_note));
    CHECK(call);
    memset(&call->record + 1, 0, sizeof(struct trace_note) - sizeof call->record);
    in_a_record = 1;
    raise(SIGALRM);
    in_a_record = 0;
    CHECK(handled == 1 && refused == 1);
    CHECK(trace_thread_slot(thread)->records_dropped == 2); /* it asked twice */
    trace_commit(thread, call);
    struct itimerval timer = {{0, 50}, {0, 50}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    uint64_t calls = 0;
    for (int i = 0; i < 400000 || (handled < 50 && i < 40000000); i++) {
        calls += produce_call(thread, i % 5, NULL);
        if (i % 500 == 0)
            trace_writer_tend();
    }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    trace_writer_counters()->names_cut = calls + (uint64_t)(handled - refused);
    trace_writer_end();
}

static void check_kind(const struct trace_item *item, void *context)
{
    (void)context;
    if (item->record->type == TRACE_RECORD_CALL)
        assert_int_equal(item->signature->m, ((const struct trace_call *)(const void *)item->record)->duration_ticks);
}

static void handlers_keep_out(void **state)
{
    struct seen seen;
    (void)state;
    run(write_interrupted, check_kind, NULL, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], seen.counters.names_cut);
    assert_int_equal(seen.of_type[TRACE_RECORD_NOTE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(contents_are_repeated_in_each_block),
        cmocka_unit_test(a_content_is_written_once_a_block),
        cmocka_unit_test(lists_stand_before_their_calls),
        cmocka_unit_test(look_alikes_are_told_apart),
        cmocka_unit_test(two_look_alikes_share_a_set),
        cmocka_unit_test(drops_are_counted),
        cmocka_unit_test(end_after_a_burst),
        cmocka_unit_test(a_second_burst_is_met),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(host_sees_nothing),
        cmocka_unit_test(unusable_folder),
        cmocka_unit_test(handlers_keep_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
