/* SPDX-License-Identifier: Apache-2.0 */
/* Names and types are those of cuda.h (driver API); they are written out here, as the project builds without CUDA. */
#include "calibrate/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* CUdevice_attribute */
       ATTRIBUTE_CLOCK_RATE = 13,
       ATTRIBUTE_SM_COUNT = 16,
       ATTRIBUTE_PCI_BUS_ID = 33,
       ATTRIBUTE_PCI_DEVICE_ID = 34, /* the slot, in spite of its name */
       ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
       ATTRIBUTE_MEMORY_BUS_WIDTH = 37,
       ATTRIBUTE_L2_CACHE_SIZE = 38,
       ATTRIBUTE_PCI_DOMAIN_ID = 50,
       ATTRIBUTE_COMPUTE_MAJOR = 75,
       ATTRIBUTE_COMPUTE_MINOR = 76,
};
enum { STREAM_NON_BLOCKING = 1, CAPTURE_THREAD_LOCAL = 1, EVENT_DEFAULT = 0 };

struct cuda_entries {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int size, int device);
    int (*device_uuid)(uint8_t *uuid, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*memory_info)(size_t *free_bytes, size_t *total);
    int (*memory_allocate)(cuda_address *address, size_t bytes);
    int (*memory_free)(cuda_address address);
    int (*upload)(cuda_address to, const void *from, size_t bytes);
    int (*copy)(cuda_address to, cuda_address from, size_t bytes, void *stream);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared_bytes, void *stream, void **arguments, void **extra);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*event_elapsed)(float *milliseconds, void *start, void *end);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*graph_launch)(void *executable, void *stream);
    int (*graph_destroy)(void *graph);
    int (*executable_destroy)(void *executable);
    int (*error_name)(int result, const char **name);
    int (*error_text)(int result, const char **text);
};

#define AT(field) offsetof(struct cuda_entries, field)
/* clang-format off */
static const struct {
    size_t offset;
    const char *name, *or_name; /* of older drivers */
} entry_names[] = {
    {AT(init),              "cuInit", NULL},
    {AT(driver_version),    "cuDriverGetVersion", NULL},
    {AT(device_count),      "cuDeviceGetCount", NULL},
    {AT(device_get),        "cuDeviceGet", NULL},
    {AT(device_name),       "cuDeviceGetName", NULL},
    {AT(device_uuid),       "cuDeviceGetUuid_v2", "cuDeviceGetUuid"}, /* the first tells MIG instances apart */
    {AT(device_attribute),  "cuDeviceGetAttribute", NULL},
    {AT(device_memory),     "cuDeviceTotalMem_v2", NULL},
    {AT(context_retain),    "cuDevicePrimaryCtxRetain", NULL},
    {AT(context_release),   "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"},
    {AT(context_set),       "cuCtxSetCurrent", NULL},
    {AT(memory_info),       "cuMemGetInfo_v2", NULL},
    {AT(memory_allocate),   "cuMemAlloc_v2", NULL},
    {AT(memory_free),       "cuMemFree_v2", NULL},
    {AT(upload),            "cuMemcpyHtoD_v2", NULL},
    {AT(copy),              "cuMemcpyDtoDAsync_v2", NULL},
    {AT(module_load),       "cuModuleLoadData", NULL},
    {AT(module_function),   "cuModuleGetFunction", NULL},
    {AT(launch),            "cuLaunchKernel", NULL},
    {AT(stream_create),     "cuStreamCreate", NULL},
    {AT(stream_wait),       "cuStreamSynchronize", NULL},
    {AT(event_create),      "cuEventCreate", NULL},
    {AT(event_record),      "cuEventRecord", NULL},
    {AT(event_wait),        "cuEventSynchronize", NULL},
    {AT(event_elapsed),     "cuEventElapsedTime", NULL},
    {AT(capture_begin),     "cuStreamBeginCapture_v2", NULL},
    {AT(capture_end),       "cuStreamEndCapture", NULL},
    {AT(graph_instantiate), "cuGraphInstantiateWithFlags", NULL}, /* since 11.4 */
    {AT(graph_launch),      "cuGraphLaunch", NULL},
    {AT(graph_destroy),     "cuGraphDestroy", NULL},
    {AT(executable_destroy),"cuGraphExecDestroy", NULL},
    {AT(error_name),        "cuGetErrorName", NULL},
    {AT(error_text),        "cuGetErrorString", NULL},
};
/* clang-format on */

