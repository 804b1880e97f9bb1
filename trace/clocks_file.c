/* SPDX-License-Identifier: Apache-2.0 */
/* One block at a time in memory; each record goes to its place in the file at once, so the file needs no tending and is no
 * larger than what it holds. */
#include "trace/clocks_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trace/checksum.h"
#include "trace/clock.h"
#include "trace/side_file.h"

static bool write_at(const struct clocks_file *file, uint32_t offset, uint32_t bytes)
{
    while (bytes) {
        ssize_t done = pwrite(file->fd, file->block.bytes + offset, bytes, (off_t)(file->block_at + offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done ? errno : ENOSPC;
            return false;
        }
        offset += (uint32_t)done;
        bytes -= (uint32_t)done;
    }
    return true;
}

/* The first block is written whole, zeros included: a reader takes a shorter one for a file that was cut. */
static bool begin_block(struct clocks_file *file)
{
    memset(file->block.bytes, 0, sizeof file->block.bytes);
    file->block.header = (struct trace_block_header){
        .magic = TRACE_MAGIC,
        .version_major = TRACE_VERSION_MAJOR,
        .version_minor = TRACE_VERSION_MINOR,
        .block_bytes = TRACE_BLOCK_BYTES,
        .kind = TRACE_BLOCK_RECORDS,
        .state = TRACE_BLOCK_OPEN,
        .process_id_hash = file->process_id_hash,
        .pid = (uint32_t)getpid(),
        .tid = (uint32_t)getpid(),
        .sequence = ++file->sequence,
        .clock = TRACE_CLOCK_MONOTONIC,
        .ticks_per_second = 1000000000,
        .anchor_ticks = clock_monotonic_ns(),
        .anchor_realtime_ns = clock_realtime_ns(),
    };
    file->used = TRACE_HEADER_BYTES;
    return write_at(file, 0, TRACE_BLOCK_BYTES);
}

static bool seal(struct clocks_file *file)
{
    struct trace_block_header *header = &file->block.header;
    header->used_bytes = file->used;
    header->checksum = trace_checksum(header, file->used);
    header->state = TRACE_BLOCK_SEALED;
    return write_at(file, 0, TRACE_HEADER_BYTES);
}

bool clocks_file_open(struct clocks_file *file, const char *folder)
{
    file->fd = side_file_open(folder, TRACE_CLOCKS_FILE, O_WRONLY | O_CREAT | O_EXCL);
    if (file->fd < 0)
        return false;
    uint64_t identity[2] = {(uint64_t)getpid(), clock_realtime_ns()};
    file->process_id_hash = trace_hash(identity, sizeof identity);
    file->block_at = file->sequence = 0;
    return begin_block(file);
}

static bool add(struct clocks_file *file, struct trace_record *record, enum trace_record_type type, uint16_t size)
{
    if (file->fd < 0) {
        errno = EBADF;
        return false;
    }
    if (file->used + size > TRACE_BLOCK_BYTES) {
        if (!seal(file))
            return false;
        file->block_at += TRACE_BLOCK_BYTES;
        if (!begin_block(file))
            return false;
    }
    record->type = (uint16_t)type;
    record->size = size;
    record->commit = trace_commit_word(file->sequence, file->used);
    memcpy(file->block.bytes + file->used, record, size);
    file->used += size;
    return write_at(file, file->used - size, size);
}

bool clocks_file_add(struct clocks_file *file, struct trace_clocks *clocks)
{
    return add(file, &clocks->record, TRACE_RECORD_CLOCKS, sizeof *clocks);
}

void clocks_file_close(struct clocks_file *file)
{
    struct trace_end end = {.ticks = clock_monotonic_ns()};
    if (file->fd < 0)
        return;
    if (add(file, &end.record, TRACE_RECORD_END, sizeof end))
        seal(file);
    close(file->fd);
    file->fd = -1;
}
