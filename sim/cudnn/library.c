/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's handle, version and backend entry points. One engine exists for every graph; it needs no workspace and has no
 * knobs. Everything of the older API is refused (symbols.tsv). */
#include "backend.h"
#include "sim/core/simgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 92400, CUDART_VERSION = SIM_CUDA_MAJOR * 1000 };

struct cudnn_handle {
    void *stream;
};

#define API SIMGPU_API

#define DOOR()                                                                                                         \
    do {                                                                                                               \
        int fault_ = simgpu_fault(__func__);                                                                           \
        if (fault_)                                                                                                    \
            return fault_;                                                                                             \
    } while (0)

API size_t cudnnGetVersion(void);
API size_t cudnnGetMaxDeviceVersion(void);
API size_t cudnnGetCudartVersion(void);
API int cudnnGetProperty(int which, int *value);
API const char *cudnnGetErrorString(int status);
API void cudnnGetLastErrorString(char *text, size_t bytes);
API int cudnnCreate(struct cudnn_handle **handle);
API int cudnnDestroy(struct cudnn_handle *handle);
API int cudnnSetStream(struct cudnn_handle *handle, void *stream);
API int cudnnGetStream(struct cudnn_handle *handle, void **stream);
API int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor);
API int cudnnBackendDestroyDescriptor(struct descriptor *descriptor);
API int cudnnBackendInitialize(struct descriptor *descriptor);
API int cudnnBackendFinalize(struct descriptor *descriptor);
API int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type, int64_t count, const void *data);
API int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type, int64_t requested, int64_t *count,
                                 void *data);
API int cudnnBackendExecute(struct cudnn_handle *handle, struct descriptor *plan, struct descriptor *pack);

/* SIMGPU_CUDNN_VERSION=n makes programs see another version, so that they choose other ways: below 90000 PyTorch leaves
 * attention to its own kernels. */
API size_t cudnnGetVersion(void)
{
    const char *text = getenv("SIMGPU_CUDNN_VERSION");
    size_t version = text ? strtoul(text, NULL, 10) : 0;

    return version ? version : VERSION;
}

API size_t cudnnGetMaxDeviceVersion(void)
{
    return cudnnGetVersion();
}

API size_t cudnnGetCudartVersion(void)
{
    return CUDART_VERSION;
}

API int cudnnGetProperty(int which, int *value)
{
    int version = (int)cudnnGetVersion();

    DOOR();
    if (!value || which < 0 || which > 2)
        return STATUS_BAD_PARAM;
    *value = which == 0 ? version / 10000 : which == 1 ? version / 100 % 100 : version % 100;
    return STATUS_SUCCESS;
}

API const char *cudnnGetErrorString(int status)
{
    switch (status) {
    case STATUS_SUCCESS:
        return "CUDNN_STATUS_SUCCESS";
    case STATUS_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case STATUS_BAD_PARAM_NULL_POINTER:
        return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case STATUS_BAD_PARAM_NOT_FINALIZED:
        return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case STATUS_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
        return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case STATUS_EXECUTION_FAILED:
        return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
        return "CUDNN_UNKNOWN_STATUS";
    }
}

API void cudnnGetLastErrorString(char *text, size_t bytes)
{
    if (text && bytes > 0)
        text[0] = '\0';
}

