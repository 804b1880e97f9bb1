/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables: which keys the device file has, and which stand-ins are preloaded. LD_LIBRARY_PATH
 * alone would do for programs without DT_RPATH; but wheels carry one, and it beats LD_LIBRARY_PATH,
 * while a preloaded SONAME beats both. Measured: the preloaded ones add 0.7 ms to a /bin/true that takes 0.9 ms. */
#include "cli/simulation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

/* The stand-ins' names for the peaks, and the row's figures they get. int8 counts operations. */
/* clang-format off */
static const struct {
    const char *key;
    enum gpu_path path;
} device_peaks[] = {
    {"bf16", GPU_PATH_BF16}, {"fp16", GPU_PATH_FP16},     {"tf32", GPU_PATH_TF32}, {"fp32", GPU_PATH_FP32},
    {"fp64", GPU_PATH_FP64}, {"fp8",  GPU_PATH_FP8_E4M3}, {"int8", GPU_PATH_INT8}, {"fp4",  GPU_PATH_FP4_E2M1},
};

/* Preloaded as far as they exist, in this order: what others need comes first. Of those that have a major of CUDA in their
 * name only one major's: with two, a lookup without a version would find the first one's functions for programs of both. */
static const struct {
    const char *stem;
    bool of_major;
} preloaded[] = {
    {"libcuda.so.",  false}, {"libcudart.so.", true}, {"libcublasLt.so.",   true}, {"libcublas.so.", true},
    {"libcudnn.so.", false}, {"libcupti.so.",  true}, {"libnvidia-ml.so.", false},
};
/* clang-format on */

bool simulation_possible(const struct gpu_spec *gpu)
{
    enum { PCI_VENDOR_NVIDIA = 0x10de };
    return gpu->pci_vendor == PCI_VENDOR_NVIDIA || strcmp(gpu->key, "unit") == 0;
}

static void write_row(FILE *file, const struct gpu_spec *gpu)
{
    /* The key, not the driver's name: it is unique, and the report finds the same row again by it.
     */
    fprintf(file, "name = %s\n", gpu->key);
    fprintf(file, "pci_device_id = 0x%04x\n", gpu->pci_ids[0]);
    if (gpu->sm_count)
        fprintf(file, "sm_count = %d\n", gpu->sm_count);
    if (gpu->compute_capability)
        fprintf(file, "compute_capability = %s\n", gpu->compute_capability);
    if (gpu->clock_hz > 0)
        fprintf(file, "clock_khz = %.0f\n", gpu->clock_hz / 1000);
    fprintf(file, "memory_bytes = %.0f\n", gpu->memory_bytes);
    fprintf(file, "bytes_per_second = %.17g\n", gpu->bytes_per_second);
    if (gpu->memory_bus_bits)
        fprintf(file, "memory_bus_bits = %d\n", gpu->memory_bus_bits);
    if (gpu->l2_bytes > 0)
        fprintf(file, "l2_bytes = %.0f\n", gpu->l2_bytes);
    for (size_t i = 0; i < sizeof device_peaks / sizeof device_peaks[0]; i++)
        if (gpu->flops_per_second[device_peaks[i].path] > 0)
            fprintf(file, "flops_per_second.%s = %.17g\n", device_peaks[i].key,
                    gpu->flops_per_second[device_peaks[i].path]);
    fputs("gemm_efficiency = 0.80\n"
          "startup_ns = 2000\n"
          "other_kernel_ns = 2000\n"
          "gemm_tile = 64x64\n",
          file);
}

static void write_overrides(FILE *file, const struct option_list *overrides)
{
    for (int i = 0; i < overrides->count; i++)
        fprintf(file, "%s\n", overrides->values[i]);
}

bool simulation_write_device(const char *folder, const struct gpu_spec *gpu, const struct option_list *overrides,
                             const char *command)
{
    char path[PATH_MAX];
    int fd = -1;
    if (snprintf(path, sizeof path, "%s/" SIMULATION_DEVICE_FILE, folder) < PATH_MAX)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        message_error(command, "the simulated device '%s/" SIMULATION_DEVICE_FILE "' can't be written: %m", folder);
        return false;
    }
    fputs("# the simulated GPU of this session; later lines win\n", file);
    write_row(file, gpu);
    write_overrides(file, overrides);
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (written)
        return true;
    message_error(command, "the simulated device '%s' can't be written: %m", path);
    unlink(path);
    return false;
}

/* The newest runtime that there is; 0: none. */
static int newest_major(const char *folder)
{
    static const char stem[] = "libcudart.so.";
    int newest = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, stem, sizeof stem - 1) == 0 && atoi(entry->d_name + sizeof stem - 1) > newest)
            newest = atoi(entry->d_name + sizeof stem - 1);
    if (directory)
        closedir(directory);
    return newest;
}

