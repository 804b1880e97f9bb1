/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of a program from its file before it runs: whether the loader will honour
 * LD_PRELOAD for it. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
    char path[PATH_MAX];      /* the file that the kernel runs: of a script its interpreter */
    bool elf;                 /* it was understood; else nothing below holds */
    bool foreign;             /* of another word size or machine than this command */
    bool statically_linked;   /* no dynamic loader, so no LD_PRELOAD */
    const char *other_libc;   /* what is said of one whose loader can't load ours; else NULL */
    bool privileged;          /* runs as another user or with capabilities: the loader drops LD_PRELOAD */
    bool static_cuda_runtime; /* CUDA's runtime is inside, not in libcudart.so */
    int cuda_major;           /* of the runtime or cuBLAS that it is linked with; 0: with none */
};

/* False if no such program was found; exec will tell why. */
bool program_examine(struct program *program, const char *command);
/* Why PROGRAM can't be recorded, as the end of a sentence; NULL if nothing speaks against it. */
const char *program_obstacle(const struct program *program);
/* Its loader would complain of our library, or end the program for it. */
bool program_has_other_loader(const struct program *program);

#endif
