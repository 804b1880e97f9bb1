/* SPDX-License-Identifier: Apache-2.0 */
/* A library's mappings follow one another, each with its path. The runtime's and the driver's libraries aren't asked about:
 * kernels of theirs have no shapes to lose. What LD_PRELOAD names is in the process whether or not it is wanted there, as
 * the simulator's stand-ins are: it counts if something that is loaded depends on it. */
#include "preload/blas_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/audit_gate.h"
#include "preload/loaded_image.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "preload/symbol_lookup.h"
#include "preload/vendor_libraries.h"
#include "trace/trace_writer.h"

enum {
    LINE_BYTES = 4352,
    CHUNK_BYTES = 16384,
    PRELOAD_BYTES = 4096,
    LIST_BYTES = 480, /* of the note; a longer list is cut at a path */
};

struct library {
    char path[LINE_BYTES]; /* "": none */
    uintptr_t start, end;
};

struct list {
    unsigned count;
    char unreached[LIST_BYTES]; /* paths, a line each */
};

struct survey {
    struct library now;
    struct list blas, lt;                     /* that the program has brought in */
    struct list preloaded_blas, preloaded_lt; /* of LD_PRELOAD, and not reached */
    bool is_needed;                           /* something that is no library of NVIDIA's depends on cuBLAS */
};

static char preload_list[PRELOAD_BYTES]; /* LD_PRELOAD, since hosts edit their environment; "" where it has no cuBLAS */

__attribute__((constructor)) static void keep_preload_list(void)
{
    const char *list = getenv("LD_PRELOAD");
    if (list && strlen(list) < sizeof preload_list && strstr(list, "/libcublas"))
        strcpy(preload_list, list);
}

static bool is_preloaded(const char *path)
{
    struct stat own, other;
    char list[PRELOAD_BYTES], *rest;
    if (!*preload_list || stat(path, &own) != 0)
        return false;
    strcpy(list, preload_list);
    for (const char *item = strtok_r(list, " :", &rest); item; item = strtok_r(NULL, " :", &rest))
        if (*item == '/' && stat(item, &other) == 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino)
            return true;
    return false;
}

static void add(struct list *list, struct list *preloaded, const struct library *library)
{
    bool reached =
        real_symbol_is_reached(library->start, library->end) || symbol_lookup_leads_into(library->start, library->end);
    if (!reached && is_preloaded(library->path))
        list = preloaded;
    size_t used = strlen(list->unreached), room = sizeof list->unreached - used;
    list->count++;
    if (!reached && strlen(library->path) + 2 <= room)
        snprintf(list->unreached + used, room, "%s%s", used ? "\n" : "", library->path);
}

static bool is_blas(const char *soname)
{
    int kind = vendor_library_named(soname);
    return kind >= 0 && (kind == vendor_library_of("cublasCreate_v2") || kind == vendor_library_of("cublasLtCreate"));
}

static void end_library(struct survey *survey)
{
    struct library *library = &survey->now;
    const char *slash = strrchr(library->path, '/'), *name = slash ? slash + 1 : "";
    if (is_blas(name) && vendor_library_named(name) == vendor_library_of("cublasLtCreate"))
        add(&survey->lt, &survey->preloaded_lt, library);
    else if (is_blas(name))
        add(&survey->blas, &survey->preloaded_blas, library);
    else if (*preload_list && slash && !vendor_library_is(name))
        survey->is_needed |= loaded_image_needs(library->start, is_blas);
    library->path[0] = '\0';
}

/* "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234       /path" */
static void take_line(struct survey *survey, const char *line)
{
    unsigned long start, end;
    int path = 0;
    bool has_path = sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &path) == 2 && path && line[path] == '/';
    if (!has_path || strcmp(line + path, survey->now.path) != 0) {
        end_library(survey);
        if (!has_path)
            return;
        snprintf(survey->now.path, sizeof survey->now.path, "%s", line + path);
        survey->now.start = start;
    }
    survey->now.end = end;
}

static bool read_maps(struct survey *survey)
{
    char line[LINE_BYTES], chunk[CHUNK_BYTES];
    size_t used = 0;
    ssize_t bytes;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    while ((bytes = read(file, chunk, sizeof chunk)) > 0) {
        for (ssize_t i = 0; i < bytes; i++) {
            if (chunk[i] != '\n') {
                line[used] = chunk[i];
                used += used < sizeof line - 1;
                continue;
            }
            line[used] = '\0';
            take_line(survey, line);
            used = 0;
        }
    }
    close(file);
    end_library(survey);
    return bytes == 0;
}

/* From the helper, and from the thread that exits. */
static void write_note(int count, const char *unreached)
{
    static _Atomic uint64_t written; /* hash of the last note, with whose trace it is in */
    char now[LIST_BYTES + 32];
    struct trace_thread *thread = trace_thread_get();
    int bytes = snprintf(now, sizeof now, "%u %d %s", atomic_load(&preload_incarnation), count, unreached);
    uint64_t hash = trace_hash(now, (uint32_t)bytes < sizeof now ? (uint32_t)bytes : sizeof now - 1);
    if (thread && atomic_exchange(&written, hash) != hash)
        trace_note(thread, TRACE_NOTE_BLAS, count, "%s", unreached);
}

/* libcublas calls its own libcublasLt as it likes: that one says something only where there is no other. */
static void conclude(const struct survey *survey)
{
    const struct list *blas = &survey->blas, *lt = &survey->lt;
    bool is_known = blas->count || lt->count;
    if (!is_known && survey->is_needed) {
        blas = &survey->preloaded_blas;
        lt = &survey->preloaded_lt;
    }
    /* One of LD_PRELOAD may have been asked for its functions by name, and nobody would know. */
    bool may_be_asked = survey->preloaded_blas.count && !symbol_lookup_is_on() && !audit_gate_is_attached();
    if (!is_known && !survey->is_needed && may_be_asked)
        write_note(TRACE_UNKNOWN, "");
    else
        write_note((int)(blas->count + lt->count), blas->count ? blas->unreached : lt->unreached);
}

void blas_copies_note(void)
{
    struct survey survey = {.now = {.path = ""}};
    int saved_errno = errno;
    if (read_maps(&survey))
        conclude(&survey);
    errno = saved_errno;
}
