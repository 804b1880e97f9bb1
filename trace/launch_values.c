/* SPDX-License-Identifier: Apache-2.0 */
/* No allocation and no loop beyond what is packed: the writer packs in the host, the reader reads what strangers wrote. */
#include "trace/launch_values.h"

#include <string.h>

static const unsigned char width_of_tag[4] = {0, 1, 2, 4};

static unsigned tag_of(uint32_t word)
{
    return word == 0 ? 0 : word <= 0xff ? 1 : word <= 0xffff ? 2 : 3;
}

unsigned launch_values_pack(const void *values, unsigned bytes, unsigned char packed[LAUNCH_VALUES_PACKED_MOST])
{
    const unsigned words = bytes / 4, tag_bytes = (words + 3) / 4;
    unsigned char *out = packed + tag_bytes;
    memset(packed, 0, tag_bytes);
    for (unsigned i = 0; i < words; i++) {
        uint32_t word;
        memcpy(&word, (const unsigned char *)values + 4 * i, 4);
        unsigned tag = tag_of(word);
        packed[i / 4] |= (unsigned char)(tag << i % 4 * 2);
        memcpy(out, &word, 4); /* what is not used is overwritten */
        out += width_of_tag[tag];
    }
    return (unsigned)(out - packed);
}

static bool unpack(const struct trace_launch_values *values, unsigned char *into)
{
    const unsigned words = values->value_bytes / 4, tag_bytes = (words + 3) / 4;
    size_t at = tag_bytes;
    for (unsigned i = 0; i < words; i++) {
        unsigned width = width_of_tag[values->packed[i / 4] >> i % 4 * 2 & 3];
        if (at + width > values->packed_bytes)
            return false;
        if (into) {
            memset(into + 4 * i, 0, 4);
            memcpy(into + 4 * i, values->packed + at, width);
        }
        at += width;
    }
    return at == values->packed_bytes;
}

bool launch_values_hold(const struct trace_launch_values *values, size_t room)
{
    return values->packed_bytes <= room && values->value_bytes % 4 == 0 &&
           values->value_bytes <= TRACE_VALUE_BYTES_MOST &&
           (values->value_bytes / 4 + 3u) / 4 <= values->packed_bytes && unpack(values, NULL);
}

/* Of the first COUNT parameters: where the values of the next one begin. */
static unsigned bytes_of_first(const struct trace_parameter_plan *plan, uint32_t count)
{
    unsigned bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += plan->parameter[i].kind == TRACE_PARAMETER_VALUE ? launch_value_room(plan->parameter[i].kept) : 0;
    return bytes;
}

bool launch_plan_holds(const struct trace_parameter_plan *plan)
{
    unsigned bytes = 0, pointers = 0;
    if (plan->count > TRACE_PARAMETERS_MOST)
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct trace_parameter *p = &plan->parameter[i];
        if (p->kind == TRACE_PARAMETER_POINTER && ++pointers <= TRACE_POINTERS_MOST && !p->kept)
            continue;
        if (p->kind != TRACE_PARAMETER_VALUE || (p->bytes && p->kept > p->bytes))
            return false;
        bytes += launch_value_room(p->kept);
        if (bytes > TRACE_VALUE_BYTES_MOST)
            return false;
    }
    return true;
}

const struct trace_launch_values *launch_shape_values(const struct trace_launch_shape *shape)
{
    return shape->record.size > sizeof *shape ? (const void *)(shape + 1) : NULL;
}

const struct trace_launch_pointers *launch_pointers(const struct trace_launch *launch)
{
    return launch->record.size >= sizeof *launch + sizeof(struct trace_launch_pointers) ? (const void *)(launch + 1)
                                                                                        : NULL;
}

bool launch_parameters_read(const struct trace_parameter_plan *plan, const struct trace_launch_values *values,
                            const struct trace_launch_pointers *pointers, struct launch_parameters *parameters)
{
    const unsigned bytes = bytes_of_first(plan, plan->count);
    if (bytes != values->value_bytes || !unpack(values, parameters->values))
        return false;
    parameters->plan = plan;
    parameters->null_pointers = values->null_pointers;
    parameters->value_bytes = bytes;
    for (unsigned i = 0; i < TRACE_LAUNCH_POINTERS; i++)
        parameters->pointer[i] = pointers ? pointers->pointer[i] : 0;
    return true;
}

const void *launch_parameter_value(const struct launch_parameters *parameters, unsigned index, unsigned *kept)
{
    const struct trace_parameter_plan *plan = parameters->plan;
    if (index >= plan->count || plan->parameter[index].kind != TRACE_PARAMETER_VALUE || !plan->parameter[index].kept)
        return NULL;
    *kept = plan->parameter[index].kept;
    return parameters->values + bytes_of_first(plan, index);
}

enum launch_pointer_state launch_parameter_pointer(const struct launch_parameters *parameters, unsigned index,
                                                   uint64_t *address)
{
    const struct trace_parameter_plan *plan = parameters->plan;
    unsigned number = 0, set = 0;
    if (address)
        *address = 0;
    if (index >= plan->count || plan->parameter[index].kind != TRACE_PARAMETER_POINTER)
        return LAUNCH_POINTER_UNKNOWN;
    for (unsigned i = 0; i < index; i++)
        if (plan->parameter[i].kind == TRACE_PARAMETER_POINTER)
            set += !(parameters->null_pointers >> number++ & 1);
    if (parameters->null_pointers >> number & 1)
        return LAUNCH_POINTER_NULL;
    if (address && set < TRACE_LAUNCH_POINTERS)
        *address = parameters->pointer[set];
    return LAUNCH_POINTER_SET;
}
