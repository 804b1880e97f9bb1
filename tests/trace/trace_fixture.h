/* SPDX-License-Identifier: Apache-2.0 */
/* What the trace tests share: a folder of their own, the file a writer left there, and a builder that lays out blocks by
 * hand, independent of the writer. */
#ifndef TESTS_TRACE_FIXTURE_H
#define TESTS_TRACE_FIXTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/trace.h"
#include "trace/trace_reader.h"

/* A new folder below TMPDIR, removed with all files in it by folder_remove(). */
void folder_make(char path[PATH_MAX]);
void folder_remove(const char *path);
/* Paths of the traces in FOLDER, of process PID only unless 0; returns how many there are, MOST or less of them in PATHS. */
size_t folder_find(const char *folder, pid_t pid, size_t most, char paths[][PATH_MAX]);
/* Fails the program if there are not COUNT. */
void folder_traces(const char *folder, pid_t pid, size_t count, char paths[][PATH_MAX]);

/* What a reader saw. */
struct seen {
    uint64_t of_type[64];
    struct trace_reader_stats stats;
    struct trace_counters counters;
    size_t slots;
    uint64_t slot_drops, slot_calls;
};
/* Calls EACH, unless NULL, for every record. */
bool read_all(struct trace_reader *reader, struct seen *seen, void (*each)(const struct trace_item *, void *),
              void *context);
bool read_path(const char *path, struct seen *seen, void (*each)(const struct trace_item *, void *), void *context);

/* Runs BODY in a forked child, since a process opens one trace only. Returns its wait status. */
int in_child(void (*body)(const char *folder), const char *folder, pid_t *pid);

/* ---- blocks by hand ---- */

struct builder {
    unsigned char *bytes;
    size_t size, block; /* offset of the current block */
    uint32_t position;
    uint64_t sequence;
};
void builder_block(struct builder *builder, enum trace_block_kind kind);
/* Copies a record of SIZE bytes and commits it; header and, for contents, id are filled. Returns its offset. */
uint32_t builder_add(struct builder *builder, uint16_t type, const void *record, size_t size);
uint32_t builder_signature(struct builder *builder, int64_t m);
uint32_t builder_call(struct builder *builder, uint32_t signature_offset, uint64_t call_id);
uint32_t builder_text(struct builder *builder, uint16_t type, const char *text);
uint32_t builder_groups(struct builder *builder, uint32_t count); /* 8 at most */
uint32_t builder_sum(struct builder *builder, uint16_t type,
                     uint32_t signature_offset); /* a good one of trace_sums.h */
void builder_end(struct builder *builder);
void builder_seal(struct builder *builder);
struct trace_block_header *builder_header(struct builder *builder);
struct trace_record *builder_record(struct builder *builder, uint32_t offset);
void builder_free(struct builder *builder);
/* PROCESS, ENTRY, a signature, COUNT calls, END; sealed. */
void builder_small(struct builder *builder, unsigned count);

#endif
