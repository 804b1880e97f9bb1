/* SPDX-License-Identifier: Apache-2.0 */
/* The child holds the read end of a pipe: when the other end closes, because the target ended or this process died, it takes
 * a last reading and ends. PR_SET_PDEATHSIG covers the case that NVML keeps it from looking. */
#include "cli/clock_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/nvml.h"
#include "collect/descriptors.h"
#include "trace/clock.h"
#include "trace/clocks_file.h"

enum {
    PERIOD_MS = 200,
    LONGEST_PERIOD_MS = 60000,
    READINGS_PER_PERIOD = 2048, /* then the period doubles: a day is 16 000 readings, 1.2 MB a GPU */
    LAST_READING_MS = 250,      /* that the end waits for */
    KILL_MS = 100,              /* more, where the kernel doesn't let go of it */
};

enum stage { STAGE_OPENING, STAGE_SAMPLING, STAGE_DONE };

struct clock_sampler_state {
    uint64_t samples;
    uint32_t devices, period_ms;
    uint32_t stage;
    char why[NVML_ERROR_BYTES];
};

/* ---- the process ---- */

static void complain(struct clock_sampler_state *state, const char *text)
{
    snprintf(state->why, sizeof state->why, "%s", text);
}

static void settle_in(pid_t parent, int gate)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "rooftap-clocks");
    if (getppid() != parent) /* it ended before the line above */
        _exit(0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* a crash of NVML leaves no file in the user's folder */
    descriptors_close_others(gate);
}

/* One record a GPU. False: the file can't be written any more. */
static bool take_readings(const struct nvml *nvml, struct clocks_file *file, struct clock_sampler_state *state)
{
    for (int i = 0; i < nvml->device_count; i++) {
        const struct nvml_device *device = &nvml->devices[i];
        struct nvml_reading reading;
        uint64_t before_ns = clock_realtime_ns();
        if (!nvml_read(nvml, device, &reading))
            continue;
        uint64_t after_ns = clock_realtime_ns();
        struct trace_clocks clocks = {
            .realtime_ns = after_ns > before_ns ? before_ns + (after_ns - before_ns) / 2 : before_ns,
            .pci_domain = device->pci_domain,
            .pci_bus = device->pci_bus,
            .pci_slot = device->pci_slot,
            .period_ms = state->period_ms,
            .sm_clock_mhz = reading.sm_clock_mhz,
            .memory_clock_mhz = reading.memory_clock_mhz,
            .power_mw = reading.power_mw,
            .temperature_c = reading.temperature_c,
            .throttle_reasons = reading.throttle_reasons,
        };
        memcpy(clocks.uuid, device->uuid, sizeof clocks.uuid);
        if (!clocks_file_add(file, &clocks)) {
            complain(state, strerror(errno));
            return false;
        }
        state->samples++;
    }
    return true;
}

static bool gate_closed_within(int gate, int wait_ms)
{
    struct pollfd gate_end = {.fd = gate, .events = POLLIN};
    return poll(&gate_end, 1, wait_ms) != 0;
}

uint32_t clock_sampler_period_ms(uint64_t readings)
{
    uint32_t period_ms = PERIOD_MS;
    for (uint64_t i = READINGS_PER_PERIOD; i <= readings && period_ms < LONGEST_PERIOD_MS; i += READINGS_PER_PERIOD)
        period_ms *= 2;
    return period_ms < LONGEST_PERIOD_MS ? period_ms : LONGEST_PERIOD_MS;
}

static void sample(const struct nvml *nvml, struct clocks_file *file, int gate, struct clock_sampler_state *state)
{
    uint64_t readings = 0;
    do
        state->period_ms = clock_sampler_period_ms(readings++);
    while (take_readings(nvml, file, state) && !gate_closed_within(gate, (int)state->period_ms));
    if (!state->why[0])
        take_readings(nvml, file, state);
}

