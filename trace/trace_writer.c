/* SPDX-License-Identifier: Apache-2.0 */
/* The call path: reserving and committing records in the calling thread's own block. Opening, tending and ending are in
 * writer_life.c, threads in thread_pool.c, blocks in block_use.c. */
#include "trace/trace_writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/launch_values.h"
#include "trace/writer_state.h"

enum { NAME_BYTES_MAX = 16384, NOTE_TEXT_BYTES = 512, CONTENT_ID_AT = 8, CONTENT_HASHED_FROM = 16 };

struct writer_gate writer_gate_closed;
struct writer_gate *writer_gate = &writer_gate_closed;

bool trace_writer_is_open(void)
{
    return writer_incarnation() != 0;
}

bool trace_writer_is_own(void)
{
    const struct writer *writer = writer_now();
    return writer && writer->pid == (uint32_t)getpid();
}

/* Its state goes stale in a way that thread_pool_attach() knows. */
void trace_writer_before_vfork(void)
{
    if (writer_tls.thread && !thread_is_stale())
        writer_tls.incarnation = ~writer_tls.incarnation;
}

/* A signal handler in the middle of a record of its own thread: the call that it makes is in no record. */
static __attribute__((noinline)) struct trace_thread *turn_away(struct trace_thread *thread)
{
    bump(&thread->slot->records_dropped);
    return NULL;
}

struct trace_thread *trace_thread_get(void)
{
    uint64_t incarnation = writer_incarnation();
    struct trace_thread *thread = writer_tls.thread;
    if (__builtin_expect(thread && writer_tls.incarnation == incarnation, 1))
        return thread->busy ? turn_away(thread) : thread;
    if (!incarnation)
        return NULL;
    return thread_pool_attach(writer_now());
}

struct trace_slot *trace_thread_slot(struct trace_thread *thread)
{
    return thread->slot;
}

struct trace_counters *trace_writer_counters(void)
{
    static struct trace_counters dummy;
    struct writer *writer = writer_now();
    return writer ? writer->counters : &dummy;
}

uint64_t trace_thread_next_call_id(struct trace_thread *thread)
{
    return thread->next_call_id++;
}

uint64_t trace_content_id(const void *content, size_t content_size)
{
    return trace_hash((const unsigned char *)content + CONTENT_HASHED_FROM,
                      (uint32_t)(content_size - CONTENT_HASHED_FROM));
}

static inline void *drop(struct trace_thread *thread)
{
    bump(&thread->slot->records_dropped);
    return NULL;
}

/* Tries to have SIZE bytes in the thread's block. May use the next one. */
static __attribute__((noinline)) bool make_room(struct trace_thread *thread, size_t size)
{
    int saved = errno;
    bool done = size <= TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES && block_next(thread);
    errno = saved;
    return done;
}

void *writer_reserve(struct trace_thread *thread, enum trace_record_type type, size_t size)
{
    size_t rounded = (size + 7) & ~(size_t)7;
    if (!thread_enter(thread))
        return drop(thread);
    if (__builtin_expect(!thread_has_room(thread, rounded), 0) && !make_room(thread, rounded)) {
        thread_leave(thread);
        return drop(thread);
    }
    return thread_place(thread, type, rounded);
}

void *trace_reserve(struct trace_thread *thread, enum trace_record_type type, size_t size)
{
    if (__builtin_expect(thread_is_stale(), 0))
        return NULL;
    return writer_reserve(thread, type, size);
}

void writer_commit(struct trace_thread *thread, void *record)
{
    thread_finish(thread, record, ((struct trace_record *)record)->size);
    thread_leave(thread);
}

void trace_commit(struct trace_thread *thread, void *record)
{
    if (__builtin_expect(!thread_is_stale(), 1))
        writer_commit(thread, record);
}

void trace_abandon(struct trace_thread *thread)
{
    if (__builtin_expect(!thread_is_stale(), 1))
        thread_leave(thread);
}

void trace_shrink(void *record, size_t size)
{
    ((struct trace_record *)record)->size = (uint16_t)size;
}

/* ---- content that is written once a block ---- */

typedef uint64_t words2 __attribute__((vector_size(16), aligned(8), may_alias));

static inline uint64_t content_word(const void *content, size_t index)
{
    return ((const trace_word_alias *)content)[index];
}

