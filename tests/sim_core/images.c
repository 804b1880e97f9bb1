/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries made by hand: what a cubin or PTX in them, or a mangled name, tells of a kernel's parameters, for which
 * architecture a kernel was compiled, and what a kernel writes that the device file names. The `unit` device is 9.0. */
#include "ledger_reader.h"

#include <dlfcn.h>
#include <elf.h>

#define LEDGER "images.ledger"
#define KERNEL "_Z5scaleIiEvPKfi5uint3"
#define LARGE  "large"

/* Attributes as the compiler writes them: form 4 (sized), number, bytes, then index, ordinal, offset, size and kind. */
#define PARAMETER(ordinal, offset, size)                                                                               \
    4, 0x17, 12, 0, 0, 0, 0, 0, (ordinal), 0, (offset)&0xff, (offset) >> 8, 0x00, 0xf0, ((size) << 2 & 0xff) | 1,      \
        (size) >> 6
#define PARAMETER_V2(ordinal, offset, size)                                                                            \
    4, 0x45, 12, 0, 0, 0, 0, 0, (ordinal), 0, (offset)&0xff, (offset) >> 8, (size)&0xff, (size) >> 8, 0, 5

/* The last parameter first, as they come; between others of each form. */
static const unsigned char scale_info[] = {
    3, 0x19, 0x18, 0, PARAMETER(2, 12, 12), PARAMETER(1, 8, 4), 2, 0x4a, 1, 0, PARAMETER(0, 0, 8), 1, 0x04, 0, 0};
static const unsigned char large_info[] = {PARAMETER_V2(1, 5000, 8), PARAMETER_V2(0, 0, 5000)};
static const char section_names[] = "\0.shstrtab\0.nv.info." KERNEL "\0.nv.info." LARGE;

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    unsigned char scale[sizeof scale_info], large[sizeof large_info];
    char names[sizeof section_names];
} cubin;

static void set_section(int index, unsigned name, const void *place, size_t bytes)
{
    cubin.sections[index].sh_name = name;
    cubin.sections[index].sh_type = SHT_PROGBITS;
    cubin.sections[index].sh_offset = (size_t)((const char *)place - (const char *)&cubin);
    cubin.sections[index].sh_size = bytes;
}

static void make_cubin(void)
{
    memcpy(cubin.header.e_ident, ELFMAG, SELFMAG);
    cubin.header.e_ident[EI_CLASS] = ELFCLASS64;
    cubin.header.e_shoff = offsetof(__typeof__(cubin), sections);
    cubin.header.e_shentsize = sizeof(Elf64_Shdr);
    cubin.header.e_shnum = 4;
    cubin.header.e_shstrndx = 1;
    memcpy(cubin.scale, scale_info, sizeof scale_info);
    memcpy(cubin.large, large_info, sizeof large_info);
    memcpy(cubin.names, section_names, sizeof section_names);
    set_section(1, 1, cubin.names, sizeof cubin.names);
    set_section(2, 11, cubin.scale, sizeof cubin.scale);
    set_section(3, 11 + sizeof(".nv.info." KERNEL), cubin.large, sizeof cubin.large);
}

struct __attribute__((packed)) entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t architecture, name, name_bytes;
    uint64_t flags, zero, uncompressed_bytes;
};
static struct __attribute__((packed)) {
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } header;
    struct entry ptx;
    unsigned char text[8];
    struct entry code;
    unsigned char cubin[sizeof cubin];
} container;
static struct {
    uint32_t magic, version;
    const void *container, *file;
} wrapper = {0x466243b1, 1, &container, NULL};

/* PTX of one architecture, compressed as nvcc does it, and a cubin of another. */
static void make_container(unsigned ptx, unsigned code)
{
    container.header.magic = 0xba55ed50;
    container.header.version = 1;
    container.header.header_bytes = sizeof container.header;
    container.header.bytes = sizeof container - sizeof container.header;
    container.ptx = (struct entry){.kind = 1,
                                   .header_bytes = sizeof container.ptx,
                                   .bytes = sizeof container.text,
                                   .compressed_bytes = 7,
                                   .architecture = ptx,
                                   .flags = 0x2011};
    container.code = (struct entry){.kind = 2,
                                    .header_bytes = sizeof container.code,
                                    .bytes = sizeof container.cubin,
                                    .architecture = code,
                                    .flags = 0x11};
    memcpy(container.cubin, &cubin, sizeof cubin);
}

static void **handle;
static char stubs[20];

