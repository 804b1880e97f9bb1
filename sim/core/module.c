/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, their kernels and variables, and the kernels that libraries make up by name. */
#include "sim/core/module.h"
#include "sim/core/attributes.h"
#include "sim/core/cubin.h"
#include "sim/core/device.h"
#include "sim/core/fat_binary.h"
#include "sim/core/image.h"
#include "sim/core/memory_state.h"
#include "sim/core/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct simgpu_module {
    struct object object;
    uint32_t id;
    struct image image;
    struct module_kernel {
        struct simgpu_kernel *kernel;
        struct module_kernel *next;
    } * kernels;
    struct module_variable {
        char *name;
        void *address;
        size_t size;
        struct module_variable *next;
    } * variables;
};

struct object_pool core_kernels = OBJECT_POOL(simgpu_kernel);
static struct object_pool modules = OBJECT_POOL(simgpu_module);
static uint32_t last_id;

#define NAME_BUCKETS 1024
static struct simgpu_kernel *by_name[NAME_BUCKETS];

/* Kernels are kept for ever: the observer may hold their names. */
static struct simgpu_kernel *make_kernel(const char *name)
{
    struct simgpu_kernel *kernel = object_new(&core_kernels);
    if (!kernel)
        return NULL;
    kernel->name = strdup(name);
    kernel->param_count = -1;
    kernel->registers = 32; /* the compiler's choice isn't public; any fixed number will do */
    kernel->max_threads = 1024;
    kernel->dynamic_shared_limit = SHARED_BYTES_DEFAULT;
    if (kernel->name)
        return kernel;
    object_free(&core_kernels, kernel);
    return NULL;
}

struct simgpu_kernel *simgpu_kernel_register(const char *name, const void *fat_binary)
{
    signature_prepare();
    core_lock();
    struct simgpu_kernel *kernel = make_kernel(name);
    if (kernel)
        kernel->fat_binary = fat_binary;
    core_unlock();
    return kernel;
}

void simgpu_kernel_forget_image(struct simgpu_kernel *kernel)
{
    core_lock();
    if (object_valid(&core_kernels, kernel))
        kernel->fat_binary = NULL;
    core_unlock();
}

void kernel_resolve(struct simgpu_kernel *kernel)
{
    const struct simgpu_device *device = simgpu_device();
    const void *image = kernel->fat_binary;
    struct fat_binary found;
    if (!image)
        return;
    kernel->fat_binary = NULL;
    kernel->compiled = true;
    if (fat_binary_is(image) && fat_binary_read(image, device->compute_major * 10 + device->compute_minor, &found)) {
        kernel->ptx_version = found.ptx_version;
        kernel->binary_version = found.binary_version;
        if (found.cubin)
            kernel->param_count = cubin_parameters(found.cubin, found.cubin_bytes, kernel->name, &kernel->params);
        if (kernel->param_count < 0 && found.ptx)
            kernel->param_count = ptx_parameters(found.ptx, kernel->name, &kernel->params);
    }
    if (kernel->param_count < 0)
        kernel->param_count = signature_parameters(kernel->name, &kernel->params);
}

static unsigned bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % NAME_BUCKETS;
}

struct simgpu_kernel *simgpu_kernel_by_name(const char *name)
{
    struct simgpu_kernel **bucket = &by_name[bucket_of(name)];
    core_lock();
    struct simgpu_kernel *kernel = *bucket;
    while (kernel && strcmp(kernel->name, name))
        kernel = kernel->next;
    if (!kernel && (kernel = make_kernel(name))) {
        kernel->dynamic_shared_limit = shared_bytes_optin(); /* libraries raise it for their own kernels */
        kernel->next = *bucket;
        *bucket = kernel;
    }
    core_unlock();
    return kernel;
}

const char *simgpu_kernel_name(const struct simgpu_kernel *kernel)
{
    return kernel->name;
}

int simgpu_kernel_param_count(struct simgpu_kernel *kernel)
{
    core_lock();
    kernel_resolve(kernel);
    core_unlock();
    return kernel->param_count;
}

bool simgpu_kernel_param(struct simgpu_kernel *kernel, int index, size_t *offset, size_t *size)
{
    if (index < 0 || index >= simgpu_kernel_param_count(kernel))
        return false;
    *offset = kernel->params[index].offset;
    *size = kernel->params[index].size;
    return true;
}

bool simgpu_kernel_valid(const struct simgpu_kernel *kernel)
{
    core_lock();
    bool known = object_valid(&core_kernels, kernel);
    core_unlock();
    return known;
}

struct simgpu_module *simgpu_kernel_module(const struct simgpu_kernel *kernel)
{
    return kernel->module;
}

static bool give_params(struct simgpu_kernel *kernel, const struct image_symbol *symbol)
{
    if (symbol->param_count < 0)
        return true;
    size_t count = (size_t)symbol->param_count;
    kernel->params = calloc(count + 1, sizeof *kernel->params);
    if (!kernel->params)
        return false;
    memcpy(kernel->params, symbol->params, count * sizeof *kernel->params);
    kernel->compiled = symbol->compiled;
    kernel->param_count = symbol->param_count;
    return true;
}

static void tell(enum simgpu_resource_event event, const struct simgpu_module *module)
{
    api_resource(
        &(struct simgpu_resource_notice){.event = event, .context = simgpu_context_current(), .module_id = module->id});
}

