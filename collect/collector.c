/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, in rounds: new rings, what is sealed in each, whose owner has ended. A round that found something is followed
 * by another soon. */
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/descriptors.h"
#include "collect/loss_book.h"
#include "collect/ring.h"
#include "collect/ring_folder.h"
#include "trace/refusals.h"
#include "trace/ring_control.h"
#include "trace/trace_name.h"

enum {
    ROUND_SHORTEST_MS = 2,
    ROUND_LONGEST_MS = 20,
    ROUND_IDLE_MS = 100, /* after IDLE_ROUNDS of the longest without any ring */
    IDLE_ROUNDS = 250,
    OWNER_LOOK_MS = 20,
    FAR_OWNER_LOOK_MS = 1000, /* of one in another pid namespace: all of /proc is read */
    FAR_QUIET_LOOKS = 2,      /* that must find no one who has it mapped */
    SLOTS_MS = 1000,
    TICK_MS = 1000,
};

struct collector_state {
    uint32_t settled;
    uint32_t rings_alive;
    uint64_t blocks, records_lost;
    int32_t lost_errno;
};

struct collected {
    struct collected *next;
    struct ring ring;
    struct sink_process *process;
    uint64_t owner_looked_ns, slots_taken_ns;
    unsigned far_looks;
    bool other_clock; /* its owner is in another time namespace: start times don't compare */
    struct collection *all;
    bool gone;
};

struct collection {
    const char *ring_folder;
    int folder; /* descriptor of it */
    struct ring_control *control;
    struct sink *sink;
    struct collected *rings;
    struct loss_book losses;
    struct collector_state *state;
    uint64_t now_ns, ticked_ns;
    bool outlived; /* the launcher has ended, or is about to */
};

/* ---- one ring ---- */

static void take_records(void *context, const unsigned char *block)
{
    struct collected *one = context;
    struct collection *all = one->all;
    ring_control_beat(all->control);
    if (one->process && !all->sink->records(one->process, block))
        loss_book_add(&all->losses, one->ring.name, block, errno);
    all->state->blocks++;
}

static void take_slots(void *context, unsigned index, const unsigned char *block)
{
    struct collected *one = context;
    if (one->process && !one->all->sink->slots(one->process, index, block)) {
        /* what they tell is lost only if the last of them is: then the trace says less than its records do */
    }
}

static struct ring_taker taker_of(struct collected *one)
{
    return (struct ring_taker){take_records, take_slots, one};
}

static uint32_t drain(struct collected *one)
{
    struct collection *all = one->all;
    struct ring_taker taker = taker_of(one);
    bool slots = all->now_ns - one->slots_taken_ns >= SLOTS_MS * UINT64_C(1000000);
    if (slots)
        one->slots_taken_ns = all->now_ns;
    return ring_drain(&one->ring, &taker, all->now_ns, slots);
}

static bool is_later(const struct collected *other, const struct collected *one)
{
    const struct owner *a = &other->ring.owner, *b = &one->ring.owner;
    return a->pid == b->pid && a->start == b->start && a->pid_namespace == b->pid_namespace && one->ring.begun_ticks &&
           other->ring.begun_ticks > one->ring.begun_ticks;
}

/* A later ring of the same process: it has begun a new program, and the old one's memory is gone. */
static bool was_replaced(const struct collected *one)
{
    for (const struct collected *other = one->all->rings; other; other = other->next)
        if (is_later(other, one))
            return true;
    return false;
}

static bool far_owner_ended(struct collected *one)
{
    one->far_looks = owner_any_maps(one->ring.device, one->ring.inode) ? 0 : one->far_looks + 1;
    return one->far_looks >= FAR_QUIET_LOOKS;
}

static bool near_owner_ended(struct collected *one)
{
    const struct ring *ring = &one->ring;
    if (owner_lives(&ring->owner))
        return false;
    one->other_clock = owner_maps(&ring->owner, ring->device, ring->inode);
    return !one->other_clock;
}

static bool owner_ended(struct collected *one)
{
    bool near = owner_is_near(&one->ring.owner) && !one->other_clock;
    uint64_t now_ns = one->all->now_ns, period_ms = near ? OWNER_LOOK_MS : FAR_OWNER_LOOK_MS;
    if (now_ns - one->owner_looked_ns < period_ms * 1000000)
        return false;
    one->owner_looked_ns = now_ns;
    return was_replaced(one) || (near ? near_owner_ended(one) : far_owner_ended(one));
}

