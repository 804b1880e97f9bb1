/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL at random instants. The producer bumps a counter in memory that outlives it after each commit; every call that
 * was witnessed so must be in the trace, whole, and the calls of a thread without a gap. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "producer.h"
#include "trace_fixture.h"

enum { INSTANTS = 200, THREADS = 3, LATEST_US = 15000 };

struct witness {
    uint64_t committed[THREADS];
};
static struct witness *witness;

static void *produce(void *number)
{
    intptr_t index = (intptr_t)number;
    struct trace_thread *thread = trace_thread_get();
    CHECK(thread);
    for (uint64_t i = 1;; i++) {
        struct trace_signature signature = {.entry = 1, .m = (int64_t)(i % 23)};
        struct trace_call *call;
        uint64_t id;
        uint32_t offset;
        while (!(call = trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                           TRACE_RECORD_CALL, sizeof *call, &id, &offset)))
            sched_yield();
        call->signature_offset = offset;
        call->duration_ticks = (uint32_t)(i % 23);
        call->stream = (uint64_t)index;
        call->operand[0] = call->operand[1] = call->operand[2] = i;
        call->start_ticks = i;
        call->call_id = i;
        trace_commit(thread, call);
        __atomic_store_n(&witness->committed[index], i, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void produce_until_killed(const char *folder)
{
    pthread_t thread;
    CHECK(trace_writer_open(folder));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread, NULL, produce, (void *)i) == 0);
    for (;;) {
        trace_writer_tend();
        struct timespec pause = {0, 200000};
        nanosleep(&pause, NULL);
    }
}

struct found {
    uint64_t count[THREADS], sum[THREADS];
};

static void count_call(const struct trace_item *item, void *context)
{
    struct found *found = context;
    if (item->record->type != TRACE_RECORD_CALL)
        return;
    const struct trace_call *call = (const void *)item->record;
    CHECK(call->stream < THREADS && call->operand[0] == call->call_id && call->start_ticks == call->call_id);
    CHECK(item->signature->m == call->duration_ticks);
    found->count[call->stream]++;
    found->sum[call->stream] += call->call_id;
}

static bool any_committed(void)
{
    for (int i = 0; i < THREADS; i++)
        if (__atomic_load_n(&witness->committed[i], __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static void pause_us(unsigned us)
{
    struct timespec delay = {0, (long)us * 1000};
    nanosleep(&delay, NULL);
}

/* The delay counts from the first call, or from the fork: then the kill may come while the trace is opened. Returns the
 * calls that were found in its trace. */
static uint64_t kill_one(const char *folder, unsigned delay_us, bool from_first_call)
{
    char path[1][PATH_MAX];
    struct found found = {{0}, {0}};
    struct seen seen;
    uint64_t calls = 0;
    memset(witness, 0, sizeof *witness);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        produce_until_killed(folder);
        _exit(1);
    }
    while (from_first_call && !any_committed())
        pause_us(50);
    pause_us(delay_us);
    int status;
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (folder_find(folder, child, 1, path) == 0) { /* it had not opened its trace yet */
        CHECK(!any_committed());
        return 0;
    }
    CHECK(read_path(path[0], &seen, count_call, &found));
    CHECK(seen.stats.records_damaged == 0);
    CHECK(seen.stats.blocks_damaged == 0);
    CHECK(seen.stats.cut_short);
    for (int i = 0; i < THREADS; i++) {
        uint64_t n = found.count[i];
        CHECK(n >= witness->committed[i] && n <= witness->committed[i] + 1);
        CHECK(found.sum[i] == n * (n + 1) / 2); /* 1 to n, none missing */
        calls += n;
    }
    CHECK(unlink(path[0]) == 0);
    return calls;
}

int main(void)
{
    char folder[PATH_MAX];
    unsigned seed = 1;
    uint64_t calls = 0, empty = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = (unsigned)time(NULL);
    witness = mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(witness != MAP_FAILED);
    folder_make(folder);
    srand(seed);
    for (int i = 0; i < INSTANTS; i++) {
        uint64_t found = kill_one(folder, (unsigned)rand() % LATEST_US, i % 8 != 0);
        calls += found;
        empty += found == 0;
    }
    folder_remove(folder);
    printf("%d kills (seed %u): %llu calls, all that were witnessed; %llu before the first call\n", INSTANTS, seed,
           (unsigned long long)calls, (unsigned long long)empty);
    CHECK(empty < INSTANTS / 2 && calls > INSTANTS);
    return 0;
}