int simgpu_module_load(const void *bytes, struct simgpu_module **loaded)
{
    struct image image;
    if (!bytes)
        return SIMGPU_INVALID_VALUE;
    const struct simgpu_device *device = simgpu_device();
    if (!image_read(&image, bytes, device->compute_major * 10 + device->compute_minor)) {
        image_release(&image);
        return SIMGPU_INVALID_IMAGE;
    }
    core_lock();
    struct simgpu_module *module = object_new(&modules);
    if (module)
        module->image = image, module->id = ++last_id;
    core_unlock();
    *loaded = module;
    if (module)
        tell(SIMGPU_MODULE_LOADED, module);
    return module ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

int simgpu_module_load_file(const char *path, struct simgpu_module **module)
{
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!file)
        return SIMGPU_FILE_NOT_FOUND;
    int result = SIMGPU_OUT_OF_MEMORY;
    size_t size = 0, capacity = 1 << 16;
    char *bytes = malloc(capacity + 1);
    while (bytes) {
        size += fread(bytes + size, 1, capacity - size, file);
        if (size < capacity)
            break;
        char *grown = realloc(bytes, 2 * capacity + 1);
        if (!grown)
            free(bytes);
        bytes = grown;
        capacity *= 2;
    }
    fclose(file);
    if (bytes) {
        bytes[size] = 0;
        result = size > 4 ? simgpu_module_load(bytes, module) : SIMGPU_INVALID_IMAGE;
    }
    free(bytes);
    return result;
}

bool simgpu_module_valid(const struct simgpu_module *module)
{
    core_lock();
    bool known = object_valid(&modules, module);
    core_unlock();
    return known;
}

int simgpu_module_unload(struct simgpu_module *module)
{
    if (simgpu_module_valid(module))
        tell(SIMGPU_MODULE_UNLOADED, module);
    core_lock();
    bool known = object_valid(&modules, module);
    struct module_variable *variables = known ? module->variables : NULL;
    if (known) {
        while (module->kernels) {
            struct module_kernel *kept = module->kernels;
            module->kernels = kept->next;
            kept->kernel->module = NULL;
            free(kept);
        }
        image_release(&module->image);
        object_free(&modules, module);
    }
    core_unlock();
    while (variables) {
        struct module_variable *variable = variables;
        variables = variable->next;
        simgpu_memory_free(SIMGPU_MEMORY_DEVICE, variable->address);
        free(variable->name);
        free(variable);
    }
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
}

static struct simgpu_kernel *module_kernel(struct simgpu_module *module, const char *name)
{
    for (struct module_kernel *kept = module->kernels; kept; kept = kept->next)
        if (!strcmp(kept->kernel->name, name))
            return kept->kernel;
    const struct image_symbol *symbol = image_find(&module->image, name, true);
    if (!symbol && !module->image.opaque)
        return NULL;
    struct simgpu_kernel *kernel = make_kernel(name);
    struct module_kernel *kept = kernel ? malloc(sizeof *kept) : NULL;
    if (!kept || (symbol && !give_params(kernel, symbol)))
        return NULL;
    kernel->module = module;
    *kept = (struct module_kernel){.kernel = kernel, .next = module->kernels};
    module->kernels = kept;
    return kernel;
}

int simgpu_module_kernel(struct simgpu_module *module, const char *name, struct simgpu_kernel **kernel)
{
    if (!name)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = SIMGPU_INVALID_HANDLE;
    if (object_valid(&modules, module)) {
        *kernel = module_kernel(module, name);
        result = *kernel ? SIMGPU_SUCCESS : SIMGPU_NOT_FOUND;
    }
    core_unlock();
    return result;
}

int simgpu_module_kernels(struct simgpu_module *module, struct simgpu_kernel **kernels, unsigned *count)
{
    unsigned found = 0;
    core_lock();
    int result = object_valid(&modules, module) ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
    if (!result && module->image.opaque)
        result = SIMGPU_NOT_SUPPORTED;
    for (size_t i = 0; !result && i < module->image.count; i++) {
        if (!module->image.symbols[i].kernel)
            continue;
        if (kernels && found < *count)
            kernels[found] = module_kernel(module, module->image.symbols[i].name);
        found++;
    }
    if (!result)
        *count = found;
    core_unlock();
    return result;
}

static int module_variable(struct simgpu_module *module, const char *name, struct module_variable **found)
{
    for (struct module_variable *variable = module->variables; variable; variable = variable->next)
        if (!strcmp(variable->name, name)) {
            *found = variable;
            return SIMGPU_SUCCESS;
        }
    const struct image_symbol *symbol = image_find(&module->image, name, false);
    if (!symbol)
        return SIMGPU_NOT_FOUND;
    struct module_variable *variable = calloc(1, sizeof *variable);
    if (!variable || !(variable->name = strdup(name)) ||
        memory_allocate(memory_device(), SIMGPU_MEMORY_DEVICE, symbol->size, 0, NULL, &variable->address)) {
        if (variable)
            free(variable->name);
        free(variable);
        return SIMGPU_OUT_OF_MEMORY;
    }
    variable->size = symbol->size;
    variable->next = module->variables;
    module->variables = variable;
    *found = variable;
    return SIMGPU_SUCCESS;
}

int simgpu_module_global(struct simgpu_module *module, const char *name, void **address, size_t *size)
{
    if (!name)
        return SIMGPU_INVALID_VALUE;
    struct module_variable *variable;
    core_lock();
    int result = object_valid(&modules, module) ? module_variable(module, name, &variable) : SIMGPU_INVALID_HANDLE;
    if (!result && address)
        *address = variable->address;
    if (!result && size)
        *size = variable->size;
    core_unlock();
    return result;
}