/* Only what has been taken whole is removed. */
static void take_rest(struct collected *one)
{
    struct collection *all = one->all;
    struct ring_taker taker = taker_of(one);
    ring_drain_rest(&one->ring, &taker);
    if (one->process)
        all->sink->close(one->process, true);
    unlinkat(all->folder, one->ring.name, 0);
    ring_close(&one->ring);
    one->gone = true;
}

/* ---- all of them ---- */

static bool is_known(const struct collection *all, const char *name)
{
    for (const struct collected *one = all->rings; one; one = one->next)
        if (strcmp(one->ring.name, name) == 0)
            return true;
    return false;
}

/* One that can't be opened now may be so the next time: descriptors come back. */
static void add_ring(struct collection *all, const char *name)
{
    struct collected *one = calloc(1, sizeof *one);
    if (!one || !ring_open(&one->ring, all->folder, name)) {
        free(one);
        return;
    }
    one->all = all;
    one->process = all->sink->open(all->sink, name);
    if (!one->process)
        refusals_add_process(all->losses.folder, one->ring.owner.pid, errno ? errno : EIO);
    one->next = all->rings;
    all->rings = one;
}

static void find_rings(struct collection *all)
{
    int again = openat(all->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again < 0 ? NULL : fdopendir(again);
    if (!listing && again >= 0)
        close(again);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (trace_name_is_trace(entry->d_name) && !is_known(all, entry->d_name))
            add_ring(all, entry->d_name);
    if (listing)
        closedir(listing);
}

static void drop_gone(struct collection *all)
{
    for (struct collected **link = &all->rings; *link;) {
        struct collected *one = *link;
        if (one->gone) {
            *link = one->next;
            free(one);
        } else {
            link = &one->next;
        }
    }
}

static void tick(struct collection *all)
{
    if (all->now_ns - all->ticked_ns < TICK_MS * UINT64_C(1000000))
        return;
    all->ticked_ns = all->now_ns;
    all->sink->tick(all->sink, all->now_ns);
    loss_book_write(&all->losses);
}

static void publish(struct collection *all)
{
    uint32_t alive = 0;
    for (const struct collected *one = all->rings; one; one = one->next)
        alive++;
    all->state->rings_alive = alive;
    all->state->records_lost = all->losses.records;
    all->state->lost_errno = all->losses.first_errno;
}

/* How many blocks it found. AT_ONCE: no owner is spared a look because there was one lately. */
static uint32_t do_round(struct collection *all, bool at_once)
{
    uint32_t blocks = 0;
    find_rings(all);
    for (struct collected *one = all->rings; one; one = one->next) {
        all->now_ns = ring_control_now_ns();
        ring_control_beat(all->control);
        blocks += drain(one);
        if (at_once)
            one->owner_looked_ns = 0;
        if (owner_ended(one))
            take_rest(one);
    }
    drop_gone(all);
    all->now_ns = ring_control_now_ns();
    ring_control_beat(all->control);
    tick(all);
    publish(all);
    return blocks;
}

/* ---- the process ---- */

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void settle_in(int gate)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "rooftap-collect");
    if (chdir("/") != 0) {
        /* then a folder stays in use that somebody may want to unmount */
    }
    descriptors_close_others(gate);
    raise_file_limit();
}

/* Once the launcher is gone there is nothing to hear from it any more. */
static void wait_round(struct collection *all, int gate, int wait_ms)
{
    struct pollfd gate_end = {.fd = all->outlived ? -1 : gate, .events = POLLIN};
    if (poll(&gate_end, 1, wait_ms) > 0)
        all->outlived = true;
}

static void serve(struct collection *all, int gate)
{
    int wait_ms = ROUND_SHORTEST_MS, idle = 0;
    for (;;) {
        bool outlived = all->outlived; /* before the round, which then is one behind the target's end */
        bool last = outlived && !all->state->settled;
        uint32_t blocks = do_round(all, last);
        if (last && !all->rings && ring_folder_remove(all->ring_folder))
            break;
        if (last)
            __atomic_store_n(&all->state->settled, 1, __ATOMIC_RELEASE);
        else if (outlived && !all->rings && ring_folder_remove(all->ring_folder))
            break;
        idle = all->rings ? 0 : idle + 1;
        wait_ms = blocks ? ROUND_SHORTEST_MS : wait_ms * 2;
        if (wait_ms > ROUND_LONGEST_MS)
            wait_ms = idle > IDLE_ROUNDS ? ROUND_IDLE_MS : ROUND_LONGEST_MS;
        wait_round(all, gate, wait_ms);
    }
}

