/* SPDX-License-Identifier: Apache-2.0 */
/* Windows are judged until one of them, but for the first, has brought a record; then nobody looks any more. */
#include "cupti/timing_delivery.h"

#include <string.h>

#include "cupti/cupti_session.h"
#include "cupti/kernel_records.h"
#include "cupti/timed_kinds.h"
#include "cupti/timing_mode.h"

enum {
    RANGES = 64,               /* windows whose records may still come */
    SILENT_WINDOWS = 3,        /* in a row, with launches and without records */
    FLUSHES_OF_OPEN = 10,      /* before one that is still open is judged: 2 s */
    FLUSHES_BEFORE_JUDGED = 2, /* after a window closed */
};
static const uint64_t trial_enough_ns = 1000000000; /* without a record */

static struct {
    uint32_t number;  /* of the newest window */
    bool proven;      /* some window but the first brought records */
    bool came;        /* some that started in the newest window, or in the trial */
    unsigned flushes; /* since it opened, or since it closed */
    bool heard;       /* something was launched while it was open */
    bool judged;
    unsigned silent; /* windows in a row */
    bool keeps_on;   /* on trial, or for good */
    bool for_good, said;
    unsigned trials;
    uint64_t trial_ns, trial_from_ns; /* its begin, also by CUPTI's clock */
} delivery;

static struct range {
    uint64_t from_ns, to_ns; /* CUPTI's clock; to 0: still open */
} ranges[RANGES];

void timing_delivery_reset(void)
{
    memset(&delivery, 0, sizeof delivery);
    memset(ranges, 0, sizeof ranges);
    kernel_records_look_at_windows(false, false);
}

static struct range *newest(void)
{
    return &ranges[delivery.number % RANGES];
}

void timing_delivery_opened(uint32_t number)
{
    delivery.number = number;
    cupti_session_take_launched_in_window();
    if (!delivery.keeps_on)
        delivery.came = false;
    if (number == 2)
        kernel_records_look_at_windows(true, false);
    delivery.judged = false;
    delivery.flushes = 0;
    *newest() = (struct range){.from_ns = cupti_session_timestamp(), .to_ns = 0};
}

void timing_delivery_closed(void)
{
    newest()->to_ns = cupti_session_timestamp();
    delivery.heard = cupti_session_take_launched_in_window();
    delivery.flushes = 0;
}

void timing_delivery_flushed(void)
{
    delivery.flushes++;
}

bool timing_delivery_keeps_on(void)
{
    return delivery.keeps_on;
}

void timing_delivery_give_up(void)
{
    delivery.keeps_on = false;
}

static bool is_in(const struct range *range, uint64_t start_ns)
{
    return range->from_ns && start_ns >= range->from_ns && (!range->to_ns || start_ns < range->to_ns);
}

bool timing_delivery_takes(uint64_t start_ns)
{
    bool inside = is_in(newest(), start_ns);
    delivery.came |= delivery.keeps_on ? start_ns >= delivery.trial_from_ns : inside;
    for (unsigned i = 0; i < RANGES && !inside; i++)
        inside = is_in(&ranges[i], start_ns);
    return inside;
}

static void say_silent(void)
{
    if (!delivery.said)
        timing_mode_happens(TIMING_MODE_SILENT);
    delivery.said = true;
}

static void begin_trial(uint64_t now_ns)
{
    if (timed_kinds_switch(true) != 0)
        return;
    delivery.keeps_on = true;
    delivery.silent = 0;
    delivery.came = false;
    delivery.trial_ns = now_ns;
    delivery.trial_from_ns = cupti_session_timestamp();
    delivery.trials++;
    kernel_records_look_at_windows(true, true);
}

/* True: it ends. Records of it may still come: what lies outside of windows stays left out. */
static bool judge_trial(uint64_t now_ns)
{
    delivery.for_good = delivery.came && delivery.trials > 1;
    if (delivery.for_good || (!delivery.came && now_ns - delivery.trial_ns >= trial_enough_ns))
        say_silent();
    if (delivery.for_good || !delivery.came)
        return false;
    delivery.keeps_on = false;
    delivery.judged = true; /* CUPTI was on before the newest window */
    return true;
}

static void judge_window(bool open, uint64_t now_ns)
{
    if (delivery.number < 2 || delivery.judged || delivery.flushes < (open ? FLUSHES_OF_OPEN : FLUSHES_BEFORE_JUDGED))
        return;
    delivery.judged = true;
    delivery.proven = delivery.came;
    delivery.heard |= open && cupti_session_take_launched_in_window();
    if (delivery.proven)
        kernel_records_look_at_windows(false, false);
    if (delivery.proven || !delivery.heard)
        return;
    delivery.silent += open ? SILENT_WINDOWS : 1; /* one that is open for long says enough */
    if (delivery.silent >= SILENT_WINDOWS)
        begin_trial(now_ns);
}

bool timing_delivery_judge(bool window_is_open, uint64_t now_ns)
{
    if (delivery.proven || delivery.for_good)
        return false;
    if (delivery.keeps_on)
        return judge_trial(now_ns) && !window_is_open;
    judge_window(window_is_open, now_ns);
    return false;
}
