/* SPDX-License-Identifier: Apache-2.0 */
/* Where CUPTI may lie, in order: mapped already, named by the user, beside the CUDA libraries or PyTorch that the process
 * mapped (whatever its major: the system's copy may be another release's), the loader's own search, CUDA_HOME and
 * CUDA_PATH, /usr/local. Nothing is ever unloaded. */
#include "cupti/cupti_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Newest first. Up to 11.8 the name carries the minor. */
static const struct {
    const char *soname;
    int major;
} sonames[] = {
    { "libcupti.so.13",   13 },
    { "libcupti.so.12",   12 },
    { "libcupti.so.11.8", 11 },
    { "libcupti.so.11.7", 11 },
};

/* Where a wheel puts CUPTI, seen from the folder of another library that the process mapped. */
static const struct {
    const char *library; /* start of its file name */
    const char *folder;
} neighbours[] = {
    { "libcudart.so.",      "." },
    { "libcudart.so.",      "../../cuda_cupti/lib" },
    { "libcudart.so.",      "../extras/CUPTI/lib64" },
    { "libtorch_cuda.so",   "../../nvidia/cu13/lib" },
    { "libtorch_cuda.so",   "../../nvidia/cuda_cupti/lib" },
    { "libcublas.so.",      "." },
    { "libcublas.so.",      "../../cuda_cupti/lib" },
};

static const struct {
    const char *variable; /* NULL: PATTERN stands alone */
    const char *pattern;
} places[] = {
    { "CUDA_HOME", "extras/CUPTI/lib64" },
    { "CUDA_HOME", "lib64" },
    { "CUDA_PATH", "extras/CUPTI/lib64" },
    { "CUDA_PATH", "lib64" },
    { NULL, "/usr/local/cuda/extras/CUPTI/lib64" },
    { NULL, "/usr/local/cuda/lib64" },
    { NULL, "/usr/local/cuda-*/extras/CUPTI/lib64" },
    { NULL, "/usr/local/cuda-*/lib64" },
};
/* clang-format on */

#define ROWS(table) (sizeof(table) / sizeof *(table))

static bool bind_functions(struct cupti_library *library, void *handle)
{
    bool complete = true;
#define FUNCTION(name, needed, parameters)                                                                             \
    *(void **)&library->name = dlsym(handle, #name);                                                                   \
    complete = complete && (!(needed) || library->name);
#include "cupti/cupti_functions.def"
#include "cupti/shared_functions.def"
#undef FUNCTION
    /* 13.2 is the only release that has the first and not the second. */
    library->needs_initialized_driver =
        dlsym(handle, "cuptiActivityGetStructSize") && !dlsym(handle, "cuptiIsTracingSessionRunning");
    return complete;
}

static bool take(struct cupti_library *library, void *handle, const char *how)
{
    if (!handle || !bind_functions(library, handle))
        return false; /* a handle once taken is kept: unloading CUPTI is never safe */
    Dl_info info;
    const void *address = (const void *)(uintptr_t)library->cuptiGetVersion;
    const char *path = dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
    snprintf(library->path, sizeof library->path, "%s", path);
    library->how = how;
    return true;
}

struct mapped_search {
    const char *prefix; /* of the file name */
    char path[512];
};

static int find_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct mapped_search *search = data;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strncmp(slash + 1, search->prefix, strlen(search->prefix)) != 0 ||
        strlen(info->dlpi_name) >= sizeof search->path)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

static bool take_mapped(struct cupti_library *library)
{
    for (unsigned i = 0; i < ROWS(sonames); i++)
        if (take(library, dlopen(sonames[i].soname, RTLD_NOW | RTLD_NOLOAD), "mapped already"))
            return true;
    struct mapped_search search = {.prefix = "libcupti"};
    return dl_iterate_phdr(find_mapped, &search) &&
           take(library, dlopen(search.path, RTLD_NOW | RTLD_NOLOAD), "mapped already");
}

