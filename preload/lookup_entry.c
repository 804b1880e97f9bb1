/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym(), dlvsym(), dlerror() and dlopen() as hosts call them, and the thunks. In assembly, since the C library tells by the return
 * address who asks: it is reached by a jump, with every argument as it came. A name that can't be one of ours costs a
 * comparison or two, no lock, no allocation and no call. */
#include <stddef.h>

#include "preload/real_dlsym.h"
#include "preload/real_symbol.h"
#include "preload/symbol_lookup.h"

_Static_assert(offsetof(struct real_dlsym, dlsym) == 0 && offsetof(struct real_dlsym, dlvsym) == 8, "as below");
_Static_assert(offsetof(struct real_symbol_pending, stack) == 0 && offsetof(struct real_symbol_pending, real) == 8,
               "as below");
_Static_assert(sizeof(struct symbol_thunk_slot) == 16 && offsetof(struct symbol_thunk_slot, wrapper) == 8, "as below");

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#ifndef PRELOAD_NO_DLSYM
char *dlerror(void) __attribute__((visibility("default")));
char *dlerror(void)
{
    return real_dlsym_prepare() ? symbol_lookup_error(real_dlsym_next.dlerror()) : NULL;
}

typedef void *dlopen_function(const char *file, int mode);
dlopen_function *lookup_before_dlopen(void) __attribute__((visibility("hidden"), used));

static void *open_nothing(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}

/* What to jump to: who asks decides where libraries are looked for. */
dlopen_function *lookup_before_dlopen(void)
{
    real_symbol_before_load();
    return real_dlsym_prepare() ? real_dlsym_next.dlopen : open_nothing;
}
#endif

/* clang-format off */
#if defined(__x86_64__)

/* FUNCTION: which of the two; PLACE: of its address in real_dlsym_next; ASK: what is asked about names that may be ours.
 * Ours start with cu or with __cuda. */
#define LOOK_UP(function, place, ask, caller_register)                                                                   \
    __asm__(".pushsection .text\n"                                                                                       \
            ".globl " function "\n"                                                                                      \
            ".type " function ", @function\n"                                                                            \
            ".p2align 4\n"                                                                                               \
            function ":\n"                                                                                               \
            "    .cfi_startproc\n"                                                                                       \
            "    endbr64\n"                                                                                              \
            "    movq " place "+real_dlsym_next(%rip), %rax\n"                                                           \
            "    testq %rax, %rax\n"                                                                                     \
            "    je 5f\n"                                                                                                \
            "    testq %rsi, %rsi\n"                                                                                     \
            "    je 1f\n"                                                                                                \
            "    cmpb $'c', (%rsi)\n"                                                                                    \
            "    je 2f\n"                                                                                                \
            "    cmpb $'_', (%rsi)\n"                                                                                    \
            "    je 3f\n"                                                                                                \
            "1:  jmp *%rax\n"                                                                                            \
            "2:  cmpb $'u', 1(%rsi)\n"                                                                                   \
            "    jne 1b\n"                                                                                               \
            "    jmp 4f\n"                                                                                               \
            "3:  cmpb $'_', 1(%rsi)\n"                                                                                   \
            "    jne 1b\n"                                                                                               \
            "    cmpb $'c', 2(%rsi)\n"                                                                                   \
            "    jne 1b\n"                                                                                               \
            "4:  subq $40, %rsp\n"                                                                                       \
            "    .cfi_adjust_cfa_offset 40\n"                                                                            \
            "    movq %rdi, (%rsp)\n"                                                                                    \
            "    movq %rdx, 8(%rsp)\n"                                                                                   \
            "    movq 40(%rsp), " caller_register "\n"                                                                   \
            "    call " ask "\n"                                                                                         \
            "    movq %rdx, %rsi\n"                                                                                      \
            "    movq (%rsp), %rdi\n"                                                                                    \
            "    movq 8(%rsp), %rdx\n"                                                                                   \
            "    addq $40, %rsp\n"                                                                                       \
            "    .cfi_adjust_cfa_offset -40\n"                                                                           \
            "    testq %rsi, %rsi\n"                                                                                     \
            "    je 6f\n"                                                                                                \
            "    jmp *" place "+real_dlsym_next(%rip)\n"                                                                 \
            "5:  subq $40, %rsp\n" /* the first look-up of all */                                                        \
            "    .cfi_adjust_cfa_offset 40\n"                                                                            \
            "    movq %rdi, (%rsp)\n"                                                                                    \
            "    movq %rdx, 8(%rsp)\n"                                                                                   \
            "    movq %rsi, 16(%rsp)\n"                                                                                  \
            "    call real_dlsym_prepare\n"                                                                              \
            "    movq (%rsp), %rdi\n"                                                                                    \
            "    movq 8(%rsp), %rdx\n"                                                                                   \
            "    movq 16(%rsp), %rsi\n"                                                                                  \
            "    addq $40, %rsp\n"                                                                                       \
            "    .cfi_adjust_cfa_offset -40\n"                                                                           \
            "    testb %al, %al\n"                                                                                       \
            "    jne " function "\n"                                                                                     \
            "    xorl %eax, %eax\n"                                                                                      \
            "6:  ret\n"                                                                                                  \
            "    .cfi_endproc\n"                                                                                         \
            ".size " function ", . - " function "\n"                                                                     \
            ".popsection")