static bool fail(struct cuda *cuda, const char *what, int result)
{
    const char *name = NULL, *text = NULL;
    if (result == 0)
        return true;
    if (cuda->entries->error_name(result, &name) != 0)
        name = NULL;
    if (cuda->entries->error_text(result, &text) != 0)
        text = NULL;
    snprintf(cuda->error, sizeof cuda->error, "%s: %s (%s)", what, text ? text : "unknown error",
             name ? name : "no such code");
    return false;
}

/* ---- opening ---- */

static bool load(struct cuda *cuda, const char *library)
{
    cuda->library = dlopen(library, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (!cuda->library) {
        snprintf(cuda->error, sizeof cuda->error, "the CUDA driver can't be loaded: %s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof entry_names / sizeof entry_names[0]; i++) {
        void *found = dlsym(cuda->library, entry_names[i].name);
        if (!found && entry_names[i].or_name)
            found = dlsym(cuda->library, entry_names[i].or_name);
        if (!found) {
            snprintf(cuda->error, sizeof cuda->error, "%s has no %s; a driver of CUDA 11.4 (470) or newer is needed",
                     library, entry_names[i].name);
            return false;
        }
        memcpy((char *)cuda->entries + entry_names[i].offset, &found, sizeof found);
    }
    return true;
}

static int32_t attribute(struct cuda *cuda, int number, int device)
{
    int value = 0;
    return cuda->entries->device_attribute(&value, number, device) == 0 && value >= 0 ? value : TRACE_UNKNOWN;
}

static uint32_t address_part(struct cuda *cuda, int number, int device)
{
    int32_t value = attribute(cuda, number, device);
    return value < 0 ? 0 : (uint32_t)value;
}

static void describe(struct cuda *cuda, int device)
{
    struct trace_device *facts = &cuda->device;
    size_t memory = 0;
    int version = 0;
    memset(facts, 0, sizeof *facts);
    facts->ordinal = (uint32_t)cuda->ordinal;
    facts->pci_domain = address_part(cuda, ATTRIBUTE_PCI_DOMAIN_ID, device);
    facts->pci_bus = address_part(cuda, ATTRIBUTE_PCI_BUS_ID, device);
    facts->pci_slot = address_part(cuda, ATTRIBUTE_PCI_DEVICE_ID, device);
    facts->sm_count = attribute(cuda, ATTRIBUTE_SM_COUNT, device);
    facts->compute_major = attribute(cuda, ATTRIBUTE_COMPUTE_MAJOR, device);
    facts->compute_minor = attribute(cuda, ATTRIBUTE_COMPUTE_MINOR, device);
    facts->l2_bytes = attribute(cuda, ATTRIBUTE_L2_CACHE_SIZE, device);
    facts->sm_clock_khz = attribute(cuda, ATTRIBUTE_CLOCK_RATE, device);
    facts->memory_clock_khz = attribute(cuda, ATTRIBUTE_MEMORY_CLOCK_RATE, device);
    facts->memory_bus_bits = attribute(cuda, ATTRIBUTE_MEMORY_BUS_WIDTH, device);
    facts->memory_bytes =
        cuda->entries->device_memory(&memory, device) == 0 && memory ? (int64_t)memory : TRACE_UNKNOWN;
    facts->driver_version = cuda->entries->driver_version(&version) == 0 && version > 0 ? version : TRACE_UNKNOWN;
    if (cuda->entries->device_uuid(facts->uuid, device) != 0)
        memset(facts->uuid, 0, sizeof facts->uuid);
    if (cuda->entries->device_name(facts->name, sizeof facts->name - 1, device) != 0)
        facts->name[0] = '\0';
    facts->mig = strstr(facts->name, " MIG ") != NULL;
    facts->simulated = strncmp(facts->name, "Simulated ", 10) == 0;
}

static bool start(struct cuda *cuda)
{
    int count = 0, device = 0;
    if (!fail(cuda, "CUDA can't start", cuda->entries->init(0)) ||
        !fail(cuda, "cuDeviceGetCount", cuda->entries->device_count(&count)))
        return false;
    if (cuda->ordinal >= count) {
        snprintf(cuda->error, sizeof cuda->error, "there is no device %d: CUDA shows %d (CUDA_VISIBLE_DEVICES counts)",
                 cuda->ordinal, count);
        return false;
    }
    if (!fail(cuda, "cuDeviceGet", cuda->entries->device_get(&device, cuda->ordinal)))
        return false;
    describe(cuda, device);
    return fail(cuda, "no context could be made", cuda->entries->context_retain(&cuda->context, device)) &&
           fail(cuda, "cuCtxSetCurrent", cuda->entries->context_set(cuda->context)) &&
           fail(cuda, "cuStreamCreate", cuda->entries->stream_create(&cuda->stream, STREAM_NON_BLOCKING));
}

bool cuda_open(struct cuda *cuda, const char *library, int ordinal)
{
    *cuda = (struct cuda){.ordinal = ordinal, .entries = calloc(1, sizeof *cuda->entries)};
    if (!cuda->entries) {
        snprintf(cuda->error, sizeof cuda->error, "out of memory");
        return false;
    }
    return load(cuda, library ? library : "libcuda.so.1") && start(cuda);
}

/* What is left of the context goes with the process. */
void cuda_close(struct cuda *cuda)
{
    int device;
    if (cuda->context && cuda->entries->device_get(&device, cuda->ordinal) == 0)
        cuda->entries->context_release(device);
    free(cuda->entries);
    cuda->entries = NULL;
    cuda->context = NULL;
}

/* ---- memory and kernels ---- */

size_t cuda_free_bytes(struct cuda *cuda)
{
    size_t free_bytes = 0, total = 0;
    return cuda->entries->memory_info(&free_bytes, &total) == 0 ? free_bytes : 0;
}

bool cuda_allocate(struct cuda *cuda, size_t bytes, cuda_address *address)
{
    return fail(cuda, "no memory on the device", cuda->entries->memory_allocate(address, bytes));
}

void cuda_release(struct cuda *cuda, cuda_address address)
{
    if (address)
        cuda->entries->memory_free(address);
}

bool cuda_upload(struct cuda *cuda, cuda_address to, const void *from, size_t bytes)
{
    return fail(cuda, "a copy to the device", cuda->entries->upload(to, from, bytes));
}

bool cuda_copy(struct cuda *cuda, cuda_address to, cuda_address from, size_t bytes)
{
    return fail(cuda, "a copy on the device", cuda->entries->copy(to, from, bytes, cuda->stream));
}

bool cuda_module(struct cuda *cuda, const char *ptx, const char *const *names, void **functions, int count)
{
    void *module = NULL;
    if (!fail(cuda, "the driver does not compile rooftap's kernels", cuda->entries->module_load(&module, ptx)))
        return false;
    for (int i = 0; i < count; i++)
        if (!fail(cuda, names[i], cuda->entries->module_function(&functions[i], module, names[i])))
            return false;
    return true;
}

bool cuda_launch(struct cuda *cuda, void *function, unsigned blocks, unsigned threads, void **arguments)
{
    return fail(cuda, "a launch",
                cuda->entries->launch(function, blocks, 1, 1, threads, 1, 1, 0, cuda->stream, arguments, NULL));
}

bool cuda_wait(struct cuda *cuda)
{
    return fail(cuda, "the device", cuda->entries->stream_wait(cuda->stream));
}

/* ---- time ---- */

bool cuda_event(struct cuda *cuda, void **event)
{
    return fail(cuda, "cuEventCreate", cuda->entries->event_create(event, EVENT_DEFAULT));
}

bool cuda_record(struct cuda *cuda, void *event)
{
    return fail(cuda, "cuEventRecord", cuda->entries->event_record(event, cuda->stream));
}

bool cuda_elapsed_ns(struct cuda *cuda, void *start_event, void *end_event, double *ns)
{
    float milliseconds = 0;
    if (!fail(cuda, "the device", cuda->entries->event_wait(end_event)) ||
        !fail(cuda, "cuEventElapsedTime", cuda->entries->event_elapsed(&milliseconds, start_event, end_event)))
        return false;
    *ns = (double)milliseconds * 1e6;
    return true;
}

/* ---- graphs ---- */

bool cuda_capture_begin(struct cuda *cuda)
{
    return fail(cuda, "cuStreamBeginCapture", cuda->entries->capture_begin(cuda->stream, CAPTURE_THREAD_LOCAL));
}

bool cuda_capture_end(struct cuda *cuda, void **executable)
{
    void *graph = NULL;
    if (!fail(cuda, "cuStreamEndCapture", cuda->entries->capture_end(cuda->stream, &graph)))
        return false;
    bool good = fail(cuda, "cuGraphInstantiate", cuda->entries->graph_instantiate(executable, graph, 0));
    cuda->entries->graph_destroy(graph);
    return good;
}

bool cuda_replay(struct cuda *cuda, void *executable)
{
    return fail(cuda, "cuGraphLaunch", cuda->entries->graph_launch(executable, cuda->stream));
}

void cuda_graph_free(struct cuda *cuda, void *executable)
{
    if (executable)
        cuda->entries->executable_destroy(executable);
}
