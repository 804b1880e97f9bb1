/* SPDX-License-Identifier: Apache-2.0 */
/* The library in the host takes whole milliseconds and millionths; users write 1.5s and 0.5%. */
#include "cli/timing_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/time_span.h"
#include "preload/settings.h"

static bool is_until_ctl(const char *delay)
{
    return strcmp(delay, "ctl") == 0;
}

bool timing_options_check(const struct timing_options *options, const char *command)
{
    int64_t value;
    const char *mode = options->mode ? options->mode : "auto";
    bool samples = !strcmp(mode, "auto") || !strcmp(mode, "on") || !strcmp(mode, "sampled");
    bool off = !strcmp(mode, "off");
    if (options->delay && !is_until_ctl(options->delay) && !time_span_parse(options->delay, &value))
        message_error(command, "--delay is '%s'; it takes a time such as 5s, 500ms or 2min, or ctl", options->delay);
    else if (options->duration && (!time_span_parse(options->duration, &value) || value == 0))
        message_error(command, "--duration is '%s'; it takes a time such as 5s, 500ms or 2min, more than 0",
                      options->duration);
    else if (options->sample_budget && (!percent_parse(options->sample_budget, &value) || value == 0))
        message_error(command, "--sample-budget is '%s'; it takes percent, from 0.0001 to 100", options->sample_budget);
    else if (options->sample_budget && !samples)
        message_error(command, "--sample-budget needs --timing sampled or auto, not %s", mode);
    else if (options->max_overhead && (!percent_parse(options->max_overhead, &value) || value == 0))
        message_error(command, "--max-overhead is '%s'; it takes percent, from 0.0001 to 100", options->max_overhead);
    else if ((options->delay || options->duration) && off)
        message_error(command, "%s needs timing, which --timing off switches off",
                      options->delay ? "--delay" : "--duration");
    else
        return true;
    return false;
}

static bool set_number(struct environment *environment, const char *variable, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return environment_set(environment, variable, text);
}

bool timing_options_set_environment(const struct timing_options *options, struct environment *environment)
{
    int64_t value = SETTING_DELAY_NEVER_MS;
    bool good = !options->mode || environment_set(environment, SETTING_TIMING, options->mode);
    if (options->delay && (is_until_ctl(options->delay) || time_span_parse(options->delay, &value)))
        good = good && set_number(environment, SETTING_DELAY_MS, value);
    if (options->duration && time_span_parse(options->duration, &value))
        good = good && set_number(environment, SETTING_DURATION_MS, value);
    if (options->sample_budget && percent_parse(options->sample_budget, &value))
        good = good && set_number(environment, SETTING_SAMPLE_BUDGET, value);
    if (options->max_overhead && percent_parse(options->max_overhead, &value))
        good = good && set_number(environment, SETTING_MAX_OVERHEAD, value);
    if (options->kv_lengths)
        good = good && environment_set(environment, SETTING_KV_LENGTHS, options->kv_lengths);
    return good;
}

const char timing_options_help[] =
    "--timing: how kernels are timed. Shapes are noted in all modes, from the start of each process.\n"
    "  auto     as node while that can be trusted, then as sampled; shapes only without CUPTI\n"
    "  node     each kernel, those of CUDA graphs too, up to a bound of some CUPTI versions\n"
    "  graph    each kernel outside of graphs, each launch of a graph as a whole: cheaper\n"
    "  sampled  what is launched in short windows drawn at random: totals are estimates\n"
    "  events   calls outside of graph captures by events of CUDA, without CUPTI\n"
    "  off      shapes only\n"
    "--delay, --duration and 'rooftap ctl' say when; graphs captured before that have their shapes all\n"
    "the same. Times are numbers of s, ms, min or h; without a unit of s.";
