/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, tending and ending a trace: all that may enter the kernel. Nothing here runs on a host's call path. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/proc_file.h"
#include "trace/trace_writer.h"
#include "trace/writer_state.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
    TENDS_PER_SWEEP = 256,     /* between looks for threads that ended unseen */
    THREADS_LEAST = 128,       /* prepared ahead */
    END_TRIES = 8,             /* of a millisecond each, for the helper to let go */
    RATE_AFTER_NS = 1000000000 /* of both clocks, until the counter's rate is good to a millionth */
};

/* Of this address space's last open, the parent's included: only to unmap what a child inherited. */
static struct writer *last_writer;

/* ---- the gate ---- */

static void close_in_child(void)
{
    if (writer_gate != &writer_gate_closed)
        memset(writer_gate, 0, sizeof *writer_gate);
}

/* A page that is zero in every child, fork() or bare clone(). Before Linux 4.14 a fork handler has to do. */
static struct writer_gate *make_gate(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct writer_gate *expected = &writer_gate_closed;
    struct writer_gate *made = __atomic_load_n(&writer_gate, __ATOMIC_ACQUIRE);
    if (made != expected)
        return made; /* by us or by a parent: the wiping is inherited too */
    made = map_zeros(page);
    if (!made)
        return NULL;
    if ((madvise(made, page, MADV_WIPEONFORK) != 0 && pthread_atfork(NULL, NULL, close_in_child) != 0) ||
        !__atomic_compare_exchange_n(&writer_gate, &expected, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        munmap(made, page);
        return expected == &writer_gate_closed ? NULL : expected;
    }
    return made;
}

/* False: this very thread is opening already, from below a signal handler. */
static bool gate_lock(struct writer_gate *gate)
{
    uint32_t me = (uint32_t)syscall(SYS_gettid), holder = 0;
    while (!__atomic_compare_exchange_n(&gate->opening, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (holder == me)
            return false;
        struct timespec pause = {0, 100000};
        nanosleep(&pause, NULL);
        holder = 0;
    }
    return true;
}

static void gate_unlock(struct writer_gate *gate)
{
    __atomic_store_n(&gate->opening, 0, __ATOMIC_RELEASE);
}

/* ---- facts about the process ---- */

/* Field 22 of /proc/self/stat, in clock ticks since boot: with the pid it names the process. 0: not known. */
static uint64_t process_start(void)
{
    char text[1024];
    size_t length = proc_file_read("/proc/self/stat", text, sizeof text - 1);
    text[length] = 0;
    const char *field = proc_file_stat_field(text, 22);
    return field ? strtoull(field, NULL, 10) : 0;
}

static uint64_t random_word(const void *salt)
{
    uint64_t word;
    if (getrandom(&word, sizeof word, GRND_NONBLOCK) == (ssize_t)sizeof word)
        return word;
    uint64_t parts[4] = {clock_realtime_ns(), clock_monotonic_ns(), (uint64_t)(uintptr_t)salt, (uint64_t)getpid()};
    return trace_hash(parts, sizeof parts);
}

static bool redact_arguments;

void trace_writer_redact_arguments(bool redact)
{
    __atomic_store_n(&redact_arguments, redact, __ATOMIC_RELAXED);
}

/* The program's name and, if there is more, a word in its place: up to a blank, since processes that rename themselves put
 * all into one argument. COMMAND has BYTES of arguments, each with a zero byte behind it, and SIZE at most; how many are left. */
static size_t redact(char *command, size_t bytes, size_t size)
{
    static const char word[] = "[redacted]";
    size_t name = 0;
    while (name < bytes && command[name] && command[name] != ' ')
        name++;
    if (name + 1 >= bytes)
        return bytes;
    command[name++] = '\0';
    if (name + sizeof word > size)
        return name;
    memcpy(command + name, word, sizeof word);
    return name + sizeof word;
}

static bool write_process(struct writer *writer, struct trace_thread *thread)
{
    static const char version[] = ROOFTAP_VERSION;
    size_t command = proc_file_read("/proc/self/cmdline", writer->command, sizeof writer->command);
    if (__atomic_load_n(&redact_arguments, __ATOMIC_RELAXED))
        command = redact(writer->command, command, sizeof writer->command);
    size_t size = sizeof(struct trace_process) + command + sizeof version - 1;
    struct trace_process *record = writer_reserve(thread, TRACE_RECORD_PROCESS, size);
    if (!record)
        return false;
    record->pid = writer->pid;
    record->parent_pid = (uint32_t)getppid();
    record->start_realtime_ns = clock_realtime_ns();
    record->start_ticks = clock_ticks();
    record->uid = (uint32_t)getuid();
    record->command_bytes = (uint16_t)command;
    record->version_bytes = sizeof version - 1;
    memcpy(record->text, writer->command, command);
    memcpy(record->text + command, version, sizeof version - 1);
    writer_commit(thread, record);
    return true;
}

/* ---- tending ---- */

static void go_on_in(struct trace_thread *thread, unsigned char *block)
{
    thread->busy = 1; /* against a signal handler's calls */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    block_retire(thread);
    block_start(thread, block);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

/* Growth failed: it stays off. The spare block makes sure that this can be said. */
static void note_growth_failure(struct writer *writer)
{
    if (writer->growth_noted || !writer->growth_errno)
        return;
    struct trace_thread *thread = trace_thread_get();
    if (!thread)
        return;
    if (writer->spare && thread->position + 1024 > TRACE_BLOCK_BYTES) {
        go_on_in(thread, writer->spare);
        writer->spare = NULL;
    }
    char why[128];
    trace_note(thread, TRACE_NOTE_WRITER, writer->growth_errno,
               "the trace cannot grow: %s; what follows is counted, not kept",
               strerror_r(writer->growth_errno, why, sizeof why));
    writer->growth_noted = true;
}

/* Where there is no room the drops tell the same. */
static void note_ring(struct writer *writer)
{
    struct trace_thread *thread = writer->ring_news ? trace_thread_get() : NULL;
    if (!thread || (thread->position + 1024 > TRACE_BLOCK_BYTES && !block_queue_count(&writer->ready)))
        return;
    char why[128];
    if (writer->ring_news & RING_NEWS_FULL)
        trace_note(thread, TRACE_NOTE_RING, writer->ring_errno,
                   "the ring in shared memory can't grow beyond %llu KiB: %s; what finds it full is counted, not kept",
                   (unsigned long long)(writer->file.bytes / 1024), strerror_r(writer->ring_errno, why, sizeof why));
    if (writer->ring_news & RING_NEWS_ALONE)
        trace_note(
            thread, TRACE_NOTE_RING, 0,
            "the collector did not answer for %d ms: what the ring has no room for is in the file *" TRACE_MORE_SUFFIX,
            RING_STALE_MS);
    writer->ring_news = 0;
}

static void measure_rate(struct writer *writer)
{
    uint64_t ns = clock_monotonic_ns() - writer->open_monotonic_ns;
    if (writer->ticks_per_second || ns < RATE_AFTER_NS)
        return;
    double ticks = (double)(clock_ticks() - writer->open_ticks);
    __atomic_store_n(&writer->ticks_per_second, (uint64_t)(ticks * 1e9 / (double)ns + 0.5), __ATOMIC_RELAXED);
}

static bool tending_begin(struct writer *writer)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&writer->tending, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void tending_end(struct writer *writer)
{
    __atomic_store_n(&writer->tending, 0, __ATOMIC_RELEASE);
}

static bool tend(struct writer *writer)
{
    block_supply_seal(writer);
    block_supply_watch(writer);
    uint64_t ready_before = writer->ready_target, taken = block_supply_follow_demand(writer);
    bool short_of_threads = __atomic_load_n(&writer->free_count, __ATOMIC_RELAXED) < THREADS_LEAST &&
                            writer->slot_blocks < TRACE_SLOT_BLOCKS_MOST;
    if (!writer->growth_errno &&
        (!block_supply_fill(writer) || (short_of_threads && !block_supply_add_threads(writer))))
        writer->growth_errno = errno ? errno : EIO;
    note_growth_failure(writer);
    note_ring(writer);
    name_table_tend(&writer->names);
    measure_rate(writer);
    if (++writer->tends % TENDS_PER_SWEEP == 0)
        thread_pool_collect_dead(writer);
    return taken * 4 >= ready_before;
}

bool trace_writer_tend(void)
{
    int saved = errno;
    struct writer *writer = writer_now();
    bool more = false;
    if (writer && tending_begin(writer)) {
        more = tend(writer);
        tending_end(writer);
    }
    errno = saved;
    return more;
}

/* ---- opening ---- */

/* What a child inherited is of no use to it. If a thread was writing when the fork came, it may be the one that lives on
 * here, about to return into that code: then the mapping has to stay. */
static void drop_inherited(void)
{
    struct writer *old = last_writer;
    last_writer = NULL;
    writer_tls.thread = NULL;
    if (!old || thread_pool_any_busy(old))
        return;
    for (uint32_t i = 0; i < old->slot_blocks; i++)
        munmap(old->threads[i], SLOTS_PER_BLOCK * sizeof *old->threads[i]);
    name_table_free(&old->names);
    trace_file_unmap(&old->file);
    trace_file_unmap(&old->more);
    if (old->control)
        ring_control_unmap(old->control);
    munmap(old, sizeof *old);
}

static void free_unopened(struct writer *writer)
{
    int why = errno;
    trace_file_remove(&writer->file);
    trace_file_unmap(&writer->file);
    for (uint32_t i = 0; i < writer->slot_blocks; i++)
        munmap(writer->threads[i], SLOTS_PER_BLOCK * sizeof *writer->threads[i]);
    name_table_free(&writer->names);
    if (writer->control)
        ring_control_unmap(writer->control);
    munmap(writer, sizeof *writer);
    writer_tls.thread = NULL;
    errno = why;
}

static char ring_folder[PATH_MAX]; /* "": none */

void trace_writer_use_ring(const char *folder)
{
    snprintf(ring_folder, sizeof ring_folder, "%s", folder && strlen(folder) < sizeof ring_folder ? folder : "");
}

static bool prepare_file(struct writer *writer, const char *folder)
{
    uint64_t identity[3] = {writer->pid, process_start(), random_word(writer)};
    char name[sizeof writer->stem + sizeof TRACE_FILE_SUFFIX];
    writer->incarnation = trace_hash(identity, sizeof identity);
    snprintf(writer->stem, sizeof writer->stem, "%u-%llu-%016llx", writer->pid, (unsigned long long)identity[1],
             (unsigned long long)identity[2]);
    snprintf(name, sizeof name, "%s" TRACE_FILE_SUFFIX, writer->stem);
    return writer->control
               ? trace_file_create(&writer->file, ring_folder, name, block_supply_ring_most(writer->control))
               : trace_file_create(&writer->file, folder, name, 0);
}

static bool prepare_blocks(struct writer *writer)
{
    if (!block_supply_add_threads(writer) || !block_supply_begin(writer))
        return false;
    writer->spare = block_queue_pop(&writer->ready);
    name_table_tend(&writer->names);
    struct trace_thread *thread = thread_pool_attach(writer);
    return thread && write_process(writer, thread);
}

/* CONTROL: of a ring, NULL: a file in FOLDER. It is the writer's, also where that can't be made. */
static struct writer *make_writer(const char *folder, struct ring_control *control)
{
    struct writer *writer = map_zeros(sizeof *writer);
    if (!writer) {
        if (control)
            ring_control_unmap(control);
        return NULL;
    }
    clock_choose();
    writer->pid = (uint32_t)getpid();
    writer->clock = clock_in_use;
    writer->ticks_per_second = clock_ticks_per_second();
    writer->control = control;
    snprintf(writer->folder, sizeof writer->folder, "%s", folder);
    writer->open_ticks = clock_ticks();
    writer->open_monotonic_ns = clock_monotonic_ns();
    block_queue_init(&writer->ready, writer->ready_cells, READY_BLOCKS);
    block_queue_init(&writer->full, writer->full_cells, FULL_BLOCKS);
    if (!prepare_file(writer, folder)) {
        int why = errno;
        if (control)
            ring_control_unmap(control);
        munmap(writer, sizeof *writer);
        errno = why;
        return NULL;
    }
    if (prepare_blocks(writer) && trace_file_publish(&writer->file))
        return writer;
    free_unopened(writer);
    return NULL;
}

/* A ring that nobody empties, that is another session's, or that has no room is no place to begin: then a file, as without
 * one. */
static struct writer *make_in_ring(const char *folder)
{
    struct ring_control *control = *ring_folder ? ring_control_map(ring_folder) : NULL;
    if (control && ring_control_is_fresh(control) && control->folder_id == ring_control_folder_id(folder))
        return make_writer(folder, control);
    if (control)
        ring_control_unmap(control);
    return NULL;
}

static bool open_locked(struct writer_gate *gate, const char *folder)
{
    if (__atomic_load_n(&gate->incarnation, __ATOMIC_ACQUIRE))
        return true;
    drop_inherited();
    if (!thread_pool_prepare_key()) {
        errno = EAGAIN;
        return false;
    }
    struct writer *writer = make_in_ring(folder);
    if (!writer)
        writer = make_writer(folder, NULL);
    if (!writer)
        return false;
    gate->writer = last_writer = writer;
    __atomic_store_n(&gate->incarnation, writer->incarnation, __ATOMIC_RELEASE);
    trace_anchor(trace_thread_get(), 0);
    return true;
}

bool trace_writer_open(const char *folder)
{
    struct writer_gate *gate = make_gate();
    if (!gate) {
        errno = ENOMEM;
        return false;
    }
    if (!gate_lock(gate)) {
        errno = EDEADLK;
        return false;
    }
    int saved = errno;
    bool done = open_locked(gate, folder);
    gate_unlock(gate);
    if (done)
        errno = saved;
    return done;
}

/* ---- ending ---- */

/* The helper may be at it, within a call of the kernel's: a few milliseconds, and only if there is no other way to end. */
static bool tending_begin_soon(struct writer *writer)
{
    for (int i = 0; i < END_TRIES; i++) {
        if (tending_begin(writer))
            return true;
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    return false;
}

/* After a burst that took all blocks, a trace that ends in order would look cut short. Not by way of the queue, where other
 * threads would take what is added. */
static void make_room_to_end(struct writer *writer, struct trace_thread *thread)
{
    if (thread_has_room(thread, sizeof(struct trace_anchor) + sizeof(struct trace_end)))
        return;
    unsigned char *block = block_queue_pop(&writer->ready);
    if (!block && tending_begin_soon(writer)) {
        block_supply_watch(writer); /* the collector may just have made room */
        block = block_queue_pop(&writer->ready);
        if (!block && !writer->growth_errno && (block = block_supply_grow(writer, TRACE_BLOCK_BYTES)))
            block_format(writer, block, TRACE_BLOCK_RECORDS);
        if (!block) {
            block = writer->spare;
            writer->spare = NULL;
        }
        tending_end(writer);
    }
    if (block)
        go_on_in(thread, block);
}

void trace_writer_end(void)
{
    int saved = errno;
    struct writer *writer = writer_now();
    struct trace_thread *thread = writer ? trace_thread_get() : NULL;
    if (thread) {
        make_room_to_end(writer, thread);
        trace_anchor(thread, 0);
        struct trace_end *record = trace_reserve(thread, TRACE_RECORD_END, sizeof *record);
        if (record) {
            record->ticks = clock_ticks();
            trace_commit(thread, record);
        }
        thread->busy = 1; /* against a signal handler's calls; the next one takes a new block */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        block_retire(thread);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->busy = 0;
        if (tending_begin(writer)) { /* else the helper is at it: it seals, or the blocks are read as open ones */
            block_supply_seal(writer);
            tending_end(writer);
        }
    }
    errno = saved;
}
