/* SPDX-License-Identifier: Apache-2.0 */
/* A writer in a child of its own, a ring, a collector; each of the latter two stopped or killed. Witnesses in memory that
 * outlives the writer count what it committed and what it was refused; file, ring and second file together must say the same. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "collect/collector.h"
#include "collect/ring_folder.h"
#include "collect/trace_sink.h"
#include "producer.h"
#include "trace/ring_control.h"
#include "trace/ring_snapshot.h"
#include "trace_fixture.h"

enum { SMALL_RING = RING_BYTES_LEAST, INSTANTS = 30, WAIT_MS = 20000 };

struct witness {
    uint64_t committed, refused;
    uint32_t stop, done;
};
static struct witness *witness;
static bool paced; /* a writer that writes for seconds shall not fill a disk */

struct scene {
    char folder[PATH_MAX], ring[RING_FOLDER_BYTES], name[NAME_MAX + 1];
    struct collector collector;
    pid_t writer;
};

static void sleep_ms(unsigned ms)
{
    struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static uint64_t load(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

static void *tend(void *unused)
{
    (void)unused;
    for (;;) {
        trace_writer_tend();
        sleep_ms(1);
    }
    return NULL;
}

/* COUNT calls, then done; 0: until told to stop, or killed. PATIENT: one that is refused is asked again. */
static void write_calls(const struct scene *scene, uint64_t count, bool patient)
{
    pthread_t helper;
    trace_writer_use_ring(scene->ring);
    CHECK(trace_writer_open(scene->folder));
    CHECK(pthread_create(&helper, NULL, tend, NULL) == 0);
    struct trace_thread *thread = trace_thread_get();
    for (uint64_t i = 0; (!count || i < count) && !__atomic_load_n(&witness->stop, __ATOMIC_RELAXED); i++) {
        bool written;
        while (!(written = produce_call(thread, (int64_t)(i % 23) + 1, NULL)) && patient)
            sched_yield();
        __atomic_fetch_add(written ? &witness->committed : &witness->refused, 1, __ATOMIC_RELEASE);
        if (paced && i % 100 == 0)
            sleep_ms(1);
    }
    __atomic_store_n(&witness->done, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&witness->stop, __ATOMIC_RELAXED))
        sleep_ms(1);
    trace_writer_end();
    _exit(0);
}

static void scene_begin(struct scene *scene, uint64_t ring_bytes)
{
    memset(witness, 0, sizeof *witness);
    memset(scene, 0, sizeof *scene);
    folder_make(scene->folder);
    CHECK(ring_folder_make(scene->ring, ring_bytes, scene->folder));
    struct sink *sink = trace_sink_make(scene->folder, false);
    CHECK(collector_start(&scene->collector, scene->ring, scene->folder, sink));
    sink->end(sink);
}

static void scene_write(struct scene *scene, uint64_t count, bool patient)
{
    scene->writer = fork();
    CHECK(scene->writer >= 0);
    if (!scene->writer)
        write_calls(scene, count, patient);
}

static void wait_for(const uint64_t *value, uint64_t least)
{
    for (int i = 0; i < WAIT_MS && load(value) < least; i++)
        sleep_ms(1);
    CHECK(load(value) >= least);
}

static void wait_done(void)
{
    for (int i = 0; i < WAIT_MS && !__atomic_load_n(&witness->done, __ATOMIC_ACQUIRE); i++)
        sleep_ms(1);
    CHECK(witness->done);
}

static int writer_ends(struct scene *scene)
{
    int status;
    __atomic_store_n(&witness->stop, 1, __ATOMIC_RELEASE);
    CHECK(waitpid(scene->writer, &status, 0) == scene->writer);
    return status;
}

static void count_call(const struct trace_item *item, void *context)
{
    *(uint64_t *)context += item->record->type == TRACE_RECORD_CALL;
}

static void find_name(struct scene *scene)
{
    char paths[4][PATH_MAX];
    size_t found = folder_find(scene->folder, scene->writer, 4, paths);
    if (!found)
        found = folder_find(scene->ring, scene->writer, 4, paths);
    CHECK(found);
    const char *slash = strrchr(paths[0], '/') + 1, *end = strstr(slash, TRACE_MORE_SUFFIX);
    snprintf(scene->name, sizeof scene->name, "%.*s" TRACE_FILE_SUFFIX,
             (int)((end ? end : strstr(slash, TRACE_FILE_SUFFIX)) - slash), slash);
}

/* Calls in all parts, as a report reads them. */
static uint64_t read_parts(struct scene *scene, struct seen *seen)
{
    char path[2 * PATH_MAX], more[2 * PATH_MAX];
    struct ring_snapshot ring = {0};
    struct trace_error error;
    uint64_t calls = 0;
    find_name(scene);
    ring_snapshot_read(&ring, scene->ring, scene->name);
    snprintf(path, sizeof path, "%s/%s", scene->folder, scene->name);
    snprintf(more, sizeof more, "%s/%.*s" TRACE_MORE_SUFFIX, scene->folder,
             (int)(strlen(scene->name) - strlen(TRACE_FILE_SUFFIX)), scene->name);
    struct trace_reader *reader = trace_reader_open_parts(path, ring.blocks, ring.bytes, more, &error);
    CHECK(reader);
    CHECK(read_all(reader, seen, count_call, &calls));
    CHECK(seen->stats.blocks_damaged == 0 && seen->stats.records_damaged == 0);
    ring_snapshot_free(&ring);
    return calls;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void collect_rest(struct scene *scene)
{
    struct collector_result result;
    CHECK(collector_collect_once(scene->ring, scene->folder, trace_sink_make(scene->folder, true), &result));
    CHECK(result.rings_alive == 0 && result.lost_errno == 0);
    CHECK(!exists(scene->ring));
}

static void scene_end(struct scene *scene)
{
    CHECK(!exists(scene->ring));
    folder_remove(scene->folder);
}

static pid_t kill_collector(struct scene *scene)
{
    pid_t pid = scene->collector.pid;
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    return pid;
}

/* ---- what is shown ---- */

static void test_everything_is_collected(void)
{
    struct scene scene;
    struct seen seen;
    scene_begin(&scene, RING_BYTES_DEFAULT);
    scene_write(&scene, 400000, true); /* more than a ring of 16 MiB holds at a time */
    wait_done();
    CHECK(writer_ends(&scene) == 0);
    struct collector_result result = collector_finish(&scene.collector, WAIT_MS);
    CHECK(result.settled && result.rings_alive == 0 && result.records_lost == 0);
    CHECK(read_parts(&scene, &seen) == 400000 && seen.stats.ended);
    scene_end(&scene);
}

/* Nothing is taken out: the host goes on, and counts what has no room. */
static void test_collector_stopped(void)
{
    struct scene scene;
    struct seen seen;
    scene_begin(&scene, SMALL_RING);
    scene_write(&scene, 200, true);
    wait_done();
    CHECK(writer_ends(&scene) == 0);
    memset(witness, 0, sizeof *witness);
    CHECK(kill(scene.collector.pid, SIGSTOP) == 0);
    scene_write(&scene, 60000, false); /* 4 MiB, into a ring of one */
    wait_done();
    CHECK(witness->committed + witness->refused == 60000 && witness->refused > 0);
    uint64_t calls = read_parts(&scene, &seen);
    CHECK(calls == witness->committed); /* read while it lives and its collector does not move */
    CHECK(kill(scene.collector.pid, SIGCONT) == 0);
    CHECK(writer_ends(&scene) == 0);
    CHECK(collector_finish(&scene.collector, WAIT_MS).settled);
    calls = read_parts(&scene, &seen);
    CHECK(calls == witness->committed && seen.slot_drops == witness->refused);
    scene_end(&scene);
}

/* For longer than a heartbeat may be missing: the second file takes over, and the ring again when it is emptied. */
static void test_second_file(void)
{
    struct scene scene;
    struct seen seen;
    char more[2 * PATH_MAX];
    scene_begin(&scene, SMALL_RING);
    scene_write(&scene, 0, true);
    wait_for(&witness->committed, 1000);
    CHECK(kill(scene.collector.pid, SIGSTOP) == 0);
    find_name(&scene);
    snprintf(more, sizeof more, "%s/%.*s" TRACE_MORE_SUFFIX, scene.folder, (int)(strlen(scene.name) - 6), scene.name);
    for (int i = 0; i < WAIT_MS && !exists(more); i++)
        sleep_ms(1);
    CHECK(exists(more));
    uint64_t there = load(&witness->committed);
    wait_for(&witness->committed, there + 3000);
    CHECK(kill(scene.collector.pid, SIGCONT) == 0);
    sleep_ms(100);
    int status = writer_ends(&scene);
    CHECK(status == 0);
    CHECK(collector_finish(&scene.collector, WAIT_MS).settled);
    CHECK(read_parts(&scene, &seen) == witness->committed);
    scene_end(&scene);
}

/* At any instant; then the writer, too. What was committed is in the parts, and after `collect` in the folder alone. */
static void test_collector_killed(void)
{
    for (int i = 0; i < INSTANTS; i++) {
        struct scene scene;
        struct seen seen;
        uint16_t instant, later;
        CHECK(getrandom(&instant, sizeof instant, 0) == sizeof instant &&
              getrandom(&later, sizeof later, 0) == sizeof later);
        scene_begin(&scene, SMALL_RING);
        scene_write(&scene, 0, false);
        wait_for(&witness->committed, 1);
        usleep(instant % 20000);
        kill_collector(&scene);
        usleep(later % 5000);
        CHECK(kill(scene.writer, SIGKILL) == 0 && waitpid(scene.writer, NULL, 0) == scene.writer);
        uint64_t committed = witness->committed, calls = read_parts(&scene, &seen);
        CHECK(calls == committed || calls == committed + 1); /* one committed that it had no time to tell of */
        collect_rest(&scene);
        CHECK(read_parts(&scene, &seen) == calls);
        scene_end(&scene);
    }
}

static void test_writer_killed(void)
{
    for (int i = 0; i < INSTANTS; i++) {
        struct scene scene;
        struct seen seen;
        uint16_t instant;
        CHECK(getrandom(&instant, sizeof instant, 0) == sizeof instant);
        scene_begin(&scene, SMALL_RING);
        scene_write(&scene, 0, false);
        wait_for(&witness->committed, 1);
        usleep(instant % 20000);
        CHECK(kill(scene.writer, SIGKILL) == 0 && waitpid(scene.writer, NULL, 0) == scene.writer);
        CHECK(collector_finish(&scene.collector, WAIT_MS).settled);
        uint64_t calls = read_parts(&scene, &seen);
        CHECK(calls == witness->committed || calls == witness->committed + 1);
        scene_end(&scene);
    }
}

/* A reader beside a writer and a collector at work: never a call twice, never one less than were committed before. */
static void test_read_while_it_is_written(void)
{
    struct scene scene;
    struct seen seen;
    scene_begin(&scene, SMALL_RING);
    scene_write(&scene, 0, true);
    for (int i = 0; i < 40; i++) {
        wait_for(&witness->committed, 1 + (uint64_t)i * 500);
        uint64_t before = load(&witness->committed), calls = read_parts(&scene, &seen);
        uint64_t after = load(&witness->committed);
        CHECK(calls >= before && calls <= after + 1);
    }
    CHECK(writer_ends(&scene) == 0);
    CHECK(collector_finish(&scene.collector, WAIT_MS).settled);
    CHECK(read_parts(&scene, &seen) == witness->committed);
    scene_end(&scene);
}

/* The writer's process is told, and the trace begins as a file. */
static void test_no_ring_to_use(void)
{
    struct scene scene = {0};
    struct seen seen;
    memset(witness, 0, sizeof *witness);
    folder_make(scene.folder);
    CHECK(ring_folder_make(scene.ring, SMALL_RING, scene.folder));
    CHECK(chmod(scene.ring, 0755) == 0 && !ring_control_map(scene.ring) && errno == EPERM);
    scene_write(&scene, 100, true);
    wait_done();
    CHECK(writer_ends(&scene) == 0);
    char paths[4][PATH_MAX];
    CHECK(folder_find(scene.ring, 0, 4, paths) == 0);
    CHECK(read_parts(&scene, &seen) == 100);
    CHECK(chmod(scene.ring, 0700) == 0);
    struct ring_control *control = ring_control_map(scene.ring);
    CHECK(control && ring_control_is_fresh(control));
    control->heartbeat_ns -= (RING_STALE_MS + 1) * UINT64_C(1000000);
    CHECK(!ring_control_is_fresh(control));
    ring_control_unmap(control);
    CHECK(ring_folder_remove(scene.ring));
    scene_end(&scene);
}

static void test_strangers_folders(void)
{
    char ring[RING_FOLDER_BYTES], link[RING_FOLDER_BYTES + 8], page[RING_FOLDER_BYTES + 16], folder[PATH_MAX];
    folder_make(folder);
    CHECK(ring_folder_make(ring, SMALL_RING, folder));
    CHECK(ring_control_is_own_folder(ring));
    snprintf(link, sizeof link, "%s-link", ring);
    CHECK(symlink(ring, link) == 0 && !ring_control_map(link) && !ring_control_is_own_folder(link));
    CHECK(unlink(link) == 0);
    CHECK(!ring_control_is_own_folder(folder) && !ring_control_is_own_folder("/dev/shm/rooftap-/../../etc"));
    if (geteuid() == 0) {
        CHECK(chown(ring, 1, 1) == 0);
        CHECK(!ring_control_map(ring) && errno == EPERM && !ring_control_is_own_folder(ring));
        CHECK(chown(ring, 0, 0) == 0);
    }
    snprintf(page, sizeof page, "%s/" RING_CONTROL_FILE, ring);
    CHECK(chmod(page, 0666) == 0 && !ring_control_map(ring) && errno == EPERM);
    CHECK(chmod(page, 0600) == 0 && truncate(page, 100) == 0 && !ring_control_map(ring) && errno == EPROTO);
    CHECK(unlink(page) == 0 && symlink("/dev/zero", page) == 0 && !ring_control_map(ring) && errno == ELOOP);
    CHECK(unlink(page) == 0 && mkfifo(page, 0600) == 0 && !ring_control_map(ring));
    CHECK(ring_folder_remove(ring) && !exists(ring));
    folder_remove(folder);
}

static void test_one_collector_at_a_time(void)
{
    struct scene scene;
    struct collector_result result;
    scene_begin(&scene, SMALL_RING);
    scene_write(&scene, 100, true);
    wait_done();
    find_name(&scene);
    CHECK(!collector_collect_once(scene.ring, scene.folder, trace_sink_make(scene.folder, true), &result) &&
          errno == EWOULDBLOCK);
    CHECK(writer_ends(&scene) == 0);
    CHECK(collector_finish(&scene.collector, WAIT_MS).settled);
    scene_end(&scene);
}

int main(void)
{
    if (access("/dev/shm", W_OK) != 0)
        return 77;
    witness = mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(witness != MAP_FAILED);
    test_everything_is_collected();
    test_collector_stopped();
    test_collector_killed();
    test_writer_killed();
    paced = true;
    test_second_file();
    test_read_while_it_is_written();
    test_no_ring_to_use();
    test_strangers_folders();
    test_one_collector_at_a_time();
    return 0;
}
