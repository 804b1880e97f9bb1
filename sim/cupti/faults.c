/* SPDX-License-Identifier: Apache-2.0 */
/* The table of faults, and which of them are on. */
#include "faults.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_NUMBER = -1 };

/* clang-format off */
static const struct {
    const char *name;
    int64_t number; /* what N is when it isn't given; NO_NUMBER: it takes none */
} rows[FAULT_COUNT] = {
    [FAULT_PERMISSION]       = {"permission",       NO_NUMBER}, /* 35 for each kind (geoffxy/habitat#5) */
    [FAULT_BUSY]             = {"busy",             NO_NUMBER}, /* 26 for each kind */
    [FAULT_SUBSCRIBED]       = {"subscribed",       NO_NUMBER}, /* somebody was first: 39 (cupti_callbacks.h) */
    [FAULT_SUBSCRIBED_OLD]   = {"subscribed-old",   NO_NUMBER}, /* the same in old CUDA: 12 (tensorflow/tensorflow#37674) */
    [FAULT_STUB]             = {"stub",             NO_NUMBER}, /* a library without a driver behind it: 15, or 999 from 13.0 */
    [FAULT_NEWER]            = {"newer",            NO_NUMBER}, /* newer than the driver: 15 (CUPTI's guide, "Requirements") */
    [FAULT_NO_STRINGS]       = {"no-strings",       NO_NUMBER}, /* cuptiGetResultString: 999, *str not set (13.3) */
    [FAULT_LEAK]             = {"leak",             25000000},  /* times of graphs' kernels go wrong after N (parcagpu#23) */
    [FAULT_ZERO]             = {"zero",             10},        /* each Nth kernel: start = end = 0 (cupti_activity.h) */
    [FAULT_INVERTED]         = {"inverted",         10},        /* each Nth kernel ends before it starts */
    [FAULT_FOREIGN]          = {"foreign",          10},        /* after each Nth kernel one of an id never given out */
    [FAULT_DROPPED_UNKNOWN]  = {"dropped-unknown",  12345},     /* the query: 14 once, then N once (pytorch/pytorch#192094) */
    [FAULT_FIRST_PERIOD]     = {"first-period",     NO_NUMBER}, /* no record once a kind was switched off (tokenspeed#1348) */
    [FAULT_SECOND_SUBSCRIBE] = {"second-subscribe", NO_NUMBER}, /* the second subscription crashes (pytorch/pytorch#112507) */
    [FAULT_LATE_WRITE]       = {"late-write",       100},       /* N ms after a kind goes off its buffer is written to */
    [FAULT_POISONED]         = {"poisoned",         NO_NUMBER}, /* any call after cuptiFinalize crashes (kineto#686) */
    [FAULT_NO_NODES]         = {"no-nodes",         NO_NUMBER}, /* no callbacks of graphs */
    [FAULT_NO_UPDATES]       = {"no-updates",       NO_NUMBER}, /* none of updated nodes, as before 13.0 */
    [FAULT_SKEW]             = {"skew",             1000000},   /* CUPTI's clock, records and all, is N ns ahead (or behind) */
    [FAULT_DRIFT]            = {"drift",            20},        /* it gains N millionths of the time since the process began */
    [FAULT_EARLY]            = {"early",            40000},     /* records alone are N ns early: before their launch */
    [FAULT_FIRST_ITERATION]  = {"first-iteration",  NO_NUMBER}, /* of a WHILE nothing but the first (pytorch/kineto#1062) */
};
/* clang-format on */

static struct {
    bool on;
    int64_t number;
} state[FAULT_COUNT];
static atomic_ulong asked[FAULT_COUNT];
static pthread_once_t read_once = PTHREAD_ONCE_INIT;

static bool switch_on(const char *text, size_t length)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        size_t name = strlen(rows[i].name);
        char *end = (char *)text + name;

        if (length < name || strncmp(text, rows[i].name, name))
            continue;
        if (length == name) {
            state[i].on = true;
            state[i].number = rows[i].number;
            return true;
        }
        if (text[name] != ':' || rows[i].number == NO_NUMBER)
            continue;
        state[i].number = strtoll(text + name + 1, &end, 10);
        state[i].on = end == text + length && end > text + name + 1;
        return state[i].on;
    }
    return false;
}

static void read_setting(void)
{
    const char *text = getenv("SIMGPU_CUPTI_FAULT");

    while (text && *text) {
        size_t length = strcspn(text, ",");

        if (length && !switch_on(text, length)) {
            fprintf(stderr, "simgpu: SIMGPU_CUPTI_FAULT: \"%.*s\" is no fault; expected NAME or NAME:N of", (int)length,
                    text);
            for (unsigned i = 0; i < FAULT_COUNT; i++)
                fprintf(stderr, " %s", rows[i].name);
            fprintf(stderr, "\n");
        }
        text += length + (text[length] == ',');
    }
}

bool fault_on(enum cupti_fault fault)
{
    pthread_once(&read_once, read_setting);
    return state[fault].on;
}

int64_t fault_value(enum cupti_fault fault)
{
    return fault_on(fault) ? state[fault].number : 0;
}

bool fault_hits(enum cupti_fault fault)
{
    int64_t every = fault_value(fault);

    return every > 0 && (atomic_fetch_add(&asked[fault], 1) + 1) % (unsigned long)every == 0;
}
