/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no trace: each folder below invalid/ holds the line that the reader says of it, and a row here makes the
 * bytes. "PATH" in the line stands for the file's path. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "trace_fixture.h"

static void make_empty(struct builder *b)
{
    b->size = 0;
}

static void make_text(struct builder *b)
{
    memset(b->bytes, 0, b->size);
    strcpy((char *)b->bytes, "ncalls tottime percall\n");
    b->size = strlen((char *)b->bytes);
}

static void make_tiny(struct builder *b)
{
    b->size = 3;
}

static void make_cut_header(struct builder *b)
{
    b->size = 100;
}

static void make_zeros(struct builder *b)
{
    memset(b->bytes, 0, b->size);
}

static void make_newer_major(struct builder *b)
{
    builder_header(b)->version_major = 2;
    builder_header(b)->version_minor = 5;
}

static void make_major_zero(struct builder *b)
{
    builder_header(b)->version_major = 0;
}

static void make_block_size(struct builder *b)
{
    builder_header(b)->block_bytes = 4096;
}

static void make_kind(struct builder *b)
{
    builder_header(b)->kind = 7;
}

static void make_state(struct builder *b)
{
    builder_header(b)->state = 4;
}

static void make_other_end(struct builder *b)
{
    for (size_t i = 0; i + 8 <= TRACE_HEADER_BYTES; i += 8) {
        uint64_t word;
        memcpy(&word, b->bytes + i, 8);
        word = __builtin_bswap64(word);
        memcpy(b->bytes + i, &word, 8);
    }
}

static const struct {
    const char *name;
    void (*make)(struct builder *);
    bool newer_major;
} cases[] = {
    {"empty", make_empty, false},
    {"text", make_text, false},
    {"tiny", make_tiny, false},
    {"cut_header", make_cut_header, false},
    {"zeros", make_zeros, false},
    {"newer_major", make_newer_major, true},
    {"major_zero", make_major_zero, false},
    {"block_size", make_block_size, false},
    {"kind", make_kind, false},
    {"state", make_state, false},
    {"big_endian", make_other_end, false},
};

static void expected_line(const char *name, const char *path, char *line, size_t size)
{
    char file[PATH_MAX], text[1024] = "";
    snprintf(file, sizeof file, INVALID_FOLDER "/%s/error.txt", name);
    FILE *stream = fopen(file, "r");
    if (!stream || !fgets(text, sizeof text, stream)) {
        dprintf(2, "%s: missing or empty\n", file);
        exit(1);
    }
    fclose(stream);
    text[strcspn(text, "\n")] = 0;
    CHECK(strncmp(text, "PATH", 4) == 0);
    CHECK(snprintf(line, size, "%s%s", path, text + 4) < (int)size);
}

static int check_line(const char *name, const char *path, bool newer_major)
{
    char expected[PATH_MAX + 1024];
    struct trace_error error;
    struct trace_reader *reader = trace_reader_open(path, &error);
    expected_line(name, path, expected, sizeof expected);
    if (!reader && strcmp(error.text, expected) == 0 && error.newer_major == newer_major && !strchr(error.text, '\n'))
        return 0;
    printf("%s:\n  expected %s\n  got      %s\n", name, expected, reader ? "a trace" : error.text);
    trace_reader_close(reader);
    return 1;
}

static int check_case(const char *folder, size_t row)
{
    char path[PATH_MAX + 64];
    struct builder b = {0};
    builder_small(&b, 3);
    unsigned char *bytes = b.bytes;
    builder_header(&b)->version_minor = 0; /* the lines expected are of the first version, and stay so */
    cases[row].make(&b);
    snprintf(path, sizeof path, "%s/%s", folder, cases[row].name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, b.size) == (ssize_t)b.size);
    close(fd);
    struct trace_error error;
    CHECK(!trace_reader_open_memory(bytes, b.size, &error) && error.newer_major == cases[row].newer_major);
    builder_free(&b);
    return check_line(cases[row].name, path, cases[row].newer_major);
}

static int check_not_files(const char *folder)
{
    char path[PATH_MAX + 64];
    int failed = check_line("folder", folder, false);
    snprintf(path, sizeof path, "%s/fifo", folder);
    CHECK(mkfifo(path, 0600) == 0); /* opening it must not wait for a writer */
    failed += check_line("fifo", path, false);
    snprintf(path, sizeof path, "%s/none", folder);
    return failed + check_line("missing", path, false);
}

/* A folder without a row would be a case that nobody runs. */
static int check_folders(void)
{
    static const char *const others[] = {".", "..", "folder", "fifo", "missing"};
    DIR *folder = opendir(INVALID_FOLDER);
    struct dirent *found;
    int failed = 0;
    CHECK(folder);
    while ((found = readdir(folder))) {
        bool known = false;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            known |= strcmp(cases[i].name, found->d_name) == 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= strcmp(others[i], found->d_name) == 0;
        if (!known)
            failed += printf("invalid/%s: no row makes it\n", found->d_name) > 0;
    }
    closedir(folder);
    return failed;
}

int main(void)
{
    char folder[PATH_MAX];
    int failed = check_folders();
    folder_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failed += check_case(folder, i);
    failed += check_not_files(folder);
    folder_remove(folder);
    return failed != 0;
}
