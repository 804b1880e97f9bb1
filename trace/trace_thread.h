/* SPDX-License-Identifier: Apache-2.0 */
/* What each recorded call does to its thread's block, inline: for code that is on a host's call path and counts its
 * instructions; all others go through trace_writer.h. What is for use outside trace/ begins at "for the call path". */
#ifndef TRACE_TRACE_THREAD_H
#define TRACE_TRACE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum {
    CONTENT_WAYS = 512,          /* entries in sets of two */
    TRACE_SCRATCH_BYTES = 57344, /* see trace_thread_scratch() */
    TRACE_TIMING_BYTES = 64,     /* see trace_thread_timing() */
    TRACE_DEPTH_BYTES = 32,      /* see trace_thread_depth() */
    TRACE_OWN_BYTES = 96,        /* see trace_thread_own() */
    TRACE_NO_INCARNATION = 1,    /* of a thread without state: neither open nor closed */
};

struct writer;

struct trace_thread {
    unsigned char *block; /* NULL: none yet */
    uint32_t position;    /* of the next record; TRACE_BLOCK_BYTES without a block */
    uint32_t busy;        /* between reserve and commit: a signal handler must keep out */
    uint64_t sequence;    /* of the block */
    uint64_t generation; /* of the block in this thread, << 32: what caches knew before is void. Never 0 with a block */
    struct trace_slot *slot;
    uint64_t next_call_id; /* goes on when the slot is used again */
    int *errno_at;         /* of the thread that has this state */
    uint32_t tid;          /* 0: free; whoever sets it to 0 gives the thread back */
    uint32_t index;
    struct writer *writer;
    uint32_t next_free; /* index + 1 of the next in the free list */
    /* zero when a thread takes this state */
    _Alignas(64) unsigned char timing[TRACE_TIMING_BYTES];
    unsigned char depth[TRACE_DEPTH_BYTES];
    unsigned char own[TRACE_OWN_BYTES]; /* not zeroed; begins on the same line */
    /* sets of two, see cache_entry() */
    _Alignas(64) uint64_t content[CONTENT_WAYS];
    _Alignas(64) unsigned char scratch[TRACE_SCRATCH_BYTES];
};

struct writer_gate {
    uint64_t incarnation; /* 0: closed; stored last */
    struct writer *writer;
    uint32_t opening; /* tid of the thread that is opening */
};

/* Thread-local, initial-exec: reached without a call, and small, since a library that is opened late gets it out of the few
 * hundred bytes that the loader keeps for all of them: what else a thread has is in its struct trace_thread. A pointer of
 * another incarnation is never followed; of the one that is open it is never NULL. */
struct writer_tls {
    struct trace_thread *thread;
    uint64_t incarnation;
    uint64_t counted_without_slot; /* incarnation whose threads_without_slot holds this thread already */
    uint32_t attaching;
};

#pragma GCC visibility push(hidden)           /* reached without the global offset table */
extern struct writer_gate writer_gate_closed; /* all zero, for ever */
extern struct writer_gate *writer_gate;       /* that one until the first open */
extern _Thread_local struct writer_tls writer_tls __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

typedef uint32_t trace_half_alias __attribute__((may_alias));
typedef uint64_t trace_word_alias __attribute__((may_alias));

static inline uint64_t writer_incarnation(void)
{
    return __atomic_load_n(&__atomic_load_n(&writer_gate, __ATOMIC_ACQUIRE)->incarnation, __ATOMIC_ACQUIRE);
}

/* A thread's state may have been fetched before a fork that a signal handler made: then it is a parent's, which we don't
 * touch, and which is gone if a trace was opened since. */
static inline bool thread_is_stale(void)
{
    return writer_tls.incarnation != writer_incarnation();
}

