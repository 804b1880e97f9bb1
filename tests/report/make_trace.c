/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a readable description into trace files, byte by byte from the structs of trace.h and not through the writer, so
 * that reader and report are checked against the contract itself. README.md describes the language.
 *
 *   make_trace DESCRIPTION FOLDER */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/checksum.h"
#include "trace/launch_values.h"
#include "trace/trace.h"

enum { WORDS = 64, FILE_BLOCKS = 64, THINGS = 256, NAME = 128 };

static const char *description;
static int line_number;

static void fail(const char *what, const char *word)
{
    fprintf(stderr, "make_trace: %s:%d: %s: %s\n", description, line_number, what, word);
    exit(2);
}

/* ---- the file being built ---- */

static _Alignas(8) unsigned char file_bytes[FILE_BLOCKS * TRACE_BLOCK_BYTES];
static struct {
    char path[4096];
    long keep; /* bytes to keep, -1 all */
    uint32_t blocks;
    uint32_t used;     /* of the last block */
    uint32_t pid, tid; /* tid 0: the process's first thread */
    uint64_t incarnation;
    bool open;
} file;
static bool seal;
static uint64_t clock_ns = 1000000000;
static uint64_t next_call_id = 1;

static struct trace_block_header *header_of(uint32_t block)
{
    return (struct trace_block_header *)(file_bytes + (size_t)block * TRACE_BLOCK_BYTES);
}

static void close_block(void)
{
    if (!file.blocks)
        return;
    struct trace_block_header *header = header_of(file.blocks - 1);
    if (seal && header->kind == TRACE_BLOCK_RECORDS) {
        header->state = TRACE_BLOCK_SEALED;
        header->used_bytes = file.used;
        header->checksum = trace_checksum(header, file.used);
    }
}

static void begin_block(enum trace_block_kind kind)
{
    close_block();
    if (file.blocks == FILE_BLOCKS)
        fail("too many blocks", "");
    struct trace_block_header *header = header_of(file.blocks++);
    memset(header, 0, TRACE_BLOCK_BYTES);
    header->magic = TRACE_MAGIC;
    header->version_major = TRACE_VERSION_MAJOR;
    header->version_minor = TRACE_VERSION_MINOR;
    header->block_bytes = TRACE_BLOCK_BYTES;
    header->kind = kind;
    header->state = TRACE_BLOCK_OPEN;
    header->process_id_hash = file.incarnation;
    header->pid = file.pid;
    header->tid = file.tid ? file.tid : file.pid;
    header->sequence = file.blocks;
    header->clock = TRACE_CLOCK_MONOTONIC;
    header->ticks_per_second = 1000000000;
    header->anchor_ticks = clock_ns;
    header->anchor_realtime_ns = clock_ns;
    file.used = TRACE_HEADER_BYTES;
}

static void end_file(void)
{
    if (!file.open)
        return;
    close_block();
    size_t bytes = (size_t)file.blocks * TRACE_BLOCK_BYTES;
    if (file.keep >= 0 && (size_t)file.keep < bytes)
        bytes = (size_t)file.keep;
    FILE *out = fopen(file.path, "wb");
    if (!out || fwrite(file_bytes, 1, bytes, out) != bytes || fclose(out))
        fail(strerror(errno), file.path);
    memset(&file, 0, sizeof file);
}

/* What refers to a record of its block must be told apart by block. */
struct thing {
    char name[NAME];
    uint64_t id;
    struct trace_signature signature;
    struct trace_launch_shape shape;
    /* Of a shape with values: the record, and the kernel's name. */
    _Alignas(8) unsigned char valued[LAUNCH_SHAPE_BYTES_MOST];
    uint64_t name_id;       /* 0: no such */
    uint32_t block, offset; /* where it was written last */
};

static struct thing things[THINGS];
static size_t thing_count;

static void *reserve(enum trace_record_type type, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (!file.open)
        fail("no file yet", "");
    if (!file.blocks || header_of(file.blocks - 1)->kind != TRACE_BLOCK_RECORDS || file.used + size > TRACE_BLOCK_BYTES)
        begin_block(TRACE_BLOCK_RECORDS);
    struct trace_record *record =
        (struct trace_record *)(file_bytes + (size_t)(file.blocks - 1) * TRACE_BLOCK_BYTES + file.used);
    memset(record, 0, size);
    record->type = (uint16_t)type;
    record->size = (uint16_t)size;
    record->commit = trace_commit_word(header_of(file.blocks - 1)->sequence, file.used);
    file.used += (uint32_t)size;
    return record;
}

/* Room for two records in one block, so that the second can refer to the first. */
static void make_room(size_t size)
{
    if (file.blocks && file.used + size > TRACE_BLOCK_BYTES)
        begin_block(TRACE_BLOCK_RECORDS);
}

static void *reserve_text(enum trace_record_type type, size_t fixed, const char *text, size_t bytes)
{
    char *record = reserve(type, fixed + bytes);
    memcpy(record + fixed, text, bytes);
    return record;
}

/* ---- words ---- */

static char *words[WORDS];
static int word_count;

