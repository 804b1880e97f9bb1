/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sessions of a size that no program makes in a test's time, byte by byte from the structs of trace.h, so that page
 * and report can be held to what they promise of large runs. The same arguments give the same bytes.
 *
 *   make_large records   FOLDER RECORDS    decode steps of a model: calls, launches, and a kernel of each; 3,584 shapes
 *   make_large calls     FOLDER CALLS      the same calls alone, as a run that is not timed leaves them
 *   make_large operators FOLDER OPERATORS  half of them calls, each of another shape, half kernels, each of another C++ name
 *   make_large processes FOLDER PROCESSES  each with a long command line, notes and a device of its own */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/checksum.h"
#include "trace/trace.h"

/* ---- one file, block by block ---- */

static struct {
    FILE *stream;
    _Alignas(8) unsigned char block[TRACE_BLOCK_BYTES];
    uint32_t used; /* 0: no block begun */
    uint64_t sequence;
    uint32_t pid;
} file;
static uint64_t clock_ns = 1800000000000000000ull;
static uint64_t call_id;

static struct trace_block_header *header(void)
{
    return (struct trace_block_header *)file.block;
}

static void flush_block(void)
{
    if (!file.used)
        return;
    header()->used_bytes = file.used;
    header()->checksum = trace_checksum(header(), file.used);
    if (fwrite(file.block, sizeof file.block, 1, file.stream) != 1) {
        perror("make_large: write");
        exit(1);
    }
    file.used = 0;
}

static void begin_block(void)
{
    flush_block();
    memset(file.block, 0, sizeof file.block);
    *header() = (struct trace_block_header){
        .magic = TRACE_MAGIC,
        .version_major = TRACE_VERSION_MAJOR,
        .version_minor = TRACE_VERSION_MINOR,
        .block_bytes = TRACE_BLOCK_BYTES,
        .kind = TRACE_BLOCK_RECORDS,
        .state = TRACE_BLOCK_SEALED,
        .process_id_hash = 0x1000 + file.pid,
        .pid = file.pid,
        .tid = file.pid,
        .sequence = ++file.sequence,
        .clock = TRACE_CLOCK_MONOTONIC,
        .ticks_per_second = 1000000000,
        .anchor_ticks = clock_ns,
        .anchor_realtime_ns = clock_ns,
    };
    file.used = TRACE_HEADER_BYTES;
}

/* True: the block is another one now, in which nothing is said yet. */
static bool make_room(size_t bytes)
{
    if (file.used && file.used + bytes <= TRACE_BLOCK_BYTES)
        return false;
    begin_block();
    return true;
}

static void *reserve(enum trace_record_type type, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    make_room(size);
    struct trace_record *record = (struct trace_record *)(file.block + file.used);
    record->type = (uint16_t)type;
    record->size = (uint16_t)size;
    record->commit = trace_commit_word(file.sequence, file.used);
    file.used += (uint32_t)size;
    return record;
}

/* Not of this block, as long as SEQUENCE is not the block's. */
struct place {
    uint64_t sequence;
    uint32_t offset;
};

/* Room for what a record names and for the record itself, BYTES each; true: the former isn't in this block yet. */
static bool is_missing(struct place *place, size_t content_bytes, size_t bytes)
{
    make_room(content_bytes + bytes);
    if (place->sequence == file.sequence)
        return false;
    *place = (struct place){file.sequence, file.used};
    return true;
}

static void open_file(const char *folder, uint32_t pid)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%u-1-%016x%s", folder, pid, pid, TRACE_FILE_SUFFIX);
    file.pid = pid;
    file.sequence = 0;
    file.stream = fopen(path, "wb");
    if (!file.stream) {
        fprintf(stderr, "make_large: %s: %s\n", path, strerror(errno));
        exit(1);
    }
}

static void close_file(void)
{
    struct trace_end *end = reserve(TRACE_RECORD_END, sizeof *end);
    end->ticks = clock_ns;
    flush_block();
    if (fclose(file.stream)) {
        perror("make_large: close");
        exit(1);
    }
}

/* ---- what every file begins with ---- */

