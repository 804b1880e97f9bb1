/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to whole processes: forked children, faults, kills, injections, the ledger's aggregate. Each case is this
 * program again, started with a name. */
#include "ledger_reader.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "sim/core/simgpu.h"

static const char *self;
static const dim3 one = {1, 1, 1};

/* ---- the cases ---- */

static int launch_case(void)
{
    const void *kernel = stub_of("child");
    int errors = 0;
    for (int i = 0; i < 5; i++)
        errors = 10 * errors + (cudaLaunchKernel(kernel, one, one, NULL, 0, NULL) != cudaSuccess);
    printf("%05d last %d", errors, cudaGetLastError());
    return 0;
}

static int malloc_case(void)
{
    void *memory;
    int allocated = cudaMalloc(&memory, 8), last = cudaPeekAtLastError();
    printf("%d %d %d", allocated, last, cudaFree(NULL));
    return 0;
}

static int fork_case(void)
{
    int count, status;
    if (cudaGetDeviceCount(&count))
        return 1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        void *memory;
        printf("%d %d %d %d", cudaGetDeviceCount(&count), cudaMalloc(&memory, 8), cuInit(0), cuDeviceGetCount(&count));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf(" parent %d", cudaGetDeviceCount(&count));
    return 0;
}

static int fork_early_case(void)
{
    int status;
    pid_t child = fork();
    if (!child) {
        int count;
        printf("%d ", cudaGetDeviceCount(&count));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    int count;
    printf("%d", cudaGetDeviceCount(&count));
    return 0;
}

static int forever_case(void)
{
    const void *kernel = stub_of("doomed");
    while (cudaLaunchKernel(kernel, one, one, NULL, 0, NULL) == cudaSuccess)
        ;
    return 1;
}

static int sums_case(void)
{
    struct simgpu_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    if (simgpu_init())
        return 1;
    for (int i = 0; i < 1000; i++) {
        char fields[64];
        uint64_t call = simgpu_ledger_call_begin("cublasGemmEx");
        simgpu_launch(simgpu_stream_of(NULL, 0), simgpu_kernel_by_name("gemm"), &dims, NULL, 300, 307);
        snprintf(fields, sizeof fields, "\"m\":%d,\"A\":\"0x%x\",\"n\":2", i % 2, 4096 * i);
        simgpu_ledger_call_end(call, fields, 0);
    }
    return 0;
}

static int init_case(void)
{
    int first = cuInit(0);
    printf("%d %d", first, cuInit(0));
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {{"launch", launch_case},   {"malloc", malloc_case}, {"fork", fork_case}, {"fork_early", fork_early_case},
             {"forever", forever_case}, {"sums", sums_case},     {"init", init_case}};

/* ---- running them ---- */

static pid_t start(const char *name, const char *variable, const char *value, int output)
{
    fflush(stdout);
    pid_t child = fork();
    if (child)
        return child;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (variable)
        setenv(variable, value, 1);
    execl(self, self, name, (char *)NULL);
    _exit(127);
}

/* Standard output and error together, at most 1023 bytes. */
static void run(const char *name, const char *variable, const char *value, char text[1024])
{
    int ends[2], status;
    OK(pipe(ends));
    pid_t child = start(name, variable, value, ends[1]);
    close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while (size < 1023 && (got = read(ends[0], text + size, 1023 - size)) > 0)
        size += (size_t)got;
    text[size] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void children_of_a_user_have_no_gpu(void **state)
{
    (void)state;
    char text[1024];
    run("fork", NULL, NULL, text);
    assert_string_equal(text, "3 3 3 3 parent 0");
    run("fork_early", NULL, NULL, text);
    assert_string_equal(text, "0 0");
}

static void faults_come_as_asked(void **state)
{
    (void)state;
    char text[1024];
    run("malloc", NULL, NULL, text);
    assert_string_equal(text, "0 0 0");
    run("malloc", "SIMGPU_FAULT", "cudaMalloc:2", text);
    assert_string_equal(text, "2 2 0");
    run("launch", "SIMGPU_FAULT", "cudaLaunchKernel:98:2", text);
    assert_string_equal(text, "01000 last 98");
    run("launch", "SIMGPU_FAULT", "cudaLaunchKernel:700:3", text); /* one that stays */
    assert_string_equal(text, "00111 last 700");
    run("init", "SIMGPU_FAULT", "cuInit:999:1", text);
    assert_string_equal(text, "999 0");
    run("malloc", "SIMGPU_FAULT", "cudaMalloc", text);
    assert_non_null(strstr(text, "\"cudaMalloc\" ignored, expected FUNCTION:CODE[:NTH]"));
}

static void injections_are_called_once(void **state)
{
    (void)state;
    char text[1024];
    run("init", "CUDA_INJECTION64_PATH", INJECTION, text);
    assert_string_equal(text, "injection called\n0 0");
    run("malloc", "CUDA_INJECTION64_PATH", INJECTION, text);
    assert_string_equal(text, "injection called\n0 0 0");
    run("init", "CUDA_INJECTION64_PATH", "/nowhere/at/all.so", text);
    assert_non_null(strstr(text, "CUDA_INJECTION64_PATH"));
    assert_non_null(strstr(text, "0 0")); /* the program goes on */
}

static void killed_processes_leave_whole_lines(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        unlink("killed.ledger");
        pid_t child = start("forever", "SIMGPU_LEDGER", "killed.ledger", STDERR_FILENO);
        struct stat file = {0};
        while (file.st_size < 20000) { /* some hundred lines, then at no chosen point */
            usleep(500 + 777 * i);
            if (stat("killed.ledger", &file))
                file.st_size = 0;
        }
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        json_t *lines = ledger_read("killed.ledger"); /* fails on a broken line */
        for (size_t k = 0; k < json_array_size(lines); k++)
            assert_int_equal(number_of(json_array_get(lines, k), "seq"), k + 1);
        json_decref(lines);
    }
}

static void each_process_may_have_its_file(void **state)
{
    (void)state;
    char name[64];
    int status;
    pid_t child = start("launch", "SIMGPU_LEDGER", "of-%p.ledger", STDERR_FILENO);
    waitpid(child, &status, 0);
    snprintf(name, sizeof name, "of-%d.ledger", (int)child);
    assert_int_equal(ledger_count(name, "kernel"), 5);
    unlink(name);
}

static void sums_leave_pointers_out(void **state)
{
    (void)state;
    char text[1024];
    setenv("SIMGPU_LEDGER_MODE", "aggregate", 1);
    run("sums", "SIMGPU_LEDGER", "sums.ledger", text);
    unsetenv("SIMGPU_LEDGER_MODE");
    json_t *lines = ledger_read("sums.ledger");
    uint64_t calls = 0, kernels = 0, kinds_of_call = 0, ns = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (!strcmp(text_of(line, "type"), "call")) {
            kinds_of_call++;
            calls += number_of(line, "count");
            assert_int_equal(number_of(json_object_get(line, "args"), "n"), 2);
            assert_null(json_object_get(json_object_get(line, "args"), "A"));
        } else if (!strcmp(text_of(line, "type"), "kernel")) {
            kernels += number_of(line, "count");
            ns += number_of(line, "ns");
        }
    }
    json_decref(lines);
    assert_int_equal(kinds_of_call, 2);
    assert_int_equal(calls, 1000);
    assert_int_equal(kernels, 1000);
    assert_int_equal(ns, 300000);
}

int main(int count, char **arguments)
{
    self = arguments[0];
    for (size_t i = 0; count > 1 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, arguments[1]))
            return cases[i].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_of_a_user_have_no_gpu), cmocka_unit_test(faults_come_as_asked),
        cmocka_unit_test(injections_are_called_once),     cmocka_unit_test(killed_processes_leave_whole_lines),
        cmocka_unit_test(each_process_may_have_its_file), cmocka_unit_test(sums_leave_pointers_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
