/* SPDX-License-Identifier: Apache-2.0 */
/* A user's GPU table: rows as given, and each kind of mistake with its line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "classify/gpu_table_file.h"

static char path[64];

static struct gpu_table_file *read_text(const char *text, char error[USER_TABLE_ERROR_BYTES])
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    error[0] = '\0';
    return gpu_table_file_read(path, error);
}

static void test_rows_are_read(void **state)
{
    char error[USER_TABLE_ERROR_BYTES];
    struct gpu_table_file *file =
        read_text("{\"schema\": 1, \"gpus\": [\n"
                  " {\"key\": \"lab-gpu\", \"name\": \"Lab GPU\",\n"
                  "  \"driver_names\": [\"NVIDIA ZZZ9000\"], \"pci_device_ids\": [\"0x1234\"],\n"
                  "  \"sm_count\": 64, \"clock_hz\": 1.5e9, \"memory_bytes\": 32000000000,\n"
                  "  \"l2_bytes\": null, \"bytes_per_second\": 2e12,\n"
                  "  \"flops_per_second\": {\"bf16\": 4e14, \"fp8\": 8e14}, \"source\": \"ours\"},\n"
                  " {\"key\": \"rtx4090\", \"bytes_per_second\": 9e11}]}\n",
                  error);
    (void)state;
    assert_string_equal(error, "");
    assert_non_null(file);
    assert_int_equal(file->count, 2);
    gpu_specs_set_user_rows(file->rows, file->count);
    const struct gpu_spec *row = gpu_spec_find(0x1234, "", false);
    assert_ptr_equal(row, &file->rows[0]);
    assert_ptr_equal(gpu_spec_find(0, "NVIDIA ZZZ9000", false), row);
    assert_null(gpu_spec_find(0, "NVIDIA ZZZ9001", false));
    assert_true(gpu_spec_ridge(row, GPU_PATH_BF16) == 200);
    assert_true(gpu_spec_ridge(row, GPU_PATH_FP8_E5M2) == 400);
    assert_true(isnan(gpu_spec_ridge(row, GPU_PATH_FP32)));
    assert_int_equal(row->sm_count, 64);
    assert_true(row->l2_bytes == 0);
    assert_string_equal(row->source, "ours");
    assert_int_equal(row->origin, GPU_ORIGIN_TABLE_FILE);
    assert_ptr_equal(gpu_spec_by_key("rtx4090"), &file->rows[1]); /* before the built-in one */
    assert_string_equal(file->rows[1].source, path);
    gpu_specs_set_user_rows(NULL, 0);
    gpu_table_file_free(file);
}

#define ROW(rest) "{\"gpus\": [\n{\"key\": \"a\",\n\"bytes_per_second\": 1e12" rest "}\n]}"

