/* SPDX-License-Identifier: Apache-2.0 */
/* One message a name over a socket pair: the name there, a status byte and the text back. The end of the socket in place
 * of an answer means that the child died of the name. */
#include "report/demangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "classify/allocate.h"

enum {
    CPU_LIMIT_US = 200 * 1000, /* of one name; the longest real ones take less than one thousandth of it */
    ANSWER_NO = 0,
    ANSWER_YES = 1,
};

struct demangler {
    const char *library;
    pid_t child; /* 0: none */
    int socket;
    int deaths;
    bool useless; /* no library, no child, or too many deaths */
    char answer[1 + DEMANGLE_LONGEST_TEXT];
};

/* ---- the child ---- */

/* Its default action ends the child, without a core file. */
static void limit_cpu(long microseconds)
{
    struct itimerval limit = {.it_value = {.tv_sec = 0, .tv_usec = microseconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

static void answer_one(int socket, char *(*demangle)(const char *, char *, size_t *, int *), const char *name)
{
    static char answer[1 + DEMANGLE_LONGEST_TEXT];
    static const char dots[] = "...";
    int status = 0;
    limit_cpu(CPU_LIMIT_US);
    char *text = demangle(name, NULL, NULL, &status);
    limit_cpu(0);
    answer[0] = text && status == 0 ? ANSWER_YES : ANSWER_NO;
    size_t bytes = text ? strlen(text) : 0;
    if (bytes > DEMANGLE_LONGEST_TEXT) {
        bytes = DEMANGLE_LONGEST_TEXT;
        memcpy(text + bytes - strlen(dots), dots, strlen(dots));
    }
    if (text)
        memcpy(answer + 1, text, bytes);
    free(text);
    if (send(socket, answer, 1 + bytes, MSG_NOSIGNAL) < 0)
        _exit(0);
}

static void prepare_child(void)
{
    const struct rlimit none = {0, 0};
    sigset_t limit_signal;
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPROF, SIG_DFL);
    sigemptyset(&limit_signal);
    sigaddset(&limit_signal, SIGPROF);
    sigprocmask(SIG_UNBLOCK, &limit_signal, NULL);
}

/* Says first whether there is a library. Ends when the other side does. */
static _Noreturn void serve(int socket, const char *library)
{
    static char name[DEMANGLE_LONGEST_NAME + 1];
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    prepare_child();
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        *(void **)&demangle = dlsym(handle, "__cxa_demangle");
    char hello = demangle ? ANSWER_YES : ANSWER_NO;
    if (send(socket, &hello, 1, MSG_NOSIGNAL) != 1 || !demangle)
        _exit(0);
    for (;;) {
        ssize_t bytes = recv(socket, name, sizeof name - 1, 0);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            _exit(0);
        name[bytes] = '\0';
        answer_one(socket, demangle, name);
    }
}

/* ---- the command ---- */

static ssize_t receive(struct demangler *demangler)
{
    ssize_t bytes;
    do
        bytes = recv(demangler->socket, demangler->answer, sizeof demangler->answer, 0);
    while (bytes < 0 && errno == EINTR);
    return bytes;
}

static void end_child(struct demangler *demangler)
{
    if (!demangler->child)
        return;
    close(demangler->socket);
    while (waitpid(demangler->child, NULL, 0) < 0 && errno == EINTR)
        ;
    demangler->child = 0;
}

static bool start_child(struct demangler *demangler)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return false;
    fflush(NULL); /* what is buffered is printed once: some C libraries and sanitizers flush even in _exit() */
    pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        serve(pair[1], demangler->library);
    }
    close(pair[1]);
    if (child < 0) {
        close(pair[0]);
        return false;
    }
    demangler->child = child;
    demangler->socket = pair[0];
    if (receive(demangler) == 1 && demangler->answer[0] == ANSWER_YES)
        return true;
    end_child(demangler);
    return false;
}

struct demangler *demangler_open(const char *library)
{
    struct demangler *demangler = allocate(1, sizeof *demangler);
    demangler->library = library;
    return demangler;
}

static bool is_mangled(const char *name)
{
    return name[0] == '_' && name[1] == 'Z' && strlen(name) <= DEMANGLE_LONGEST_NAME;
}

static char *ask(struct demangler *demangler, const char *name)
{
    ssize_t bytes = -1;
    if (send(demangler->socket, name, strlen(name), MSG_NOSIGNAL) >= 0)
        bytes = receive(demangler);
    if (bytes < 1) {
        end_child(demangler);
        demangler->useless = ++demangler->deaths >= DEMANGLE_DEATHS;
        return NULL;
    }
    if (demangler->answer[0] != ANSWER_YES)
        return NULL;
    char *text = allocate((size_t)bytes, 1);
    memcpy(text, demangler->answer + 1, (size_t)bytes - 1);
    return text;
}

char *demangler_name(struct demangler *demangler, const char *name)
{
    if (!is_mangled(name) || demangler->useless)
        return allocate_text(name);
    if (!demangler->child && !start_child(demangler)) {
        demangler->useless = true;
        return allocate_text(name);
    }
    char *text = ask(demangler, name);
    return text ? text : allocate_text(name);
}

void demangler_close(struct demangler *demangler)
{
    if (!demangler)
        return;
    end_child(demangler);
    free(demangler);
}
