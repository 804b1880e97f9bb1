/* SPDX-License-Identifier: Apache-2.0 */
/* A desktop's own program decides which browser it is. It is nobody's child, has no terminal and none of our files. */
#include "cli/open_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MOST = 1024 }; /* descriptors that a shell or a program above us may have left open */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* A display that SSH forwards is another machine's: a browser of this one would come up there, slowly or not at all. */
static bool by_ssh(void)
{
    return is_set("SSH_CONNECTION") || is_set("SSH_TTY") || is_set("SSH_CLIENT");
}

static bool has_display(void)
{
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

/* Under Windows its browser is the one to ask; its programs are there with or without a display. */
static bool in_wsl(void)
{
    return is_set("WSL_DISTRO_NAME") || is_set("WSL_INTEROP");
}

/* To add a program: one row; the first that is there is taken. */
static const struct {
    const char *name;
    bool (*suits)(void);
} programs[] = {
    {"wslview", in_wsl},
    {"xdg-open", has_display},
};

static bool is_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    struct stat status;
    for (const char *at = path; at && *at;) {
        size_t length = strcspn(at, ":");
        if (length && snprintf(file, sizeof file, "%.*s/%s", (int)length, at, name) < PATH_MAX &&
            access(file, X_OK) == 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

const char *open_page_program(void)
{
    for (size_t i = 0; !by_ssh() && i < sizeof programs / sizeof programs[0]; i++)
        if (programs[i].suits() && is_in_path(programs[i].name))
            return programs[i].name;
    return NULL;
}

const char *open_page_why_not(void)
{
    if (by_ssh())
        return "this is a session of SSH: copy it to a machine with a browser";
    if (!has_display())
        return "no desktop here: copy it to a machine with a browser";
    return "no xdg-open here: open it in a browser";
}

/* Never returns. What goes wrong is written to REPORT, which a successful start closes. */
static void become(const char *program, const char *path, int report)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_DFL); /* ignored since the page was written */
    setsid();
    for (int descriptor = 0; descriptor < FILES_MOST; descriptor++) {
        if (descriptor <= STDERR_FILENO && null >= 0)
            dup2(null, descriptor);
        else if (descriptor > STDERR_FILENO && descriptor != report)
            close(descriptor);
    }
    execlp(program, program, path, (char *)NULL);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(2); /* there is nobody to tell */
    _exit(1);
}

bool open_page(const char *program, const char *path)
{
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            become(program, path, ends[1]);
        _exit(grandchild < 0);
    }
    close(ends[1]);
    int status = 0;
    ssize_t told = -1;
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        do
            told = read(ends[0], &error, sizeof error);
        while (told < 0 && errno == EINTR);
    }
    close(ends[0]);
    if (child > 0 && told == 0 && status == 0)
        return true;
    errno = told == sizeof error ? error : EAGAIN;
    return false;
}