static void run(const char *folder, const char *library, const char *device_file, int gate,
                struct clock_sampler_state *state)
{
    static struct nvml nvml;
    static struct clocks_file file;
    if (device_file)
        setenv("SIMGPU_DEVICE", device_file, 1);
    unsetenv("SIMGPU_LEDGER"); /* the target's, not of this process */
    if (!nvml_open(&nvml, library)) {
        complain(state, nvml.error);
    } else if (!clocks_file_open(&file, folder)) {
        char text[NVML_ERROR_BYTES];
        snprintf(text, sizeof text, "%s can't be written: %s", TRACE_CLOCKS_FILE, strerror(errno));
        complain(state, text);
    } else {
        state->devices = (uint32_t)nvml.device_count;
        __atomic_store_n(&state->stage, STAGE_SAMPLING, __ATOMIC_RELEASE);
        sample(&nvml, &file, gate, state);
        clocks_file_close(&file);
    }
    __atomic_store_n(&state->stage, STAGE_DONE, __ATOMIC_RELEASE);
    _exit(0); /* no exit handlers: NVML's may hang too */
}

/* ---- this process ---- */

void clock_sampler_start(struct clock_sampler *sampler, const char *folder, const char *library,
                         const char *device_file)
{
    int gate[2];
    *sampler = (struct clock_sampler){.gate = -1};
    struct clock_sampler_state *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return;
    sampler->state = state;
    if (pipe2(gate, O_CLOEXEC) != 0) {
        complain(state, strerror(errno));
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(gate[1]);
        settle_in(parent, gate[0]);
        run(folder, library, device_file, gate[0], state);
    }
    close(gate[0]);
    if (pid < 0) {
        complain(state, strerror(errno));
        close(gate[1]);
        return;
    }
    sampler->pid = pid;
    sampler->gate = gate[1];
}

/* True once it has ended and was reaped. */
static bool ended_within(pid_t pid, int wait_ms, int *status)
{
    const struct timespec step = {0, 1000000};
    for (int waited = 0;; waited++) {
        pid_t found = waitpid(pid, status, WNOHANG);
        if (found == pid || (found < 0 && errno == ECHILD)) /* or somebody else has */
            return true;
        if (waited >= wait_ms)
            return false;
        nanosleep(&step, NULL);
    }
}

static const char *why_unfinished(const struct clock_sampler *sampler, int status, bool reaped)
{
    if (sampler->state->why[0])
        return sampler->state->why;
    if (reaped && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        return "NVML crashed";
    if (__atomic_load_n(&sampler->state->stage, __ATOMIC_ACQUIRE) == STAGE_OPENING)
        return "NVML was not ready before the program ended";
    return __atomic_load_n(&sampler->state->stage, __ATOMIC_ACQUIRE) == STAGE_DONE ? NULL : "NVML stopped answering";
}

struct clock_sampler_result clock_sampler_stop(struct clock_sampler *sampler, bool wanted)
{
    struct clock_sampler_result result = {.why = "no process could be made"};
    if (!sampler->state)
        return result;
    int status = 0;
    bool reaped = true;
    if (sampler->gate >= 0)
        close(sampler->gate);
    /* NVML that isn't ready now has nothing to add: don't let the caller wait for it. */
    wanted = wanted && __atomic_load_n(&sampler->state->stage, __ATOMIC_ACQUIRE) != STAGE_OPENING;
    if (sampler->pid && !ended_within(sampler->pid, wanted ? LAST_READING_MS : 0, &status)) {
        kill(sampler->pid, SIGKILL);
        reaped = ended_within(sampler->pid, KILL_MS, &status);
    }
    result.samples = sampler->state->samples;
    result.devices = sampler->state->devices;
    result.period_ms = sampler->state->period_ms;
    result.why = why_unfinished(sampler, status, reaped);
    sampler->pid = 0;
    sampler->gate = -1;
    return result;
}

void clock_sampler_free(struct clock_sampler *sampler)
{
    if (sampler->state)
        munmap(sampler->state, sizeof *sampler->state);
    sampler->state = NULL;
}
