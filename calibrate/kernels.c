/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA 4.3 (CUDA 7.5) for compute capability 5.0: what any driver of today takes and turns into code for newer GPUs. Should
 * one have dropped so old a target, newer ones follow. */
#include "calibrate/kernels.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const char *const targets[] = {
    ".version 4.3\n.target sm_50\n", ".version 6.3\n.target sm_75\n", ".version 7.0\n.target sm_80\n",
};

/* %rd1 bytes, %rd2 this thread's place in bytes, %rd3 the grid's step in bytes, %rd4 three steps, %rd5 four steps */
#define PLACE                                                                                                          \
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mov.u32 %r4, %nctaid.x;\n"           \
    "  mul.wide.u32 %rd2, %r1, %r2;\n  cvt.u64.u32 %rd6, %r3;\n  add.u64 %rd2, %rd2, %rd6;\n  shl.b64 %rd2, %rd2, 4;\n" \
    "  mul.wide.u32 %rd3, %r4, %r2;\n  shl.b64 %rd3, %rd3, 4;\n  mul.lo.u64 %rd4, %rd3, 3;\n  shl.b64 %rd5, %rd3, 2;\n"

/* FOUR steps from FROM on */
#define LOAD_FOUR                                                                                                      \
    "  add.u64 %rd11, %rd9, %rd2;\n  add.u64 %rd12, %rd11, %rd3;\n  add.u64 %rd13, %rd12, %rd3;\n"                     \
    "  add.u64 %rd14, %rd13, %rd3;\n"                                                                                  \
    "  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd11];\n  ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd12];\n"   \
    "  ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%rd13];\n  ld.global.v4.u32 {%r22, %r23, %r24, %r25}, [%rd14];\n"

static const char body[] =
    ".address_size 64\n"
    ".visible .entry " KERNEL_EMPTY "()\n{\n  ret;\n}\n"

    ".visible .entry " KERNEL_COPY "(.param .u64 to, .param .u64 from, .param .u64 bytes)\n{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<26>;\n  .reg .b64 %rd<19>;\n"
    "  ld.param.u64 %rd8, [to];\n  ld.param.u64 %rd9, [from];\n  ld.param.u64 %rd1, [bytes];\n"
    "  cvta.to.global.u64 %rd8, %rd8;\n  cvta.to.global.u64 %rd9, %rd9;\n"
    PLACE
    "four:\n"
    "  add.u64 %rd7, %rd2, %rd4;\n  setp.ge.u64 %p1, %rd7, %rd1;\n  @%p1 bra one;\n"
    LOAD_FOUR
    "  add.u64 %rd15, %rd8, %rd2;\n  add.u64 %rd16, %rd15, %rd3;\n  add.u64 %rd17, %rd16, %rd3;\n"
    "  add.u64 %rd18, %rd17, %rd3;\n"
    "  st.global.v4.u32 [%rd15], {%r10, %r11, %r12, %r13};\n  st.global.v4.u32 [%rd16], {%r14, %r15, %r16, %r17};\n"
    "  st.global.v4.u32 [%rd17], {%r18, %r19, %r20, %r21};\n  st.global.v4.u32 [%rd18], {%r22, %r23, %r24, %r25};\n"
    "  add.u64 %rd2, %rd2, %rd5;\n  bra four;\n"
    "one:\n"
    "  setp.ge.u64 %p1, %rd2, %rd1;\n  @%p1 bra done;\n"
    "  add.u64 %rd11, %rd9, %rd2;\n  add.u64 %rd15, %rd8, %rd2;\n"
    "  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd11];\n  st.global.v4.u32 [%rd15], {%r10, %r11, %r12, %r13};\n"
    "  add.u64 %rd2, %rd2, %rd3;\n  bra one;\n"
    "done:\n  ret;\n}\n"

    /* What was read is folded into %r5, and written where the fold is one certain value: once in 2^32 threads, so the writing
     * costs nothing, and the compiler can't leave the reading out. */
    ".visible .entry " KERNEL_READ "(.param .u64 never, .param .u64 from, .param .u64 bytes)\n{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<26>;\n  .reg .b64 %rd<19>;\n"
    "  ld.param.u64 %rd8, [never];\n  ld.param.u64 %rd9, [from];\n  ld.param.u64 %rd1, [bytes];\n"
    "  cvta.to.global.u64 %rd8, %rd8;\n  cvta.to.global.u64 %rd9, %rd9;\n  mov.u32 %r5, 0;\n"
    PLACE
    "four:\n"
    "  add.u64 %rd7, %rd2, %rd4;\n  setp.ge.u64 %p1, %rd7, %rd1;\n  @%p1 bra one;\n"
    LOAD_FOUR
    "  xor.b32 %r10, %r10, %r11;\n  xor.b32 %r12, %r12, %r13;\n  xor.b32 %r14, %r14, %r15;\n  xor.b32 %r16, %r16, %r17;\n"
    "  xor.b32 %r18, %r18, %r19;\n  xor.b32 %r20, %r20, %r21;\n  xor.b32 %r22, %r22, %r23;\n  xor.b32 %r24, %r24, %r25;\n"
    "  xor.b32 %r10, %r10, %r12;\n  xor.b32 %r14, %r14, %r16;\n  xor.b32 %r18, %r18, %r20;\n  xor.b32 %r22, %r22, %r24;\n"
    "  xor.b32 %r10, %r10, %r14;\n  xor.b32 %r18, %r18, %r22;\n  xor.b32 %r10, %r10, %r18;\n  xor.b32 %r5, %r5, %r10;\n"
    "  add.u64 %rd2, %rd2, %rd5;\n  bra four;\n"
    "one:\n"
    "  setp.ge.u64 %p1, %rd2, %rd1;\n  @%p1 bra done;\n"
    "  add.u64 %rd11, %rd9, %rd2;\n  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd11];\n"
    "  xor.b32 %r10, %r10, %r11;\n  xor.b32 %r12, %r12, %r13;\n  xor.b32 %r10, %r10, %r12;\n  xor.b32 %r5, %r5, %r10;\n"
    "  add.u64 %rd2, %rd2, %rd3;\n  bra one;\n"
    "done:\n"
    "  setp.ne.u32 %p1, %r5, 1985229328;\n  @%p1 bra end;\n  st.global.u32 [%rd8], %r5;\n"
    "end:\n  ret;\n}\n";
/* clang-format on */

bool kernels_load(struct cuda *cuda, struct kernels *kernels)
{
    static const char *const names[] = {KERNEL_COPY, KERNEL_READ, KERNEL_EMPTY};
    void *functions[3];
    char text[sizeof body + 64];
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        snprintf(text, sizeof text, "%s%s", targets[i], body);
        if (!cuda_module(cuda, text, names, functions, 3))
            continue;
        *kernels = (struct kernels){functions[0], functions[1], functions[2]};
        return true;
    }
    return false;
}