#ifndef PRELOAD_NO_DLSYM
LOOK_UP("dlsym", "0", "symbol_lookup", "%rdx");
LOOK_UP("dlvsym", "8", "symbol_lookup_version", "%rcx");

__asm__(".pushsection .text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    subq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    call lookup_before_dlopen\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    addq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset -24\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size dlopen, . - dlopen\n"
        ".popsection");
#endif

/* What is pending already, if it is of a call further up the stack, belongs to a thunk that a signal handler came into:
 * this call is then made as it is. Else it is noted, the place before the function, for the same reason. Only registers
 * that no call's arguments are in. */
__asm__(".pushsection .text\n"
        ".globl symbol_thunks\n"
        ".hidden symbol_thunks\n"
        ".type symbol_thunks, @function\n"
        ".p2align 6\n"
        "symbol_thunks:\n"
        "    .cfi_startproc\n"
        "    .set slot, 0\n"
        "    .rept " TEXT(SYMBOL_THUNKS) "\n"
        "    .p2align 4\n"
        "    endbr64\n"
        "    leaq symbol_thunk_slots+slot*16(%rip), %r11\n"
        "    jmp 1f\n"
        "    .set slot, slot+1\n"
        "    .endr\n"
        "1:  movq real_symbol_pending@gottpoff(%rip), %rax\n"
        "    leaq 8(%rsp), %r10\n"
        "    cmpq %r10, %fs:(%rax)\n"
        "    ja 2f\n"
        "    movq %r10, %fs:(%rax)\n"
        "    movq (%r11), %r10\n"
        "    movq %r10, %fs:8(%rax)\n"
        "    jmp *8(%r11)\n"
        "2:  jmp *(%r11)\n"
        "    .cfi_endproc\n"
        ".size symbol_thunks, . - symbol_thunks\n"
        ".popsection");

#elif defined(__aarch64__)

