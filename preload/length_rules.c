/* SPDX-License-Identifier: Apache-2.0 */
/* Reads parameters of the kernels that the user's rules name. */
#include "preload/length_rules.h"

#include <errno.h>
#include <string.h>

#include "cupti/graph_capture.h"
#include "cupti/lengths.h"
#include "preload/kernel_names.h"

_Atomic int length_rules_now;
static struct length_rule rules_kept[LENGTH_RULES_MOST];

void length_rules_configure(const char *text)
{
    bool understood;
    atomic_store(&length_rules_now, 0);
    atomic_store_explicit(&length_rules_now, settings_length_rules(text, rules_kept, &understood),
                          memory_order_release);
}

/* ---- launches ---- */

static bool read_parameter(const struct length_launch *launch, uint32_t number, void *value, size_t bytes)
{
    const void *at = NULL;
    return launch->parameters && lengths_read_guarded(&at, &launch->parameters[number], sizeof at) && at &&
           lengths_read_guarded(value, at, bytes);
}

static bool count_of(const struct length_rule *rule, const struct length_launch *launch, uint32_t *count)
{
    int32_t value;
    *count = rule->count_of == LENGTH_COUNT_GRID ? launch->grid[rule->count] : rule->count;
    if (rule->count_of != LENGTH_COUNT_PARAMETER)
        return true;
    bool known = read_parameter(launch, rule->count, &value, sizeof value) && value > 0;
    *count = known ? (uint32_t)value : 0;
    return known;
}

static void apply(const struct length_rule *rule, const struct length_launch *launch)
{
    struct lengths_buffer buffer = {.element_bytes = rule->element_bytes,
                                    .cumulative = rule->cumulative,
                                    .call_id = launch->call_id,
                                    .stream = (void *)(uintptr_t)launch->stream};
    if (count_of(rule, launch, &buffer.count) &&
        read_parameter(launch, rule->parameter, &buffer.address, sizeof buffer.address) && buffer.address)
        lengths_watch(&buffer);
}

void length_rules_launched(const struct length_launch *launch)
{
    int errno_before = errno, count = atomic_load_explicit(&length_rules_now, memory_order_acquire);
    const char *name = kernel_names_text(launch->kernel);
    if (!name)
        name = graph_capture_function_name(launch->function);
    for (int i = 0; name && i < count; i++) {
        const struct length_rule *rule = &rules_kept[i];
        bool is_meant =
            rule->is_prefix ? !strncmp(name, rule->kernel, strlen(rule->kernel)) : !strcmp(name, rule->kernel);
        if (is_meant)
            apply(rule, launch);
    }
    errno = errno_before;
}