/* Compares all but header and id. Two words at a time without a branch: contents that get here are nearly always equal. */
static inline __attribute__((always_inline)) bool same_content(const void *left, const void *right, size_t size)
{
    const size_t from = CONTENT_HASHED_FROM / 8, words = size / 8, pairs = (words - from) / 2;
    const words2 *a = (const words2 *)((const trace_word_alias *)left + from);
    const words2 *b = (const words2 *)((const trace_word_alias *)right + from);
    words2 differ = {0, 0};
#if !defined(__clang__)
#pragma GCC unroll 16
#endif
    for (size_t i = 0; i < pairs; i++)
        differ |= a[i] ^ b[i];
    uint64_t rest = (words - from) % 2 ? content_word(left, words - 1) ^ content_word(right, words - 1) : 0;
    return (differ[0] | differ[1] | rest) == 0;
}

/* Where to look in the cache. It need not see every field: equality is decided by same_content(), and contents that
 * differ only elsewhere share a set of two. So a signature is told by entry, flags, shape, types and epilogue. */
static inline __attribute__((always_inline)) uint64_t cache_key(const void *content, size_t size)
{
    uint64_t key;
    if (size == sizeof(struct trace_signature)) {
        key = content_word(content, 2) * 0x1b873593u + content_word(content, 3) * 0x6c9e3779u +
              content_word(content, 4) * 0x165667b1u + content_word(content, 5) * 0x27d4eb2fu +
              content_word(content, 6) * 0x5bd1e995u + content_word(content, 7) * 0x3c6ef35fu +
              content_word(content, 16) * 0x2c1b3c6du + content_word(content, 19) * 0x4be98135u;
    } else {
        key = 0;
        for (size_t i = CONTENT_HASHED_FROM / 8; i < size / 8; i++)
            key = (key + content_word(content, i)) * 0x9e3779b97f4a7c15ull;
    }
    return key * 0x9e3779b97f4a7c15ull;
}

/* An entry of the cache: generation of the block << 32 | tag << 16 | offset / 8, so one comparison tells whether the
 * thread's block may hold the content. */
static inline uint64_t *cache_set(struct trace_thread *thread, uint64_t key)
{
    return &thread->content[(key >> 56) % (CONTENT_WAYS / 2) * 2];
}

static inline uint64_t cache_entry(const struct trace_thread *thread, uint64_t key)
{
    return thread->generation | (key >> 24 & 0xffff0000u);
}

static inline bool cache_hit(uint64_t entry, uint64_t wanted)
{
    return (entry ^ wanted) < 0x10000;
}

/* The content's record in the thread's block if ENTRY, a hit, speaks of just this content. */
static inline __attribute__((always_inline)) unsigned char *
cached(const struct trace_thread *thread, uint64_t entry, enum trace_record_type type, const void *content, size_t size)
{
    unsigned char *record = thread->block + (entry & 0xffff) * 8;
    bool same = *(const trace_half_alias *)(void *)record == ((uint32_t)type | (uint32_t)size << 16) &&
                same_content(record, content, size);
    return same ? record : NULL;
}

/* Writes the content into the thread's block. Room for it was made. */
static unsigned char *write_content(struct trace_thread *thread, enum trace_record_type type, const void *content,
                                    size_t size)
{
    uint64_t id = trace_content_id(content, size), key = cache_key(content, size), *set = cache_set(thread, key);
    unsigned char *record = thread_place(thread, type, size);
    memcpy(record + CONTENT_ID_AT, &id, sizeof id);
    memcpy(record + CONTENT_HASHED_FROM, (const unsigned char *)content + CONTENT_HASHED_FROM,
           size - CONTENT_HASHED_FROM);
    set[1] = set[0];
    set[0] = cache_entry(thread, key) | thread->position / 8;
    thread_finish(thread, record, (uint32_t)size);
    return record;
}

/* The record behind its content, which is at FOUND in the same block. */
static inline __attribute__((always_inline)) void *place_behind(struct trace_thread *thread, const unsigned char *found,
                                                                enum trace_record_type type, size_t rounded,
                                                                uint64_t *id, uint32_t *offset)
{
    *id = content_word(found, CONTENT_ID_AT / 8);
    *offset = (uint32_t)(found - thread->block);
    return thread_place(thread, type, rounded);
}

/* Two contents that the key does not tell apart: the second place may hold it. */
static const unsigned char *find_second(const struct trace_thread *thread, enum trace_record_type type, void *content,
                                        size_t size)
{
    uint64_t key = cache_key(content, size);
    uint64_t entry = cache_set((struct trace_thread *)thread, key)[1];
    return cache_hit(entry, cache_entry(thread, key)) ? cached(thread, entry, type, content, size) : NULL;
}