static void write_process(const char *command, size_t bytes)
{
    static const char version[] = "0";
    struct trace_process *r =
        reserve(TRACE_RECORD_PROCESS, offsetof(struct trace_process, text) + bytes + strlen(version));
    r->pid = file.pid;
    r->parent_pid = 1;
    r->start_ticks = r->start_realtime_ns = clock_ns;
    r->command_bytes = (uint16_t)bytes;
    r->version_bytes = (uint16_t)strlen(version);
    memcpy(r->text, command, bytes);
    memcpy(r->text + bytes, version, strlen(version));
}

static void write_entry(uint32_t id, const char *name)
{
    struct trace_entry *r = reserve(TRACE_RECORD_ENTRY, offsetof(struct trace_entry, name) + strlen(name));
    r->id = id;
    r->name_bytes = (uint32_t)strlen(name);
    memcpy(r->name, name, strlen(name));
}

static void write_device(uint32_t ordinal, uint32_t bus)
{
    struct trace_device *r = reserve(TRACE_RECORD_DEVICE, sizeof *r);
    r->ordinal = ordinal;
    r->pci_device_id = 0x2684;
    r->pci_bus = bus % 256;
    r->pci_domain = bus / 256;
    r->sm_count = 128;
    r->compute_major = r->compute_minor = TRACE_UNKNOWN;
    r->memory_bytes = r->l2_bytes = TRACE_UNKNOWN;
    r->sm_clock_khz = r->memory_clock_khz = r->memory_bus_bits = r->driver_version = TRACE_UNKNOWN;
    memcpy(r->uuid, &bus, sizeof bus);
    r->uuid[15] = 1;
    strcpy(r->name, "NVIDIA GeForce RTX 4090");
}

static void write_note(enum trace_note_code code, const char *text)
{
    struct trace_note *r = reserve(TRACE_RECORD_NOTE, offsetof(struct trace_note, text) + strlen(text));
    r->code = code;
    r->ticks = clock_ns;
    r->text_bytes = (uint32_t)strlen(text);
    memcpy(r->text, text, strlen(text));
}

enum { ENTRY_GEMM = 1, ENTRY_LAUNCH = 2 };

static void begin_file(const char *folder, uint32_t pid, bool timed, const char *command, size_t command_bytes)
{
    open_file(folder, pid);
    write_process(command, command_bytes);
    write_entry(ENTRY_GEMM, "cublasGemmEx");
    write_entry(ENTRY_LAUNCH, "cuLaunchKernel");
    write_device(0, pid);
    write_note(TRACE_NOTE_HOOK_LEVEL, "preload");
    if (timed)
        write_note(TRACE_NOTE_TIMING_ON, "");
}

/* ---- calls, launches, kernels ---- */

static uint64_t write_name(const char *name)
{
    const size_t bytes = strlen(name);
    struct trace_name *r = reserve(TRACE_RECORD_NAME, offsetof(struct trace_name, name) + bytes);
    r->id = trace_hash(name, (uint32_t)bytes);
    r->name_bytes = r->full_bytes = (uint32_t)bytes;
    memcpy(r->name, name, bytes);
    return r->id;
}

/* y = W·x as cuBLAS is asked for it: cuBLAS' m is the weight's N, its n the rows. */
static struct trace_signature signature_of(int64_t rows, int64_t n, int64_t k)
{
    struct trace_signature s = {
        .entry = ENTRY_GEMM,
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .batch_mode = TRACE_BATCH_NONE,
        .trans_a = 1,
        .alpha = TRACE_SCALAR_ONE,
        .beta = TRACE_SCALAR_ZERO,
        .m = n,
        .n = rows,
        .k = k,
        .batch = 1,
        .type = {14, 14, 14, 14}, /* CUDA_R_16BF */
        .type_compute = 68,       /* CUBLAS_COMPUTE_32F */
        .epilogue = 1,
        .type_bias = TRACE_UNKNOWN,
        .type_aux = TRACE_UNKNOWN,
        .scale_mode = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN},
        .fill_mode = TRACE_U8_UNKNOWN,
        .side = TRACE_U8_UNKNOWN,
    };
    const size_t skip = offsetof(struct trace_signature, entry);
    s.id = trace_hash((char *)&s + skip, (uint32_t)(sizeof s - skip));
    return s;
}

