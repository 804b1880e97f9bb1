/* SPDX-License-Identifier: Apache-2.0 */
/* vfork() as the program sees it. Its child runs in the parent's memory, thread-local state and all, until it execs, and a
 * call that it makes there would be noted as the parent's: so the thread that calls vfork() loses its place in the trace
 * first, and finds it again at its next call in its own process. posix_spawn() and what is built on it run nothing of the
 * program in between, and don't come by here. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "preload/depth.h"
#include "preload/preload.h"
#include "trace/trace_writer.h"

typedef pid_t vfork_function(void);

vfork_function *preload_before_vfork(void);

/* The next vfork(), the C library's or a sanitizer's, to jump to. A call of that thread that is in flight is left alone:
 * what the child asks for is nested in it then, and not noted either. */
vfork_function *preload_before_vfork(void)
{
    static _Atomic(vfork_function *) next;
    int saved_errno = errno;
    preload_claim_process();
    struct trace_thread *thread = trace_thread_now();
    if (thread && !preload_depth(thread)->call && !preload_depth(thread)->launch)
        trace_writer_before_vfork();
    vfork_function *real = atomic_load_explicit(&next, memory_order_relaxed);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "vfork");
        atomic_store_explicit(&next, real, memory_order_relaxed);
    }
    errno = saved_errno;
    return real;
}

/* A function that calls vfork() must not return while the child runs, which goes on over that frame: this one is gone, by
 * a jump, before there is a child. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    endbr64\n"
        "    subq $8, %rsp\n"
        "    call preload_before_vfork\n"
        "    addq $8, %rsp\n"
        "    jmp *%rax\n"
        ".size vfork, . - vfork\n"
        ".popsection");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".globl vfork\n"
        ".type vfork, %function\n"
        "vfork:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    bl preload_before_vfork\n"
        "    ldp x29, x30, [sp], #16\n"
        "    mov x16, x0\n"
        "    br x16\n"
        ".size vfork, . - vfork\n"
        ".popsection");
#else
#error "how does a function end in a jump on this architecture?"
#endif