/* "quoted text", with \xNN, \n, \" and \\ inside; bytes, NUL too, are kept in place and counted by the caller's copy. */
static size_t unescape(const char *from, char *to)
{
    size_t bytes = 0;
    while (*from) {
        if (*from != '\\') {
            to[bytes++] = *from++;
        } else if (from[1] == 'x' && isxdigit((unsigned char)from[2]) && isxdigit((unsigned char)from[3])) {
            char hex[] = {from[2], from[3], 0};
            to[bytes++] = (char)strtoul(hex, NULL, 16);
            from += 4;
        } else {
            to[bytes++] = from[1] == 'n' ? '\n' : from[1];
            from += 2;
        }
    }
    to[bytes] = '\0';
    return bytes;
}

static void split(char *line)
{
    word_count = 0;
    while (*line) {
        while (isspace((unsigned char)*line))
            line++;
        if (!*line || *line == '#')
            break;
        if (word_count == WORDS)
            fail("too many words", line);
        words[word_count++] = line;
        bool quoted = false;
        for (; *line && (quoted || !isspace((unsigned char)*line)); line++) {
            if (*line == '\\' && line[1])
                line++;
            else if (*line == '"')
                quoted = !quoted;
        }
        if (*line)
            *line++ = '\0';
    }
}

/* The value of KEY=value on this line, NULL if there is none. */
static const char *value_of(const char *key)
{
    size_t length = strlen(key);
    for (int i = 1; i < word_count; i++)
        if (!strncmp(words[i], key, length) && words[i][length] == '=')
            return words[i] + length + 1;
    return NULL;
}

static long long number_of(const char *key, long long otherwise)
{
    const char *value = value_of(key);
    if (!value)
        return otherwise;
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 0);
    if (errno || *end)
        fail("not a number", value);
    return number;
}

static size_t text_of(const char *value, char *text)
{
    static char copy[8192];
    if (!value)
        value = "";
    snprintf(copy, sizeof copy, "%s", *value == '"' ? value + 1 : value);
    size_t length = strlen(copy);
    if (*value == '"' && length && copy[length - 1] == '"')
        copy[length - 1] = '\0';
    return unescape(copy, text);
}

/* Up to COUNT numbers with commas between; the last one repeats. */
static void numbers_of(const char *key, int count, long long *numbers, long long otherwise)
{
    const char *value = value_of(key);
    for (int i = 0; i < count; i++) {
        if (!value) {
            numbers[i] = otherwise;
            continue;
        }
        char *end;
        numbers[i] = strtoll(value, &end, 0);
        if (*end == ',')
            value = end + 1;
        else if (*end)
            fail("not a number", value);
    }
}

struct symbol {
    const char *name;
    int value;
};

static int symbol_of(const struct symbol *symbols, const char *name)
{
    for (; symbols->name; symbols++)
        if (!strcmp(symbols->name, name))
            return symbols->value;
    char *end;
    long value = strtol(name, &end, 0);
    if (*end)
        fail("unknown word", name);
    return (int)value;
}

static const struct symbol types[] = {
    {"fp32", 0},  {"fp64", 1},  {"fp16", 2},  {"int8", 3},  {"cfp32", 4}, {"cfp64", 5}, {"int32", 10},
    {"bf16", 14}, {"int4", 16}, {"e4m3", 28}, {"e5m2", 29}, {"fp4", 33},  {NULL, 0},
};
static const struct symbol computes[] = {
    {"16f", 64},      {"32f", 68},       {"32f_pedantic", 69}, {"64f", 70},    {"32i", 72},
    {"fast_16f", 74}, {"fast_16bf", 75}, {"fast_tf32", 77},    {"bf16x9", 78}, {NULL, 0},
};
static const struct symbol operations[] = {{"N", 0}, {"T", 1}, {"C", 2}, {NULL, 0}};
static const struct symbol scalars[] = {{"unknown", 0}, {"zero", 1},   {"one", 2},
                                        {"other", 3},   {"device", 4}, {NULL, 0}};
static const struct symbol kinds[] = {{"gemm", 1}, {"gemv", 2}, {"level3", 3}, {NULL, 0}};
static const struct symbol libraries[] = {{"cublas", 1}, {"lt", 2}, {NULL, 0}};
static const struct symbol provenances[] = {
    {"exact", 1}, {"descriptor", 2}, {"params", 3}, {"device", 4}, {"at_most", 5}, {"name", 6}, {"none", 7}, {NULL, 0},
};
static const struct symbol batches[] = {{"none", 0}, {"strided", 1}, {"pointers", 2}, {"grouped", 3}, {NULL, 0}};
static const struct symbol notes[] = {
    {"timing_on", 1},  {"timing_off", 2}, {"hook_level", 3}, {"writer", 4}, {"device", 5},
    {"shapes_off", 6}, {"timing_cut", 7}, {"blas", 11},      {NULL, 0},
};

static int named_of(const char *key, const struct symbol *symbols, int otherwise)
{
    const char *value = value_of(key);
    return value ? symbol_of(symbols, value) : otherwise;
}

/* "type=e4m3,e4m3,bf16,bf16"; the last one repeats */
static void types_of(const char *key, int32_t *out)
{
    const char *value = value_of(key);
    char one[32] = "bf16";
    for (int i = 0; i < 4; i++) {
        if (value) {
            size_t length = strcspn(value, ",");
            snprintf(one, sizeof one, "%.*s", (int)length, value);
            value = value[length] ? value + length + 1 : NULL;
        }
        out[i] = symbol_of(types, one);
    }
}

