/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ELF headers of the target's file. What is odd is left alone, since a wrong warning is worse than none. */
#include "cli/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/elf_image.h"

static bool runnable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(const char *command, char *out)
{
    if (strchr(command, '/'))
        return snprintf(out, PATH_MAX, "%s", command) < PATH_MAX && runnable(out);
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    for (const char *item = path; item; item = strchr(item, ':') ? strchr(item, ':') + 1 : NULL) {
        int length = (int)strcspn(item, ":");
        const char *slash = length ? "/" : "";
        if (snprintf(out, PATH_MAX, "%.*s%s%s", length, item, slash, command) < PATH_MAX && runnable(out))
            return true;
    }
    return false;
}

/* "#!/usr/bin/env python3" runs python3, "#!/bin/sh" runs /bin/sh. */
static bool find_interpreter(const struct elf_image *image, char *out)
{
    char line[256] = "";
    size_t length = image->size < sizeof line - 1 ? image->size : sizeof line - 1;
    memcpy(line, image->bytes, length);
    line[strcspn(line, "\n")] = '\0';
    char *rest, *interpreter = strtok_r(line + 2, " \t", &rest);
    if (!interpreter)
        return false;
    const char *base = strrchr(interpreter, '/');
    const char *argument = strtok_r(NULL, " \t", &rest);
    if (base && strcmp(base, "/env") == 0 && argument && *argument != '-' && !strchr(argument, '='))
        return find_on_path(argument, out);
    return find_on_path(interpreter, out);
}

/* Host code made by the CUDA compiler carries its kernels in .nv_fatbin and registers them at
 * start-up. If that function is not imported, the runtime that has it is inside the file. */
static bool has_static_cuda_runtime(const struct elf_image *image, const Elf64_Ehdr *header)
{
    const Elf64_Shdr *sections = elf_image_table(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    if (!sections || header->e_shentsize != sizeof *sections || header->e_shstrndx >= header->e_shnum)
        return false;
    const Elf64_Shdr *names = &sections[header->e_shstrndx];
    bool kernels = false;
    for (int i = 0; i < header->e_shnum; i++) {
        const char *name = elf_image_text(image, names->sh_offset + sections[i].sh_name);
        kernels |= name && strcmp(name, ".nv_fatbin") == 0;
    }
    if (!kernels)
        return false;
    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_type != SHT_DYNSYM || section->sh_link >= header->e_shnum)
            continue;
        const Elf64_Sym *symbols = elf_image_table(image, section->sh_offset, section->sh_size);
        for (uint64_t s = 0; symbols && s < section->sh_size / sizeof *symbols; s++) {
            const char *name = elf_image_text(image, sections[section->sh_link].sh_offset + symbols[s].st_name);
            if (name && strcmp(name, "__cudaRegisterFatBinary") == 0 && symbols[s].st_shndx == SHN_UNDEF)
                return false;
        }
    }
    return true;
}

/* CUDA's libraries carry their major in the name: libcudart.so.12, libcublas.so.12. Before 12 the runtime had more. */
static int major_of_library(const char *name)
{
    static const char *const stems[] = {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libcupti.so."};
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return atoi(name + strlen(stems[i]));
    return 0;
}

static int linked_cuda_major(const struct elf_image *image, const Elf64_Ehdr *header)
{
    const Elf64_Shdr *sections = elf_image_table(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    if (!sections || header->e_shentsize != sizeof *sections)
        return 0;
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNAMIC || sections[i].sh_link >= header->e_shnum)
            continue;
        const Elf64_Dyn *dynamic = elf_image_table(image, sections[i].sh_offset, sections[i].sh_size);
        for (uint64_t d = 0; dynamic && d < sections[i].sh_size / sizeof *dynamic; d++) {
            const char *name = elf_image_text(image, sections[sections[i].sh_link].sh_offset + dynamic[d].d_un.d_val);
            int major = dynamic[d].d_tag == DT_NEEDED && name ? major_of_library(name) : 0;
            if (major)
                return major;
        }
    }
    return 0;
}