static const void *kernel(int index, const char *name)
{
    __cudaRegisterFunction(handle, &stubs[index], &stubs[index], name, -1, NULL, NULL, NULL, NULL, NULL);
    return &stubs[index];
}

static void expect_parameters(const void *function, size_t count, const size_t expected[][2])
{
    size_t offset, size;
    for (size_t i = 0; i < count; i++) {
        OK(cudaFuncGetParamInfo(function, i, &offset, &size));
        assert_int_equal(offset, expected[i][0]);
        assert_int_equal(size, expected[i][1]);
    }
    assert_int_equal(cudaFuncGetParamInfo(function, count, &offset, &size), cudaErrorInvalidValue);
}

static void a_cubin_tells_parameters(void **state)
{
    (void)state;
    make_container(75, 75);
    handle = __cudaRegisterFatBinary(&wrapper);
    expect_parameters(kernel(0, KERNEL), 3, (size_t[][2]){{0, 8}, {8, 4}, {12, 12}});
    expect_parameters(kernel(1, LARGE), 2, (size_t[][2]){{0, 5000}, {5000, 8}});
}

static void a_kernel_is_of_what_the_device_takes(void **state)
{
    (void)state;
    static const struct {
        unsigned ptx, code;
        int ptx_version, binary_version;
    } cases[] = {{75, 75, 75, 90}, {90, 90, 90, 90}, {80, 90, 90, 90}, {80, 89, 80, 90}};
    for (int i = 0; i < 4; i++) {
        struct cudaFuncAttributes attributes;
        make_container(cases[i].ptx, cases[i].code);
        OK(cudaFuncGetAttributes(&attributes, kernel(2 + i, KERNEL)));
        assert_int_equal(attributes.ptxVersion, cases[i].ptx_version);
        assert_int_equal(attributes.binaryVersion, cases[i].binary_version);
    }
}

static void damage_is_unknown(void **state)
{
    (void)state;
    size_t offset, size;
    make_container(75, 75);
    container.code.bytes += 8; /* past the container */
    assert_int_equal(cudaFuncGetParamInfo(kernel(6, LARGE), 0, &offset, &size), cudaErrorNotSupported);
    make_container(75, 75);
    container.cubin[offsetof(__typeof__(cubin), large) + 8] = 0; /* an ordinal twice */
    assert_int_equal(cudaFuncGetParamInfo(kernel(7, LARGE), 0, &offset, &size), cudaErrorNotSupported);
    make_container(75, 75);
}

/* As nvcc writes it without compression: the declaration of the kernel whose name is asked for, not of one that begins so. */
static void text_tells_parameters(void **state)
{
    (void)state;
    static const char text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry _Z5otheri4bowls(\n\t.param .u64 p_param_0\n)\n{\n\tret;\n}\n"
                               ".entry _Z5otheri4bowl(\n\t.param .u32 p_param_0,\n"
                               "\t.param .align 8 .b8 p_param_1[48]\n)\n.maxntid 32, 1, 1\n{\n\tret;\n}\n"
                               ".entry _Z4nonev()\n{\n\tret;\n}\n";
    static struct __attribute__((packed)) {
        __typeof__(container.header) header;
        struct entry ptx;
        char text[sizeof text];
    } written;
    written.header = container.header;
    written.header.bytes = sizeof written - sizeof written.header;
    written.ptx = (struct entry){
        .kind = 1, .header_bytes = sizeof written.ptx, .bytes = sizeof written.text, .architecture = 90, .flags = 0x11};
    memcpy(written.text, text, sizeof text);
    wrapper.container = &written;
    expect_parameters(kernel(15, "_Z5otheri4bowl"), 2, (size_t[][2]){{0, 4}, {8, 48}});
    expect_parameters(kernel(16, "_Z4nonev"), 0, NULL);
    size_t offset, size;
    assert_int_equal(cudaFuncGetParamInfo(kernel(17, "_Z5awayi4bowl"), 0, &offset, &size), cudaErrorNotSupported);
    written.text[sizeof text - 1] = ' '; /* text without an end is none */
    assert_int_equal(cudaFuncGetParamInfo(kernel(18, "_Z5otheri4bowl"), 0, &offset, &size), cudaErrorNotSupported);
    wrapper.container = &container;
}

