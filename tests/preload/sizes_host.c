/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose parameters' sizes only the driver tells: `sizes_host told|old`, on the simulated GPU, whose runtime reads them
 * in the text of the kernels. Prints what the records must say; OLD: of a driver before CUDA 12.4, which tells nothing. The
 * runtime's last error is the program's own all along, in a capture too. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/capture_types.h"

int cudaFuncGetAttributes(void *, const void *);
int cudaGetLastError(void);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaPeekAtLastError(void);
int cudaStreamBeginCapture(cudaStream_t, int);
int cudaStreamCreate(cudaStream_t *);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

#define MUST(call, wanted)                                                                                             \
    do {                                                                                                               \
        int status = (call);                                                                                           \
        if (status != (wanted)) {                                                                                      \
            fprintf(stderr, "%s: %d, not %d\n", #call, status, wanted);                                                \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { PAGE = 4096, BOWL = 48, INVALID_DEVICE_FUNCTION = 98 };

static const char text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                           ".entry _Z5firsti4bowl(\n.param .u32 a,\n.param .align 8 .b8 b[48]\n)\n{\nret;\n}\n"
                           ".entry _Z6secondi4bowl(\n.param .u32 a,\n.param .align 8 .b8 b[48]\n)\n{\nret;\n}\n"
                           ".entry _Z5thirdi4bowl(\n.param .u32 a,\n.param .align 8 .b8 b[48]\n)\n{\nret;\n}\n"
                           ".entry _Z5liar_i4bowlll(\n.param .u32 a\n)\n{\nret;\n}\n"
                           ".entry _Z5liar_lf(\n.param .u32 a,\n.param .f32 b\n)\n{\nret;\n}\n";
enum { FIRST, SECOND, THIRD, LIAR, OTHER_LIAR, KERNELS };
static const char *const names[KERNELS] = {"_Z5firsti4bowl", "_Z6secondi4bowl", "_Z5thirdi4bowl", "_Z5liar_i4bowlll",
                                           "_Z5liar_lf"};
static char stub[KERNELS][16];

/* A container with one entry, of text (fatbinary.h, fatbinary_section.h). */
static struct __attribute__((packed)) {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct __attribute__((packed)) {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t bytes;
        uint32_t compressed_bytes, options;
        uint16_t minor, major;
        uint32_t architecture, name, name_bytes;
        uint64_t flags, zero, uncompressed_bytes;
    } entry;
    char text[sizeof text];
} container = {
    .magic = 0xba55ed50,
    .version = 1,
    .header_bytes = 16,
    .bytes = sizeof container - 16,
    .entry = {
        .kind = 1, .header_bytes = sizeof container.entry, .bytes = sizeof text, .architecture = 90, .flags = 0x11}};
static struct {
    uint32_t magic, version;
    const void *container, *file;
} wrapper = {0x466243b1, 1, &container, NULL};

static int is_old;

static int launch(unsigned kernel, void **arguments, cudaStream_t stream)
{
    return cudaLaunchKernel(stub[kernel], (dim3){1 + kernel, 1, 1}, (dim3){32, 1, 1}, arguments, 0, stream);
}

/* The int is 1 + KERNEL, all bytes of the struct are 2: kept where its size is known. */
static void print_expected(unsigned kernel, int has_values, int has_bowl)
{
    printf("{\"name\":\"%s\",\"grid\":[%u,1,1],\"values\":", names[kernel], 1 + kernel);
    if (has_values)
        printf("\"%02x000000", 1 + kernel);
    for (unsigned i = 0; has_values && has_bowl && i < BOWL; i++)
        printf("02");
    printf(has_values ? "\"}\n" : "null}\n");
}

/* Nothing may be read behind the end of the struct, and of the array. */
static int run(char *end)
{
    int unused[64];
    int64_t number = 1, large = 7;
    cudaGraph_t graph;
    cudaStream_t stream;
    void **arguments = (void **)(void *)end - 2, *five[] = {&number, &large, &large, &large, &large};
    arguments[0] = &number;
    arguments[1] = memset(end - 2 * sizeof *arguments - BOWL, 2, BOWL);
    MUST(launch(FIRST, arguments, NULL), 0);
    MUST(cudaPeekAtLastError(), 0);
    print_expected(FIRST, 1, !is_old);

    number = 2;
    MUST(cudaStreamCreate(&stream), 0);
    MUST(cudaStreamBeginCapture(stream, VENDOR_CAPTURE_GLOBAL), 0);
    MUST(launch(SECOND, arguments, stream), 0);
    MUST(cudaStreamEndCapture(stream, &graph), 0);
    MUST(cudaPeekAtLastError(), 0);
    print_expected(SECOND, 1, !is_old);

    number = 3;
    MUST(cudaFuncGetAttributes(unused, unused), INVALID_DEVICE_FUNCTION);
    MUST(launch(THIRD, arguments, NULL), 0);
    MUST(cudaPeekAtLastError(), INVALID_DEVICE_FUNCTION); /* nobody is asked while the program has an error */
    print_expected(THIRD, 1, 0);
    MUST(cudaGetLastError(), INVALID_DEVICE_FUNCTION);

    number = 4;
    MUST(launch(LIAR, is_old ? five : five + 4, NULL), 0);
    number = 5;
    MUST(launch(OTHER_LIAR, five, NULL), 0);
    MUST(cudaPeekAtLastError(), 0);
    if (is_old) {
        printf("{\"name\":\"%s\",\"grid\":[4,1,1],\"values\":\"0400000007000000000000000700000000000000\"}\n",
               names[LIAR]);
        printf("{\"name\":\"%s\",\"grid\":[5,1,1],\"values\":\"050000000000000007000000\"}\n", names[OTHER_LIAR]);
    } else {
        print_expected(LIAR, 0, 0);
        print_expected(OTHER_LIAR, 0, 0);
    }
    return 0;
}

int main(int count, char **given)
{
    char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (count < 2 || memory == MAP_FAILED || munmap(memory + PAGE, PAGE) != 0)
        return 2;
    is_old = !strcmp(given[1], "old");
    memcpy(container.text, text, sizeof text);
    void **binary = __cudaRegisterFatBinary(&wrapper);
    for (unsigned i = 0; i < KERNELS; i++)
        __cudaRegisterFunction(binary, stub[i], stub[i], names[i], -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(binary);
    return run(memory + PAGE);
}
