/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of cuDNN's backend API that the stand-in knows, from the public documentation of cuDNN 9; where cuDNN's
 * own header is found, backend_check.c compares. And what the stand-in's parts share. */
#ifndef SIM_CUDNN_BACKEND_H
#define SIM_CUDNN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* cudnnStatus_t */
       STATUS_SUCCESS = 0,
       STATUS_BAD_PARAM = 2000,
       STATUS_BAD_PARAM_NULL_POINTER = 2002,
       STATUS_BAD_PARAM_NOT_FINALIZED = 2004,
       STATUS_NOT_SUPPORTED = 3000,
       STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003,
       STATUS_EXECUTION_FAILED = 5000,
};

enum { /* cudnnBackendAttributeType_t */
       TYPE_HANDLE = 0,
       TYPE_BOOLEAN = 2,
       TYPE_INT64 = 3,
       TYPE_DOUBLE = 5,
       TYPE_VOID_PTR = 6,
       TYPE_BACKEND_DESCRIPTOR = 15,
       TYPE_CHAR = 24,
       TYPE_FRACTION = 26,
};

enum { /* cudnnBackendDescriptorType_t */
       DESCRIPTOR_ENGINE = 2,
       DESCRIPTOR_ENGINECFG = 3,
       DESCRIPTOR_ENGINEHEUR = 4,
       DESCRIPTOR_EXECUTION_PLAN = 5,
       DESCRIPTOR_OPERATION_CONVOLUTION_FORWARD = 10,
       DESCRIPTOR_OPERATION_CONVOLUTION_BACKWARD_FILTER = 11,
       DESCRIPTOR_OPERATION_CONVOLUTION_BACKWARD_DATA = 12,
       DESCRIPTOR_OPERATIONGRAPH = 15,
       DESCRIPTOR_VARIANT_PACK = 16,
       DESCRIPTOR_TENSOR = 17,
       DESCRIPTOR_OPERATION_MATMUL = 19,
       DESCRIPTOR_KERNEL_CACHE = 34,
       DESCRIPTOR_OPERATION_SDPA_FWD = 41,
       DESCRIPTOR_OPERATION_SDPA_BWD = 43,
};

enum { /* cudnnBackendAttributeName_t */
       ATTRIBUTE_ENGINEHEUR_OPERATION_GRAPH = 201,
       ATTRIBUTE_ENGINEHEUR_RESULTS = 202,
       ATTRIBUTE_ENGINECFG_ENGINE = 300,
       ATTRIBUTE_ENGINECFG_INTERMEDIATE_INFO = 301,
       ATTRIBUTE_ENGINECFG_KNOB_CHOICES = 302,
       ATTRIBUTE_ENGINECFG_WORKSPACE_SIZE = 303,
       ATTRIBUTE_ENGINECFG_SHARED_MEMORY_USED = 304,
       ATTRIBUTE_EXECUTION_PLAN_ENGINE_CONFIG = 401,
       ATTRIBUTE_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
       ATTRIBUTE_OPERATIONGRAPH_OPS = 801,
       ATTRIBUTE_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,
       ATTRIBUTE_TENSOR_DATA_TYPE = 901,
       ATTRIBUTE_TENSOR_DIMENSIONS = 902,
       ATTRIBUTE_TENSOR_IS_VIRTUAL = 907,
       ATTRIBUTE_ENGINE_OPERATION_GRAPH = 1300,
       ATTRIBUTE_ENGINE_GLOBAL_INDEX = 1301,
       ATTRIBUTE_ENGINE_KNOB_INFO = 1302,
       ATTRIBUTE_ENGINE_NUMERICAL_NOTE = 1303,
       ATTRIBUTE_ENGINE_LAYOUT_INFO = 1304,
       ATTRIBUTE_ENGINE_BEHAVIOR_NOTE = 1305,
       ATTRIBUTE_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED = 2401,
       ATTRIBUTE_OPERATION_SDPA_FWD_Q = 2800,
       ATTRIBUTE_OPERATION_SDPA_FWD_K = 2801,
       ATTRIBUTE_OPERATION_SDPA_FWD_V = 2802,
       ATTRIBUTE_OPERATION_SDPA_FWD_O = 2803,
};

enum { /* cudnnDataType_t */
       DATA_FLOAT = 0,
       DATA_DOUBLE = 1,
       DATA_HALF = 2,
       DATA_BFLOAT16 = 9,
       DATA_FP8_E4M3 = 12,
       DATA_FP8_E5M2 = 13,
};

/* ---- descriptors: a bag of attributes each; those that refer to others hold them alive ---- */

struct descriptor;

struct attribute {
    int name, type;
    int64_t count;
    void *data;
    struct attribute *next;
};

struct descriptor *descriptor_new(int type);
void descriptor_release(struct descriptor *descriptor);
bool descriptor_valid(const struct descriptor *descriptor);
int descriptor_type(const struct descriptor *descriptor);
bool descriptor_finalized(const struct descriptor *descriptor);
void descriptor_finalize(struct descriptor *descriptor);
int descriptor_set(struct descriptor *descriptor, int name, int type, int64_t count, const void *data);
const struct attribute *descriptor_get(const struct descriptor *descriptor, int name);
struct descriptor *descriptor_refers(const struct descriptor *descriptor, int name, int64_t index); /* or NULL */
int descriptor_copy(struct descriptor *to, const struct descriptor *from); /* type, attributes, finalized */
size_t attribute_type_bytes(int type);

/* ---- plan.c: a finalized plan's operations become one kernel ---- */
int plan_launch(const struct descriptor *plan, void *stream);

#endif