static inline bool thread_enter(struct trace_thread *thread)
{
    if (__builtin_expect(thread->busy, 0))
        return false;
    thread->busy = 1;
    /* What a handler wrote before this line is seen below; after it, handlers keep out. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static inline void thread_leave(struct trace_thread *thread)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

static inline bool thread_has_room(const struct trace_thread *thread, size_t size)
{
    return size <= TRACE_BLOCK_BYTES - thread->position;
}

/* Room at the thread's position is known. The last word is zeroed first: what the caller leaves of it is padding. */
static inline void *thread_place(struct trace_thread *thread, enum trace_record_type type, size_t rounded)
{
    unsigned char *record = thread->block + thread->position;
    *(trace_word_alias *)(void *)(record + rounded - 8) = 0;
    *(trace_half_alias *)(void *)record = (uint32_t)type | (uint32_t)rounded << 16;
    return record;
}

static inline void thread_finish(struct trace_thread *thread, void *record, uint32_t size)
{
    uint32_t position = thread->position, word = trace_commit_word(thread->sequence, position);
    __atomic_store_n(&((struct trace_record *)record)->commit, word, __ATOMIC_RELEASE);
    thread->position = position + size;
}

/* ---- for the call path ---- */

/* The state that the calling thread has already, also in the middle of a record; NULL: none, ask trace_thread_get(). */
static inline struct trace_thread *trace_thread_now(void)
{
    struct trace_thread *thread = writer_tls.thread;
    return __builtin_expect(!thread_is_stale(), 1) ? thread : NULL;
}

/* The same, and whether there is one. *INCARNATION is what a call keeps to learn at its end, before it touches that state,
 * whether it is still there (trace_incarnation()): its child by fork may have opened a trace of its own since, in the same
 * memory. */
static inline bool trace_thread_find(struct trace_thread **thread, uint64_t *incarnation)
{
    *thread = writer_tls.thread;
    *incarnation = writer_tls.incarnation;
    return *incarnation == writer_incarnation();
}

/* Not 0: a signal handler came into the middle of a record. */
static inline uint32_t trace_thread_busy(const struct trace_thread *thread)
{
    return thread->busy;
}

static inline uint64_t trace_incarnation(void)
{
    return writer_incarnation();
}

static inline uint64_t trace_thread_take_call_id(struct trace_thread *thread)
{
    return thread->next_call_id++;
}

/* The calling thread's errno, without the call that it takes. */
static inline int *trace_thread_errno(const struct trace_thread *thread)
{
    return thread->errno_at;
}

/* Memory of the thread for whoever uses it, zero in a new process; a later thread gets it as it was left. */
static inline void *trace_thread_scratch(struct trace_thread *thread)
{
    return thread->scratch;
}

/* Memory for the timing and for the depth of calls, zero for each thread. */
static inline void *trace_thread_timing(struct trace_thread *thread)
{
    return thread->timing;
}
static inline void *trace_thread_depth(struct trace_thread *thread)
{
    return thread->depth;
}

/* Memory for sums that go on when another thread takes this state; zero in a new process. */
static inline void *trace_thread_own(struct trace_thread *thread)
{
    return thread->own;
}

/* A place remembers that a content lies at OFFSET, as trace_reserve_with() just gave it, of the block that the thread
 * writes now. Never 0; it is good until the thread goes on to another block, for ever void then. */
static inline uint64_t trace_place(const struct trace_thread *thread, uint32_t offset)
{
    return thread->generation | offset;
}

static inline uint32_t trace_place_offset(uint64_t place)
{
    return (uint32_t)place;
}

static inline bool trace_place_is_good(const struct trace_thread *thread, uint64_t place)
{
    return (place ^ thread->generation) <= UINT32_MAX;
}

/* trace_reserve_with() for a content that is at PLACE: room for a record of SIZE bytes, a multiple of 8, each of which the
 * caller sets, and the content's *ID. NULL, and nothing counted: the place is void; trace_reserve_with() is to be asked.
 * THREAD: as trace_thread_now(), not busy, or trace_thread_get() gave it in this call, and not stale since. */
static inline __attribute__((always_inline)) void *
trace_reserve_at(struct trace_thread *thread, uint64_t place, enum trace_record_type type, uint32_t size, uint64_t *id)
{
    thread->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in thread_enter() */
    uint32_t position = thread->position;
    if (__builtin_expect(trace_place_is_good(thread, place) && position <= TRACE_BLOCK_BYTES - size, 1)) {
        unsigned char *block = thread->block, *record = block + position;
        const void *content = block + trace_place_offset(place);
        *id = ((const trace_word_alias *)content)[1];
        *(trace_half_alias *)(void *)record = (uint32_t)type | size << 16;
        return record;
    }
    thread_leave(thread);
    return NULL;
}

/* trace_commit() for a record of SIZE bytes, right after it was reserved. A fork in between, by a signal handler, makes
 * the child store what its parent stores, in the same place; then the child finds its state stale. */
static inline __attribute__((always_inline)) void trace_commit_sized(struct trace_thread *thread, void *record,
                                                                     uint32_t size)
{
    thread_finish(thread, record, size);
    thread_leave(thread);
}

#endif
