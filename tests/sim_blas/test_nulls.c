/* SPDX-License-Identifier: Apache-2.0 */
/* Every entry of both libraries with all pointers NULL, then with each pointer NULL alone: no fault, and the status
 * that the real library documents. The table is generated from the stand-in's list. */
#include "ledger.h"
#include "sim_blas_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static char memory[4096];

static void expect(const struct null_call *entry, const char *what, long status, long expected)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s, %s: expected status %ld, got %ld\n", entry->name, what, expected, status);
    failures++;
}

static bool is_work(const struct null_call *entry)
{
    return strcmp(entry->kind, "helper") != 0 && entry->returns_status;
}

static void *new_handle(const struct null_call *entry)
{
    cublasHandle_t made = NULL;
    cublasXtHandle_t made_xt = NULL;
    int device = 0;
    if (!strncmp(entry->name, "cublasXt", 8)) {
        if (cublasXtCreate(&made_xt) || cublasXtDeviceSelect(made_xt, 1, &device))
            exit(2);
        return made_xt;
    }
    if (cublasCreate_v2(&made) != CUBLAS_STATUS_SUCCESS)
        exit(2);
    return made;
}

static void free_handle(const struct null_call *entry, void *handle)
{
    if (!strncmp(entry->name, "cublasXt", 8))
        cublasXtDestroy(handle);
    else
        cublasDestroy_v2(handle);
}

static void all_null(const struct null_call *entry)
{
    void *pointers[32] = {0};
    long status = entry->call(pointers);
    if (is_work(entry))
        expect(entry, "all NULL", status, CUBLAS_STATUS_NOT_INITIALIZED);
    if (entry->handle < 0 || strstr(entry->name, "Destroy"))
        return;
    pointers[entry->handle] = new_handle(entry);
    status = entry->call(pointers);
    if (is_work(entry))
        expect(entry, "all NULL but the handle", status, CUBLAS_STATUS_INVALID_VALUE);
    free_handle(entry, pointers[entry->handle]);
}

static void each_null(const struct null_call *entry)
{
    if (strstr(entry->name, "Destroy"))
        return; /* would free what is no such object */
    for (int i = 0; i < entry->pointers; i++) {
        void *pointers[32], *handle = entry->handle >= 0 ? new_handle(entry) : NULL;
        for (int j = 0; j < entry->pointers; j++)
            pointers[j] = j == i ? NULL : j == entry->handle ? handle : entry->optional >> j & 1 ? NULL : memory;
        memset(memory, 0, sizeof memory);
        const long status = entry->call(pointers);
        char what[32];
        snprintf(what, sizeof what, "pointer %d NULL", i);
        /* cuBLASLt's descriptors are all zero here, which may be refused or be empty work before a pointer matters. */
        if (is_work(entry) && !(entry->optional >> i & 1) && strncmp(entry->kind, "matmul", 6) &&
            strcmp(entry->name, "cublasLtMatrixTransform"))
            expect(entry, what, status,
                   i == entry->handle ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_INVALID_VALUE);
        if (handle)
            free_handle(entry, handle);
    }
}

int main(void)
{
    ledger_use(NULL);
    const struct null_call *const tables[] = {cublas_null_calls, cublasLt_null_calls};
    int entries = 0;
    for (int t = 0; t < 2; t++)
        for (const struct null_call *entry = tables[t]; entry->name; entry++) {
            all_null(entry);
            each_null(entry);
            entries++;
        }
    json_t *lines = ledger_read();
    if (ledger_count(lines, "kernel", NULL) > 100) /* legacy names without pointers to check launch a few */
        fprintf(stderr, "more kernels than calls could launch: %zu\n", ledger_count(lines, "kernel", NULL)), failures++;
    json_decref(lines);
    printf("%d entries, %d failures\n", entries, failures);
    return failures || entries < 600;
}
