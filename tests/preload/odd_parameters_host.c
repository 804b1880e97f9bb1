/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that mislead who reads their parameters: `odd_parameters_host MODE`, which prints what the records must say as
 * parameters_host does.
 *
 *   alike   kernels that differ in nothing but their names, and whose stubs lie as far apart as the shim's plans
 *   lies    kernels whose names tell of more parameters than they have, or of others; the array ends with the memory
 *   edges   a parameter of each type that a name tells the size of, at the end of the memory
 *   handles a handle that was a host stub's, and is that of a kernel that a program loads
 *   stack   the first launch of a kernel, on a stack of 16 KiB with a canary below; prints nothing
 *
 * With SIZES=1 in the environment the fake runtime tells the sizes of parameters. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/cublas_types.h"
#include "preload/parameter_plan.h"

int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
int __cudaGetKernel(cudaKernel_t *, const void *);
int __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
int cudaLibraryGetKernel(cudaKernel_t *, cudaLibrary_t, const char *);
void cudaFakeSizes(const void *stub, const uint16_t *sizes, unsigned count);
int cudaPeekAtLastError(void);

enum { PAGE = 4096 };
static const dim3 one = {1, 1, 1};
static char device[16]; /* what pointers point to */

static void register_kernel(const void *stub, const char *name)
{
    __cudaRegisterFunction(NULL, stub, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

/* The byte behind the last one that may be touched. */
static char *end_of_memory(void)
{
    char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || munmap(memory + PAGE, PAGE) != 0)
        exit(2);
    return memory + PAGE;
}

static int run_alike(void)
{
    enum { KERNELS = 64 };
    static char stub[2][KERNELS * sizeof(struct parameter_plan)], name[2][KERNELS][32];
    void *pointer = device;
    int number = 7;
    void *arguments[] = {&pointer, &number};
    for (unsigned round = 0; round < 2; round++) /* plans lie one behind the other as they are made */
        for (unsigned i = 0; i < KERNELS; i++) {
            const char *at = &stub[round][(round ? i : KERNELS - 1 - i) * sizeof(struct parameter_plan)];
            snprintf(name[round][i], sizeof name[round][i], "_Z5alikeILi%uEEvPfi", round * KERNELS + i);
            register_kernel(at, name[round][i]);
            cudaLaunchKernel(at, one, one, arguments, 0, NULL);
            printf("{\"name\":\"%s\",\"grid\":[1,1,1],\"nulls\":0,\"values\":\"07000000\"}\n", name[round][i]);
        }
    return cudaPeekAtLastError();
}

/* SIZES: what the kernel has. Only where they are told can anyone know that the name is wrong. */
static const struct {
    const char *name;
    uint16_t sizes[4];
    unsigned count;
} lies[] = {
    {"_Z4morePfiiiiiiii", {8, 4}, 2},
    {"_Z4nonePfi", {0}, 0},
    {"_Z5otherdi", {4, 4}, 2},
    {"_Z6structdi5Thing", {8, 4, 2000}, 3},
};
enum { LIES = sizeof lies / sizeof *lies };

static int run_lies(void)
{
    static char stub[LIES][16];
    for (unsigned i = 0; i < LIES; i++) {
        void **arguments = (void **)(void *)end_of_memory() - lies[i].count;
        for (unsigned p = 0; p < lies[i].count; p++)
            arguments[p] = memset(end_of_memory() - lies[i].sizes[p], 1, lies[i].sizes[p]);
        register_kernel(stub[i], lies[i].name);
        cudaFakeSizes(stub[i], lies[i].sizes, lies[i].count);
        cudaLaunchKernel(stub[i], one, one, arguments, 0, NULL);
        printf("{\"name\":\"%s\",\"grid\":[1,1,1],\"values\":%s}\n", lies[i].name,
               lies[i].count == 3 ? "\"010101010101010101010101\"" : "null"); /* nothing of 2000 bytes is kept */
    }
    return cudaPeekAtLastError();
}

/* Sizes as a compiler for x86-64 or aarch64 gives them: of types of CUDA, in vector_types.h, cuda_fp16.h and the like. */
static const struct {
    const char *type;
    uint16_t bytes;
} edges[] = {
    {"b", 1},
    {"c", 1},
    {"a", 1},
    {"h", 1},
    {"s", 2},
    {"t", 2},
    {"i", 4},
    {"j", 4},
    {"l", 8},
    {"m", 8},
    {"x", 8},
    {"y", 8},
    {"n", 16},
    {"o", 16},
    {"w", sizeof(wchar_t)},
    {"f", 4},
    {"d", 8},
    {"e", sizeof(long double)},
    {"Dn", 8},
    {"Di", 4},
    {"Ds", 2},
    {"Du", 1},
    {"DF16_", 2},
    {"DF16b", 2},
    {"Dh", 2},
    {"6__half", 2},
    {"7__half2", 4},
    {"13__nv_bfloat16", 2},
    {"14__nv_bfloat162", 4},
    {"13__nv_fp8_e4m3", 1},
    {"5char3", 3},
    {"5uint3", 12},
    {"4dim3", 12},
    {"6float2", 8},
    {"6float4", 16},
    {"6short3", 6},
    {"7double3", 24},
    {"10ulonglong4", 32},
    {"9ggml_type", 4},
    {"14rope_corr_dims", 8},
    {"14mrope_sections", 16},
    {"31ggml_cuda_mm_fusion_args_device", 24},
    {"N3c104HalfE", 2},
    {"N3c108BFloat16E", 2},
    {"4Enum", 1},
    {"5Empty", 1},
    {"M5ClassFviE", 16},
    {"M5Classi", 8},
    {"NSt3__15arrayIiLm3EEE", 12},
    {"St5arrayIsLm3EE", 6},
    {"Dv4_f", 16},
    {"N2ns6float4E", 1},
    {"7__half2IiE", 1},
    {"Pf", 8},
    {"PFviE", 8},
    {"KPf", 8},
    {"Ki", 4},
    {"PA4_f", 8},
};
enum { EDGES = sizeof edges / sizeof *edges };

/* What is kept of it is for parameters_host to say: here nothing may be read that is not there. */
static int run_edges(void)
{
    static char stub[EDGES][16], name[EDGES][96];
    for (unsigned i = 0; i < EDGES; i++) {
        void **arguments = (void **)(void *)end_of_memory() - 1;
        arguments[0] = memset(end_of_memory() - edges[i].bytes, 1, edges[i].bytes);
        snprintf(name[i], sizeof name[i], "_Z4edge%s", edges[i].type);
        register_kernel(stub[i], name[i]);
        if (getenv("SIZES"))
            cudaFakeSizes(stub[i], &edges[i].bytes, 1);
        for (unsigned again = 0; again < 2; again++) {
            cudaLaunchKernel(stub[i], one, one, arguments, 0, NULL);
            printf("{\"name\":\"%s\"}\n", name[i]);
        }
    }
    return cudaPeekAtLastError();
}

static int run_handles(void)
{
    static char stub[16];
    int number = 7;
    void **one_argument = (void **)(void *)end_of_memory() - 1, *four[] = {&number, &number, &number, &number};
    cudaKernel_t handle = NULL, again = NULL;
    one_argument[0] = &number;
    register_kernel(stub, "_Z7handlesiiii");
    __cudaGetKernel(&handle, stub);
    __cudaLaunchKernel(handle, one, one, four, 0, NULL);
    printf(
        "{\"name\":\"_Z7handlesiiii\",\"grid\":[1,1,1],\"nulls\":0,\"values\":\"07000000070000000700000007000000\"}\n");
    cudaLibraryGetKernel(&again, NULL, stub); /* as if its library had been closed */
    if (again != handle)
        return 2;
    cudaLaunchKernel(handle, one, one, one_argument, 0, NULL);
    printf("{\"name\":null,\"grid\":[1,1,1],\"values\":null}\n");
    __cudaGetKernel(&handle, stub); /* and opened */
    __cudaLaunchKernel(handle, one, one, four, 0, NULL);
    printf(
        "{\"name\":\"_Z7handlesiiii\",\"grid\":[1,1,1],\"nulls\":0,\"values\":\"07000000070000000700000007000000\"}\n");
    return cudaPeekAtLastError();
}

/* ---- little stack ---- */

static char little_stub[16];
static const char *const deep = "_Z5deep_I1aIS_IS_IS_IS_IS_IS_IS_IiEEEEEEEEEvPT_PPPPPPPPfiPFvPFvPFvPFviEEEE";
static int handled;

static void handle(int number)
{
    void *pointer = device;
    void *arguments[] = {&pointer, &pointer, &pointer, &pointer};
    (void)number;
    cudaLaunchKernel(little_stub, one, one, arguments, 0, NULL);
    handled++;
}

static int run_stack(void)
{
    enum { BYTES = 16384, CANARY = 65536 };
    unsigned char *memory = malloc(CANARY + BYTES);
    stack_t stack = {.ss_sp = memory + CANARY, .ss_size = BYTES};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    void *none[] = {NULL};
    if (!memory || sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 2;
    memset(memory, 0xa5, CANARY + BYTES);
    cudaLaunchKernel(end_of_memory() - 1, one, one, none, 0, NULL); /* the process's first takes more */
    register_kernel(little_stub, deep);
    raise(SIGUSR1);
    for (unsigned i = 0; i < CANARY; i++)
        if (memory[i] != 0xa5) {
            fprintf(stderr, "the first launch of a kernel takes %u bytes of stack, %d were there\n", CANARY + BYTES - i,
                    BYTES);
            return 1;
        }
    return handled != 1;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    if (!strcmp(mode, "alike"))
        return run_alike();
    if (!strcmp(mode, "lies"))
        return run_lies();
    if (!strcmp(mode, "edges"))
        return run_edges();
    if (!strcmp(mode, "handles"))
        return run_handles();
    if (!strcmp(mode, "stack"))
        return run_stack();
    return 2;
}
