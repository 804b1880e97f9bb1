/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/checksum.h"
#include "trace/record_types.h"
#include "trace/trace_sums.h"

static void die(const char *what)
{
    fprintf(stderr, "fixture: %s: %s\n", what, strerror(errno));
    abort();
}

void folder_make(char path[PATH_MAX])
{
    const char *base = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/trace-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path))
        die(path);
}

void folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *found;
    while (folder && (found = readdir(folder)))
        unlinkat(dirfd(folder), found->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

size_t folder_find(const char *path, pid_t pid, size_t most, char paths[][PATH_MAX])
{
    DIR *folder = opendir(path);
    struct dirent *found;
    char prefix[32];
    size_t have = 0;
    if (!folder)
        die(path);
    snprintf(prefix, sizeof prefix, "%d-", (int)pid);
    while ((found = readdir(folder))) {
        size_t length = strlen(found->d_name), suffix = strlen(TRACE_FILE_SUFFIX);
        if (length < suffix || strcmp(found->d_name + length - suffix, TRACE_FILE_SUFFIX) != 0 ||
            (pid && strncmp(found->d_name, prefix, strlen(prefix)) != 0))
            continue;
        if (have < most && snprintf(paths[have], PATH_MAX, "%s/%s", path, found->d_name) >= PATH_MAX)
            die("path too long");
        have++;
    }
    closedir(folder);
    return have;
}

void folder_traces(const char *path, pid_t pid, size_t count, char paths[][PATH_MAX])
{
    size_t have = folder_find(path, pid, count, paths);
    if (have != count) {
        fprintf(stderr, "fixture: %zu traces in %s, expected %zu\n", have, path, count);
        abort();
    }
}

bool read_all(struct trace_reader *reader, struct seen *seen, void (*each)(const struct trace_item *, void *),
              void *context)
{
    struct trace_item item;
    memset(seen, 0, sizeof *seen);
    if (!reader)
        return false;
    while (trace_reader_next(reader, &item)) {
        seen->of_type[item.record->type % 32]++;
        if (each)
            each(&item, context);
    }
    seen->stats = *trace_reader_stats(reader);
    seen->counters = *trace_reader_counters(reader);
    seen->slots = trace_reader_slot_count(reader);
    for (size_t i = 0; i < seen->slots; i++) {
        seen->slot_drops += trace_reader_slot(reader, i)->records_dropped;
        seen->slot_calls += trace_reader_slot(reader, i)->calls_begun;
    }
    trace_reader_close(reader);
    return true;
}

bool read_path(const char *path, struct seen *seen, void (*each)(const struct trace_item *, void *), void *context)
{
    struct trace_error error;
    struct trace_reader *reader = trace_reader_open(path, &error);
    if (!reader)
        fprintf(stderr, "%s\n", error.text);
    return read_all(reader, seen, each, context);
}

int in_child(void (*body)(const char *folder), const char *folder, pid_t *pid)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        body(folder);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid");
    if (pid)
        *pid = child;
    return status;
}

/* ---- blocks by hand ---- */

struct trace_block_header *builder_header(struct builder *builder)
{
    return (struct trace_block_header *)(void *)(builder->bytes + builder->block);
}

struct trace_record *builder_record(struct builder *builder, uint32_t offset)
{
    return (struct trace_record *)(void *)(builder->bytes + builder->block + offset);
}

void builder_block(struct builder *builder, enum trace_block_kind kind)
{
    unsigned char *bytes = aligned_alloc(64, builder->size + TRACE_BLOCK_BYTES);
    if (!bytes)
        die("memory");
    if (builder->size)
        memcpy(bytes, builder->bytes, builder->size);
    free(builder->bytes);
    builder->bytes = bytes;
    builder->block = builder->size;
    builder->size += TRACE_BLOCK_BYTES;
    memset(builder->bytes + builder->block, 0, TRACE_BLOCK_BYTES);
    *builder_header(builder) = (struct trace_block_header){.magic = TRACE_MAGIC,
                                                           .version_major = TRACE_VERSION_MAJOR,
                                                           .version_minor = TRACE_VERSION_MINOR,
                                                           .block_bytes = TRACE_BLOCK_BYTES,
                                                           .kind = kind,
                                                           .state = TRACE_BLOCK_OPEN,
                                                           .process_id_hash = 77,
                                                           .pid = 7,
                                                           .tid = 7,
                                                           .sequence = ++builder->sequence,
                                                           .clock = TRACE_CLOCK_MONOTONIC};
    builder->position = TRACE_HEADER_BYTES;
}

