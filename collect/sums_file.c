/* SPDX-License-Identifier: Apache-2.0 */
/* One block in memory. The first failure is kept and tried no further. */
#include "collect/sums_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/block_file.h"
#include "trace/checksum.h"
#include "trace/clock.h"
#include "trace/trace_sums.h"

static void fail(struct sums_file *file, int error)
{
    if (!file->error)
        file->error = error ? error : EIO;
}

static void write_block(struct sums_file *file, const unsigned char *block)
{
    if (file->error)
        return;
    if (block_file_write_at(file->fd, file->bytes, block, TRACE_BLOCK_BYTES))
        file->bytes += TRACE_BLOCK_BYTES;
    else
        fail(file, errno);
}

/* Ticks are ns of real time here. The anchor is one that a double holds, since readers count from it. */
static void begin_block(struct sums_file *file)
{
    const uint64_t anchor_ns = file->like.anchor_realtime_ns & ~UINT64_C(0xfff);
    memset(file->block.bytes, 0, sizeof file->block.bytes);
    file->block.header = (struct trace_block_header){
        .magic = TRACE_MAGIC,
        .version_major = TRACE_VERSION_MAJOR,
        .version_minor = TRACE_VERSION_MINOR,
        .block_bytes = TRACE_BLOCK_BYTES,
        .kind = TRACE_BLOCK_RECORDS,
        .process_id_hash = file->like.process_id_hash,
        .pid = file->like.pid,
        .tid = file->like.pid,
        .sequence = ++file->sequence,
        .clock = TRACE_CLOCK_MONOTONIC,
        .ticks_per_second = 1000000000,
        .anchor_ticks = anchor_ns,
        .anchor_realtime_ns = anchor_ns,
    };
    file->used = TRACE_HEADER_BYTES;
}

static void end_block(struct sums_file *file)
{
    struct trace_block_header *header = &file->block.header;
    if (!file->used)
        return;
    header->state = TRACE_BLOCK_SEALED;
    header->used_bytes = file->used;
    header->checksum = trace_checksum(header, file->used);
    write_block(file, file->block.bytes);
    file->used = 0;
}

void sums_file_open(struct sums_file *file, const char *folder, const char *name, const struct trace_block_header *like)
{
    file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file->name = name;
    file->like = *like;
    file->error = 0;
    file->bytes = file->used = 0;
    file->sequence = TRACE_SUMS_SEQUENCE;
    file->fd = -1;
    if (file->folder < 0)
        fail(file, errno);
    if (snprintf(file->part, sizeof file->part, "%s.part", name) >= (int)sizeof file->part)
        fail(file, ENAMETOOLONG);
    if (!file->error) {
        unlinkat(file->folder, file->part, 0); /* what a collector that was killed left */
        file->fd = openat(file->folder, file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (file->fd < 0)
        fail(file, errno);
}

static uint32_t append(struct sums_file *file, const struct trace_record *record)
{
    uint32_t at = file->used;
    struct trace_record *copy = (struct trace_record *)(file->block.bytes + at);
    memcpy(copy, record, record->size);
    copy->commit = trace_commit_word(file->sequence, at);
    file->used += record->size;
    return at;
}

void sums_file_put(void *context, const struct trace_signature *signature, struct trace_record *record)
{
    struct sums_file *file = context;
    uint32_t needed = (uint32_t)record->size + (signature ? signature->record.size : 0);
    if (!file->used || file->used + needed > TRACE_BLOCK_BYTES) {
        end_block(file);
        begin_block(file);
    }
    if (signature) {
        uint32_t at = append(file, &signature->record);
        memcpy(record + 1, &at, sizeof at);
    }
    append(file, record);
}

void sums_file_put_block(struct sums_file *file, const unsigned char *block)
{
    end_block(file);
    write_block(file, block);
}

bool sums_file_close(struct sums_file *file)
{
    end_block(file);
    if (file->fd >= 0 && close(file->fd) && !file->error)
        fail(file, errno);
    if (!file->error && renameat(file->folder, file->part, file->folder, file->name))
        fail(file, errno);
    if (file->error && file->fd >= 0)
        unlinkat(file->folder, file->part, 0);
    if (file->folder >= 0)
        close(file->folder);
    errno = file->error;
    return !file->error;
}
