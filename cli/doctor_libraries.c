/* SPDX-License-Identifier: Apache-2.0 */
/* As ldd does it: with LD_TRACE_LOADED_OBJECTS the loader maps a program and what it needs, lists that and runs nothing of it
 * (ld.so(8)); --list would stop at the first that is missing. The loader is this command's own: the one that a file names for
 * itself could be anything. */
#include "cli/doctor_libraries.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor_probe.h"

static int find_loader(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)data = (const char *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the first is the program itself */
}

/* "\tlibm.so.6 => /lib/libm.so.6 (0x7f..)", "\tlibx.so => not found", "\t/lib64/ld-linux-x86-64.so.2 (0x..)" */
static bool understand(char *line, struct doctor_library *library)
{
    line += strspn(line, "\t ");
    char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line, *address = strstr(path, " (0x");
    if (arrow)
        *arrow = '\0';
    if (address)
        *address = '\0';
    const char *slash = strrchr(line, '/');
    snprintf(library->name, sizeof library->name, "%s", slash ? slash + 1 : line);
    snprintf(library->path, sizeof library->path, "%s", *path == '/' ? path : "");
    return *library->name && (arrow || *path == '/');
}

static void keep(struct doctor_libraries *libraries, char *text)
{
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct doctor_library library;
        if (!understand(line, &library))
            continue;
        if (libraries->count == DOCTOR_LIBRARIES_MOST)
            libraries->left_out++;
        else
            libraries->rows[libraries->count++] = library;
    }
}

void doctor_libraries_find(struct doctor_libraries *libraries, const char *program, struct environment *environment,
                           unsigned timeout_s)
{
    const char *loader = NULL;
    *libraries = (struct doctor_libraries){.rows = calloc(DOCTOR_LIBRARIES_MOST, sizeof(struct doctor_library))};
    struct doctor_probe *probe = calloc(1, sizeof *probe);
    dl_iterate_phdr(find_loader, &loader);
    if (!libraries->rows || !probe || !loader || !environment_set(environment, "LD_TRACE_LOADED_OBJECTS", "1")) {
        snprintf(libraries->why, sizeof libraries->why, "%s",
                 loader ? "out of memory" : "rooftap has no loader to ask");
        free(probe);
        return;
    }
    doctor_probe_run(probe, (char *[]){(char *)loader, (char *)program, NULL}, environment, timeout_s);
    libraries->known = probe->end == DOCTOR_PROBE_ANSWERED;
    if (libraries->known) {
        keep(libraries, probe->text);
    } else {
        char trouble[160];
        doctor_probe_trouble(probe, timeout_s, trouble, sizeof trouble);
        snprintf(libraries->why, sizeof libraries->why, "%s, asked for its libraries, %s", loader, trouble);
    }
    free(probe);
}

const struct doctor_library *doctor_libraries_named(const struct doctor_libraries *libraries, const char *start)
{
    for (int i = 0; i < libraries->count; i++)
        if (strncmp(libraries->rows[i].name, start, strlen(start)) == 0)
            return &libraries->rows[i];
    return NULL;
}

void doctor_libraries_free(struct doctor_libraries *libraries)
{
    free(libraries->rows);
    *libraries = (struct doctor_libraries){.known = false};
}
