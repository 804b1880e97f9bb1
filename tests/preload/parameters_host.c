/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels with known parameter lists: `parameters_host MODE`, which prints what the records must say, in order, as
 * JSON lines; the bytes are put together here from what was passed, by what each kernel's row below says is kept.
 *
 *   each       every kernel, by every way to launch one, with values of its own
 *   repeat N   N launches that differ from one another in one value at a time, or in none
 *   fork       one launch, four children with one each (their records are of traces of their own), one more
 *   error      a launch while an error of the program's own is pending: nobody asks for sizes, and the error stays
 *   llama      the launches of one layer as llama.cpp decodes an 8 billion parameter Llama 3 at 4 bits, six grids of each
 *   missing    launches without an array of parameters, before and after one with it
 *   threads N  four threads, N launches each, of the same kernels, the first at once; prints nothing
 *   loop FILE 1 US  launches for ever, as gemm_host calls
 *
 * With SIZES=1 in the environment the fake runtime tells the sizes of parameters. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/cublas_types.h"

int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
int cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
int __cudaGetKernel(cudaKernel_t *, const void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
void cudaFakeSizes(const void *stub, const uint16_t *sizes, unsigned count);
void cudaFakeError(int error);
unsigned cudaFakeAsked(void);
int cudaPeekAtLastError(void);

enum { PARAMETERS = 40, BYTES = 128, KERNELS = 10 };

/* KEPT: a word for each parameter: p, or the bytes that are kept by the name alone, and where the driver tells sizes behind a
 * slash; then a colon and the mask of addresses in it. NULL: no values. */
struct kernel {
    const char *name;
    const char *kept;
    uint16_t sizes[PARAMETERS];
};

static const struct kernel kernels[KERNELS] = {
    {"_Z5plainPfPKfijxfdbhs", "p p 4 4 8 4 8 1 1 2", {8, 8, 4, 4, 8, 4, 8, 1, 1, 2}},
    {"_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_"
     "jjjj",
     "p p p 24:7/48:31 p 4 12 4 4 4 12 4 4 4 12 4 4 4 4",
     {8, 8, 8, 48, 8, 4, 12, 4, 4, 4, 12, 4, 4, 4, 12, 4, 4, 4, 4}},
    {"_Z7structsPv5uint3m4dim36float46__halfc", "p 12 8 12 16 2 1", {8, 12, 8, 12, 16, 2, 1}},
    {"_Z6secretP5Thing6Opaque5Largei", "p 0/40 0/0 4", {8, 40, 200, 4}}, /* nothing is known of the structs */
    {"_Z4manyPfS_S_S_S_S_RiS0_", "p p p p p p p p", {8, 8, 8, 8, 8, 8, 8, 8}},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4E4FuncEEviT0_", NULL, {4, 16}}, /* nobody reads it */
    {"plain_c_kernel", NULL, {0}},
    {"_Z5emptyv", NULL, {0}},
    {"_Z7doublesI6__halfJdiEEvPKT_DpT0_", "p 8 4", {8, 8, 4}},
    {"_Z12soft_max_f32ILb1ELi0ELi0E6__halfEvPKfPKT2_S2_Pf15soft_max_params", "p p p p 72/128", {8, 8, 8, 8, 128}},
};

/* clang-format off */
#define STUB(number) static void stub_##number(void) { }
STUB(0) STUB(1) STUB(2) STUB(3) STUB(4) STUB(5) STUB(6) STUB(7) STUB(8) STUB(9)
static void (*const stubs[KERNELS])(void) = {stub_0, stub_1, stub_2, stub_3, stub_4, stub_5, stub_6, stub_7, stub_8, stub_9};
/* clang-format on */

static int sizes_are_told, quiet;
static unsigned random_state = 20261130;

static unsigned pick(unsigned below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 10) % below;
}

/* ---- parameters ---- */

struct launch {
    unsigned kernel;
    unsigned char value[PARAMETERS][BYTES];
    void *argument[PARAMETERS];
};

/* "24:7/48:31" -> kept and addresses; -1: a pointer. */
static const char *next_kept(const char *text, int *kept, unsigned *addresses)
{
    const char *end = text + strcspn(text, " "), *slash = memchr(text, '/', (size_t)(end - text));
    *addresses = 0;
    if (sizes_are_told && slash)
        text = slash + 1;
    *kept = *text == 'p' ? -1 : atoi(text);
    text += strspn(text, "0123456789");
    if (*text == ':')
        *addresses = (unsigned)atoi(text + 1);
    return *end ? end + 1 : end;
}