static struct thing *find_thing(const char *name)
{
    for (size_t i = 0; i < thing_count; i++)
        if (!strcmp(things[i].name, name))
            return &things[i];
    fail("nothing has this name", name);
    return NULL;
}

static struct thing *add_thing(const char *name)
{
    if (thing_count == THINGS)
        fail("too many names", name);
    struct thing *thing = &things[thing_count++];
    memset(thing, 0, sizeof *thing);
    snprintf(thing->name, sizeof thing->name, "%s", name);
    return thing;
}

/* ---- statements ---- */

static void statement_file(const char *folder)
{
    static long long files;
    end_file();
    snprintf(file.path, sizeof file.path, "%s/%s", folder, words[1]);
    file.keep = -1;
    file.open = true;
    file.pid = (uint32_t)number_of("pid", 100);
    file.incarnation = (uint64_t)number_of("incarnation", ++files);
    for (size_t i = 0; i < thing_count; i++)
        things[i].block = 0;
}

static void statement_process(void)
{
    char text[8192];
    size_t command = text_of(value_of("command"), text), version = text_of(value_of("version"), text + command);
    struct trace_process *r =
        reserve_text(TRACE_RECORD_PROCESS, offsetof(struct trace_process, text), text, command + version);
    r->pid = file.pid;
    r->parent_pid = (uint32_t)number_of("parent", 1);
    r->start_ticks = clock_ns;
    r->start_realtime_ns = (uint64_t)number_of("started", (long long)clock_ns);
    r->command_bytes = (uint16_t)command;
    r->version_bytes = (uint16_t)version;
}

static void statement_entry(void)
{
    struct trace_entry *r =
        reserve_text(TRACE_RECORD_ENTRY, offsetof(struct trace_entry, name), words[2], strlen(words[2]));
    r->id = (uint32_t)strtoul(words[1], NULL, 0);
    r->name_bytes = (uint32_t)strlen(words[2]);
}

static void statement_device(void)
{
    struct trace_device *r = reserve(TRACE_RECORD_DEVICE, sizeof *r);
    char text[8192];
    r->ordinal = (uint32_t)strtoul(words[1], NULL, 0);
    r->pci_device_id = (uint32_t)number_of("pci", 0);
    r->pci_bus = (uint32_t)number_of("bus", 0);
    r->sm_count = (int32_t)number_of("sms", TRACE_UNKNOWN);
    r->compute_major = r->compute_minor = TRACE_UNKNOWN;
    r->memory_bytes = number_of("memory", TRACE_UNKNOWN);
    r->l2_bytes = TRACE_UNKNOWN;
    r->sm_clock_khz = r->memory_clock_khz = r->memory_bus_bits = TRACE_UNKNOWN;
    r->driver_version = (int32_t)number_of("driver", TRACE_UNKNOWN);
    r->mig = (int32_t)number_of("mig", 0);
    r->simulated = (int32_t)number_of("simulated", 0);
    r->uuid[0] = (uint8_t)number_of("uuid", 0);
    size_t bytes = text_of(value_of("name"), text);
    memcpy(r->name, text, bytes < sizeof r->name ? bytes : sizeof r->name);
}

static void statement_note(void)
{
    char text[8192];
    size_t bytes = word_count > 2 ? text_of(words[2], text) : 0;
    struct trace_note *r = reserve_text(TRACE_RECORD_NOTE, offsetof(struct trace_note, text), text, bytes);
    r->code = (uint32_t)symbol_of(notes, words[1]);
    r->value = (int32_t)number_of("value", 0);
    r->ticks = value_of("at") ? (uint64_t)number_of("at", 0) : clock_ns;
    r->text_bytes = (uint32_t)bytes;
}

static void statement_name(void)
{
    char text[8192];
    size_t bytes = text_of(words[2], text);
    struct thing *thing = add_thing(words[1]);
    thing->id = trace_hash(text, (uint32_t)bytes);
    if (number_of("unwritten", 0))
        return;
    size_t kept = (size_t)number_of("keep", (long long)bytes);
    struct trace_name *r = reserve_text(TRACE_RECORD_NAME, offsetof(struct trace_name, name), text, kept);
    r->id = thing->id;
    r->name_bytes = (uint32_t)kept;
    r->full_bytes = (uint32_t)bytes;
}