uint32_t builder_add(struct builder *builder, uint16_t type, const void *content, size_t size)
{
    uint32_t offset = builder->position;
    struct trace_record *record = builder_record(builder, offset);
    size_t rounded = (size + 7) & ~(size_t)7;
    memcpy(record, content, size);
    record->type = type;
    record->size = (uint16_t)rounded;
    record->commit = trace_commit_word(builder->sequence, offset);
    if (type == TRACE_RECORD_SIGNATURE || type == TRACE_RECORD_LAUNCH_SHAPE) {
        uint64_t *id = (uint64_t *)(void *)(record + 1);
        *id = trace_hash(id + 1, (uint32_t)rounded - 16);
    }
    builder->position += (uint32_t)rounded;
    return offset;
}

uint32_t builder_signature(struct builder *builder, int64_t m)
{
    struct trace_signature signature = {.entry = 1, .m = m, .n = 2, .k = 3, .batch = 1};
    return builder_add(builder, TRACE_RECORD_SIGNATURE, &signature, sizeof signature);
}

uint32_t builder_call(struct builder *builder, uint32_t signature_offset, uint64_t call_id)
{
    struct trace_call call = {.signature_offset = signature_offset, .call_id = call_id};
    return builder_add(builder, TRACE_RECORD_CALL, &call, sizeof call);
}

uint32_t builder_text(struct builder *builder, uint16_t type, const char *text)
{
    union {
        struct trace_process process;
        struct trace_entry entry;
        struct trace_note note;
        struct trace_name name;
        unsigned char bytes[4096];
    } record;
    size_t length = strlen(text), fixed = 0;
    memset(&record, 0, sizeof record);
    switch (type) {
    case TRACE_RECORD_PROCESS:
        fixed = sizeof record.process;
        record.process.command_bytes = (uint16_t)length;
        break;
    case TRACE_RECORD_ENTRY:
        fixed = sizeof record.entry;
        record.entry.id = 1;
        record.entry.name_bytes = (uint32_t)length;
        break;
    case TRACE_RECORD_NOTE:
        fixed = sizeof record.note;
        record.note.text_bytes = (uint32_t)length;
        break;
    case TRACE_RECORD_NAME:
        fixed = sizeof record.name;
        record.name.id = trace_hash(text, (uint32_t)length);
        record.name.name_bytes = record.name.full_bytes = (uint32_t)length;
        break;
    default:
        die("type without text");
    }
    memcpy(record.bytes + fixed, text, length);
    return builder_add(builder, type, &record, fixed + length);
}

uint32_t builder_groups(struct builder *builder, uint32_t count)
{
    struct {
        struct trace_groups fixed;
        struct trace_group group[8];
    } record = {.fixed = {.count = count}};
    for (uint32_t i = 0; i < count; i++)
        record.group[i] = (struct trace_group){.m = i + 1, .n = 2, .k = 3, .batch = 1};
    record.fixed.id = trace_hash(record.group, count * (uint32_t)sizeof *record.group);
    return builder_add(builder, TRACE_RECORD_GROUPS, &record, sizeof record.fixed + count * sizeof *record.group);
}

union sum_record {
    struct trace_sum_process process;
    struct trace_sum_calls calls;
    struct trace_sum_kernels kernels;
    struct trace_sum_shape_kernels shape_kernels;
    struct trace_sum_helper helper;
    struct trace_sum_device device;
    struct trace_sum_busy busy;
    struct trace_sum_activity activity;
    struct trace_sum_sequence sequence;
    struct trace_sample sample;
    unsigned char bytes[512];
};

