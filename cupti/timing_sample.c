/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a window depends on nothing but the generator, so not on what the program does. */
#include "cupti/timing_sample.h"

#include <sys/random.h>
#include <unistd.h>

#include "trace/clock.h"

static uint64_t window_ns = TIMING_SAMPLE_WINDOW_US * 1000ull;
static uint64_t base_period_ns = TIMING_SAMPLE_WINDOW_US * 1000ull * 1000000 / TIMING_SAMPLE_BUDGET_PPM;
static uint64_t thinning = 1;
static uint64_t state; /* of the generator */

static struct {
    uint64_t length_ns, end_ns;
    uint64_t opens_ns;  /* the place that was drawn */
    uint64_t opened_ns; /* when it was found to be open; 0: not yet */
    uint64_t closes_ns;
    bool open;
} period;

/* splitmix64: S. Vigna, https://prng.di.unimi.it/splitmix64.c, in the public domain. */
static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Uniform below MOST + 1: the high half of the product, whose bias is below 2^-64 * MOST. */
static uint64_t draw(uint64_t most)
{
    return (uint64_t)((unsigned __int128)next_random() * (most + 1) >> 64);
}

void timing_sample_configure(uint64_t wanted_window_ns, uint32_t budget_ppm, uint64_t seed)
{
    uint64_t budget = budget_ppm ? budget_ppm : TIMING_SAMPLE_BUDGET_PPM;
    if (budget > 1000000)
        budget = 1000000;
    window_ns = wanted_window_ns ? wanted_window_ns : TIMING_SAMPLE_WINDOW_US * 1000ull;
    base_period_ns = (uint64_t)((unsigned __int128)window_ns * 1000000 / budget);
    thinning = 1;
    state = seed;
    if (!seed && getrandom(&state, sizeof state, GRND_NONBLOCK) != (ssize_t)sizeof state)
        state = clock_realtime_ns() ^ (uint64_t)getpid() << 40;
}

uint64_t timing_sample_window_ns(void)
{
    return window_ns;
}

uint64_t timing_sample_period_ns(void)
{
    return base_period_ns * thinning;
}

void timing_sample_thin(uint64_t factor)
{
    thinning = factor ? factor : 1;
}

static void begin_at(uint64_t begin_ns)
{
    period.length_ns = timing_sample_period_ns();
    period.end_ns = begin_ns + period.length_ns;
    period.opens_ns = begin_ns + draw(period.length_ns - window_ns);
    period.opened_ns = period.closes_ns = 0;
    period.open = false;
}

void timing_sample_begin(uint64_t now_ns)
{
    begin_at(now_ns);
}

/* Of periods that nobody looked at, as while the process was stopped, nothing is made up for. */
static void go_on_to(uint64_t now_ns)
{
    uint64_t begin_ns = period.end_ns;
    if (now_ns - begin_ns >= timing_sample_period_ns())
        begin_ns = now_ns;
    begin_at(begin_ns);
}

static void close_at(uint64_t now_ns)
{
    uint64_t over_ns = now_ns - period.opened_ns - window_ns;
    period.open = false;
    period.end_ns += (uint64_t)((unsigned __int128)over_ns * period.length_ns / window_ns);
}

bool timing_sample_is_open(uint64_t now_ns)
{
    if (period.open && now_ns >= period.closes_ns)
        close_at(now_ns);
    if (!period.open && now_ns >= period.end_ns)
        go_on_to(now_ns);
    if (!period.open && !period.opened_ns && now_ns >= period.opens_ns) {
        period.opened_ns = now_ns;
        period.closes_ns = now_ns + window_ns;
        period.open = true;
    }
    return period.open;
}

void timing_sample_opened(uint64_t now_ns)
{
    if (period.open)
        period.closes_ns = now_ns + window_ns;
}

uint64_t timing_sample_change_ns(void)
{
    return period.open ? period.closes_ns : period.opened_ns ? period.end_ns : period.opens_ns;
}
