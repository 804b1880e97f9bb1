/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace file of this process from inside a host: no lock, malloc or syscall except where said.
 *
 * Life: trace_writer_open() once per process incarnation (makes the file, reserves blocks), then a helper thread calls
 * trace_writer_tend() every few milliseconds: it reserves blocks ahead. Threads write through their own struct
 * trace_thread. A forked child finds trace_writer_is_open() false, since the state page is wiped on fork. */
#ifndef TRACE_TRACE_WRITER_H
#define TRACE_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct trace_thread; /* one a thread: its open block and slot */

/* Slow path: syscalls. Creates FOLDER/<pid>-<start>-<random>.trace (O_EXCL, 0600, O_CLOEXEC), writes the PROCESS record,
 * leaves no descriptor open (the mapping is kept). False with errno set: nothing is written in this process, and every
 * other function here does nothing and returns NULL. Idempotent; safe against two threads at once (the second waits). */
bool trace_writer_open(const char *folder);

/* For the next trace_writer_open(): the PROCESS record has the program's name and "[redacted]" in place of its arguments. */
void trace_writer_redact_arguments(bool redact);

/* For the next trace_writer_open(): the trace begins in a ring in this folder, see ring_control.h, that a collector empties; a
 * file in the session's folder follows if the collector dies, and takes its place where the ring can't be used. NULL: no ring. */
void trace_writer_use_ring(const char *folder);

/* True in the process that opened, false in a forked child and before trace_writer_open(). One load. */
bool trace_writer_is_open(void);

/* Open, and by this very process: false also where another one shares the memory of the process that opened, as the child
 * of vfork() does until it execs. A system call. */
bool trace_writer_is_own(void);

/* To be called by a thread that is about to vfork(): until it is seen in this process again, by its next call, it gets no
 * state, so that the child, which runs in its place and on its memory, writes nothing. */
void trace_writer_before_vfork(void);

/* Helper thread only: reserves blocks ahead (file space is really allocated, so a full disk never becomes SIGBUS), takes
 * back blocks of threads that ended. Returns true if much was consumed since the last time: come back sooner. */
bool trace_writer_tend(void);

/* Calling thread's state; the first call of a thread takes one from those prepared ahead. NULL: none left or closed; the
 * loss is counted. Re-entrant calls from a signal handler while the thread is writing get NULL too, counted as drops. */
struct trace_thread *trace_thread_get(void);
struct trace_slot *trace_thread_slot(struct trace_thread *thread);
struct trace_counters *trace_writer_counters(void); /* never NULL: a private dummy when closed */

/* Each state that threads of this process ever had, whether they ended or not: its trace_thread_own() and its slot. Both hold
 * sums, which their threads go on to write. */
typedef void trace_thread_visit(const void *own, const struct trace_slot *slot, void *context);
void trace_writer_visit_threads(trace_thread_visit *visit, void *context);

/* Unique in the process, never 0. */
uint64_t trace_thread_next_call_id(struct trace_thread *thread);

/* Room for one record of SIZE bytes (header included, rounded up to 8); NULL and a counted drop if no block is ready.
 * The caller fills everything behind the header, then commits. Nothing may be reserved in between. */
void *trace_reserve(struct trace_thread *thread, enum trace_record_type type, size_t size);
void trace_commit(struct trace_thread *thread, void *record);

/* Instead of trace_commit(): the record was not written, and is not counted as dropped. */
void trace_abandon(struct trace_thread *thread);
/* Before trace_commit(): the record is of SIZE bytes, a multiple of 8, and no more; the rest of the room stays for the
 * records that follow, so these come into the same block. */
void trace_shrink(void *record, size_t size);

/* The same for a record that refers to a SIGNATURE or LAUNCH_SHAPE: CONTENT is that record, filled except header and id,
 * of CONTENT_SIZE bytes (multiple of 8). If the thread's block doesn't hold it yet it is written first. *ID is its
 * trace_hash() and *OFFSET its place in the block in which the returned record lies. */
void *trace_reserve_with(struct trace_thread *thread, enum trace_record_type content_type, void *content,
                         size_t content_size, enum trace_record_type type, size_t size, uint64_t *id, uint32_t *offset);

/* CONTENT may be a LAUNCH_SHAPE with values behind it: CONTENT_SIZE is up to LAUNCH_SHAPE_BYTES_MOST then. */

/* Id of the content as trace_reserve_with() would give it, without writing anything. */
uint64_t trace_content_id(const void *content, size_t content_size);

/* Kernel names: writes a NAME record unless this process did already (or is doing so). Any thread. Returns the id. */
uint64_t trace_name_intern(struct trace_thread *thread, const char *name);

/* The same for a kernel's PARAMETER_PLAN. False: it is not in the trace, nor is somebody writing it. */
bool trace_plan_intern(struct trace_thread *thread, uint64_t name_id, enum trace_plan_source source,
                       const struct trace_parameter *parameters, uint32_t count);

/* Convenience, slow path. */
void trace_note(struct trace_thread *thread, enum trace_note_code code, int32_t value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void trace_anchor(struct trace_thread *thread, uint64_t cupti_ns);
void trace_entry_write(struct trace_thread *thread, uint32_t id, const char *name);

/* At an orderly exit: END record, seals the calling thread's block. Bounded, no waiting for others. */
void trace_writer_end(void);

#endif
