/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a fixed length, ended by zeros: writing one again asks for no room on the disk. */
#include "trace/losses.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/side_file.h"

enum { FILE_BYTES = LOSS_BYTES * LOSS_SLOTS };

static bool put(int fd, const void *bytes, size_t size, off_t at)
{
    ssize_t wrote = pwrite(fd, bytes, size, at);
    int why = wrote < 0 ? errno : ENOSPC;
    close(fd);
    errno = why;
    return wrote == (ssize_t)size;
}

bool losses_make(const char *folder)
{
    return side_file_make(folder, TRACE_LOSSES_FILE, FILE_BYTES);
}

bool losses_set(const char *folder, unsigned index, const struct loss *loss)
{
    char text[LOSS_BYTES] = "";
    snprintf(text, sizeof text, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", loss->name,
             loss->error, loss->first_realtime_ns, loss->last_realtime_ns, loss->blocks, loss->records);
    int fd = side_file_open(folder, TRACE_LOSSES_FILE, O_WRONLY);
    return fd >= 0 && put(fd, text, sizeof text, (off_t)index * LOSS_BYTES);
}

static bool understand(const char *slot, struct loss *loss)
{
    char text[LOSS_BYTES + 1], *end;
    memcpy(text, slot, LOSS_BYTES);
    text[LOSS_BYTES] = '\0';
    char *blank = strchr(text, ' ');
    if (!blank || blank == text || blank - text >= LOSS_NAME_BYTES)
        return false;
    *blank = '\0';
    strcpy(loss->name, text);
    int64_t *const numbers[] = {&loss->error, &loss->first_realtime_ns, &loss->last_realtime_ns, &loss->blocks,
                                &loss->records};
    end = blank + 1;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = strtoll(end, &end, 10);
        if (*numbers[i] < 0)
            return false;
    }
    return *end == '\n' && loss->error > 0 && loss->error < 4096;
}

size_t losses_read(const char *folder, struct loss losses[LOSS_SLOTS])
{
    char slots[FILE_BYTES];
    size_t count = 0, bytes = side_file_read(folder, TRACE_LOSSES_FILE, slots, sizeof slots);
    for (size_t at = 0; at + LOSS_BYTES <= bytes; at += LOSS_BYTES)
        count += understand(slots + at, &losses[count]);
    return count;
}