static void write_kernel(uint64_t name_id, enum trace_owner owner, uint64_t owner_id, uint64_t duration_ns)
{
    struct trace_kernel *r = reserve(TRACE_RECORD_KERNEL, sizeof *r);
    r->name_id = name_id;
    r->start_ns = clock_ns;
    r->end_ns = clock_ns += duration_ns;
    clock_ns += 500;
    r->call_id = call_id;
    r->owner = (uint8_t)owner;
    r->owner_id = owner_id;
    r->join = TRACE_JOIN_CORRELATION;
    r->correlation_id = (uint32_t)call_id;
    r->stream = 7;
    r->grid[0] = 128;
    r->grid[1] = r->grid[2] = 1;
    r->block[0] = 128;
    r->block[1] = r->block[2] = 1;
}

static void write_call(const struct trace_signature *signature, struct place *place, uint64_t operand)
{
    if (is_missing(place, sizeof *signature, sizeof(struct trace_call))) {
        struct trace_signature *r = reserve(TRACE_RECORD_SIGNATURE, sizeof *r);
        memcpy(&r->id, &signature->id, sizeof *r - sizeof r->record);
    }
    struct trace_call *r = reserve(TRACE_RECORD_CALL, sizeof *r);
    r->signature_offset = place->offset;
    r->duration_ticks = 2000;
    r->start_ticks = clock_ns;
    r->stream = 7;
    r->operand[0] = operand;
    r->operand[1] = 0x1000;
    r->operand[2] = 0x2000;
    r->call_id = ++call_id;
}

static struct trace_launch_shape shape_of(uint64_t name_id, uint32_t grid)
{
    struct trace_launch_shape shape = {
        .name_id = name_id, .entry = ENTRY_LAUNCH, .grid = {grid, 1, 1}, .block = {128, 1, 1}};
    const size_t skip = offsetof(struct trace_launch_shape, name_id);
    shape.id = trace_hash((char *)&shape + skip, (uint32_t)(sizeof shape - skip));
    return shape;
}

static void write_launch(const struct trace_launch_shape *shape, struct place *place)
{
    if (is_missing(place, sizeof *shape, sizeof(struct trace_launch))) {
        struct trace_launch_shape *r = reserve(TRACE_RECORD_LAUNCH_SHAPE, sizeof *r);
        memcpy(&r->id, &shape->id, sizeof *r - sizeof r->record);
    }
    struct trace_launch *r = reserve(TRACE_RECORD_LAUNCH, sizeof *r);
    r->shape_offset = place->offset;
    r->duration_ticks = 1500;
    r->start_ticks = clock_ns;
    r->stream = 7;
    r->call_id = ++call_id;
}

/* ---- a model's steps ---- */

enum { LAYERS = 32, PRODUCTS = 7, HELPERS = 3, STEP_SIZES = 512 };

/* q, k, v, o, gate, up, down; none of the shape of another, so that there are as many shapes as can be. */
static const struct {
    int64_t n, k;
} layer[PRODUCTS] = {{4096, 4096},  {1024, 4096},  {1040, 4096}, {4120, 4096},
                     {14336, 4096}, {14376, 4096}, {4096, 14336}};
static const char *const helper_names[HELPERS] = {"_ZN4vllm15rms_norm_kernelIfEEvPT_S2_i",
                                                  "_ZN5flash23flash_fwd_splitkv_kernelILi128EEEvPKf",
                                                  "_ZN4vllm18act_and_mul_kernelI4siluEEvPfPKfi"};

