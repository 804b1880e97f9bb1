/* SPDX-License-Identifier: Apache-2.0 */
/* replay KIND FOLDER [--ticks=N] [--kill] FILE...: hands the blocks of trace files to a sink, as the collector would, one of
 * each file in turn, and so makes the same session once more. KIND is aggregate, or a number of bytes for rotation; then the
 * folder must not be larger after any block. With --ticks the sink is told of a second after every N blocks; with --kill the
 * program ends when all blocks are in, as if it were killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/aggregate_sink.h"
#include "collect/rotation_sink.h"
#include "trace/trace.h"

struct input {
    FILE *file;
    struct sink_process *process;
    unsigned slots;
};

static uint64_t most; /* bytes of the folder; 0: not bounded */
static const char *folder;
static uint64_t now_ns = 1000000000;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "replay: %s %s: %s\n", what, which, strerror(errno));
    exit(2);
}

static void check_size(void)
{
    uint64_t bytes = 0;
    DIR *entries = most ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        struct stat found;
        if (!fstatat(dirfd(entries), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) && S_ISREG(found.st_mode))
            bytes += (uint64_t)found.st_size;
    }
    if (entries)
        closedir(entries);
    if (bytes > most) {
        fprintf(stderr, "replay: %s holds %llu bytes, %llu are allowed\n", folder, (unsigned long long)bytes,
                (unsigned long long)most);
        exit(1);
    }
}

/* False: the file has ended. */
static bool next_block(struct sink *sink, struct input *input)
{
    static _Alignas(64) unsigned char block[TRACE_BLOCK_BYTES];
    const struct trace_block_header *header = (const void *)block;
    while (fread(block, 1, sizeof block, input->file) == sizeof block) {
        if (header->magic != TRACE_MAGIC || header->state == TRACE_BLOCK_FREE)
            continue;
        bool good = header->kind == TRACE_BLOCK_SLOTS ? sink->slots(input->process, input->slots++, block)
                                                      : sink->records(input->process, block);
        if (!good)
            fail("a block is lost in", folder);
        check_size();
        return true;
    }
    return false;
}

static void replay(struct sink *sink, struct input *inputs, int count, long ticks)
{
    long blocks = 0;
    for (int open = count; open;) {
        open = 0;
        for (int i = 0; i < count; i++) {
            if (!next_block(sink, &inputs[i]))
                continue;
            open++;
            if (ticks && ++blocks % ticks == 0 && !sink->tick(sink, now_ns += 1000000000))
                fail("a tick failed in", folder);
        }
    }
}

int main(int count, char **arguments)
{
    bool kill = false;
    long ticks = 0;
    int first = 3;
    for (; first < count && arguments[first][0] == '-'; first++) {
        if (!strcmp(arguments[first], "--kill"))
            kill = true;
        else
            ticks = atol(arguments[first] + strlen("--ticks="));
    }
    if (count <= first)
        return 2;
    folder = arguments[2];
    most = strcmp(arguments[1], "aggregate") ? strtoull(arguments[1], NULL, 10) : 0;
    struct sink *sink = most ? rotation_sink_make(folder, most) : aggregate_sink_make(folder);
    int files = count - first;
    struct input *inputs = calloc((size_t)files, sizeof *inputs);
    for (int i = 0; sink && inputs && i < files; i++) {
        const char *path = arguments[first + i], *slash = strrchr(path, '/');
        inputs[i].file = fopen(path, "rb");
        inputs[i].process = inputs[i].file ? sink->open(sink, slash ? slash + 1 : path) : NULL;
        if (!inputs[i].process)
            fail("cannot open", path);
    }
    if (!sink || !inputs)
        fail("no sink in", folder);
    replay(sink, inputs, files, ticks);
    if (kill)
        _exit(0);
    for (int i = 0; i < files; i++) {
        fclose(inputs[i].file);
        sink->close(inputs[i].process, true);
    }
    sink->end(sink);
    free(inputs);
    return 0;
}