static bool take_from_folder(struct cupti_library *library, const char *folder, const char *soname, const char *how)
{
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/%s", folder, soname);
    return length > 0 && (size_t)length < sizeof path && take(library, dlopen(path, RTLD_NOW | RTLD_LOCAL), how);
}

static bool take_beside_mapped(struct cupti_library *library, const char *soname)
{
    for (unsigned i = 0; i < ROWS(neighbours); i++) {
        struct mapped_search search = {.prefix = neighbours[i].library};
        if (!dl_iterate_phdr(find_mapped, &search))
            continue;
        *strrchr(search.path, '/') = 0;
        char folder[768];
        snprintf(folder, sizeof folder, "%s/%s", search.path, neighbours[i].folder);
        if (take_from_folder(library, folder, soname, "beside a mapped library"))
            return true;
    }
    return false;
}

/* Of the CUDA runtime that the process mapped; 0: none. */
static int mapped_runtime_major(void)
{
    struct mapped_search search = {.prefix = "libcudart.so."};
    return dl_iterate_phdr(find_mapped, &search) ? atoi(strrchr(search.path, '/') + 1 + strlen(search.prefix)) : 0;
}

/* A newer driver serves every older release, so what lies beside the process's own CUDA libraries goes before a newer one
 * that the system may have: a profiler of the process would load it too. Of two there the runtime's own is the one. */
static bool take_beside_any(struct cupti_library *library, int driver_major)
{
    int runtime_major = mapped_runtime_major();
    for (unsigned i = 0; runtime_major && i < ROWS(sonames); i++)
        if (sonames[i].major == runtime_major && take_beside_mapped(library, sonames[i].soname))
            return true;
    for (unsigned i = 0; i < ROWS(sonames); i++)
        if ((!driver_major || sonames[i].major <= driver_major) && take_beside_mapped(library, sonames[i].soname))
            return true;
    return false;
}

static bool take_from_pattern(struct cupti_library *library, const char *pattern, const char *soname)
{
    glob_t found;
    bool taken = false;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !taken; i++)
            taken = take_from_folder(library, found.gl_pathv[i], soname, "in a CUDA installation");
        globfree(&found);
    }
    return taken;
}

static bool take_from_places(struct cupti_library *library, const char *soname)
{
    for (unsigned i = 0; i < ROWS(places); i++) {
        if (!places[i].variable) {
            if (take_from_pattern(library, places[i].pattern, soname))
                return true;
            continue;
        }
        const char *home = getenv(places[i].variable);
        char folder[768];
        if (home && *home &&
            (size_t)snprintf(folder, sizeof folder, "%s/%s", home, places[i].pattern) < sizeof folder &&
            take_from_folder(library, folder, soname, places[i].variable))
            return true;
    }
    return false;
}

bool cupti_library_find(struct cupti_library *library, int driver_version, const char *preferred, char *why,
                        size_t why_bytes)
{
    memset(library, 0, sizeof *library);
    if (take_mapped(library))
        return true;
    if (preferred && *preferred) {
        if (take(library, dlopen(preferred, RTLD_NOW | RTLD_LOCAL), "named by the user"))
            return true;
        snprintf(why, why_bytes, "%s is not a usable CUPTI library", preferred);
        return false;
    }
    int driver_major = driver_version / 1000;
    if (take_beside_any(library, driver_major))
        return true;
    for (unsigned i = 0; i < ROWS(sonames); i++) {
        const char *soname = sonames[i].soname;
        if (driver_major && sonames[i].major > driver_major)
            continue;
        if (take(library, dlopen(soname, RTLD_NOW | RTLD_LOCAL), "found by the loader") ||
            take_from_places(library, soname))
            return true;
    }
    snprintf(why, why_bytes,
             "no libcupti found for driver version %d: neither mapped nor in the loader's search path, beside the CUDA "
             "runtime, in CUDA_HOME, CUDA_PATH or /usr/local/cuda*",
             driver_version);
    return false;
}
