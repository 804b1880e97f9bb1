/* SPDX-License-Identifier: Apache-2.0 */
/* The states of threads: mapped ahead with their slots, taken at a thread's first call, given back when it ends. What a
 * slot counted stays in it for the next thread, so that sums over slots hold. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/trace_writer.h"
#include "trace/writer_state.h"

_Thread_local struct writer_tls writer_tls
    __attribute__((tls_model("initial-exec"))) = {.incarnation = TRACE_NO_INCARNATION};

static pthread_key_t exit_key;
static uint32_t exit_key_state; /* 0 not made, 1 being made, 2 made; outlives fork */

static struct trace_thread *thread_at(const struct writer *writer, uint32_t index)
{
    return &writer->threads[index / SLOTS_PER_BLOCK][index % SLOTS_PER_BLOCK];
}

static void push_free(struct writer *writer, struct trace_thread *thread)
{
    uint64_t head = __atomic_load_n(&writer->free_threads, __ATOMIC_RELAXED), next;
    do {
        __atomic_store_n(&thread->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | (thread->index + 1);
    } while (
        !__atomic_compare_exchange_n(&writer->free_threads, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_add(&writer->free_count, 1, __ATOMIC_RELAXED);
}

static struct trace_thread *pop_free(struct writer *writer)
{
    uint64_t head = __atomic_load_n(&writer->free_threads, __ATOMIC_ACQUIRE), next;
    struct trace_thread *thread;
    do {
        if (!(uint32_t)head)
            return NULL;
        thread = thread_at(writer, (uint32_t)head - 1);
        next = ((head >> 32) + 1) << 32 | __atomic_load_n(&thread->next_free, __ATOMIC_RELAXED);
    } while (
        !__atomic_compare_exchange_n(&writer->free_threads, &head, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    __atomic_fetch_sub(&writer->free_count, 1, __ATOMIC_RELAXED);
    return thread;
}

/* One that no thread has had yet. In a block's first stands where its slots are. */
static struct trace_thread *take_fresh(struct writer *writer)
{
    uint32_t index = __atomic_load_n(&writer->threads_used, __ATOMIC_RELAXED);
    do {
        if (index >= __atomic_load_n(&writer->slot_blocks, __ATOMIC_ACQUIRE) * SLOTS_PER_BLOCK)
            return NULL;
    } while (!__atomic_compare_exchange_n(&writer->threads_used, &index, index + 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    struct trace_thread *thread = thread_at(writer, index);
    uint32_t place = index % SLOTS_PER_BLOCK;
    thread->position = TRACE_BLOCK_BYTES;
    if (place) /* the first has its own, and others read it */
        thread->slot = thread_at(writer, index - place)->slot + place;
    thread->writer = writer;
    thread->index = index;
    thread->next_call_id = ((uint64_t)index + 1) << CALL_ID_BITS;
    __atomic_fetch_sub(&writer->free_count, 1, __ATOMIC_RELAXED);
    return thread;
}

/* Only one of those who find that thread TID ended gets to give its state back. */
static void give_back(struct trace_thread *thread, uint32_t tid)
{
    if (!__atomic_compare_exchange_n(&thread->tid, &tid, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    block_retire(thread);
    __atomic_store_n(&thread->slot->entry, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->slot->tid, 0, __ATOMIC_RELAXED);
    push_free(thread->writer, thread);
}

static void thread_ended(void *unused)
{
    (void)unused; /* may be of a parent's incarnation: only the pair in TLS tells */
    struct trace_thread *thread = writer_tls.thread;
    bool ours = thread && writer_tls.incarnation == writer_incarnation();
    writer_tls.incarnation = TRACE_NO_INCARNATION;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer_tls.thread = NULL;
    if (ours)
        give_back(thread, __atomic_load_n(&thread->tid, __ATOMIC_RELAXED));
}

bool thread_pool_prepare_key(void)
{
    uint32_t state = 0;
    if (__atomic_load_n(&exit_key_state, __ATOMIC_ACQUIRE) == 2)
        return true;
    /* "Being made" after a fork means that the maker is gone: take it over, a key more does no harm. */
    __atomic_store_n(&exit_key_state, 1, __ATOMIC_RELAXED);
    if (pthread_key_create(&exit_key, thread_ended) == 0)
        state = 2;
    __atomic_store_n(&exit_key_state, state, __ATOMIC_RELEASE);
    return state == 2;
}

void thread_pool_add(struct writer *writer, unsigned char *slots_block, struct trace_thread *threads)
{
    struct trace_slot *slots =
        (struct trace_slot *)(void *)(slots_block + TRACE_HEADER_BYTES + sizeof(struct trace_counters));
    threads[0].slot = slots;
    writer->threads[writer->slot_blocks] = threads;
    __atomic_fetch_add(&writer->free_count, SLOTS_PER_BLOCK, __ATOMIC_RELAXED);
    __atomic_store_n(&writer->slot_blocks, writer->slot_blocks + 1, __ATOMIC_RELEASE);
}

static struct trace_thread *attach(struct writer *writer)
{
    struct trace_thread *thread = pop_free(writer);
    if (!thread)
        thread = take_fresh(writer);
    if (!thread)
        return NULL;
    /* The value only has to be non-NULL. It may allocate in the C library, once a thread. */
    if (pthread_setspecific(exit_key, thread) != 0) {
        push_free(writer, thread);
        return NULL;
    }
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    thread->busy = 0;
    memset(thread->timing, 0, sizeof thread->timing);
    memset(thread->depth, 0, sizeof thread->depth);
    thread->errno_at = &errno;
    __atomic_store_n(&thread->slot->entry, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->slot->tid, tid, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
    writer_tls.thread = thread;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler that finds the incarnation follows the pointer */
    writer_tls.incarnation = writer->incarnation;
    return thread;
}

struct trace_thread *thread_pool_attach(struct writer *writer)
{
    if (writer_tls.attaching)
        return NULL; /* a signal handler in the middle of the lines below */
    if (writer->pid != (uint32_t)getpid())
        return NULL; /* a child in the memory of its parent: nothing here is its own, not even the counters */
    if (writer_tls.thread && writer_tls.incarnation == ~writer->incarnation) { /* back from vfork() */
        writer_tls.incarnation = writer->incarnation;
        return writer_tls.thread->busy ? NULL : writer_tls.thread;
    }
    int saved = errno;
    writer_tls.attaching = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct trace_thread *thread = attach(writer);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer_tls.attaching = 0;
    if (!thread) {
        if (writer_tls.counted_without_slot != writer->incarnation)
            add_relaxed(&writer->counters->threads_without_slot, 1);
        writer_tls.counted_without_slot = writer->incarnation;
        add_relaxed(&writer->counters->calls_without_slot, 1);
    }
    errno = saved;
    return thread;
}

/* Threads whose destructors did not run, or that called again after theirs had. */
void thread_pool_collect_dead(struct writer *writer)
{
    const uint32_t used = __atomic_load_n(&writer->threads_used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used; i++) {
        struct trace_thread *thread = thread_at(writer, i);
        uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);
        if (tid && syscall(SYS_tgkill, writer->pid, tid, 0) != 0 && errno == ESRCH)
            give_back(thread, tid);
    }
}

/* A state may be being taken for the first time: where its slot lies is known without it. */
void trace_writer_visit_threads(trace_thread_visit *visit, void *context)
{
    const struct writer *writer = writer_now();
    const uint32_t used = writer ? __atomic_load_n(&writer->threads_used, __ATOMIC_RELAXED) : 0;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t place = i % SLOTS_PER_BLOCK;
        visit(thread_at(writer, i)->own, thread_at(writer, i - place)->slot + place, context);
    }
}

bool thread_pool_any_busy(const struct writer *writer)
{
    const uint32_t used = __atomic_load_n(&writer->threads_used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used; i++) {
        const struct trace_thread *thread = thread_at(writer, i);
        if (thread->tid && thread->busy)
            return true;
    }
    return false;
}