API int cudnnCreate(struct cudnn_handle **handle)
{
    DOOR();
    if (!handle)
        return STATUS_BAD_PARAM_NULL_POINTER;
    *handle = calloc(1, sizeof **handle);
    return *handle ? STATUS_SUCCESS : STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

API int cudnnDestroy(struct cudnn_handle *handle)
{
    DOOR();
    free(handle);
    return STATUS_SUCCESS;
}

API int cudnnSetStream(struct cudnn_handle *handle, void *stream)
{
    DOOR();
    if (!handle)
        return STATUS_BAD_PARAM_NULL_POINTER;
    handle->stream = stream;
    return STATUS_SUCCESS;
}

API int cudnnGetStream(struct cudnn_handle *handle, void **stream)
{
    DOOR();
    if (!handle || !stream)
        return STATUS_BAD_PARAM_NULL_POINTER;
    *stream = handle->stream;
    return STATUS_SUCCESS;
}

API int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor)
{
    DOOR();
    if (!descriptor)
        return STATUS_BAD_PARAM_NULL_POINTER;
    *descriptor = descriptor_new(type);
    return *descriptor ? STATUS_SUCCESS : STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

API int cudnnBackendDestroyDescriptor(struct descriptor *descriptor)
{
    DOOR();
    if (!descriptor_valid(descriptor))
        return STATUS_BAD_PARAM;
    descriptor_release(descriptor);
    return STATUS_SUCCESS;
}

API int cudnnBackendInitialize(struct descriptor *descriptor)
{
    DOOR();
    return descriptor_valid(descriptor) ? STATUS_SUCCESS : STATUS_BAD_PARAM;
}

/* What a descriptor of this type must have before it can be finalized. */
static const struct {
    int type, attribute;
} required[] = {
    {DESCRIPTOR_OPERATIONGRAPH, ATTRIBUTE_OPERATIONGRAPH_OPS},
    {DESCRIPTOR_ENGINEHEUR, ATTRIBUTE_ENGINEHEUR_OPERATION_GRAPH},
    {DESCRIPTOR_ENGINE, ATTRIBUTE_ENGINE_OPERATION_GRAPH},
    {DESCRIPTOR_ENGINECFG, ATTRIBUTE_ENGINECFG_ENGINE},
    {DESCRIPTOR_EXECUTION_PLAN, ATTRIBUTE_EXECUTION_PLAN_ENGINE_CONFIG},
};

API int cudnnBackendFinalize(struct descriptor *descriptor)
{
    DOOR();
    if (!descriptor_valid(descriptor))
        return STATUS_BAD_PARAM;
    for (unsigned i = 0; i < sizeof required / sizeof *required; i++)
        if (required[i].type == descriptor_type(descriptor) && !descriptor_refers(descriptor, required[i].attribute, 0))
            return STATUS_BAD_PARAM;
    descriptor_finalize(descriptor);
    return STATUS_SUCCESS;
}

API int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type, int64_t count, const void *data)
{
    DOOR();
    if (!descriptor_valid(descriptor) || count < 0 || descriptor_finalized(descriptor))
        return STATUS_BAD_PARAM;
    if (count > 0 && !data)
        return STATUS_BAD_PARAM_NULL_POINTER;
    return descriptor_set(descriptor, name, type, count, data);
}

/* ---- reading ---- */

/* What is answered without having been set: COUNT values (all VALUE), COUNT 0 for what there is none of. */
static const struct {
    int descriptor, attribute, type;
    int64_t count, value;
} computed[] = {
    {DESCRIPTOR_EXECUTION_PLAN, ATTRIBUTE_EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64, 1, 0},
    {DESCRIPTOR_ENGINECFG, ATTRIBUTE_ENGINECFG_WORKSPACE_SIZE, TYPE_INT64, 1, 0},
    {DESCRIPTOR_ENGINECFG, ATTRIBUTE_ENGINECFG_SHARED_MEMORY_USED, TYPE_INT64, 1, 0},
    {DESCRIPTOR_ENGINECFG, ATTRIBUTE_ENGINECFG_INTERMEDIATE_INFO, TYPE_BACKEND_DESCRIPTOR, 0, 0},
    {DESCRIPTOR_ENGINECFG, ATTRIBUTE_ENGINECFG_KNOB_CHOICES, TYPE_BACKEND_DESCRIPTOR, 0, 0},
    {DESCRIPTOR_ENGINE, ATTRIBUTE_ENGINE_KNOB_INFO, TYPE_BACKEND_DESCRIPTOR, 0, 0},
    {DESCRIPTOR_ENGINE, ATTRIBUTE_ENGINE_LAYOUT_INFO, TYPE_BACKEND_DESCRIPTOR, 0, 0},
    {DESCRIPTOR_ENGINE, ATTRIBUTE_ENGINE_NUMERICAL_NOTE, 11, 0, 0},
    {DESCRIPTOR_ENGINE, ATTRIBUTE_ENGINE_BEHAVIOR_NOTE, 19, 0, 0},
    {DESCRIPTOR_OPERATIONGRAPH, ATTRIBUTE_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, TYPE_INT64, 1, 1},
    {DESCRIPTOR_TENSOR, ATTRIBUTE_TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, 1, 0},
    {DESCRIPTOR_KERNEL_CACHE, ATTRIBUTE_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED, TYPE_BOOLEAN, 1, 0},
};

