/* SPDX-License-Identifier: Apache-2.0 */
/* Each question says what it is about to do before it does it, and what came of it, in lines "KEY VALUE". Nothing is
 * launched and no context is made: a GPU that is busy stays as it is. */
#include "cli/doctor_questions.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/nvml.h"

static void say(const char *key, const char *value)
{
    printf("%s ", key);
    for (; *value; value++)
        putchar((unsigned char)*value < ' ' ? '?' : *value);
    putchar('\n');
    fflush(stdout);
}

static void say_number(const char *key, long value)
{
    printf("%s %ld\n", key, value);
    fflush(stdout);
}

/* ---- which libraries are mapped ---- */

static int say_mapped(struct dl_phdr_info *info, size_t size, void *prefix)
{
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (slash && strncmp(slash + 1, prefix, strlen(prefix)) == 0) {
        char resolved[4096];
        say(prefix, realpath(info->dlpi_name, resolved) ? resolved : info->dlpi_name);
    }
    return 0;
}

static int ask_preload(int argc, char **argv)
{
    (void)argc, (void)argv;
    dl_iterate_phdr(say_mapped, "librooftap.so");
    return 0;
}

/* ---- the driver ---- */

static void *open_driver(void)
{
    say("stage", "loading libcuda.so.1");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!driver)
        say("driver_missing", dlerror());
    else
        dl_iterate_phdr(say_mapped, "libcuda.so");
    return driver;
}

static int start_driver(void *driver)
{
    int (*version)(int *) = NULL, (*init)(unsigned) = NULL;
    int number = 0;
    *(void **)&version = dlsym(driver, "cuDriverGetVersion");
    *(void **)&init = dlsym(driver, "cuInit");
    if (!version || !init) {
        say("driver_missing", "it has no cuDriverGetVersion or no cuInit");
        return -1;
    }
    say("stage", "cuDriverGetVersion");
    if (version(&number) == 0)
        say_number("driver_version", number);
    say("stage", "cuInit");
    int result = init(0);
    say_number("init", result);
    return result;
}

static void count_devices(void *driver)
{
    int (*count)(int *) = NULL, (*get)(int *, int) = NULL, (*name)(char *, int, int) = NULL;
    int devices = 0, device;
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    *(void **)&get = dlsym(driver, "cuDeviceGet");
    *(void **)&name = dlsym(driver, "cuDeviceGetName");
    say("stage", "cuDeviceGetCount");
    if (!count || count(&devices) != 0)
        return;
    say_number("devices", devices);
    for (int i = 0; get && name && i < devices; i++) {
        char text[256] = "";
        if (get(&device, i) == 0 && name(text, sizeof text, device) == 0)
            say("device", text);
    }
}

static int ask_driver(int argc, char **argv)
{
    (void)argc, (void)argv;
    void *driver = open_driver();
    if (driver && start_driver(driver) == 0)
        count_devices(driver);
    return 0;
}

/* ---- timing: the library in LD_PRELOAD starts it, as in a recorded program ---- */

/* A crash shall name the copy. 13.2's overflows the stack, so the handler has one of its own; if this hangs, there is the
 * time-out. */
static void name_cupti(int signal_number)
{
    dl_iterate_phdr(say_mapped, "libcupti");
    raise(signal_number);
}

static void expect_crash(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    static char own[65536];
    struct sigaction action = {.sa_handler = name_cupti, .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    sigaltstack(&(stack_t){.ss_sp = own, .ss_size = sizeof own}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static int ask_timing(int argc, char **argv)
{
    expect_crash();
    for (int i = 0; i < argc; i++) { /* beside which CUPTI is looked for */
        say("stage", argv[i]);
        say(dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) ? "opened" : "refused", argv[i]);
    }
    dl_iterate_phdr(say_mapped, "librooftap.so");
    void *driver = open_driver();
    if (!driver || start_driver(driver) != 0)
        return 0;
    /* What could not start inside of cuInit starts at the first launch. This one names no kernel, and fails. */
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **) = NULL;
    *(void **)&launch = dlsym(RTLD_DEFAULT, "cuLaunchKernel");
    say("stage", "the start of timing");
    if (launch)
        launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    dl_iterate_phdr(say_mapped, "libcupti");
    say("stage", "its exit");
    return 0;
}

/* ---- NVML ---- */

static int ask_nvml(int argc, char **argv)
{
    struct nvml nvml = {0};
    (void)argc, (void)argv;
    say("stage", "NVML");
    if (!nvml_open(&nvml, NULL)) {
        say("nvml_error", nvml.error);
        return 0;
    }
    if (nvml.driver_version[0])
        say("nvml_driver", nvml.driver_version);
    say_number("nvml_devices", nvml.device_count);
    int (*mig_mode)(void *, unsigned *, unsigned *) = NULL;
    *(void **)&mig_mode = dlsym(nvml.library, "nvmlDeviceGetMigMode");
    say("stage", "nvmlDeviceGetMigMode");
    for (int i = 0; mig_mode && i < nvml.device_count; i++) {
        unsigned current = 0, pending = 0;
        if (mig_mode(nvml.devices[i].handle, &current, &pending) == 0)
            say_number("mig", (long)current);
    }
    return 0;
}

/* clang-format off */
static const struct {
    const char *what;
    int (*ask)(int argc, char **argv);
} questions[] = {
    {"preload", ask_preload},
    {"driver",  ask_driver},
    {"timing",  ask_timing},
    {"nvml",    ask_nvml},
};
/* clang-format on */

int doctor_questions_ask(int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && i < sizeof questions / sizeof questions[0]; i++)
        if (strcmp(argv[0], questions[i].what) == 0)
            return questions[i].ask(argc - 1, argv + 1);
    return 2;
}
