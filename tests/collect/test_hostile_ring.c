/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of which nothing is to be believed: a good one with words changed at random, one that is changed and cut while it is
 * read, and such as are no ring at all. Nothing may crash, loop or come out that no header vouches for. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "hostile.h"
#include "trace_fixture.h"

enum { ROUNDS = 1500, LIVE_ROUNDS = 300, BLOCKS = 6 };

static const char name[] = "7-8-0123456789abcdef.trace";
static uint64_t state = 0x9e3779b97f4a7c15ull; /* the same sequence each time */

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Slots, then blocks of calls: sealed, open, drained and free ones. */
static void build(struct builder *builder)
{
    static const uint32_t states[BLOCKS] = {TRACE_BLOCK_OPEN,    TRACE_BLOCK_SEALED, TRACE_BLOCK_SEALED,
                                            TRACE_BLOCK_DRAINED, TRACE_BLOCK_OPEN,   TRACE_BLOCK_FREE};
    for (int i = 0; i < BLOCKS; i++) {
        builder_block(builder, i ? TRACE_BLOCK_RECORDS : TRACE_BLOCK_SLOTS);
        if (i) {
            uint32_t signature = builder_signature(builder, i);
            for (uint64_t call = 0; call < 100; call++)
                builder_call(builder, signature, (uint64_t)i << 40 | call);
            builder_seal(builder);
        }
        builder_header(builder)->state = states[i];
    }
}

static void put(int at, const unsigned char *bytes, size_t size)
{
    int fd = openat(at, name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* Mostly in headers, where words decide something. */
static void spoil(unsigned char *bytes, size_t size)
{
    for (uint64_t i = 0, count = 1 + next_random() % 8; i < count; i++) {
        size_t block = next_random() % (size / TRACE_BLOCK_BYTES) * TRACE_BLOCK_BYTES;
        size_t at =
            block + (next_random() % 4 ? next_random() % TRACE_HEADER_BYTES : next_random() % TRACE_BLOCK_BYTES);
        uint32_t word = next_random() % 2 ? (uint32_t)next_random() : (uint32_t)(next_random() % 5);
        memcpy(bytes + at / 4 * 4, &word, sizeof word);
    }
}

static void test_good_ring(int at, const char *folder, const struct builder *builder)
{
    struct taken taken = {0};
    put(at, builder->bytes, builder->size);
    hostile_drain(at, folder, name, &taken);
    CHECK(taken.blocks == 3 && taken.slots == 2); /* two sealed, one open at the end */
    struct taken again = {0};
    hostile_drain(at, folder, name, &again);
    CHECK(again.blocks == 0);
}

static void test_spoilt_rings(int at, const char *folder, const struct builder *builder)
{
    unsigned char *bytes = malloc(builder->size);
    struct taken taken = {0};
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(bytes, builder->bytes, builder->size);
        spoil(bytes, builder->size);
        put(at, bytes, i % 7 ? builder->size : next_random() % builder->size);
        hostile_drain(at, folder, name, &taken);
    }
    CHECK(taken.blocks > 0);
    free(bytes);
}

struct scribbler {
    int fd;
    size_t size;
    const unsigned char *good;
    uint32_t stop;
};

static void *scribble(void *argument)
{
    struct scribbler *scribbler = argument;
    unsigned seed = 1;
    while (!__atomic_load_n(&scribbler->stop, __ATOMIC_RELAXED)) {
        size_t block = (size_t)rand_r(&seed) % BLOCKS * TRACE_BLOCK_BYTES;
        uint32_t word = (uint32_t)rand_r(&seed) % 5;
        if (rand_r(&seed) % 16 == 0)
            CHECK(ftruncate(scribbler->fd, (off_t)((size_t)rand_r(&seed) % scribbler->size)) == 0);
        if (rand_r(&seed) % 4 == 0)
            CHECK(pwrite(scribbler->fd, scribbler->good, scribbler->size, 0) == (ssize_t)scribbler->size);
        CHECK(pwrite(scribbler->fd, &word, sizeof word, (off_t)(block + (size_t)rand_r(&seed) % 32 * 4)) ==
              sizeof word);
    }
    return NULL;
}

static void test_changed_while_read(int at, const char *folder, const struct builder *builder)
{
    pthread_t thread;
    struct taken taken = {0};
    put(at, builder->bytes, builder->size);
    struct scribbler scribbler = {openat(at, name, O_RDWR), builder->size, builder->bytes, 0};
    CHECK(scribbler.fd >= 0 && pthread_create(&thread, NULL, scribble, &scribbler) == 0);
    for (int i = 0; i < LIVE_ROUNDS; i++)
        hostile_drain(at, folder, name, &taken);
    __atomic_store_n(&scribbler.stop, 1, __ATOMIC_RELAXED);
    CHECK(pthread_join(thread, NULL) == 0);
    close(scribbler.fd);
}

static void test_no_rings(int at, const char *folder)
{
    struct ring ring;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(unlinkat(at, name, 0) == 0);
    CHECK(!ring_open(&ring, at, "control") && !ring_open(&ring, at, "-1-2-3.trace") &&
          !ring_open(&ring, at, "1.trace"));
    CHECK(!ring_open(&ring, at, "../etc/passwd"));
    CHECK(symlink("/etc/passwd", path) == 0 && !ring_open(&ring, at, name) && unlink(path) == 0);
    CHECK(mkfifo(path, 0600) == 0 && !ring_open(&ring, at, name) && unlink(path) == 0);
    CHECK(mkdir(path, 0700) == 0 && !ring_open(&ring, at, name) && rmdir(path) == 0);
    int fd = openat(at, name, O_RDWR | O_CREAT, 0644);
    CHECK(fd >= 0 && fchmod(fd, 0644) == 0 && !ring_open(&ring, at, name)); /* others could have written in it */
    CHECK(fchmod(fd, 0600) == 0 && ring_open(&ring, at, name));
    const struct ring_taker taker = {hostile_records, hostile_slots, NULL};
    CHECK(ring_drain(&ring, &taker, 1, true) == 0 && ring_drain_rest(&ring, &taker) == 0); /* empty */
    ring_close(&ring);
    close(fd);
}

int main(void)
{
    char folder[PATH_MAX];
    struct builder builder = {0};
    folder_make(folder);
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(at >= 0);
    build(&builder);
    test_good_ring(at, folder, &builder);
    test_spoilt_rings(at, folder, &builder);
    test_changed_while_read(at, folder, &builder);
    test_no_rings(at, folder);
    close(at);
    builder_free(&builder);
    folder_remove(folder);
    return 0;
}