/* The thread has been entered; what was tried first did not do. Same arguments as the caller, so that the call path needs
 * no frame for it. */
static __attribute__((noinline)) void *reserve_anew(struct trace_thread *thread, enum trace_record_type content_type,
                                                    void *content, size_t content_size, enum trace_record_type type,
                                                    size_t size, uint64_t *id, uint32_t *offset)
{
    size_t rounded = (size + 7) & ~(size_t)7;
    const unsigned char *found =
        thread_has_room(thread, rounded) ? find_second(thread, content_type, content, content_size) : NULL;
    if (!found) {
        if (!thread_has_room(thread, content_size + rounded) && !make_room(thread, content_size + rounded)) {
            thread_leave(thread);
            return drop(thread);
        }
        found = write_content(thread, content_type, content, content_size);
    }
    return place_behind(thread, found, type, rounded, id, offset);
}

/* Refused: by a fork, or by a signal handler in the middle of a record. */
static __attribute__((noinline)) void *refuse(struct trace_thread *thread)
{
    return thread_is_stale() ? NULL : drop(thread);
}

static inline __attribute__((always_inline)) void *reserve_with(struct trace_thread *thread,
                                                                enum trace_record_type content_type, void *content,
                                                                size_t content_size, enum trace_record_type type,
                                                                size_t size, uint64_t *id, uint32_t *offset)
{
    size_t rounded = (size + 7) & ~(size_t)7;
    if (__builtin_expect(thread_is_stale(), 0) || !thread_enter(thread))
        return refuse(thread);
    if (__builtin_expect(thread_has_room(thread, rounded), 1)) {
        uint64_t key = cache_key(content, content_size), wanted = cache_entry(thread, key);
        const uint64_t *set = cache_set(thread, key);
        uint64_t entry = __builtin_expect(cache_hit(set[0], wanted), 1) ? set[0] : set[1];
        if (__builtin_expect(cache_hit(entry, wanted), 1)) {
            const unsigned char *found = cached(thread, entry, content_type, content, content_size);
            if (__builtin_expect(found != NULL, 1))
                return place_behind(thread, found, type, rounded, id, offset);
        }
    }
    return reserve_anew(thread, content_type, content, content_size, type, size, id, offset);
}

static __attribute__((noinline)) void *reserve_with_shape(struct trace_thread *thread, void *content,
                                                          enum trace_record_type type, size_t size, uint64_t *id,
                                                          uint32_t *offset)
{
    return reserve_with(thread, TRACE_RECORD_LAUNCH_SHAPE, content, sizeof(struct trace_launch_shape), type, size, id,
                        offset);
}

static __attribute__((noinline)) void *reserve_with_values(struct trace_thread *thread, void *content,
                                                           size_t content_size, enum trace_record_type type,
                                                           size_t size, uint64_t *id, uint32_t *offset)
{
    return reserve_with(thread, TRACE_RECORD_LAUNCH_SHAPE, content, content_size, type, size, id, offset);
}

/* The frequent contents have a size that the compiler knows, so that no loop is left. */
void *trace_reserve_with(struct trace_thread *thread, enum trace_record_type content_type, void *content,
                         size_t content_size, enum trace_record_type type, size_t size, uint64_t *id, uint32_t *offset)
{
    if (__builtin_expect(content_type == TRACE_RECORD_SIGNATURE && content_size == sizeof(struct trace_signature), 1))
        return reserve_with(thread, TRACE_RECORD_SIGNATURE, content, sizeof(struct trace_signature), type, size, id,
                            offset);
    if (content_type == TRACE_RECORD_LAUNCH_SHAPE && content_size == sizeof(struct trace_launch_shape))
        return reserve_with_shape(thread, content, type, size, id, offset);
    if (content_type == TRACE_RECORD_LAUNCH_SHAPE && content_size <= LAUNCH_SHAPE_BYTES_MOST)
        return reserve_with_values(thread, content, content_size, type, size, id, offset);
    return drop(thread); /* no such content in this version */
}

/* ---- names ---- */

static bool write_name(struct trace_thread *thread, uint64_t id, const char *name, size_t full)
{
    size_t kept = full < NAME_BYTES_MAX ? full : NAME_BYTES_MAX;
    struct trace_name *record = trace_reserve(thread, TRACE_RECORD_NAME, sizeof *record + kept);
    if (!record)
        return false;
    record->id = id;
    record->name_bytes = (uint32_t)kept;
    record->full_bytes = (uint32_t)full;
    memcpy(record->name, name, kept);
    trace_commit(thread, record);
    if (kept < full)
        add_relaxed(&trace_writer_counters()->names_cut, 1);
    return true;
}