/* A launch and its shape. Returns the bytes that both take. */
static size_t fill_sample(struct trace_sample *sample)
{
    struct trace_launch launch = {.record = {.type = TRACE_RECORD_LAUNCH, .size = sizeof launch}};
    struct trace_launch_shape shape = {.record = {.type = TRACE_RECORD_LAUNCH_SHAPE, .size = sizeof shape}};
    sample->record_bytes = sizeof launch;
    sample->content_bytes = sizeof shape;
    memcpy(sample->bytes, &launch, sizeof launch);
    memcpy(sample->bytes + sizeof launch, &shape, sizeof shape);
    return sizeof launch + sizeof shape;
}

uint32_t builder_sum(struct builder *builder, uint16_t type, uint32_t signature_offset)
{
    union sum_record record = {0};
    size_t size = record_type_find(type)->least_bytes;
    if (type == TRACE_RECORD_SUM_CALLS) {
        record.calls.signature_offset = signature_offset;
        record.calls.groups_known = 1;
    } else if (type == TRACE_RECORD_SUM_KERNELS) {
        record.kernels.of_call = 1;
        record.kernels.bucket_count = 2;
        record.kernels.buckets[0] = 30ull << TRACE_SUMS_BUCKET_SHIFT | 5;
        record.kernels.buckets[1] = 40ull << TRACE_SUMS_BUCKET_SHIFT | 7;
        size += 2 * sizeof record.kernels.buckets[0];
    } else if (type == TRACE_RECORD_SUM_SHAPE_KERNELS) {
        record.shape_kernels.shape_id = 3;
        record.shape_kernels.bucket_count = 2;
        record.shape_kernels.buckets[0] = 30ull << TRACE_SUMS_BUCKET_SHIFT | 5;
        record.shape_kernels.buckets[1] = 40ull << TRACE_SUMS_BUCKET_SHIFT | 7;
        size += 2 * sizeof record.shape_kernels.buckets[0];
    } else if (type == TRACE_RECORD_SUM_HELPER) {
        record.helper = (struct trace_sum_helper){.shape_id = 3, .served_id = 4, .served = 2, .launches = 5};
    } else if (type == TRACE_RECORD_SUM_BUSY) {
        record.busy.count = 2;
        record.busy.stretches[0] = (struct trace_stretch){10, 20, 5};
        record.busy.stretches[1] = (struct trace_stretch){30, 40, 10};
        size += 2 * sizeof record.busy.stretches[0];
    } else if (type == TRACE_RECORD_SUM_ACTIVITY) {
        record.activity.count = 2;
        record.activity.stretches[0] = (struct trace_stretch){10, 20, 5};
        record.activity.stretches[1] = (struct trace_stretch){30, 40, 10};
        size += 2 * sizeof record.activity.stretches[0];
    } else if (type == TRACE_RECORD_SUM_SEQUENCE) {
        record.sequence.kind = TRACE_SEQUENCE_SIBLINGS;
        record.sequence.count = 3;
    } else if (type == TRACE_RECORD_SAMPLE) {
        size += fill_sample(&record.sample);
    }
    return builder_add(builder, type, &record, size);
}

void builder_end(struct builder *builder)
{
    struct trace_end end = {.ticks = 1};
    builder_add(builder, TRACE_RECORD_END, &end, sizeof end);
}

void builder_seal(struct builder *builder)
{
    struct trace_block_header *header = builder_header(builder);
    header->used_bytes = builder->position;
    header->checksum = trace_checksum(header, header->used_bytes);
    header->state = TRACE_BLOCK_SEALED;
}

void builder_free(struct builder *builder)
{
    free(builder->bytes);
    memset(builder, 0, sizeof *builder);
}

void builder_small(struct builder *builder, unsigned count)
{
    builder_block(builder, TRACE_BLOCK_RECORDS);
    builder_text(builder, TRACE_RECORD_PROCESS, "a.out");
    builder_text(builder, TRACE_RECORD_ENTRY, "cublasSgemm_v2");
    uint32_t signature = builder_signature(builder, 1);
    for (unsigned i = 1; i <= count; i++)
        builder_call(builder, signature, i);
    builder_end(builder);
    builder_seal(builder);
}
