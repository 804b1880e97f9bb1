/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on demand: SIMGPU_FAULT="cudaMalloc:2,cublasGemmEx:14:3,cudaLaunchKernel:block", and each Nth GEMM if the device
 * says so. Also the one voice for functions that the simulation doesn't have. */
#include "sim/core/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fault {
    char function[64];
    int code;
    bool block;
    unsigned nth; /* 0: each call */
    unsigned calls;
};

static struct fault *faults;
static size_t fault_count;
static pthread_once_t parsed = PTHREAD_ONCE_INIT;

static bool parse_one(const char *text, struct fault *fault)
{
    char code[16] = "";
    int end = 0;
    *fault = (struct fault){0};
    int fields = sscanf(text, "%63[^:]:%15[^:]%n:%u%n", fault->function, code, &end, &fault->nth, &end);
    if (fields < 2 || text[end])
        return false;
    if (!strcmp(code, "block"))
        fault->block = true;
    else {
        char *rest;
        fault->code = (int)strtol(code, &rest, 10);
        if (*rest || !fault->code)
            return false;
    }
    return fields == 2 || fault->nth;
}

static void parse(void)
{
    const char *setting = getenv("SIMGPU_FAULT");
    char *copy = setting && *setting ? strdup(setting) : NULL;
    if (!copy)
        return;
    size_t most = 1;
    for (const char *c = copy; *c; c++)
        most += *c == ',';
    faults = calloc(most, sizeof *faults);
    char *state, *text = faults ? strtok_r(copy, ",", &state) : NULL;
    for (; text; text = strtok_r(NULL, ",", &state)) {
        if (parse_one(text, &faults[fault_count]))
            fault_count++;
        else
            fprintf(stderr,
                    "simgpu: SIMGPU_FAULT: \"%s\" ignored, expected FUNCTION:CODE[:NTH] or FUNCTION:block[:NTH]\n",
                    text);
    }
    free(copy);
}

int simgpu_fault(const char *function)
{
    pthread_once(&parsed, parse);
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        if (strcmp(fault->function, function))
            continue;
        unsigned call = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
        if (fault->nth && call != fault->nth)
            continue;
        ledger_note("fault", "function", function);
        if (fault->block)
            sleep(3600);
        else
            return fault->code;
    }
    return 0;
}

bool simgpu_gemm_fails(const char *function)
{
    static uint64_t gemms; /* of both libraries */
    const uint64_t every = simgpu_device()->gemm_fail_every;
    if (!every || __atomic_add_fetch(&gemms, 1, __ATOMIC_RELAXED) % every)
        return false;
    ledger_note("fault", "function", function);
    return true;
}

struct said {
    struct said *next;
    char name[];
};
static struct said *said;

static bool said_before(const char *name)
{
    core_lock();
    for (struct said *s = said; s; s = s->next)
        if (!strcmp(s->name, name)) {
            core_unlock();
            return true;
        }
    struct said *s = malloc(sizeof *s + strlen(name) + 1);
    if (s) {
        strcpy(s->name, name);
        s->next = said;
        said = s;
    }
    core_unlock();
    return false;
}

void simgpu_not_supported(const char *name)
{
    simgpu_not_supported_because(name, "it returns \"not supported\"");
}

void simgpu_not_supported_because(const char *name, const char *consequence)
{
    if (said_before(name))
        return;
    fprintf(stderr, "simgpu: %s is not part of the simulated GPU; %s\n", name, consequence);
    ledger_note("not_supported", "function", name);
}