static void statement_signature(void)
{
    struct thing *thing = add_thing(words[1]);
    struct trace_signature *s = &thing->signature;
    long long numbers[4];
    s->entry = (uint32_t)number_of("entry", 1);
    s->kind = (uint8_t)named_of("kind", kinds, TRACE_CALL_GEMM);
    s->library = (uint8_t)named_of("library", libraries, TRACE_LIBRARY_CUBLAS);
    s->provenance = (uint8_t)named_of("provenance", provenances, TRACE_EXACT);
    s->batch_mode = (uint8_t)named_of("batch_mode", batches, TRACE_BATCH_NONE);
    s->flags = (uint32_t)number_of("flags", 0);
    s->trans_a = (uint8_t)named_of("ta", operations, 1);
    s->trans_b = (uint8_t)named_of("tb", operations, 0);
    s->alpha = (uint8_t)named_of("alpha", scalars, TRACE_SCALAR_ONE);
    s->beta = (uint8_t)named_of("beta", scalars, TRACE_SCALAR_ZERO);
    s->m = number_of("m", TRACE_UNKNOWN);
    s->n = number_of("n", TRACE_UNKNOWN);
    s->k = number_of("k", TRACE_UNKNOWN);
    s->batch = number_of("batch", 1);
    numbers_of("stride", 4, numbers, 0);
    for (int i = 0; i < 4; i++)
        s->batch_stride[i] = numbers[i];
    types_of("type", s->type);
    s->type_compute = named_of("compute", computes, 68);
    s->math_mode = (int32_t)number_of("math", 0);
    s->epilogue = (int32_t)number_of("epilogue", 1);
    s->type_bias = named_of("bias", types, TRACE_UNKNOWN);
    s->type_aux = named_of("aux", types, TRACE_UNKNOWN);
    numbers_of("order", 4, numbers, 0);
    for (int i = 0; i < 4; i++)
        s->order[i] = (int32_t)numbers[i];
    numbers_of("scale", 4, numbers, TRACE_UNKNOWN);
    for (int i = 0; i < 4; i++)
        s->scale_mode[i] = (int32_t)numbers[i];
    s->side = (uint8_t)number_of("side", TRACE_U8_UNKNOWN);
    s->fill_mode = TRACE_U8_UNKNOWN;
    size_t skip = offsetof(struct trace_signature, entry);
    s->id = thing->id = trace_hash((char *)s + skip, (uint32_t)(sizeof *s - skip));
}

/* Each block holds what its records refer to. */
static void write_signature(struct thing *thing)
{
    make_room(sizeof thing->signature + sizeof(struct trace_call));
    if (thing->block == file.blocks && file.blocks)
        return;
    struct trace_signature *r = reserve(TRACE_RECORD_SIGNATURE, sizeof *r);
    struct trace_record record = r->record;
    *r = thing->signature;
    r->record = record;
    thing->block = file.blocks;
    thing->offset = file.used - (uint32_t)sizeof *r;
}

static void write_kernel(uint64_t name_id, enum trace_owner owner, uint64_t owner_id, uint64_t call_id)
{
    static uint32_t correlation;
    struct trace_kernel *r = reserve(TRACE_RECORD_KERNEL, sizeof *r);
    long long grid[3];
    uint64_t duration = (uint64_t)number_of("ns", 1000);
    r->name_id = name_id;
    r->start_ns = value_of("at") ? (uint64_t)number_of("at", 0) : clock_ns;
    r->end_ns = r->start_ns + duration;
    r->call_id = call_id;
    r->owner_id = owner_id;
    r->owner = (uint8_t)owner;
    r->join = call_id ? TRACE_JOIN_CORRELATION : TRACE_JOIN_NONE;
    r->graph_id = (uint32_t)number_of("graph", 0);
    r->correlation_id = r->graph_id ? (uint32_t)number_of("correlation", ++correlation) : 0;
    r->device = (uint32_t)number_of("device", 0);
    r->stream = (uint32_t)number_of("stream", 7);
    numbers_of("grid", 3, grid, 1);
    for (int i = 0; i < 3; i++)
        r->grid[i] = (uint32_t)grid[i];
    r->block[0] = 128;
    r->block[1] = r->block[2] = 1;
    clock_ns += duration + (uint64_t)number_of("gap", 0);
}

static uint64_t name_id_of(void)
{
    const char *name = value_of("name");
    return name ? find_thing(name)->id : 0;
}

/* call SIG [times=N] [stream=N a=ADDRESS b=ADDRESS d=ADDRESS] [kernels=N name=NAME ns=N grid=X,Y,Z device=N gap=N] */
static void statement_call(void)
{
    struct thing *thing = find_thing(words[1]);
    long long times = number_of("times", 1), kernels = number_of("kernels", 0);
    for (long long i = 0; i < times; i++) {
        write_signature(thing);
        struct trace_call *r = reserve(TRACE_RECORD_CALL, sizeof *r);
        r->signature_offset = thing->offset;
        r->start_ticks = clock_ns;
        r->stream = (uint64_t)number_of("stream", 7);
        r->operand[0] = (uint64_t)number_of("a", 0);
        r->operand[1] = (uint64_t)number_of("b", 0);
        r->operand[2] = (uint64_t)number_of("d", 0);
        r->call_id = next_call_id++;
        uint64_t call_id = r->call_id;
        for (long long k = 0; k < kernels; k++)
            write_kernel(name_id_of(), TRACE_OWNER_CALL, thing->id, call_id);
    }
}

static void statement_failed(void)
{
    struct thing *thing = find_thing(words[1]);
    write_signature(thing);
    struct trace_call_failed *r = reserve(TRACE_RECORD_CALL_FAILED, sizeof *r);
    r->signature_offset = thing->offset;
    r->status = (int32_t)number_of("status", 7);
    r->start_ticks = clock_ns;
    r->call_id = next_call_id++;
}

