/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record types and the checks of those that hold more than numbers. The sizes are those of the version
 * that brought the record and stay so when a struct grows. */
#include "trace/record_types.h"

#include <string.h>

/* Text of BYTES bytes at the end of a record: does it fit? */
static bool take_text(const struct trace_record *record, size_t fixed, uint64_t bytes, struct record_text *text)
{
    if (bytes > record->size - fixed)
        return false;
    text->text = (const char *)record + fixed;
    text->bytes = (uint32_t)bytes;
    return true;
}

static bool check_process(const struct trace_record *record, struct record_text *text)
{
    const struct trace_process *process = (const void *)record;
    return take_text(record, sizeof *process, (uint64_t)process->command_bytes + process->version_bytes, text);
}

static bool check_entry(const struct trace_record *record, struct record_text *text)
{
    const struct trace_entry *entry = (const void *)record;
    return entry->id != 0 && take_text(record, sizeof *entry, entry->name_bytes, text);
}

static bool check_device(const struct trace_record *record, struct record_text *text)
{
    const struct trace_device *device = (const void *)record;
    (void)text;
    return memchr(device->name, 0, sizeof device->name) != NULL;
}

static bool check_note(const struct trace_record *record, struct record_text *text)
{
    const struct trace_note *note = (const void *)record;
    return take_text(record, sizeof *note, note->text_bytes, text);
}

static bool check_name(const struct trace_record *record, struct record_text *text)
{
    const struct trace_name *name = (const void *)record;
    return name->id != 0 && name->full_bytes >= name->name_bytes &&
           take_text(record, sizeof *name, name->name_bytes, text);
}

static bool check_groups(const struct trace_record *record, struct record_text *text)
{
    const struct trace_groups *groups = (const void *)record;
    const uint64_t bytes = (uint64_t)groups->count * sizeof groups->group[0];
    (void)text;
    return groups->count && bytes <= record->size - sizeof *groups &&
           groups->id == trace_hash(groups->group, (uint32_t)bytes);
}

/* clang-format off */
const struct record_type record_types[] = {
    /* type                      name            1.0  content refers to                   check */
    {TRACE_RECORD_PROCESS,      "process",        40, false, 0,                           check_process},
    {TRACE_RECORD_ENTRY,        "entry",          16, false, 0,                           check_entry},
    {TRACE_RECORD_ANCHOR,       "anchor",         40, false, 0,                           NULL},
    {TRACE_RECORD_DEVICE,       "device",        352, false, 0,                           check_device},
    {TRACE_RECORD_NOTE,         "note",           32, false, 0,                           check_note},
    {TRACE_RECORD_NAME,         "name",           24, false, 0,                           check_name},
    {TRACE_RECORD_SIGNATURE,    "signature",     216, true,  0,                           NULL},
    {TRACE_RECORD_CALL,         "call",           64, false, TRACE_RECORD_SIGNATURE,      NULL},
    {TRACE_RECORD_CALL_FAILED,  "call failed",    32, false, TRACE_RECORD_SIGNATURE,      NULL},
    {TRACE_RECORD_LAUNCH_SHAPE, "launch shape",   56, true,  0,                           NULL},
    {TRACE_RECORD_LAUNCH,       "launch",         48, false, TRACE_RECORD_LAUNCH_SHAPE,   NULL},
    {TRACE_RECORD_KERNEL,       "kernel",        112, false, 0,                           NULL},
    {TRACE_RECORD_COPY,         "copy",           64, false, 0,                           NULL},
    {TRACE_RECORD_END,          "end",            16, false, 0,                           NULL},
    {TRACE_RECORD_CLOCKS,       "clocks",         72, false, 0,                           NULL},
    {TRACE_RECORD_GROUPS,       "groups",         88, false, 0,                           check_groups},
};
/* clang-format on */
const size_t record_type_count = sizeof record_types / sizeof *record_types;

_Static_assert(sizeof(struct trace_device) == 352 && sizeof(struct trace_signature) == 256 &&
                   sizeof(struct trace_launch_shape) == 56 && sizeof(struct trace_kernel) == 112 &&
                   sizeof(struct trace_copy) == 64 && sizeof(struct trace_launch) == 48 &&
                   sizeof(struct trace_call_failed) == 32 && sizeof(struct trace_anchor) == 40 &&
                   sizeof(struct trace_end) == 16,
               "version 1.0; a field that is added loosens this line, not the table");

const struct record_type *record_type_find(uint16_t type)
{
    /* Rows stand in the order of their numbers, which have no gap; tests/trace holds that. */
    return type >= 1 && type <= record_type_count ? &record_types[type - 1] : NULL;
}
