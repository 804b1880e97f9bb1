/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's mangled name (Itanium C++ ABI) taken apart: its base name, its template arguments and the types of its
 * parameters, each spelled in one way whatever substitutions the compiler used. The writer plans by it what to copy of a
 * launch, the reader finds the meaning by it, so both read names alike. No allocation; bounded in time and stack; any bytes
 * in. What it does not know is spelled "?" if it can be stepped over, else the name is not read. */
#ifndef TRACE_KERNEL_SIGNATURE_H
#define TRACE_KERNEL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KERNEL_SIGNATURE_ARGUMENTS_MOST = 32,
    KERNEL_SIGNATURE_PARAMETERS_MOST = 64,
    KERNEL_SIGNATURE_TEXT_BYTES = 6144
};

struct kernel_signature {
    const char *base; /* text, the function's own identifier without namespaces: "mul_mat_vec_q" */
    unsigned argument_count, parameter_count;
    /* Its own template arguments in their order, packs by their elements. Values as C++ would print them: "12" (without
     * the suffix of its type), "-1", "true", "(ggml_type)12", "&(op_add(float, float))"; types as below. */
    const char *argument[KERNEL_SIGNATURE_ARGUMENTS_MOST];
    /* "void const*", "unsigned int", "float*", "uint3", "ggml_cuda_mm_fusion_args_device", "vllm::Params<float, 4>": as
     * c++filt spells them: const behind its type, one space after each comma of template arguments, "> >" at their end.
     * "?" also stands for a text for which there is no room. */
    const char *parameter[KERNEL_SIGNATURE_PARAMETERS_MOST];
    /* Size by the type alone, x86-64 and aarch64: of built-in types, pointers, references, CUDA's vector types and small
     * floats; 0: not known, as of structs and enums, which a name does not tell apart. */
    uint16_t parameter_bytes[KERNEL_SIGNATURE_PARAMETERS_MOST];
    bool parameter_is_pointer[KERNEL_SIGNATURE_PARAMETERS_MOST]; /* references too */
    char text[KERNEL_SIGNATURE_TEXT_BYTES];                      /* where the texts above lie */
};

/* False: NAME is not mangled, cut off, or holds what is not understood. SIGNATURE's texts lie in itself: it must not be moved. */
bool kernel_signature_parse(const char *name, struct kernel_signature *signature);

/* The same for who has little stack: TREE (trace/mangled_tree.h) is the 15 KiB of memory that it works in. */
struct mangled_tree;
bool kernel_signature_parse_in(const char *name, struct kernel_signature *signature, struct mangled_tree *tree);

#endif