/* plan NAME p,4,8/4,...: a pointer, a value of 4 bytes, one of 8 of which 4 are kept */
static void statement_plan(void)
{
    struct {
        struct trace_parameter_plan head;
        struct trace_parameter parameter[TRACE_PARAMETERS_MOST];
    } plan = {.head = {.name_id = find_thing(words[1])->id, .source = TRACE_PLAN_DRIVER}};
    for (char *word = strtok(words[2], ","); word; word = strtok(NULL, ",")) {
        struct trace_parameter *p = &plan.parameter[plan.head.count++];
        char *end = word;
        p->kind = *word == 'p' ? TRACE_PARAMETER_POINTER : TRACE_PARAMETER_VALUE;
        p->bytes = *word == 'p' ? 8 : (uint16_t)strtoul(word, &end, 10);
        p->kept = *end == '/' ? (uint16_t)strtoul(end + 1, NULL, 10) : *word == 'p' ? 0 : p->bytes;
    }
    const size_t bytes = sizeof plan.head + plan.head.count * sizeof plan.parameter[0];
    struct trace_parameter_plan *r = reserve(TRACE_RECORD_PARAMETER_PLAN, bytes);
    memcpy(&r->name_id, &plan.head.name_id, bytes - sizeof r->record);
}

/* shape ALIAS NAME [grid=X,Y,Z block=X,Y,Z null=MASK words=W,W,...]: of launches whose values are WORDS of 4 bytes */
static void statement_shape(void)
{
    const uint64_t name_id = find_thing(words[2])->id;
    struct thing *thing = add_thing(words[1]);
    struct trace_launch_shape *shape = (struct trace_launch_shape *)thing->valued;
    struct trace_launch_values *values = (struct trace_launch_values *)(shape + 1);
    uint32_t word[TRACE_VALUE_BYTES_MOST / 4] = {0};
    long long sizes[3];
    const char *at = value_of("words");
    unsigned count = 0;
    for (char *end; at && *at; at = *end == ',' ? end + 1 : end)
        word[count++] = (uint32_t)strtoll(at, &end, 0);
    thing->name_id = shape->name_id = name_id;
    shape->entry = (uint32_t)number_of("entry", 1);
    numbers_of("grid", 3, sizes, 1);
    for (int i = 0; i < 3; i++)
        shape->grid[i] = (uint32_t)sizes[i];
    numbers_of("block", 3, sizes, 1);
    for (int i = 0; i < 3; i++)
        shape->block[i] = (uint32_t)sizes[i];
    values->null_pointers = (uint32_t)number_of("null", 0);
    values->value_bytes = (uint16_t)(4 * count);
    values->packed_bytes = (uint16_t)launch_values_pack(word, 4 * count, values->packed);
    const size_t bytes = (sizeof *shape + sizeof *values + values->packed_bytes + 7) & ~(size_t)7;
    const size_t skip = offsetof(struct trace_launch_shape, name_id);
    shape->record = (struct trace_record){.type = TRACE_RECORD_LAUNCH_SHAPE, .size = (uint16_t)bytes};
    shape->id = thing->shape.id = trace_hash(thing->valued + skip, (uint32_t)(bytes - skip));
}

/* Each block holds what its records refer to. */
static void write_shape(struct thing *thing)
{
    const struct trace_launch_shape *shape = (const struct trace_launch_shape *)thing->valued;
    make_room(shape->record.size + sizeof(struct trace_launch) + sizeof(struct trace_launch_pointers));
    if (thing->block == file.blocks && file.blocks)
        return;
    struct trace_launch_shape *r = reserve(TRACE_RECORD_LAUNCH_SHAPE, shape->record.size);
    memcpy(&r->id, &shape->id, shape->record.size - sizeof r->record);
    thing->block = file.blocks;
    thing->offset = file.used - shape->record.size;
}

/* launch SHAPE [times=N] [kernels=1] [pointers=A,B,C,D] [parent=ID stream= ns= grid= device= gap=] */
static void launch_shape(struct thing *thing)
{
    const long long times = number_of("times", 1), kernels = number_of("kernels", 1);
    long long pointers[TRACE_LAUNCH_POINTERS];
    numbers_of("pointers", TRACE_LAUNCH_POINTERS, pointers, 0);
    for (long long i = 0; i < times; i++) {
        write_shape(thing);
        struct trace_launch *r = reserve(TRACE_RECORD_LAUNCH, sizeof *r + sizeof(struct trace_launch_pointers));
        struct trace_launch_pointers *p = (struct trace_launch_pointers *)(r + 1);
        r->shape_offset = thing->offset;
        r->start_ticks = clock_ns;
        r->stream = (uint64_t)number_of("stream", 7);
        r->call_id = next_call_id++;
        r->parent_call_id = (uint64_t)number_of("parent", 0);
        for (int k = 0; k < TRACE_LAUNCH_POINTERS; k++)
            p->pointer[k] = (uint64_t)pointers[k];
        const uint64_t call_id = r->call_id;
        for (long long k = 0; k < kernels; k++)
            write_kernel(thing->name_id, TRACE_OWNER_LAUNCH_VALUES, thing->shape.id, call_id);
    }
}

/* launch NAME [times=N] [kernels=0] [parent=ID] [handle=SHAPE] [stream= ns= grid= device= gap=]; handle: the launch gave a handle,
 * of a kernel of so many blocks, and only the kernel's record has the name */