static int get_computed(const struct descriptor *descriptor, int name, int type, int64_t requested, int64_t *count,
                        void *data)
{
    char what[96];

    for (unsigned i = 0; i < sizeof computed / sizeof *computed; i++) {
        if (computed[i].descriptor != descriptor_type(descriptor) || computed[i].attribute != name)
            continue;
        if (count)
            *count = computed[i].count;
        if (computed[i].count > 0 && requested > 0 && data)
            memcpy(data, &computed[i].value, attribute_type_bytes(type));
        return STATUS_SUCCESS;
    }
    snprintf(what, sizeof what, "cudnnBackendGetAttribute(descriptor type %d, attribute %d)",
             descriptor_type(descriptor), name);
    simgpu_not_supported(what);
    return STATUS_NOT_SUPPORTED;
}

/* The heuristics know one configuration, of the one engine. The caller brings the descriptor to be filled in. */
static int get_heuristics(const struct descriptor *heuristics, int64_t requested, int64_t *count,
                          struct descriptor **configurations)
{
    struct descriptor *graph = descriptor_refers(heuristics, ATTRIBUTE_ENGINEHEUR_OPERATION_GRAPH, 0);
    struct descriptor *engine;
    int64_t index = 0;
    int status;

    if (!graph || !descriptor_finalized(heuristics))
        return STATUS_BAD_PARAM_NOT_FINALIZED;
    if (count)
        *count = 1;
    if (requested < 1 || !configurations)
        return STATUS_SUCCESS;
    if (!descriptor_valid(configurations[0]) || descriptor_type(configurations[0]) != DESCRIPTOR_ENGINECFG)
        return STATUS_BAD_PARAM;
    engine = descriptor_new(DESCRIPTOR_ENGINE);
    if (!engine)
        return STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    status = descriptor_set(engine, ATTRIBUTE_ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    if (!status)
        status = descriptor_set(engine, ATTRIBUTE_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &index);
    descriptor_finalize(engine);
    if (!status)
        status = descriptor_set(configurations[0], ATTRIBUTE_ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (!status)
        descriptor_finalize(configurations[0]);
    descriptor_release(engine);
    return status;
}

/* Descriptors come back as copies into those that the caller brings. */
static int get_descriptors(const struct attribute *attribute, int64_t requested, struct descriptor **data)
{
    for (int64_t i = 0; i < attribute->count && i < requested; i++) {
        int status;

        if (!descriptor_valid(data[i]))
            return STATUS_BAD_PARAM;
        status = descriptor_copy(data[i], ((struct descriptor **)attribute->data)[i]);
        if (status)
            return status;
    }
    return STATUS_SUCCESS;
}

API int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type, int64_t requested, int64_t *count,
                                 void *data)
{
    const struct attribute *attribute;

    DOOR();
    if (!descriptor_valid(descriptor) || requested < 0)
        return STATUS_BAD_PARAM;
    if (name == ATTRIBUTE_ENGINEHEUR_RESULTS)
        return get_heuristics(descriptor, requested, count, data);
    attribute = descriptor_get(descriptor, name);
    if (!attribute)
        return get_computed(descriptor, name, type, requested, count, data);
    if (attribute->type != type)
        return STATUS_BAD_PARAM;
    if (count)
        *count = attribute->count;
    if (!data)
        return STATUS_SUCCESS;
    if (type == TYPE_BACKEND_DESCRIPTOR)
        return get_descriptors(attribute, requested, data);
    memcpy(data, attribute->data,
           (size_t)(attribute->count < requested ? attribute->count : requested) * attribute_type_bytes(type));
    return STATUS_SUCCESS;
}

API int cudnnBackendExecute(struct cudnn_handle *handle, struct descriptor *plan, struct descriptor *pack)
{
    DOOR();
    if (!handle || !descriptor_valid(plan) || !descriptor_valid(pack))
        return STATUS_BAD_PARAM_NULL_POINTER;
    if (descriptor_type(plan) != DESCRIPTOR_EXECUTION_PLAN || descriptor_type(pack) != DESCRIPTOR_VARIANT_PACK)
        return STATUS_BAD_PARAM;
    if (!descriptor_finalized(plan) || !descriptor_finalized(pack))
        return STATUS_BAD_PARAM_NOT_FINALIZED;
    return plan_launch(plan, handle->stream);
}