/* Until RECORDS were written: of timed runs a kernel for each call and launch, of others calls alone. */
static void write_steps(const char *folder, uint64_t records, bool timed)
{
    static struct trace_signature signature[STEP_SIZES][PRODUCTS];
    static struct place place[STEP_SIZES][PRODUCTS], helper_place[HELPERS];
    struct trace_launch_shape helper[HELPERS];
    static const char command[] = "python\0serve.py\0--model\0llama-8b";
    begin_file(folder, 1000, timed, command, sizeof command);
    uint64_t product_name =
        write_name("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage3_execute_kernel");
    for (int i = 0; i < HELPERS; i++)
        helper[i] = shape_of(write_name(helper_names[i]), 32 + (uint32_t)i);
    for (int size = 0; size < STEP_SIZES; size++)
        for (int i = 0; i < PRODUCTS; i++)
            signature[size][i] = signature_of(size + 1, layer[i].n, layer[i].k);
    uint64_t written = 0;
    for (uint64_t step = 0; written < records; step++) {
        const int size = (int)(step * 61 % STEP_SIZES);
        for (int at = 0; at < LAYERS && written < records; at++) {
            for (int i = 0; i < PRODUCTS && written < records; i++, written++) {
                write_call(&signature[size][i], &place[size][i], 0x100000ull * (uint64_t)(at * PRODUCTS + i + 1));
                if (timed)
                    write_kernel(product_name, TRACE_OWNER_CALL, signature[size][i].id, 20000 + 10 * (uint64_t)size),
                        written++;
            }
            for (int i = 0; timed && i < HELPERS && written < records; i++, written += 2) {
                write_launch(&helper[i], &helper_place[i]);
                write_kernel(helper[i].name_id, TRACE_OWNER_LAUNCH, helper[i].id, 3000);
            }
        }
    }
    close_file();
}

/* ---- all of them different ---- */

static void write_operators(const char *folder, uint64_t operators)
{
    static const char command[] = "every-shape-is-new";
    begin_file(folder, 1000, true, command, sizeof command);
    uint64_t product_name = write_name("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn");
    for (uint64_t i = 0; i < operators; i++) {
        struct place nowhere = {0};
        if (i % 2) {
            char name[256], type[64];
            int bytes = snprintf(type, sizeof type, "Config%llu", (unsigned long long)i);
            snprintf(name, sizeof name, "_ZN7project6kernel7computeINS_%d%sELi%lluEEEvPT_PKfi", bytes, type,
                     (unsigned long long)i);
            struct trace_launch_shape shape = shape_of(write_name(name), 64);
            write_launch(&shape, &nowhere);
            write_kernel(shape.name_id, TRACE_OWNER_LAUNCH, shape.id, 1000 + i % 5000);
        } else {
            struct trace_signature signature =
                signature_of((int64_t)(i / 2 % 4096) + 1, 512 + 64 * (int64_t)(i / 8192), 4096);
            write_call(&signature, &nowhere, 0x100000);
            write_kernel(product_name, TRACE_OWNER_CALL, signature.id, 5000 + i % 7000);
        }
    }
    close_file();
}

/* ---- processes ---- */

static void write_processes(const char *folder, uint64_t processes)
{
    enum { COMMAND = 4000 };
    char command[COMMAND], note[512];
    for (uint32_t i = 0; i < processes; i++) {
        memset(command, 'x', sizeof command);
        for (size_t at = 0; at + 16 < sizeof command; at += 16)
            snprintf(command + at, 16, "--option-%u", (unsigned)(i + at)); /* NUL behind each, as argv has it */
        begin_file(folder, 1000 + i, true, command, sizeof command);
        for (int j = 0; j < 4; j++) {
            snprintf(note, sizeof note, "process %u, entry %d: its arguments could not be read, as %0300d tells", i, j,
                     j);
            write_note(TRACE_NOTE_SHAPES_OFF, note);
        }
        struct trace_signature signature = signature_of(i % 64 + 1, 4096, 4096);
        struct place nowhere = {0};
        uint64_t name = write_name("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn");
        write_call(&signature, &nowhere, 0x100000);
        write_kernel(name, TRACE_OWNER_CALL, signature.id, 20000 + i);
        close_file();
    }
}

int main(int count, char **argument)
{
    const uint64_t number = count == 4 ? strtoull(argument[3], NULL, 10) : 0;
    if (!number) {
        fprintf(stderr, "usage: make_large records|calls|operators|processes FOLDER COUNT\n");
        return 2;
    }
    if (!strcmp(argument[1], "records") || !strcmp(argument[1], "calls"))
        write_steps(argument[2], number, *argument[1] == 'r');
    else if (!strcmp(argument[1], "operators"))
        write_operators(argument[2], number);
    else if (!strcmp(argument[1], "processes"))
        write_processes(argument[2], number);
    else {
        fprintf(stderr, "make_large: '%s': expected records, calls, operators or processes\n", argument[1]);
        return 2;
    }
    return 0;
}