/* One collector at a time: the lock goes with the process. -1 with errno set. */
static int take_lock(int folder)
{
    int fd = openat(folder, RING_CONTROL_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

static bool open_session(struct collection *all)
{
    all->control = ring_control_map(all->ring_folder);
    if (!all->control)
        return false;
    all->folder = open(all->ring_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (all->folder >= 0 && take_lock(all->folder) >= 0) {
        all->control->collector_pid = (uint32_t)getpid();
        all->sink->control = all->control;
        return true;
    }
    int why = errno;
    if (all->folder >= 0)
        close(all->folder);
    ring_control_unmap(all->control);
    errno = why;
    return false;
}

static void end_session(struct collection *all)
{
    for (struct collected *one = all->rings; one; one = one->next) {
        if (one->process)
            all->sink->close(one->process, false);
        ring_close(&one->ring);
        one->gone = true;
    }
    drop_gone(all);
    all->sink->tick(all->sink, all->now_ns);
    if (all->sink->end)
        all->sink->end(all->sink);
    loss_book_write(&all->losses);
}

static void run(struct collection *all, int gate)
{
    settle_in(gate);
    if (open_session(all)) {
        serve(all, gate);
        end_session(all);
        publish(all);
    }
    __atomic_store_n(&all->state->settled, 1, __ATOMIC_RELEASE);
    _exit(0);
}

/* ---- the caller's process ---- */

bool collector_start(struct collector *collector, const char *ring_folder, const char *session_folder,
                     struct sink *sink)
{
    int gate[2];
    *collector = (struct collector){.gate = -1};
    struct collector_state *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return false;
    if (pipe2(gate, O_CLOEXEC) != 0) {
        munmap(state, sizeof *state);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        static struct collection all;
        all = (struct collection){.ring_folder = ring_folder, .sink = sink, .state = state};
        loss_book_open(&all.losses, session_folder);
        sink->losses = &all.losses;
        close(gate[1]);
        run(&all, gate[0]);
    }
    int why = errno;
    close(gate[0]);
    if (pid < 0) {
        close(gate[1]);
        munmap(state, sizeof *state);
        errno = why;
        return false;
    }
    *collector = (struct collector){.pid = pid, .gate = gate[1], .state = state};
    return true;
}

static struct collector_result result_of(const struct collector_state *state)
{
    return (struct collector_result){
        .settled = __atomic_load_n(&state->settled, __ATOMIC_ACQUIRE) != 0,
        .rings_alive = state->rings_alive,
        .blocks = state->blocks,
        .records_lost = state->records_lost,
        .lost_errno = state->lost_errno,
    };
}

/* True once it has ended and was reaped, or somebody else has. */
static bool has_ended(pid_t pid)
{
    pid_t found = waitpid(pid, NULL, WNOHANG);
    return found == pid || (found < 0 && errno == ECHILD);
}

struct collector_result collector_finish(struct collector *collector, int wait_ms)
{
    const struct timespec step = {0, 1000000};
    if (!collector->pid)
        return (struct collector_result){.settled = true};
    close(collector->gate);
    const uint64_t until_ns = ring_control_now_ns() + (uint64_t)wait_ms * 1000000;
    while (!has_ended(collector->pid) && ring_control_now_ns() < until_ns) { /* on a busy machine each step is longer */
        if (__atomic_load_n(&collector->state->settled, __ATOMIC_ACQUIRE) && collector->state->rings_alive)
            break; /* it stays for them */
        nanosleep(&step, NULL);
    }
    struct collector_result result = result_of(collector->state);
    munmap(collector->state, sizeof *collector->state);
    *collector = (struct collector){.gate = -1};
    return result;
}

bool collector_collect_once(const char *ring_folder, const char *session_folder, struct sink *sink,
                            struct collector_result *result)
{
    static struct collection all;
    static struct collector_state state;
    all = (struct collection){.ring_folder = ring_folder, .sink = sink, .state = &state};
    loss_book_open(&all.losses, session_folder);
    sink->losses = &all.losses;
    raise_file_limit();
    if (!open_session(&all)) {
        int why = errno;
        if (sink->end)
            sink->end(sink);
        errno = why;
        return false;
    }
    const struct timespec pause = {1, 100000000};
    do_round(&all, true);
    for (int i = 1; i < FAR_QUIET_LOOKS && all.rings; i++) { /* owners that are far are looked for more than once */
        nanosleep(&pause, NULL);
        do_round(&all, true);
    }
    if (!all.rings)
        ring_folder_remove(ring_folder);
    uint32_t alive = state.rings_alive;
    end_session(&all);
    publish(&all);
    state.settled = 1;
    *result = result_of(&state);
    result->rings_alive = alive;
    return true;
}