static void test_mistakes_have_a_line(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *said;
    } cases[] = {
        {"{\"gpus\": [\n{\"key\": \"a\",\n,}]}", 3, ""},
        {"{\"gpus\": [\n{\"key\": \"a\", \"key\": \"b\"}]}", 2, "duplicate object key"},
        {"", 1, ""},
        {"[]", 1, "expected {\"gpus\": [...]}"},
        {"{\"gpu\": []}", 1, "expected {\"gpus\": [...]}"},
        {"{\"gpus\": [], \"other\": 1}", 1, "expected {\"gpus\": [...]}"},
        {"{\"schema\": 2, \"gpus\": []}", 1, "expected {\"gpus\": [...]}"},
        {"{\"gpus\": [\n\n5]}", 3, "a GPU must be an object"},
        {"{\"gpus\": [\n{\"key\": \"a\", \"bytes_per_second\": 1},\n{\"bytes_per_second\": 1}]}", 3, "without \"key\""},
        {"{\"gpus\": [\n{\"key\": \"a\"}]}", 2, "GPU \"a\" without \"bytes_per_second\""},
        {"{\"gpus\": [{\n\"key\": \"A 1\"}]}", 2, "\"key\" must be of small letters"},
        {ROW(",\n\"bytes_per_secnd\": 5"), 4, "unknown member \"bytes_per_secnd\" of a GPU"},
        {ROW(",\n\"a\\nb\": 5"), 2,
         "unknown member \"a?b\" of a GPU"}, /* names with escapes have no line of their own */
        {ROW(",\n\"sm_count\": 0"), 4, "\"sm_count\" must be a whole number"},
        {ROW(",\n\"sm_count\": 1.5"), 4, "\"sm_count\" must be a whole number"},
        {ROW(",\n\"clock_hz\": \"fast\""), 4, "\"clock_hz\" must be a number above 0"},
        {ROW(",\n\"memory_bytes\": -1"), 4, "\"memory_bytes\" must be a number above 0"},
        {ROW(",\n\"flops_per_second\": {\"bf16\": 1e14,\n\"bf17\": 1e14}"), 4, "has the unknown type \"bf17\""},
        {ROW(",\n\"flops_per_second\": [1]"), 4, "must be an object such as"},
        {ROW(",\n\"name\": 5"), 4, "\"name\" is no text"},
        {ROW(",\n\"confidence\": \"\\u001b[31m\""), 4, "\"confidence\" must not hold control characters"},
        {ROW(",\n\"source\": \"a\\u009b\""), 4, "\"source\" must not hold control characters"},
        {ROW(",\n\"driver_names\": [\"a\\nb\"]"), 4, "\"driver_names\" must not hold control characters"},
        {ROW(",\n\"driver_names\": \"NVIDIA X\""), 4, "\"driver_names\" must be a list of at most 3"},
        {ROW(",\n\"driver_names\": [5]"), 4, "\"driver_names\" must hold names"},
        {ROW(",\n\"pci_device_ids\": [\"2684\"]"), 4, "\"pci_device_ids\" must hold ids such as \"0x2684\""},
        {ROW(",\n\"pci_device_ids\": [\"0x26845\"]"), 4, "\"pci_device_ids\" must hold ids"},
        {"{\"gpus\": [{\"key\": \"a\", \"bytes_per_second\": 1},\n{\"bytes_per_second\": 1,\n\"key\": \"a\"}]}", 3,
         "the key \"a\" is there twice"},
        {"{\"gpus\": [{\"key\": \"a\", \"bytes_per_second\": 1, \"pci_device_ids\": [\"0x0001\"]},\n"
         "{\"key\": \"b\", \"bytes_per_second\": 1, \"pci_device_ids\": [\"0x0001\"]}]}",
         2, "the PCI id 0x0001 is there twice"},
        {"{\"gpus\": [{\"key\": \"a\", \"bytes_per_second\": 1, \"driver_names\": [\"X\"]},\n"
         "{\"key\": \"b\", \"bytes_per_second\": 1,\n \"driver_names\": [\"X\"]}]}",
         3, "the name \"X\" is there twice"},
        /* braces and names within texts and inner objects lead to no other line */
        {"{\"gpus\": [{\"key\": \"a\", \"bytes_per_second\": 1, \"name\": \"] } \\\" [ {\",\n"
         "\"flops_per_second\": {\"bf16\": 1}},\n\n{\"key\": \"b\", \"bytes_per_second\": 1,\n"
         "\"roofs\": [{\"sm_count\": 0}],\n\"sm_count\": 0}]}",
         6, "\"sm_count\" must be a whole number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[USER_TABLE_ERROR_BYTES], start[128];
        struct gpu_table_file *file = read_text(cases[i].text, error);
        snprintf(start, sizeof start, "GPU table '%s', line %d: ", path, cases[i].line);
        if (file || strncmp(error, start, strlen(start)) != 0 || !strstr(error, cases[i].said) || strchr(error, '\n'))
            fail_msg("case %zu, expected %s%s, got: %s", i, start, cases[i].said, error);
    }
}

static void test_unreadable_files(void **state)
{
    char error[USER_TABLE_ERROR_BYTES];
    (void)state;
    assert_null(gpu_table_file_read("/no/such/file", error));
    assert_string_equal(error, "GPU table '/no/such/file' can't be read: No such file or directory");
    assert_null(gpu_table_file_read("/", error));
    assert_non_null(strstr(error, "can't be read"));
    assert_null(gpu_table_file_read("/dev/null", error));
    assert_non_null(strstr(error, "no regular file"));
}

static void test_default_path(void **state)
{
    char *found;
    (void)state;
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    setenv("HOME", "/users/me", 1);
    assert_string_equal(found = gpu_table_file_default_path(), "/somewhere/rooftap/gpus.json");
    free(found);
    setenv("XDG_CONFIG_HOME", "", 1);
    assert_string_equal(found = gpu_table_file_default_path(), "/users/me/.config/rooftap/gpus.json");
    free(found);
    setenv("XDG_CONFIG_HOME", "relative", 1); /* the XDG specification has it ignored */
    assert_string_equal(found = gpu_table_file_default_path(), "/users/me/.config/rooftap/gpus.json");
    free(found);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    assert_null(gpu_table_file_default_path());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_read),
        cmocka_unit_test(test_mistakes_have_a_line),
        cmocka_unit_test(test_unreadable_files),
        cmocka_unit_test(test_default_path),
    };
    snprintf(path, sizeof path, "gpu_table_file.%d.json", (int)getpid());
    const char *folder = getenv("TMPDIR");
    if (chdir(folder && *folder ? folder : "/tmp") != 0)
        return 1;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