/* By the name of the loader; one that is not here may be glibc's under another name. */
static const struct {
    const char *loader, *libc;
} other_libcs[] = {
    {"ld-musl-", "is built for the C library musl, whose loader can't load rooftap"},    /* musl: INSTALL, syslibdir */
    {"ld-uClibc", "is built for the C library uClibc, whose loader can't load rooftap"}, /* uClibc-ng: ldso */
    {"ld64-uClibc", "is built for the C library uClibc, whose loader can't load rooftap"},
    {"linker64", "is built for Android's C library, whose loader can't load rooftap"}, /* Bionic: /system/bin */
};

static const char *other_libc_of(const struct elf_image *image, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = elf_image_table(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments);
    if (!segments || header->e_phentsize != sizeof *segments)
        return NULL;
    for (int i = 0; i < header->e_phnum; i++) {
        const char *path = segments[i].p_type == PT_INTERP ? elf_image_text(image, segments[i].p_offset) : NULL;
        const char *slash = path ? strrchr(path, '/') : NULL;
        for (size_t row = 0; slash && row < sizeof other_libcs / sizeof other_libcs[0]; row++)
            if (!strncmp(slash + 1, other_libcs[row].loader, strlen(other_libcs[row].loader)))
                return other_libcs[row].libc;
    }
    return NULL;
}

/* The dynamic loader itself has no interpreter either, but it has a name. */
static bool is_static(const struct elf_image *image, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = elf_image_table(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments);
    if (!segments || header->e_phentsize != sizeof *segments)
        return false;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP)
            return false;
        if (segments[i].p_type != PT_DYNAMIC)
            continue;
        const Elf64_Dyn *dynamic = elf_image_table(image, segments[i].p_offset, segments[i].p_filesz);
        for (uint64_t d = 0; dynamic && d < segments[i].p_filesz / sizeof *dynamic; d++)
            if (dynamic[d].d_tag == DT_SONAME)
                return false;
    }
    return true;
}

static void examine_elf(struct program *program, const struct elf_image *image)
{
    const Elf64_Ehdr *header = elf_image_at(image, 0, sizeof *header);
    Elf64_Ehdr own;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool comparable = fd >= 0 && read(fd, &own, sizeof own) == sizeof own;
    if (fd >= 0)
        close(fd);
    if (!header || !comparable)
        return;
    program->elf = true;
    program->foreign = header->e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
                       header->e_ident[EI_DATA] != own.e_ident[EI_DATA] || header->e_machine != own.e_machine;
    if (program->foreign || header->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    program->statically_linked = is_static(image, header);
    program->other_libc = other_libc_of(image, header);
    program->static_cuda_runtime = has_static_cuda_runtime(image, header);
    program->cuda_major = linked_cuda_major(image, header);
}

static bool is_privileged(const char *path, const struct stat *status)
{
    if ((status->st_mode & S_ISUID) && status->st_uid != getuid())
        return true;
    if ((status->st_mode & S_ISGID) && status->st_gid != getgid())
        return true;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

bool program_examine(struct program *program, const char *command)
{
    *program = (struct program){0};
    if (!find_on_path(command, program->path))
        return false;
    for (int depth = 0; depth < 4; depth++) { /* the kernel follows that many interpreters */
        struct elf_image image;
        struct stat status;
        if (!elf_image_map(program->path, &image, &status))
            return true; /* executable but not readable: nothing can be said */
        bool script = memcmp(image.bytes, "#!", 2) == 0 && find_interpreter(&image, program->path);
        if (!script) {
            program->privileged = is_privileged(program->path, &status);
            if (memcmp(image.bytes, ELFMAG, SELFMAG) == 0)
                examine_elf(program, &image);
        }
        elf_image_unmap(&image);
        if (!script)
            break;
    }
    return true;
}

const char *program_obstacle(const struct program *program)
{
    if (program->privileged)
        return "runs with another user's or the file's own rights, so the loader takes no "
               "LD_PRELOAD";
    if (!program->elf)
        return NULL;
    if (program->foreign)
        return "is built for another machine or word size than rooftap";
    if (program->statically_linked)
        return "is statically linked, so the loader never sees LD_PRELOAD";
    return program->other_libc;
}

bool program_has_other_loader(const struct program *program)
{
    return program->elf && (program->foreign || program->other_libc);
}