/* In the same set as the names: hashes of other things. */
static uint64_t plan_key(uint64_t name_id)
{
    return (name_id ^ 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull | 1;
}

static bool write_plan(struct trace_thread *thread, uint64_t name_id, enum trace_plan_source source,
                       const struct trace_parameter *parameters, uint32_t count)
{
    size_t bytes = count * sizeof *parameters;
    struct trace_parameter_plan *record = trace_reserve(thread, TRACE_RECORD_PARAMETER_PLAN, sizeof *record + bytes);
    if (!record)
        return false;
    record->name_id = name_id;
    record->count = count;
    record->source = (uint32_t)source;
    memcpy(record->parameter, parameters, bytes);
    trace_commit(thread, record);
    return true;
}

bool trace_plan_intern(struct trace_thread *thread, uint64_t name_id, enum trace_plan_source source,
                       const struct trace_parameter *parameters, uint32_t count)
{
    struct writer *writer = writer_now();
    if (!thread || !writer)
        return false;
    uint32_t expected = NAME_NEW, *state = name_table_state(&writer->names, plan_key(name_id));
    if (!state) /* as of a name */
        return write_plan(thread, name_id, source, parameters, count);
    if (__atomic_load_n(state, __ATOMIC_RELAXED) != NAME_NEW ||
        !__atomic_compare_exchange_n(state, &expected, NAME_WRITING, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    bool done = write_plan(thread, name_id, source, parameters, count);
    __atomic_store_n(state, done ? NAME_WRITTEN : NAME_NEW, __ATOMIC_RELAXED);
    return done;
}

uint64_t trace_name_intern(struct trace_thread *thread, const char *name)
{
    size_t full = strlen(name);
    uint64_t id = trace_hash(name, (uint32_t)full);
    struct writer *writer = writer_now();
    if (!thread || !writer)
        return id;
    uint32_t expected = NAME_NEW, *state = name_table_state(&writer->names, id);
    if (!state) { /* the table is full until the helper has added to it: a name twice does no harm */
        write_name(thread, id, name, full);
        return id;
    }
    if (__atomic_load_n(state, __ATOMIC_RELAXED) == NAME_NEW &&
        __atomic_compare_exchange_n(state, &expected, NAME_WRITING, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        bool done = write_name(thread, id, name, full);
        __atomic_store_n(state, done ? NAME_WRITTEN : NAME_NEW, __ATOMIC_RELAXED);
    }
    return id;
}

/* ---- slow path conveniences ---- */

void trace_note(struct trace_thread *thread, enum trace_note_code code, int32_t value, const char *format, ...)
{
    int saved = errno;
    char text[NOTE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    struct trace_note *record = thread ? trace_reserve(thread, TRACE_RECORD_NOTE, sizeof *record + kept) : NULL;
    if (record) {
        record->code = code;
        record->value = value;
        record->ticks = clock_ticks();
        record->text_bytes = (uint32_t)kept;
        record->reserved = 0;
        memcpy(record->text, text, kept);
        trace_commit(thread, record);
    }
    errno = saved;
}

/* The clocks can't be read at one instant: of three tries the one with the shortest way around the others is kept. */
void trace_anchor(struct trace_thread *thread, uint64_t cupti_ns)
{
    struct trace_anchor best = {.cupti_ns = cupti_ns};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = clock_ticks(), realtime = clock_realtime_ns(), monotonic = clock_monotonic_ns();
        uint64_t took = clock_ticks() - before;
        if (took >= shortest)
            continue;
        shortest = took;
        best.ticks = before + took / 2;
        best.realtime_ns = realtime;
        best.monotonic_ns = monotonic;
    }
    struct trace_anchor *record = thread ? trace_reserve(thread, TRACE_RECORD_ANCHOR, sizeof *record) : NULL;
    if (!record)
        return;
    best.record = record->record;
    *record = best;
    trace_commit(thread, record);
}

void trace_entry_write(struct trace_thread *thread, uint32_t id, const char *name)
{
    size_t length = strlen(name);
    struct trace_entry *record = thread ? trace_reserve(thread, TRACE_RECORD_ENTRY, sizeof *record + length) : NULL;
    if (!record)
        return;
    record->id = id;
    record->name_bytes = (uint32_t)length;
    memcpy(record->name, name, length);
    trace_commit(thread, record);
}