static void a_name_tells_parameters(void **state)
{
    (void)state;
    size_t offset, size;
    expect_parameters(kernel(8, "_Z5plainPvl6float4b"), 4, (size_t[][2]){{0, 8}, {8, 8}, {16, 16}, {32, 1}});
    expect_parameters(kernel(9, "_Z6foldedIL3bar7ELb1EEvPKiS2_t"), 3, (size_t[][2]){{0, 8}, {8, 8}, {16, 2}});
    expect_parameters(kernel(10, "_Z7nothingv"), 0, NULL);
    expect_parameters(kernel(11, "_Z4ownsi3boxPS_"), 3, (size_t[][2]){{0, 4}, {8, 48}, {56, 8}});
    assert_int_equal(cudaFuncGetParamInfo(kernel(12, "_Z5otheri4bowl"), 0, &offset, &size), cudaErrorNotSupported);
}

static void launches_carry_them(void **state)
{
    (void)state;
    unsigned long long pointer = 0x1122334455667788;
    int number = -2;
    uint3 box = {1, 2, 3};
    void *args[] = {&pointer, &number, &box};
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaLaunchKernel(kernel(13, KERNEL), (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
    OK(cudaDeviceSynchronize());
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    char *params = json_dumps(json_object_get(json_array_get(lines, 0), "params"), JSON_COMPACT);
    assert_string_equal(params, "[\"8877665544332211\",\"feffffff\",\"010000000200000003000000\"]");
    free(params);
    json_decref(lines);
}

static void an_image_that_is_gone_is_not_read(void **state)
{
    (void)state;
    cudaKernel_t kept;
    OK(__cudaGetKernel(&kept, kernel(14, LARGE)));
    __cudaUnregisterFatBinary(handle);
    memset(&container, 0xff, sizeof container);
    wrapper.container = NULL;
    size_t offset, size;
    assert_int_equal(cudaFuncGetParamInfo(&stubs[14], 0, &offset, &size), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaFuncGetParamInfo(kept, 0, &offset, &size), cudaErrorNotSupported);
}

/* index_kernel = choose:1:2:3, by its mangled name: rows of 0, 1, 2 in some order, in a graph as well. */
static void a_kernel_chooses(void **state)
{
    (void)state;
    static const int expected[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    int found[3][3], rows = 2, none = 0, many = 1000;
    float *scores = NULL;
    int *chosen;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    handle = __cudaRegisterFatBinary(&wrapper);
    const void *choose = kernel(15, "_Z6chooseILi3EEvPKfPii");
    OK(cudaMalloc((void **)&chosen, sizeof found));
    OK(cudaMemset(chosen, 0xff, sizeof found));
    OK(cudaLaunchKernel(choose, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&scores, &chosen, &rows}, 0, NULL));
    OK(cudaLaunchKernel(choose, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&scores, &scores, &rows}, 0, NULL));
    OK(cudaLaunchKernel(choose, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&scores, &chosen, &none}, 0, NULL));
    OK(cudaLaunchKernel(choose, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&scores, &chosen, &many}, 0, NULL));
    OK(cudaMemcpy(found, chosen, sizeof found, cudaMemcpyDeviceToHost));
    assert_memory_equal(found, expected, 2 * sizeof *found);
    assert_int_equal(found[2][0], -1);
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    rows = 3;
    OK(cudaLaunchKernel(choose, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&scores, &chosen, &rows}, 0, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaMemcpy(found, chosen, sizeof found, cudaMemcpyDeviceToHost));
    assert_int_equal(found[2][0], -1);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(found, chosen, sizeof found, cudaMemcpyDeviceToHost));
    assert_memory_equal(found, expected, sizeof found);
}

int main(void)
{
    FILE *device = fopen("images.device", "w");
    fputs("flops_per_second.fp32 = 1e14\nindex_kernel = choose:1:2:3\n", device);
    fclose(device);
    setenv("SIMGPU_DEVICE", "images.device", 1);
    ledger_use(LEDGER);
    setenv("SIMGPU_LEDGER_PARAMS", "all", 1);
    setenv("SIMGPU_STRUCT_SIZES", "bow:4:4,box:48:8", 1);
    if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL)) { /* as a program in C++ has it */
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    make_cubin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubin_tells_parameters),
        cmocka_unit_test(a_kernel_is_of_what_the_device_takes),
        cmocka_unit_test(damage_is_unknown),
        cmocka_unit_test(text_tells_parameters),
        cmocka_unit_test(a_name_tells_parameters),
        cmocka_unit_test(launches_carry_them),
        cmocka_unit_test(an_image_that_is_gone_is_not_read),
        cmocka_unit_test(a_kernel_chooses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
