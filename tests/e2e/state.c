/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a library in the process could disturb, at the start of main and after each kind of call: errno,
 * floating-point flags and rounding, signal mask, working folder, umask, descriptors. Run with and without the shim the
 * output must be the same. `e2e_state CALLS`: calls of each kind between two looks. */
#include "gemms.h"

#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int errno_at_start, flags_at_start;

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void look(const char *when, int errno_now, int flags_now)
{
    char path[4096];
    sigset_t mask;
    unsigned long blocked = 0;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < 64; i++)
        blocked |= (unsigned long)(sigismember(&mask, i) == 1) << (i - 1);
    mode_t mode = umask(0);
    umask(mode);
    printf("%s: errno %d, flags %#x, rounding %#x, blocked %lx, folder %s, umask %03o, descriptors %d\n", when,
           errno_now, (unsigned)flags_now, (unsigned)fegetround(), blocked, getcwd(path, sizeof path), (unsigned)mode,
           descriptors());
}

static int (*const calls[])(struct gemms *, int, int, int) = {gemms_ex, gemms_sgemm, gemms_lt};
static const char *const names[] = {"cublasGemmEx", "cublasSgemm", "cublasLtMatmul"};

int main(int count, char **arguments)
{
    errno_at_start = errno;
    flags_at_start = fetestexcept(FE_ALL_EXCEPT);
    look("start of main", errno_at_start, flags_at_start);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    umask(0137);
    fesetround(FE_UPWARD);
    struct gemms gemms;
    if (count < 2 || !gemms_open(&gemms))
        return 3;
    for (int kind = 0; kind < 3; kind++) {
        int wrong = 0, errno_seen = 0, flags_seen = 0;
        for (int i = 0; i < atoi(arguments[1]); i++) {
            feclearexcept(FE_ALL_EXCEPT);
            feraiseexcept(FE_UNDERFLOW);
            errno = 77;
            int status = calls[kind](&gemms, 16, 1 + i % 200, 8); /* signatures enough to fill blocks */
            int errno_now = errno, flags_now = fetestexcept(FE_ALL_EXCEPT);
            wrong += status != CUBLAS_STATUS_SUCCESS || (i && (errno_now != errno_seen || flags_now != flags_seen));
            errno_seen = errno_now;
            flags_seen = flags_now;
        }
        look(names[kind], errno_seen, flags_seen);
        if (wrong)
            printf("%d of them differ or fail\n", wrong);
    }
    return 0;
}
