/* SPDX-License-Identifier: Apache-2.0 */
/* The identifiers in a kernel's name: the function's own, and those around and behind it, of its namespaces, template
 * arguments and parameters. Names are mangled (Itanium C++ ABI), demangled, or plain as Triton's; all may be cut off. */
#ifndef CLASSIFY_KERNEL_NAME_H
#define CLASSIFY_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_word {
    const char *begin; /* in the name, and not terminated */
    size_t bytes;
};

/* The function's own identifier: "rms_norm_kernel" of "_ZN4vllm15rms_norm_kernelIfEEvPT_". A name of neither C++ form is one
 * word, whatever is in it. */
struct kernel_word kernel_name_function(const char *name);

enum kernel_name_form { KERNEL_NAME_MANGLED, KERNEL_NAME_DEMANGLED, KERNEL_NAME_PLAIN };

enum { KERNEL_NAME_NESTING = 128 };

/* A walk over every identifier, in their order; the function's own is one of them. Constant memory, one pass. */
struct kernel_name_walk {
    const char *p;
    enum kernel_name_form form;
    unsigned depth, too_deep;
    char open[KERNEL_NAME_NESTING]; /* what was opened and not closed yet, innermost last */
};

void kernel_name_walk_begin(struct kernel_name_walk *walk, const char *name);

/* False at the end. */
bool kernel_name_walk_next(struct kernel_name_walk *walk, struct kernel_word *word);

/* PATTERN must describe all of WORD; letters match in either case, '*' is any run of letters, also none, and '|' is where
 * a word begins or ends, with the '_' there: at '_', at both ends, between a digit and a letter, and before a capital of
 * CamelCase. So "*all|reduce*" describes all_reduce and AllReduce, and "*|fill|*" FillFunctor and not prefill. */
bool kernel_word_matches(struct kernel_word word, const char *pattern);

#endif
