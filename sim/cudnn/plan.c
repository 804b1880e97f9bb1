/* SPDX-License-Identifier: Apache-2.0 */
/* From an execution plan to a launch: the first operation of its graph that is known names the kernel; attention gets a
 * time from its shapes, anything else the time of a kernel that isn't modelled. */
#include "backend.h"
#include "sim/core/simgpu.h"

#include <stdio.h>

enum { TILE_Q = 128, CU_LAUNCH_KERNEL_EX = 652 };

struct shape {
    int64_t batch, heads, rows, columns;
    int type;
};

static size_t type_bits(int type)
{
    switch (type) {
    case DATA_DOUBLE:
        return 64;
    case DATA_HALF:
    case DATA_BFLOAT16:
        return 16;
    case DATA_FP8_E4M3:
    case DATA_FP8_E5M2:
        return 8;
    default:
        return 32;
    }
}

static const char *type_path(int type)
{
    switch (type) {
    case DATA_BFLOAT16:
        return "bf16";
    case DATA_HALF:
        return "fp16";
    case DATA_FP8_E4M3:
    case DATA_FP8_E5M2:
        return "fp8";
    case DATA_DOUBLE:
        return "fp64";
    default:
        return "fp32";
    }
}

static bool read_shape(const struct descriptor *operation, int name, struct shape *shape)
{
    const struct descriptor *tensor = descriptor_refers(operation, name, 0);
    const struct attribute *dimensions = tensor ? descriptor_get(tensor, ATTRIBUTE_TENSOR_DIMENSIONS) : NULL;
    const struct attribute *type = tensor ? descriptor_get(tensor, ATTRIBUTE_TENSOR_DATA_TYPE) : NULL;
    const int64_t *dimension;

    if (!dimensions || !type || dimensions->type != TYPE_INT64 || dimensions->count != 4)
        return false;
    dimension = dimensions->data;
    *shape = (struct shape){dimension[0], dimension[1], dimension[2], dimension[3], *(const int *)type->data};
    return true;
}

static double bytes_of(const struct shape *shape)
{
    return (double)shape->batch * (double)shape->heads * (double)shape->rows * (double)shape->columns *
           (double)type_bits(shape->type) / 8;
}

static unsigned at_least_one(int64_t value)
{
    return value < 1 ? 1 : (unsigned)value;
}

/* Q K^T and P V over the whole rectangle: a mask is an operand here, not a property that is known. */
static bool attention(const struct descriptor *operation, struct simgpu_dims *dims, uint64_t *duration_ns)
{
    struct shape q, k, v, o;
    double pairs;

    if (!read_shape(operation, ATTRIBUTE_OPERATION_SDPA_FWD_Q, &q) ||
        !read_shape(operation, ATTRIBUTE_OPERATION_SDPA_FWD_K, &k) ||
        !read_shape(operation, ATTRIBUTE_OPERATION_SDPA_FWD_V, &v) ||
        !read_shape(operation, ATTRIBUTE_OPERATION_SDPA_FWD_O, &o))
        return false;
    pairs = (double)q.batch * (double)q.heads * (double)q.rows * (double)k.rows;
    *duration_ns = simgpu_work_ns(2 * pairs * ((double)q.columns + (double)v.columns),
                                  bytes_of(&q) + bytes_of(&k) + bytes_of(&v) + bytes_of(&o), type_path(q.type));
    dims->grid[0] = at_least_one((q.rows + TILE_Q - 1) / TILE_Q);
    dims->grid[1] = at_least_one(q.heads);
    dims->grid[2] = at_least_one(q.batch);
    dims->block[0] = 384;
    return true;
}

/* Kernel names by operation, in the form of cuDNN's own so that tools which go by names have something to go by. */
static const struct {
    int type;
    const char *format; /* with the compute capability */
} operations[] = {
    {DESCRIPTOR_OPERATION_SDPA_FWD, "cudnn_generated_fort_native_sdpa_sm%d_flash_fprop_simulated"},
    {DESCRIPTOR_OPERATION_SDPA_BWD, "cudnn_generated_fort_native_sdpa_sm%d_flash_bprop_simulated"},
    {DESCRIPTOR_OPERATION_CONVOLUTION_FORWARD, "sm%d_simulated_cudnn_convolve_fprop"},
    {DESCRIPTOR_OPERATION_CONVOLUTION_BACKWARD_FILTER, "sm%d_simulated_cudnn_convolve_wgrad"},
    {DESCRIPTOR_OPERATION_CONVOLUTION_BACKWARD_DATA, "sm%d_simulated_cudnn_convolve_dgrad"},
    {DESCRIPTOR_OPERATION_MATMUL, "sm%d_simulated_cudnn_matmul"},
};

static const char *format_of(const struct descriptor *operation)
{
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].type == descriptor_type(operation))
            return operations[i].format;
    return NULL;
}

static const struct descriptor *graph_of(const struct descriptor *plan)
{
    const struct descriptor *configuration = descriptor_refers(plan, ATTRIBUTE_EXECUTION_PLAN_ENGINE_CONFIG, 0);
    const struct descriptor *engine =
        configuration ? descriptor_refers(configuration, ATTRIBUTE_ENGINECFG_ENGINE, 0) : NULL;

    return engine ? descriptor_refers(engine, ATTRIBUTE_ENGINE_OPERATION_GRAPH, 0) : NULL;
}

static const char *name_of(const char *format, char *name, size_t bytes)
{
    const struct simgpu_device *device = simgpu_device();
    int capability = device->compute_major * 10 + device->compute_minor;

    if (!format)
        format = "cudnn_generated_simulated_pointwise_sm%d";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* one of the formats of the table above */
    snprintf(name, bytes, format, capability);
#pragma GCC diagnostic pop
    return name;
}

int plan_launch(const struct descriptor *plan, void *stream)
{
    const struct descriptor *graph = graph_of(plan), *operation;
    struct simgpu_dims dims = {{1, 1, 1}, {128, 1, 1}, {0, 0, 0}, 0};
    const char *format = NULL;
    uint64_t duration_ns = 0;
    char name[128];

    if (!graph)
        return STATUS_BAD_PARAM;
    for (int64_t i = 0; (operation = descriptor_refers(graph, ATTRIBUTE_OPERATIONGRAPH_OPS, i)) != NULL; i++) {
        format = format_of(operation);
        if (!format)
            continue;
        if (descriptor_type(operation) == DESCRIPTOR_OPERATION_SDPA_FWD && !attention(operation, &dims, &duration_ns))
            return STATUS_BAD_PARAM;
        break;
    }
    if (simgpu_launch(simgpu_stream_of(stream, 0), simgpu_kernel_by_name(name_of(format, name, sizeof name)), &dims,
                      NULL, duration_ns, CU_LAUNCH_KERNEL_EX))
        return STATUS_EXECUTION_FAILED;
    return STATUS_SUCCESS;
}