#define LOOK_UP(function, place, ask, caller_register)                                                                   \
    __asm__(".pushsection .text\n"                                                                                       \
            ".globl " function "\n"                                                                                      \
            ".type " function ", %function\n"                                                                            \
            ".p2align 4\n"                                                                                               \
            function ":\n"                                                                                               \
            "    .cfi_startproc\n"                                                                                       \
            "    hint #34\n" /* bti c */                                                                                 \
            "    adrp x16, real_dlsym_next\n"                                                                            \
            "    add x16, x16, :lo12:real_dlsym_next\n"                                                                  \
            "    ldr x16, [x16, #" place "]\n"                                                                           \
            "    cbz x16, 5f\n"                                                                                          \
            "    cbz x1, 1f\n"                                                                                           \
            "    ldrb w9, [x1]\n"                                                                                        \
            "    cmp w9, #'c'\n"                                                                                         \
            "    b.eq 2f\n"                                                                                              \
            "    cmp w9, #'_'\n"                                                                                         \
            "    b.eq 3f\n"                                                                                              \
            "1:  br x16\n"                                                                                               \
            "2:  ldrb w9, [x1, #1]\n"                                                                                    \
            "    cmp w9, #'u'\n"                                                                                         \
            "    b.ne 1b\n"                                                                                              \
            "    b 4f\n"                                                                                                 \
            "3:  ldrb w9, [x1, #1]\n"                                                                                    \
            "    cmp w9, #'_'\n"                                                                                         \
            "    b.ne 1b\n"                                                                                              \
            "    ldrb w9, [x1, #2]\n"                                                                                    \
            "    cmp w9, #'c'\n"                                                                                         \
            "    b.ne 1b\n"                                                                                              \
            "4:  stp x29, x30, [sp, #-48]!\n"                                                                            \
            "    .cfi_adjust_cfa_offset 48\n"                                                                            \
            "    .cfi_rel_offset 30, 8\n"                                                                                \
            "    stp x0, x2, [sp, #16]\n"                                                                                \
            "    mov " caller_register ", x30\n"                                                                         \
            "    bl " ask "\n"                                                                                           \
            "    mov x9, x0\n"                                                                                           \
            "    ldp x0, x2, [sp, #16]\n"                                                                                \
            "    ldp x29, x30, [sp], #48\n"                                                                              \
            "    .cfi_adjust_cfa_offset -48\n"                                                                           \
            "    .cfi_restore 30\n"                                                                                      \
            "    cbz x1, 6f\n"                                                                                           \
            "    adrp x16, real_dlsym_next\n"                                                                            \
            "    add x16, x16, :lo12:real_dlsym_next\n"                                                                  \
            "    ldr x16, [x16, #" place "]\n"                                                                           \
            "    br x16\n"                                                                                               \
            "5:  stp x29, x30, [sp, #-48]!\n"                                                                            \
            "    .cfi_adjust_cfa_offset 48\n"                                                                            \
            "    .cfi_rel_offset 30, 8\n"                                                                                \
            "    stp x0, x2, [sp, #16]\n"                                                                                \
            "    str x1, [sp, #32]\n"                                                                                    \
            "    bl real_dlsym_prepare\n"                                                                                \
            "    mov x9, x0\n"                                                                                           \
            "    ldp x0, x2, [sp, #16]\n"                                                                                \
            "    ldr x1, [sp, #32]\n"                                                                                    \
            "    ldp x29, x30, [sp], #48\n"                                                                              \
            "    .cfi_adjust_cfa_offset -48\n"                                                                           \
            "    .cfi_restore 30\n"                                                                                      \
            "    tst w9, #255\n"                                                                                         \
            "    b.ne " function "\n"                                                                                    \
            "    mov x9, #0\n"                                                                                           \
            "6:  mov x0, x9\n"                                                                                           \
            "    ret\n"                                                                                                  \
            "    .cfi_endproc\n"                                                                                         \
            ".size " function ", . - " function "\n"                                                                     \
            ".popsection")

#ifndef PRELOAD_NO_DLSYM
LOOK_UP("dlsym", "0", "symbol_lookup", "x2");
LOOK_UP("dlvsym", "8", "symbol_lookup_version", "x3");

__asm__(".pushsection .text\n"
        ".globl dlopen\n"
        ".type dlopen, %function\n"
        "dlopen:\n"
        "    .cfi_startproc\n"
        "    hint #34\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    .cfi_adjust_cfa_offset 32\n"
        "    .cfi_rel_offset 30, 8\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl lookup_before_dlopen\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_adjust_cfa_offset -32\n"
        "    .cfi_restore 30\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size dlopen, . - dlopen\n"
        ".popsection");
#endif

__asm__(".pushsection .text\n"
        ".globl symbol_thunks\n"
        ".hidden symbol_thunks\n"
        ".type symbol_thunks, %function\n"
        ".p2align 6\n"
        "symbol_thunks:\n"
        "    .cfi_startproc\n"
        "    .set slot, 0\n"
        "    .rept " TEXT(SYMBOL_THUNKS) "\n"
        "    hint #34\n"
        "    adrp x17, symbol_thunk_slots+slot*16\n"
        "    add x17, x17, :lo12:symbol_thunk_slots+slot*16\n"
        "    b 1f\n"
        "    .set slot, slot+1\n"
        "    .endr\n"
        "1:  mrs x9, tpidr_el0\n"
        "    adrp x10, :gottprel:real_symbol_pending\n"
        "    ldr x10, [x10, #:gottprel_lo12:real_symbol_pending]\n"
        "    add x9, x9, x10\n"
        "    ldr x10, [x9]\n"
        "    mov x11, sp\n"
        "    cmp x10, x11\n"
        "    b.hi 2f\n"
        "    str x11, [x9]\n"
        "    ldr x10, [x17]\n"
        "    str x10, [x9, #8]\n"
        "    ldr x16, [x17, #8]\n"
        "    br x16\n"
        "2:  ldr x16, [x17]\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size symbol_thunks, . - symbol_thunks\n"
        ".popsection");

#else
#error "how is a function reached by a jump on this architecture?"
#endif
/* clang-format on */