static void fill(struct launch *l, unsigned kernel)
{
    l->kernel = kernel;
    for (unsigned i = 0; i < PARAMETERS; i++) {
        l->argument[i] = l->value[i];
        for (unsigned b = 0; b < BYTES; b++)
            l->value[i][b] = (unsigned char)(pick(3) ? pick(256) : 0);
        if (!pick(3))
            memset(l->value[i], 0, BYTES / 2);
    }
}

/* One of the values, or of the addresses, is another. */
static void change(struct launch *l)
{
    unsigned parameter = pick(20), byte = pick(8);
    l->value[parameter][byte] = (unsigned char)pick(4);
    if (!pick(4))
        memset(l->value[parameter], 0, 8);
}

static void print_bytes(const unsigned char *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

static void print_value(const unsigned char *value, int kept, unsigned addresses)
{
    static const unsigned char none[4];
    for (int at = 0; at < kept; at += 8) {
        unsigned char word[8] = {0};
        uint64_t address;
        memcpy(&address, value + at, 8);
        word[0] = address != 0;
        if (addresses >> at / 8 & 1)
            print_bytes(word, 8);
        else
            print_bytes(value + at, kept - at < 8 ? (unsigned)(kept - at) : 8);
    }
    print_bytes(none, (unsigned)(-kept & 3));
}

static void print_pointers(const struct launch *l)
{
    unsigned set = 0, nulls = 0, number = 0, addresses;
    uint64_t pointer[4] = {0};
    int kept;
    const char *text = kernels[l->kernel].kept;
    for (unsigned i = 0; *text; i++) {
        uint64_t address;
        memcpy(&address, l->value[i], 8);
        text = next_kept(text, &kept, &addresses);
        if (kept >= 0)
            continue;
        nulls |= address ? 0 : 1u << number;
        number++;
        if (address && set < 4)
            pointer[set++] = address;
    }
    printf(",\"nulls\":%u,\"pointers\":[%llu,%llu,%llu,%llu]", nulls, (unsigned long long)pointer[0],
           (unsigned long long)pointer[1], (unsigned long long)pointer[2], (unsigned long long)pointer[3]);
}

static void print_expected(const struct launch *l, unsigned grid, int has_values)
{
    unsigned addresses;
    int kept;
    const char *text = kernels[l->kernel].kept;
    if (quiet)
        return;
    printf("{\"name\":\"%s\",\"grid\":[%u,1,1]", kernels[l->kernel].name, grid);
    if (!text || !has_values) {
        printf(",\"values\":null}\n");
        return;
    }
    print_pointers(l);
    printf(",\"values\":\"");
    for (unsigned i = 0; *text; i++) {
        text = next_kept(text, &kept, &addresses);
        if (kept > 0)
            print_value(l->value[i], kept, addresses);
    }
    printf("\"}\n");
}

/* ---- launches ---- */

static void launch_by(struct launch *l, unsigned way, unsigned grid)
{
    dim3 blocks = {grid, 1, 1}, threads = {32, 1, 1};
    const void *stub = (const void *)(uintptr_t)stubs[l->kernel];
    cudaLaunchConfig_t config = {.gridDim = blocks, .blockDim = threads};
    cudaKernel_t handle;
    switch (way) {
    case 0:
        cudaLaunchKernel(stub, blocks, threads, l->argument, 0, NULL);
        break;
    case 1:
        cudaLaunchCooperativeKernel(stub, blocks, threads, l->argument, 0, NULL);
        break;
    case 2:
        cudaLaunchKernelExC(&config, stub, l->argument);
        break;
    default:
        if (__cudaGetKernel(&handle, stub) == 0)
            __cudaLaunchKernel(handle, blocks, threads, l->argument, 0, NULL);
        break;
    }
}

/* What a program does with its memory once it has launched is its own affair. */
static void launch_and_forget(struct launch *l, unsigned way, unsigned grid)
{
    struct launch passed = *l;
    for (unsigned i = 0; i < PARAMETERS; i++)
        passed.argument[i] = passed.value[i];
    launch_by(&passed, way, grid);
    memset(&passed, 0xa5, sizeof passed);
    print_expected(l, grid, 1);
}

static int run_each(void)
{
    struct launch l;
    for (unsigned way = 0; way < 4; way++)
        for (unsigned kernel = 0; kernel < KERNELS; kernel++) {
            fill(&l, kernel);
            launch_and_forget(&l, way, way + 1);
        }
    return cudaPeekAtLastError();
}

static int run_repeat(long count)
{
    static struct launch l[KERNELS];
    for (unsigned kernel = 0; kernel < KERNELS; kernel++)
        fill(&l[kernel], kernel);
    for (long i = 0; i < count; i++) {
        struct launch *next = &l[pick(KERNELS)];
        if (!pick(3))
            change(next);
        launch_and_forget(next, pick(4), 1 + pick(2));
    }
    return cudaPeekAtLastError();
}

static int run_fork(void)
{
    struct launch l;
    int status, good = 1;
    fill(&l, 1);
    launch_and_forget(&l, 0, 1);
    fflush(stdout);
    for (unsigned child = 0; child < 4; child++)
        if (!fork()) {
            quiet = 1;
            fill(&l, 2);
            launch_and_forget(&l, 0, 2);
            fill(&l, 1);
            launch_and_forget(&l, 0, 2);
            exit(0);
        }
    for (unsigned child = 0; child < 4; child++)
        good &= wait(&status) > 0 && status == 0;
    launch_and_forget(&l, 0, 3);
    return !good;
}

/* Kernels of libggml-cuda.so (llama.cpp 620d222) and what they are passed: p an address, n NULL, else a value, of three words
 * with commas. Sizes of the model: 4096 wide, 14336 inside, 32 heads and 8 of keys, of 128; magic numbers of divisors. */
static const struct {
    const char *name, *passed;
} llama[] = {
    {"_Z12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKfPfiiilllfS1_lll5uint3S3_S3_S3_S1_lllS3_S3_S3_S3_f",
     "p p 4096 1 1 4096 4096 4096 0x3727c5ac p 4096 4096 4096 1,12,4096 1,0,1 1,0,1 1,0,1 n 0 0 0 0,0,0 0,0,0 0,0,0 "
     "0,0,0 0"},
    {"_Z13quantize_q8_1PKfPvlllllj5uint3", "p p 4096 4096 4096 4096 4096 1 1,0,1"},
    {"_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_"
     "jjjj",
     "p p n 0 p 4096 0,0,0 16 128 4096 1,0,1 65536 128 4096 1,0,1 65536 128 4096 0"},
    {"_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_"
     "jjjj",
     "p p n 0 p 4096 0,0,0 16 128 14336 1,0,1 229376 128 14336 1,0,1 229376 128 14336 0"},
    {"_Z13mul_mat_vec_qIL9ggml_type14ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_"
     "jjjj",
     "p p n 0 p 14336 0,0,0 56 448 4096 1,0,1 229376 448 4096 1,0,1 229376 448 4096 0"},
    {"_Z9rope_normILb1ELb0Ef6__halfEvPKT_PT0_iiiiiiiiiiiPKifff14rope_corr_dimsfPKfPKlib",
     "p p 128 32 1 128 4096 4096 128 4096 4096 1 128 p 0x3f800000 0 0x3f800000 0x41a0000042200000 0x3f62f1e8 p p 4096 "
     "1"},
    {"_Z10k_set_rowsIflfEvPKT_PKT0_PT1_llllllllllllll5uint3S9_S9_S9_S9_",
     "p p p 1024 1024 1 1 1024 1024 1024 1 1 1 1024 1048576 1048576 0x80000001,10,1024 1,0,1 1,0,1 1,0,1 1,0,1"},
    {"_Z18flash_attn_ext_vecILi128ELi1EL9ggml_type1ELS0_1ELb0EEvPKcS2_S2_S2_S2_"
     "PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil",
     "p p p p n n p p 0x3db504f3 0 0x3f800000 0x3f800000 32 0 128 1,0,1 32 1 16384 512 16384 128 4096 8 1 2048 256 "
     "8388608 2048 256 "
     "8388608 1 1 1 8192 8192 8192"},
    {"_Z26flash_attn_combine_resultsILi128EEvPKfPK6float2Pfi", "p p p 8"},
};
enum { LLAMA_KERNELS = sizeof llama / sizeof *llama };

static void register_kernel(const void *stub, const char *name)
{
    __cudaRegisterFunction(NULL, stub, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static uint64_t passed_value(const char *text, unsigned number)
{
    return *text == 'p' ? 0x7f0012345600u + 256u * number : *text == 'n' ? 0 : strtoull(text, NULL, 0);
}

static void pass(struct launch *l, const char *text)
{
    for (unsigned i = 0; *text; i++, text += strspn(text, " ")) {
        uint64_t value = passed_value(text, i);
        memset(l->value[i], 0, BYTES);
        memcpy(l->value[i], &value, sizeof value);
        l->argument[i] = l->value[i];
        for (unsigned word = 1; text += strcspn(text, " ,"), *text == ','; text++, word++) {
            uint32_t next = (uint32_t)strtoul(text + 1, NULL, 0);
            memcpy(l->value[i] + 4 * word, &next, sizeof next);
        }
    }
}

static int run_llama(void)
{
    static char stub[LLAMA_KERNELS];
    struct launch l;
    for (unsigned kernel = 0; kernel < LLAMA_KERNELS; kernel++) {
        register_kernel(&stub[kernel], llama[kernel].name);
        for (unsigned i = 0; i < 6; i++) {
            pass(&l, llama[kernel].passed);
            cudaLaunchKernel(&stub[kernel], (dim3){1 + 256 * i, 1, 1}, (dim3){32, 4, 1}, l.argument, 0, NULL);
        }
    }
    return 0;
}

static int run_error(void)
{
    struct launch l;
    unsigned asked = cudaFakeAsked();
    cudaFakeError(77);
    sizes_are_told = 0; /* so that what is expected is what the name tells */
    fill(&l, 1);
    launch_and_forget(&l, 0, 1);
    return cudaPeekAtLastError() != 77 || cudaFakeAsked() != asked;
}

static int run_missing(void)
{
    struct launch l;
    const void *stub = (const void *)(uintptr_t)stubs[0];
    fill(&l, 0);
    cudaLaunchKernel(stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
    print_expected(&l, 1, 0);
    launch_and_forget(&l, 0, 1);
    cudaLaunchKernel(stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
    print_expected(&l, 1, 0);
    return 0;
}

static long launches_per_thread;

static void *thread_body(void *argument)
{
    const unsigned *grid = argument;
    struct launch l;
    memset(&l, 1, sizeof l);
    for (unsigned i = 0; i < PARAMETERS; i++)
        l.argument[i] = l.value[i];
    for (long i = 0; i < launches_per_thread; i++) {
        l.kernel = (unsigned)(i % KERNELS);
        launch_by(&l, (unsigned)(i / KERNELS % 4), *grid);
    }
    return NULL;
}

/* Twice; of the second round a grid of 2 tells. */
static int run_threads(long count)
{
    pthread_t thread[4];
    launches_per_thread = count;
    for (unsigned grid = 1; grid <= 2; grid++) {
        for (unsigned i = 0; i < 4; i++)
            if (pthread_create(&thread[i], NULL, thread_body, &grid))
                return 1;
        for (unsigned i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
    }
    return 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_loop(const char *path, int call_us)
{
    struct launch l;
    int fd = open(path, O_RDWR);
    uint64_t *witness = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (witness == MAP_FAILED)
        return 1;
    fill(&l, 1);
    for (;;) {
        if (!pick(3))
            change(&l);
        launch_by(&l, 0, 1 + pick(100));
        for (double start = call_us ? seconds() : 0; call_us && seconds() - start < call_us * 1e-6;)
            ;
        __atomic_store_n(witness, *witness + 1, __ATOMIC_RELEASE);
    }
}

static unsigned count_of(const struct kernel *kernel)
{
    unsigned count = 0;
    while (count < PARAMETERS && kernel->sizes[count])
        count++;
    return count;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    sizes_are_told = getenv("SIZES") != NULL;
    for (unsigned i = 0; i < KERNELS; i++) {
        const void *stub = (const void *)(uintptr_t)stubs[i];
        register_kernel(stub, kernels[i].name);
        if (sizes_are_told)
            cudaFakeSizes(stub, kernels[i].sizes, count_of(&kernels[i]));
    }
    if (!strcmp(mode, "each"))
        return run_each();
    if (!strcmp(mode, "repeat") && count > 2)
        return run_repeat(atol(arguments[2]));
    if (!strcmp(mode, "fork"))
        return run_fork();
    if (!strcmp(mode, "llama"))
        return run_llama();
    if (!strcmp(mode, "error"))
        return run_error();
    if (!strcmp(mode, "missing"))
        return run_missing();
    if (!strcmp(mode, "threads") && count > 2)
        return run_threads(atol(arguments[2]));
    if (!strcmp(mode, "loop") && count > 4)
        return run_loop(arguments[2], atoi(arguments[4]));
    return 2;
}