static void statement_launch(void)
{
    struct thing *name = find_thing(words[1]);
    long long times = number_of("times", 1), kernels = number_of("kernels", 1);
    if (name->name_id) {
        launch_shape(name);
        return;
    }
    for (long long i = 0; i < times; i++) {
        make_room(sizeof(struct trace_launch_shape) + sizeof(struct trace_launch));
        if (name->block != file.blocks || !file.blocks || (bool)value_of("handle") == (bool)name->shape.name_id) {
            struct trace_launch_shape *shape = reserve(TRACE_RECORD_LAUNCH_SHAPE, sizeof *shape);
            shape->name_id = value_of("handle") ? 0 : name->id;
            shape->entry = (uint32_t)number_of("entry", 1);
            shape->grid[0] = (uint32_t)number_of("handle", 1);
            shape->grid[1] = shape->grid[2] = 1;
            shape->block[0] = shape->block[1] = shape->block[2] = 1;
            size_t skip = offsetof(struct trace_launch_shape, name_id);
            shape->id = trace_hash((char *)shape + skip, (uint32_t)(sizeof *shape - skip));
            name->shape = *shape;
            name->block = file.blocks;
            name->offset = file.used - (uint32_t)((sizeof *shape + 7) & ~(size_t)7);
        }
        struct trace_launch *r = reserve(TRACE_RECORD_LAUNCH, sizeof *r);
        r->shape_offset = name->offset;
        r->start_ticks = clock_ns;
        r->stream = (uint64_t)number_of("stream", 7);
        r->call_id = next_call_id++;
        r->parent_call_id = (uint64_t)number_of("parent", 0);
        uint64_t call_id = r->call_id;
        for (long long k = 0; k < kernels; k++)
            write_kernel(name->id, TRACE_OWNER_LAUNCH, name->shape.id, call_id);
    }
}

/* kernel NAME [ns= grid= device= at= graph=]: nobody's, or signature='s; kernel SHAPE [call= ...]: of a launch of it */
static void statement_kernel(void)
{
    long long times = number_of("times", 1);
    const struct thing *thing = find_thing(words[1]);
    for (long long i = 0; i < times; i++)
        if (thing->name_id)
            write_kernel(thing->name_id, TRACE_OWNER_LAUNCH_VALUES, thing->shape.id, (uint64_t)number_of("call", 1));
        else if (value_of("signature"))
            write_kernel(find_thing(words[1])->id, TRACE_OWNER_CALL, find_thing(value_of("signature"))->id,
                         (uint64_t)number_of("call", 1));
        else
            write_kernel(find_thing(words[1])->id, TRACE_OWNER_NONE, 0, 0);
}

static const struct symbol modes[] = {{"off", 0},     {"auto", 1},   {"node", 2}, {"graph", 3},
                                      {"sampled", 4}, {"events", 5}, {NULL, 0}};
static const struct symbol whats[] = {{"open", 1}, {"close", 2}, {"mark", 3}, {NULL, 0}};
static const struct symbol whys[] = {{"start", 1},    {"option", 2},   {"control", 3}, {"sampled", 4}, {"bound", 5},
                                     {"overhead", 6}, {"profiler", 7}, {"end", 8},     {NULL, 0}};

static uint64_t time_of_line(void)
{
    return value_of("at") ? (uint64_t)number_of("at", 0) : clock_ns;
}

/* timing MODE TEXT [asked= window= period= most= cupti= at=] */
static void statement_timing(void)
{
    char text[8192];
    size_t bytes = word_count > 2 && *words[2] == '"' ? text_of(words[2], text) : 0;
    struct trace_timing *r = reserve_text(TRACE_RECORD_TIMING, offsetof(struct trace_timing, text), text, bytes);
    r->ticks = time_of_line();
    r->asked = (uint32_t)named_of("asked", modes, TRACE_TIMING_AUTO);
    r->mode = (uint32_t)symbol_of(modes, words[1]);
    r->cupti_version = (uint32_t)number_of("cupti", 26);
    r->window_ns = (uint64_t)number_of("window", 0);
    r->period_ns = (uint64_t)number_of("period", 0);
    r->graph_records_most = (uint64_t)number_of("most", 0);
    r->text_bytes = (uint32_t)bytes;
}

/* window open|close|mark WHY [number= text= at=] */
static void statement_window(void)
{
    char text[8192];
    size_t bytes = text_of(value_of("text"), text);
    struct trace_window *r = reserve_text(TRACE_RECORD_WINDOW, offsetof(struct trace_window, text), text, bytes);
    r->ticks = r->realtime_ns = time_of_line();
    r->what = (uint32_t)symbol_of(whats, words[1]);
    r->why = (uint32_t)symbol_of(whys, words[2]);
    r->number = (uint32_t)number_of("number", 1);
    r->text_bytes = (uint32_t)bytes;
}

/* graph_run GRAPH [times=1 ns= device= gap= at=] */
static void statement_graph_run(void)
{
    for (long long i = 0; i < number_of("times", 1); i++) {
        struct trace_graph_run *r = reserve(TRACE_RECORD_GRAPH_RUN, sizeof *r);
        r->start_ns = time_of_line();
        r->end_ns = r->start_ns + (uint64_t)number_of("ns", 1000);
        r->graph_id = (uint32_t)strtoul(words[1], NULL, 0);
        r->device = (uint32_t)number_of("device", 0);
        clock_ns += (uint64_t)number_of("ns", 1000) + (uint64_t)number_of("gap", 0);
    }
}

