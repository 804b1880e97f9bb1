/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and kernels. An image is looked into only as far as public documents go: ELF symbols, and PTX text, which
 * also tells parameters. Anything else is opaque: its kernels exist by name as asked for. */
#ifndef SIM_CORE_MODULE_H
#define SIM_CORE_MODULE_H

#include "sim/core/simgpu.h"

struct simgpu_module;
SIMGPU_API int simgpu_module_load(const void *image, struct simgpu_module **module);
SIMGPU_API int simgpu_module_load_file(const char *path, struct simgpu_module **module);
SIMGPU_API int simgpu_module_unload(struct simgpu_module *module);
SIMGPU_API bool simgpu_module_valid(const struct simgpu_module *module);
SIMGPU_API int simgpu_module_kernel(struct simgpu_module *module, const char *name, struct simgpu_kernel **kernel);
SIMGPU_API int simgpu_module_global(struct simgpu_module *module, const char *name, void **address, size_t *size);
SIMGPU_API int simgpu_module_kernels(struct simgpu_module *module, struct simgpu_kernel **kernels, unsigned *count);

/* A kernel that FAT_BINARY registers under NAME: one of its own, even if another has that name. Its image is looked into
 * when the kernel is first used, until it's forgotten. */
SIMGPU_API struct simgpu_kernel *simgpu_kernel_register(const char *name, const void *fat_binary);
SIMGPU_API void simgpu_kernel_forget_image(struct simgpu_kernel *kernel);
SIMGPU_API bool simgpu_kernel_valid(const struct simgpu_kernel *kernel);
SIMGPU_API struct simgpu_module *simgpu_kernel_module(const struct simgpu_kernel *kernel);

/* Attributes by CUfunction_attribute's numbers. */
SIMGPU_API int simgpu_kernel_get(struct simgpu_kernel *kernel, int attribute, int *value);
SIMGPU_API int simgpu_kernel_set(struct simgpu_kernel *kernel, int attribute, int value);

#endif
