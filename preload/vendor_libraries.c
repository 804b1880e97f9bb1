/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables of names, and how they are compared. */
#include "preload/vendor_libraries.h"

#include <stddef.h>
#include <string.h>

struct vendor_library {
    const char *prefix;     /* of the functions in it; the first row that fits holds */
    const char *named;      /* how its DT_SONAME starts */
    const char *sonames[4]; /* newest first */
};

/* clang-format off */
static const struct vendor_library vendor_libraries[] = {
    {"cublasLt", "libcublasLt.so.", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}},
    {"cublas",   "libcublas.so.",   {"libcublas.so.13",   "libcublas.so.12",   "libcublas.so.11"}},
    {"cuda",     "libcudart.so.",   {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"__cuda",   "libcudart.so.",   {"libcudart.so.13",   "libcudart.so.12",   "libcudart.so.11.0"}},
    {"cupti",    "libcupti.so.",    {"libcupti.so.13",    "libcupti.so.12",    "libcupti.so.11.8"}},
    {"cu",       "libcuda.so.",     {"libcuda.so.1"}},
};

/* That look up functions of those, or watch them. */
static const char *const others[] = {
    "libnvperf_", "libcuinj64.so.", "libnvidia-", "libcheckpoint.so",
};
/* clang-format on */

enum { VENDOR_LIBRARIES = sizeof vendor_libraries / sizeof vendor_libraries[0] };

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static const struct vendor_library *library_of(const char *function)
{
    for (size_t i = 0; i < VENDOR_LIBRARIES; i++)
        if (starts_with(function, vendor_libraries[i].prefix))
            return &vendor_libraries[i];
    return NULL;
}

int vendor_library_named(const char *soname)
{
    for (int i = 0; i < VENDOR_LIBRARIES; i++)
        if (starts_with(soname, vendor_libraries[i].named))
            return i;
    return -1;
}

int vendor_library_of(const char *function)
{
    const struct vendor_library *library = library_of(function);
    return library ? vendor_library_named(library->named) : -1;
}

bool vendor_library_is(const char *soname)
{
    if (vendor_library_named(soname) >= 0)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (starts_with(soname, others[i]))
            return true;
    return false;
}

const char *const *vendor_library_sonames(const char *function)
{
    const struct vendor_library *library = library_of(function);
    return library ? library->sonames : NULL;
}