/* graph_node GRAPH NODE [signature= launch= name= call= retired= launches= summed= at=] */
static void statement_graph_node(void)
{
    struct trace_graph_node *r = reserve(TRACE_RECORD_GRAPH_NODE, sizeof *r);
    const char *signature = value_of("signature"), *launch = value_of("launch");
    r->graph_id = (uint32_t)strtoul(words[1], NULL, 0);
    r->graph_node_id = (uint64_t)r->graph_id << 32 | strtoul(words[2], NULL, 0);
    r->call_id = (uint64_t)number_of("call", signature || launch ? (long long)next_call_id - 1 : 0);
    const struct thing *of = launch ? find_thing(launch) : NULL;
    r->owner = signature ? TRACE_OWNER_CALL
               : !launch ? TRACE_OWNER_NONE
                         : (of->name_id ? TRACE_OWNER_LAUNCH_VALUES : TRACE_OWNER_LAUNCH);
    r->owner_id = signature ? find_thing(signature)->id : of ? of->shape.id : 0;
    r->name_id = value_of("name") ? find_thing(value_of("name"))->id : of ? (of->name_id ? of->name_id : of->id) : 0;
    r->ticks = time_of_line();
    r->retired = (uint8_t)number_of("retired", 0);
    r->summed = (uint16_t)number_of("summed", 0);
    r->launches = (uint64_t)number_of("launches", 0);
}

/* graph_launches GRAPH COUNT [ended= at=] */
static void statement_graph_launches(void)
{
    struct trace_graph_launches *r = reserve(TRACE_RECORD_GRAPH_LAUNCHES, sizeof *r);
    r->graph_id = (uint32_t)strtoul(words[1], NULL, 0);
    r->launches = strtoull(words[2], NULL, 0);
    r->realtime_ns = time_of_line();
    r->ended = (uint32_t)number_of("ended", 0);
}

/* lengths ADDRESS [how= graph= call= count= cumulative= least= most= sum= launches=] */
static void statement_lengths(void)
{
    struct trace_lengths *r = reserve(TRACE_RECORD_LENGTHS, sizeof *r);
    r->ticks = clock_ns;
    r->address = strtoull(words[1], NULL, 0);
    r->how = (uint32_t)number_of("how", TRACE_LENGTHS_COPIED);
    r->graph_id = (uint32_t)number_of("graph", 0);
    r->call_id = (uint64_t)number_of("call", 0);
    r->count = (uint32_t)number_of("count", 1);
    r->cumulative = (uint32_t)number_of("cumulative", 0);
    r->least = number_of("least", 1);
    r->most = number_of("most", 1);
    r->sum = number_of("sum", 1);
    r->launches = (uint64_t)number_of("launches", 1);
}

/* overhead [wall= calls= calls_ns= calls_all= callbacks= callbacks_ns= callbacks_all= records= records_ns= buffers= bytes=
 * level=] */
static void statement_overhead(void)
{
    struct trace_overhead *r = reserve(TRACE_RECORD_OVERHEAD, sizeof *r);
    r->ticks = clock_ns;
    r->wall_ns = (uint64_t)number_of("wall", 0);
    r->calls = (uint64_t)number_of("calls", 0);
    r->calls_ns = (uint64_t)number_of("calls_ns", 0);
    r->calls_all = (uint64_t)number_of("calls_all", 0);
    r->callbacks = (uint64_t)number_of("callbacks", 0);
    r->callbacks_ns = (uint64_t)number_of("callbacks_ns", 0);
    r->callbacks_all = (uint64_t)number_of("callbacks_all", 0);
    r->records = (uint64_t)number_of("records", 0);
    r->records_ns = (uint64_t)number_of("records_ns", 0);
    r->buffers = (uint64_t)number_of("buffers", 0);
    r->buffer_bytes = (uint64_t)number_of("bytes", 0);
    r->helper_cpu_ns = r->timing_cpu_ns = UINT64_MAX;
    r->level = (uint64_t)number_of("level", 0);
}

static void statement_copy(void)
{
    struct trace_copy *r = reserve(TRACE_RECORD_COPY, sizeof *r);
    r->start_ns = value_of("at") ? (uint64_t)number_of("at", 0) : clock_ns;
    r->end_ns = r->start_ns + (uint64_t)number_of("ns", 1000);
    r->bytes = (uint64_t)number_of("bytes", 0);
    r->kind = TRACE_COPY_MEMCPY;
    r->direction = 1;
    r->device = (uint32_t)number_of("device", 0);
    clock_ns += (uint64_t)number_of("ns", 1000);
}

/* clocks [at= period= sm= mem= power= temperature= reasons= uuid= bus=], into `file gpu.clocks` */
static void statement_clocks(void)
{
    struct trace_clocks *r = reserve(TRACE_RECORD_CLOCKS, sizeof *r);
    r->realtime_ns = value_of("at") ? (uint64_t)number_of("at", 0) : clock_ns;
    r->period_ms = (uint32_t)number_of("period", 100);
    r->pci_bus = (uint32_t)number_of("bus", 0);
    r->uuid[0] = (uint8_t)number_of("uuid", 0);
    r->sm_clock_mhz = (int32_t)number_of("sm", TRACE_UNKNOWN);
    r->memory_clock_mhz = (int32_t)number_of("mem", TRACE_UNKNOWN);
    r->power_mw = (int32_t)number_of("power", TRACE_UNKNOWN);
    r->temperature_c = (int32_t)number_of("temperature", TRACE_UNKNOWN);
    r->throttle_reasons = (uint64_t)number_of("reasons", -1);
}