/* MAJOR: of the number after STEM; 0: any. */
static bool preload(struct environment *environment, const char *folder, const char *stem, int major, int *found)
{
    bool good = true;
    DIR *directory = opendir(folder);
    if (!directory)
        return true;
    for (struct dirent *entry; good && (entry = readdir(directory));) {
        char path[PATH_MAX];
        size_t length = strlen(stem);
        /* The SONAME has one number; a development link has none, a full version more. */
        if (strncmp(entry->d_name, stem, length) != 0 || strchr(entry->d_name + length, '.'))
            continue;
        if (major && atoi(entry->d_name + length) != major)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX)
            continue;
        good = environment_append(environment, "LD_PRELOAD", path);
        ++*found;
    }
    closedir(directory);
    return good;
}

bool simulation_prepare(struct environment *environment, const struct layout *layout, const char *folder,
                        int cuda_major, const char *command)
{
    char device[PATH_MAX];
    int found = 0, of_major = 0;
    if (!cuda_major)
        cuda_major = newest_major(layout->simulator_folder);
    if (snprintf(device, sizeof device, "%s/" SIMULATION_DEVICE_FILE, folder) >= PATH_MAX)
        return false;
    bool good = environment_set(environment, "SIMGPU_DEVICE", device) &&
                environment_prepend(environment, "LD_LIBRARY_PATH", layout->simulator_folder);
    for (size_t i = 0; good && i < sizeof preloaded / sizeof preloaded[0]; i++)
        good = preload(environment, layout->simulator_folder, preloaded[i].stem, preloaded[i].of_major ? cuda_major : 0,
                       preloaded[i].of_major ? &of_major : &found);
    if (good && found && !of_major) {
        message_error(command,
                      "no stand-in libraries of CUDA %d in '%s'; build rooftap with that major in "
                      "-DROOFTAP_SIM_CUDA_MAJORS",
                      cuda_major, layout->simulator_folder);
        return false;
    }
    if (good && found + of_major == 0) {
        message_error(command, "no stand-in libraries in '%s'; build rooftap with -DROOFTAP_SIM=ON",
                      layout->simulator_folder);
        return false;
    }
    if (!good)
        message_error(command, "out of memory");
    return good;
}

void simulation_examine(const struct program *program, const char *command)
{
    if (program->elf && program->static_cuda_runtime)
        message_error(command,
                      "'%s' has the CUDA runtime built in and can't be simulated; link it with "
                      "-cudart shared",
                      program->path);
}

/* ---- a real library beside a stand-in: opened by absolute path, or with a static runtime ---- */

static bool is_stand_in_name(const char *base)
{
    for (size_t i = 0; i < sizeof preloaded / sizeof preloaded[0]; i++)
        if (strncmp(base, preloaded[i].stem, strlen(preloaded[i].stem)) == 0)
            return true;
    return false;
}

static bool find_vendor_library(pid_t pid, const char *simulator_folder, char *out)
{
    char name[64], *line = NULL, resolved[PATH_MAX];
    size_t size = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return false;
    /* maps shows resolved paths; the folder may be a link. */
    if (!realpath(simulator_folder, resolved))
        resolved[0] = '\0';
    size_t length = strlen(resolved);
    while (!found && getline(&line, &size, maps) > 0) {
        char *path = strchr(line, '/');
        if (!path)
            continue;
        path[strcspn(path, "\n")] = '\0';
        const char *base = strrchr(path, '/') + 1;
        bool ours = length && strncmp(path, resolved, length) == 0 && path[length] == '/';
        found = is_stand_in_name(base) && !ours;
        if (found)
            snprintf(out, PATH_MAX, "%s", path);
    }
    free(line);
    fclose(maps);
    return found;
}

static void watch_tree(pid_t pid, struct simulation_watch *watch, int depth)
{
    enum { DEEPEST = 16 };
    char library[PATH_MAX], name[64];
    if (find_vendor_library(pid, watch->simulator_folder, library)) {
        watch->told = true;
        message_error(watch->command,
                      "process %ld opened '%s' by its path (or its environment was cleared); what it does there is not "
                      "simulated, and the report tells whether its calls were seen",
                      (long)pid, library);
    }
    snprintf(name, sizeof name, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *children = depth < DEEPEST ? fopen(name, "re") : NULL;
    long child;
    while (children && !watch->told && fscanf(children, "%ld", &child) == 1)
        watch_tree((pid_t)child, watch, depth + 1);
    if (children)
        fclose(children);
}

void simulation_watch(pid_t pid, void *data)
{
    struct simulation_watch *watch = data;
    if (!watch->told)
        watch_tree(pid, watch, 0);
}
