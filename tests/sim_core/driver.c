/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's interface: modules from PTX text with their parameters, launches, functions by name and version,
 * address ranges, and what isn't offered. */
#include "ledger_reader.h"

#include <cuda.h>

#define LEDGER "driver.ledger"

static const char ptx[] = "// made by hand\n"
                          ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".global .align 4 .b8 table[40];\n"
                          ".visible .entry scale(\n"
                          "    .param .u64 .ptr .global .align 16 scale_param_0, /* an array */\n"
                          "    .param .align 8 .b8 scale_param_1[24],\n"
                          "    .param .u16 scale_param_2,\n"
                          "    .param .f32 scale_param_3\n"
                          ")\n{ ret; }\n"
                          ".visible .entry empty()\n{ ret; }\n"
                          ".func helper() { ret; }\n";

static CUmodule module;
static CUfunction scale;
static CUstream stream;

static void nothing_works_before_init(void **state)
{
    (void)state;
    int count;
    assert_int_equal(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    int version;
    OK(cuDriverGetVersion(&version));
    assert_int_equal(version, DRIVER_VERSION);
    assert_int_equal(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 1);
    json_t *lines = ledger_lines(LEDGER, "init", 0);
    assert_int_equal(json_array_size(lines), 1);
    json_decref(lines);
}

static void memory_needs_a_context(void **state)
{
    (void)state;
    CUcontext context, current;
    CUdeviceptr memory;
    unsigned flags;
    int active;
    assert_int_equal(cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    OK(cuMemAlloc(&memory, 16));
    OK(cuMemFree(memory));
    assert_int_equal(cuCtxSetCurrent((CUcontext)&active), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void ptx_tells_functions_and_parameters(void **state)
{
    (void)state;
    CUfunction missing;
    size_t offset, size;
    static const size_t expected[][2] = {{0, 8}, {8, 24}, {32, 2}, {36, 4}};
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    assert_int_equal(cuModuleGetFunction(&missing, module, "helper"), CUDA_ERROR_NOT_FOUND);
    for (size_t i = 0; i < 4; i++) {
        OK(cuFuncGetParamInfo(scale, i, &offset, &size));
        assert_int_equal(offset, expected[i][0]);
        assert_int_equal(size, expected[i][1]);
    }
    assert_int_equal(cuFuncGetParamInfo(scale, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr table;
    OK(cuModuleGetGlobal(&table, &size, module, "table"));
    assert_int_equal(size, 40);
    OK(cuMemsetD32(table, 7, 10));
    CUmodule broken;
    assert_int_equal(cuModuleLoadData(&broken, "no image at all"), CUDA_ERROR_INVALID_IMAGE);
}

static void launches_carry_their_parameters(void **state)
{
    (void)state;
    unsigned long long pointer = 0x1122334455667788;
    char box[24] = "abcdefghijklmnopqrstuvw";
    unsigned short small = 0xbeef;
    float real = 1.0f;
    void *args[] = {&pointer, box, &small, &real};
    char block[40] = {0};
    memcpy(block, &pointer, 8);
    size_t block_size = sizeof block, before = ledger_count(LEDGER, "kernel");
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_size,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(scale, 2, 3, 4, 32, 1, 1, 16, stream, args, NULL));
    OK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, stream, NULL, extra));
    assert_int_equal(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, stream, args, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamSynchronize(stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), 2);
    char *params = json_dumps(json_object_get(json_array_get(lines, 0), "params"), JSON_COMPACT);
    assert_string_equal(params, "[\"8877665544332211\",\"6162636465666768696a6b6c6d6e6f707172737475767700\",\"efbe\","
                                "\"0000803f\"]");
    free(params);
    params = json_dumps(json_object_get(json_array_get(lines, 1), "params"), JSON_COMPACT);
    assert_int_equal(strlen(params), 2 * 40 + 4);
    assert_memory_equal(params, "[\"8877665544332211", 18);
    free(params);
    json_decref(lines);
}

static void captured_parameters_are_kept(void **state)
{
    (void)state;
    unsigned long long pointer = 1;
    char box[24] = "first";
    unsigned short small = 2;
    float real = 3;
    void *args[] = {&pointer, box, &small, &real};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS params;
    size_t count = 1, before = ledger_count(LEDGER, "kernel");
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    memset(box, 'x', sizeof box); /* the program reuses its memory */
    pointer = 99;
    OK(cuGraphGetNodes(graph, &node, &count));
    OK(cuGraphKernelNodeGetParams(node, &params));
    assert_int_equal(*(unsigned long long *)params.kernelParams[0], 1);
    assert_string_equal((char *)params.kernelParams[1], "first");
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(lines, 0), "params"), 0)),
                        "0100000000000000");
    json_decref(lines);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