/* slots [kernels_invalid= ...], then slot lines into the same block */
static void statement_slots(void)
{
    begin_block(TRACE_BLOCK_SLOTS);
    struct trace_counters *c = (struct trace_counters *)((char *)header_of(file.blocks - 1) + TRACE_HEADER_BYTES);
    c->calls_without_slot = (uint64_t)number_of("calls_without_slot", 0);
    c->cupti_records_dropped = (uint64_t)number_of("cupti_records_dropped", 0);
    c->kernels_invalid = (uint64_t)number_of("kernels_invalid", 0);
    c->kernels_unjoined = (uint64_t)number_of("kernels_unjoined", 0);
    c->records_dropped = (uint64_t)number_of("records_dropped", 0);
    c->buffers_lost = (uint64_t)number_of("buffers_lost", 0);
    file.used = TRACE_HEADER_BYTES + (uint32_t)sizeof *c;
}

static void statement_slot(void)
{
    if (!file.blocks || header_of(file.blocks - 1)->kind != TRACE_BLOCK_SLOTS)
        fail("no slots block is open", words[0]);
    struct trace_slot *slot = (struct trace_slot *)((char *)header_of(file.blocks - 1) + file.used);
    long long arguments[7];
    slot->tid = (uint32_t)number_of("tid", 100);
    slot->entry = (uint32_t)number_of("entry", 0);
    slot->records_dropped = (uint64_t)number_of("records_dropped", 0);
    slot->calls_begun = (uint64_t)number_of("calls_begun", 0);
    slot->calls_recorded = (uint64_t)number_of("calls_recorded", 0);
    slot->launches_begun = (uint64_t)number_of("launches_begun", 0);
    slot->launches_recorded = (uint64_t)number_of("launches_recorded", 0);
    slot->launches_failed = (uint64_t)number_of("launches_failed", 0);
    numbers_of("arguments", 7, arguments, 0);
    for (int i = 0; i < 7; i++)
        slot->argument[i] = arguments[i];
    file.used += (uint32_t)sizeof *slot;
}

static void statement_end(void)
{
    struct trace_end *r = reserve(TRACE_RECORD_END, sizeof *r);
    r->ticks = clock_ns;
}

static void statement_version(void)
{
    for (uint32_t i = 0; i < file.blocks; i++)
        header_of(i)->version_major = (uint16_t)number_of("major", TRACE_VERSION_MAJOR);
}

/* A file that is no trace. */
static void statement_text_file(const char *folder)
{
    char path[4096], text[8192];
    end_file();
    snprintf(path, sizeof path, "%s/%s", folder, words[1]);
    size_t bytes = text_of(words[2], text);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(text, 1, bytes, out) != bytes || fclose(out))
        fail(strerror(errno), path);
}

static void run_statement(const char *folder)
{
    static const struct {
        const char *word;
        int least_words;
        void (*run)(void);
    } statements[] = {
        {"process", 1, statement_process},
        {"entry", 3, statement_entry},
        {"device", 2, statement_device},
        {"note", 2, statement_note},
        {"name", 3, statement_name},
        {"signature", 2, statement_signature},
        {"call", 2, statement_call},
        {"failed", 2, statement_failed},
        {"launch", 2, statement_launch},
        {"plan", 3, statement_plan},
        {"shape", 3, statement_shape},
        {"kernel", 2, statement_kernel},
        {"copy", 1, statement_copy},
        {"slots", 1, statement_slots},
        {"slot", 1, statement_slot},
        {"end", 1, statement_end},
        {"version", 1, statement_version},
        {"clocks", 1, statement_clocks},
        {"timing", 2, statement_timing},
        {"window", 3, statement_window},
        {"graph_run", 2, statement_graph_run},
        {"graph_node", 3, statement_graph_node},
        {"graph_launches", 3, statement_graph_launches},
        {"lengths", 2, statement_lengths},
        {"overhead", 1, statement_overhead},
    };
    if (!strcmp(words[0], "file") && word_count > 1)
        statement_file(folder);
    else if (!strcmp(words[0], "text_file") && word_count > 2)
        statement_text_file(folder);
    else if (!strcmp(words[0], "block")) {
        file.tid = (uint32_t)number_of("tid", file.tid);
        begin_block(TRACE_BLOCK_RECORDS);
    } else if (!strcmp(words[0], "sealed"))
        seal = true;
    else if (!strcmp(words[0], "wait"))
        clock_ns += (uint64_t)number_of("ns", 0);
    else if (!strcmp(words[0], "cut"))
        file.keep = (long)number_of("at", 0);
    else {
        for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
            if (!strcmp(words[0], statements[i].word) && word_count >= statements[i].least_words) {
                statements[i].run();
                return;
            }
        fail("unknown statement, or too few words", words[0]);
    }
}

int main(int argc, char **argv)
{
    static char line[16384];
    if (argc != 3) {
        fprintf(stderr, "usage: make_trace DESCRIPTION FOLDER\n");
        return 2;
    }
    description = argv[1];
    FILE *in = fopen(description, "r");
    if (!in)
        fail(strerror(errno), description);
    while (fgets(line, sizeof line, in)) {
        line_number++;
        split(line);
        if (word_count)
            run_statement(argv[2]);
    }
    end_file();
    fclose(in);
    return 0;
}