typedef CUresult launch_ex(const CUlaunchConfig *, CUfunction, void **, void **);

static void functions_are_found_by_name_and_version(void **state)
{
    (void)state;
    void *old, *new, *per_thread;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress("cuMemAlloc", &new, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    assert_ptr_equal(new, (void *)cuMemAlloc); /* the header's macro names the newest */
    OK(cuGetProcAddress("cuMemAlloc", &old, 2000, 0, &status));
    assert_ptr_not_equal(old, new);
    assert_int_equal(cuGetProcAddress("cuLaunchKernelEx", &old, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_int_equal(cuGetProcAddress("cuNoSuchThing", &old, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cuGetProcAddress("cuLaunchKernel", &old, 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
    OK(cuGetProcAddress("cuLaunchKernel", &per_thread, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    assert_ptr_not_equal(old, per_thread);
    enum cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &new, 12000, cudaEnableDefault, &found));
    assert_int_equal(found, cudaDriverEntryPointSuccess);
    size_t before = ledger_count(LEDGER, "kernel");
    CUlaunchConfig config = {
        .gridDimX = 5, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream};
    CUfunction empty;
    OK(cuModuleGetFunction(&empty, module, "empty"));
    OK(((launch_ex *)new)(&config, empty, NULL, NULL));
    assert_int_equal(ledger_count(LEDGER, "kernel"), before + 1);
}

static void ranges_alias_one_memory(void **state)
{
    (void)state;
    size_t granularity, free_before, free_after, total;
    CUdeviceptr range;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemGetInfo(&free_before, &total));
    OK(cuMemAddressReserve(&range, 2 * granularity, 0, 0, 0));
    OK(cuMemCreate(&handle, granularity, &properties, 0));
    OK(cuMemMap(range, granularity, 0, handle, 0));
    assert_int_equal(cuMemMap(range, granularity, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemSetAccess(range, 2 * granularity, &access, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(range + granularity, granularity, 0, handle, 0));
    OK(cuMemSetAccess(range, 2 * granularity, &access, 1));
    OK(cuMemRelease(handle));
    OK(cuMemsetD32(range + 16, 0xabcd, 1));
    unsigned back = 0;
    OK(cuMemcpyDtoH(&back, range + granularity + 16, 4));
    assert_int_equal(back, 0xabcd);
    assert_int_equal(cuMemUnmap(range, granularity / 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(range, 2 * granularity));
    assert_int_equal(cuMemcpyDtoH(&back, range + 16, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(range, 2 * granularity));
    OK(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_after, free_before);
}

static void private_tables_are_not_offered(void **state)
{
    (void)state;
    const void *table = &state;
    CUuuid id = {{1}};
    assert_int_equal(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
    assert_null(table);
    assert_int_equal(ledger_count(LEDGER, "not_supported"), 1);
}

int main(void)
{
    ledger_use(LEDGER);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_init),
        cmocka_unit_test(memory_needs_a_context),
        cmocka_unit_test(ptx_tells_functions_and_parameters),
        cmocka_unit_test(launches_carry_their_parameters),
        cmocka_unit_test(captured_parameters_are_kept),
        cmocka_unit_test(functions_are_found_by_name_and_version),
        cmocka_unit_test(ranges_alias_one_memory),
        cmocka_unit_test(private_tables_are_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
