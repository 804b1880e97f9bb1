/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: everything behind a session's files, on anything. An input is a list of parts, each {u8 kind, u16 length,
 * bytes}: blocks of two traces and of the clocks' file, padded with zeros to a block, and the text files beside them. Commit
 * words, ids and what refers to them are put right, since no fuzzer guesses those; then each view of the report is printed:
 * the JSON must parse, the text must be clean. Inputs of real sessions are made by pack_session. */
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "classify/books.h"
#include "classify/session.h"
#include "report/page_template.h"
#include "report/report_html.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "tests/report/session_parts.h"
#include "trace/checksum.h"
#include "trace/record_types.h"

enum { BLOCKS_MOST = 8, IDS_MOST = 256 };
enum { SMALL = 200000 }; /* bytes of JSON of one row */

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[PATH_MAX], config_path[PATH_MAX + 16], calibration_file[PATH_MAX + 32];

#define require(holds) require_at(holds, #holds, __LINE__)

static void require_at(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_report.c:%d: expected %s\n", line, what);
    abort();
}

/* ---- the files ---- */

static void path_of(enum session_part part, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/session/%s", folder, session_part_files[part]);
}

/* What a content was called before it was changed, and is called now. */
static struct {
    uint64_t before, now;
} ids[IDS_MOST];
static size_t id_count;

static void rename_id(uint64_t *id)
{
    for (size_t i = 0; i < id_count; i++)
        if (ids[i].before == *id) {
            *id = ids[i].now;
            return;
        }
}

static void repair_content(struct trace_record *record, const struct record_type *type)
{
    uint64_t *id = (uint64_t *)(void *)(record + 1), before = *id;
    struct trace_groups *groups = (void *)record;
    if (record->size < type->least_bytes)
        return;
    if (type->type == TRACE_RECORD_SIGNATURE && record->size >= sizeof(struct trace_signature))
        rename_id(&((struct trace_signature *)(void *)record)->groups_id);
    if (type->type == TRACE_RECORD_KERNEL)
        rename_id(&((struct trace_kernel *)(void *)record)->owner_id);
    if (type->is_content)
        *id = trace_hash(id + 1, record->size - 16u);
    else if (type->type == TRACE_RECORD_GROUPS &&
             groups->count <= (record->size - sizeof *groups) / sizeof groups->group[0])
        groups->id = trace_hash(groups->group, groups->count * (uint32_t)sizeof groups->group[0]);
    else
        return;
    if (before != *id && id_count < IDS_MOST) {
        ids[id_count].before = before;
        ids[id_count++].now = *id;
    }
}

static void repair_block(unsigned char *bytes, enum session_part part, uint32_t number)
{
    struct trace_block_header *header = (void *)bytes;
    header->magic = TRACE_MAGIC;
    header->version_major = TRACE_VERSION_MAJOR;
    header->block_bytes = TRACE_BLOCK_BYTES;
    header->kind = header->kind == TRACE_BLOCK_SLOTS ? TRACE_BLOCK_SLOTS : TRACE_BLOCK_RECORDS;
    header->state = TRACE_BLOCK_OPEN;
    header->process_id_hash = 1 + (uint64_t)part;
    header->sequence = number + 1;
    uint32_t at = TRACE_HEADER_BYTES;
    while (header->kind == TRACE_BLOCK_RECORDS && at + sizeof(struct trace_record) <= TRACE_BLOCK_BYTES) {
        struct trace_record *record = (void *)(bytes + at);
        if (record->size < sizeof *record || record->size % 8 || record->size > TRACE_BLOCK_BYTES - at)
            break;
        const struct record_type *type = record_type_find(record->type);
        if (type)
            repair_content(record, type);
        record->commit = trace_commit_word(header->sequence, at);
        at += record->size;
    }
}

static void write_block(enum session_part part, uint32_t number, const uint8_t *data, size_t length, bool repair)
{
    static _Alignas(8) unsigned char block[TRACE_BLOCK_BYTES];
    char path[PATH_MAX + 64];
    memset(block, 0, sizeof block);
    memcpy(block, data, length < sizeof block ? length : sizeof block);
    if (repair)
        repair_block(block, part, number);
    path_of(part, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    require(file >= 0);
    require(pwrite(file, block, sizeof block, (off_t)number * TRACE_BLOCK_BYTES) == (ssize_t)sizeof block);
    close(file);
}

static void write_text(enum session_part part, const uint8_t *data, size_t length)
{
    char path[PATH_MAX + 64];
    path_of(part, path, sizeof path);
    FILE *file = fopen(path, "w");
    require(file && fwrite(data, 1, length, file) == length);
    require(fclose(file) == 0);
}

static void write_session(const uint8_t *data, size_t size)
{
    uint32_t blocks[SESSION_PARTS] = {0}, all = 0;
    char path[PATH_MAX + 64];
    for (int part = 0; part < SESSION_PARTS; part++) {
        path_of((enum session_part)part, path, sizeof path);
        unlink(path);
    }
    id_count = 0;
    while (size >= SESSION_PART_HEADER) {
        enum session_part part = (enum session_part)((data[0] & SESSION_PART_MASK) % SESSION_PARTS);
        bool repair = !(data[0] & SESSION_PART_RAW);
        size_t length = (size_t)data[1] | (size_t)data[2] << 8;
        data += SESSION_PART_HEADER, size -= SESSION_PART_HEADER;
        length = length < size ? length : size;
        if (part >= SESSION_TEXT_PARTS)
            write_text(part, data, length);
        else if (all < BLOCKS_MOST)
            write_block(part, blocks[part]++, data, length, repair), all++;
        data += length, size -= length;
    }
}

/* ---- what comes out ---- */

static char *text;
static size_t text_bytes;

static FILE *begin(void)
{
    FILE *out = open_memstream(&text, &text_bytes);
    require(out != NULL);
    return out;
}

static bool is_clean(unsigned char c, bool colours)
{
    return c >= ' ' ? c != 0x7f : c == '\n' || (c == '\033' && colours);
}

static void end_text(FILE *out, bool colours)
{
    require(fclose(out) == 0);
    for (size_t i = 0; i < text_bytes; i++)
        require(is_clean((unsigned char)text[i], colours));
    json_t *as_utf8 = json_stringn(text, text_bytes); /* NULL: it is none */
    require(as_utf8 != NULL);
    json_decref(as_utf8);
    free(text);
}

static void print_tree(struct report_json *report, size_t rows)
{
    FILE *out = begin();
    json_error_t error;
    json_t *tree = report_json_tree(report, rows);
    require(report_json_write(tree, out));
    json_decref(tree);
    require(fclose(out) == 0);
    require(rows != 1 || text_bytes < SMALL);
    json_t *root = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES, &error);
    require(root != NULL);
    require(rows != SIZE_MAX || json_is_null(json_object_get(root, "cut")));
    json_decref(root);
    free(text);
}

/* All of it, and less and less, as a page tries it. */
static void print_json(const struct session *session, const struct books *books, size_t choice)
{
    struct report_json *report = report_json_open(session, books, NULL);
    print_tree(report, SIZE_MAX);
    print_tree(report, 2 + choice % 7);
    print_tree(report, 1);
    report_json_close(report);
}

static size_t count_of(const char *page, size_t bytes, const char *word)
{
    size_t count = 0;
    const char *end = page + bytes;
    for (const char *at = page; (at = memmem(at, (size_t)(end - at), word, strlen(word))); at++)
        count++;
    return count;
}

/* Whatever its names are, the page has the scripts of the template, and the data, and nothing that would hide a part of it. */
static void print_page(const struct session *session, const struct books *books, size_t choice)
{
    static const char *const words[] = {"<script", "</script", "<style", "</style", "<!--", "<img", "<iframe"};
    const char *template = (const char *)page_template;
    const size_t places = count_of(template, page_template_bytes, "<!-- @");
    struct report_page page;
    require(report_html(session, books, NULL, 1 + choice % 40, &page));
    require(page.bytes < REPORT_HTML_BYTES);
    json_t *as_utf8 = json_stringn(page.text, page.bytes);
    require(as_utf8 != NULL);
    json_decref(as_utf8);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t expected = count_of(template, page_template_bytes, words[i]);
        expected += i < 2 ? 1 : 0;       /* the data */
        expected -= i == 4 ? places : 0; /* which were filled */
        require(count_of(page.text, page.bytes, words[i]) == expected);
    }
    free(page.text);
}

/* Every view once, each in another of the widths, lengths and orders; CHOICE differs from input to input. */
static void print_views(const struct session *session, const struct books *books, size_t choice)
{
    static const size_t widths[] = {80, 120, 300}, lengths[] = {SIZE_MAX, 1, 30};
    for (int by = 0; by <= COLUMNS_OF_COUNT; by++) {
        size_t count;
        enum columns_of of = by < COLUMNS_OF_COUNT ? (enum columns_of)by : COLUMNS_OF_SHAPE;
        const struct column *all = columns(of, &count), *sort = &all[(choice + (size_t)by) % (count + 1) % count];
        struct view view = {
            .rows = lengths[(choice + (size_t)by) % 3],
            .rows_asked_for = choice % 5 == 0,
            .width = widths[(choice / 3 + (size_t)by) % 3],
            .colours = choice % 2,
            .by = of,
            .sort = sort->key ? sort : NULL,
            .skinny = of == COLUMNS_OF_SKINNY,
            .books = by == COLUMNS_OF_COUNT ? books : NULL,
        };
        FILE *out = begin();
        require(report_text(session, &view, out));
        end_text(out, view.colours);
    }
}

static const char config[] =
    "{\"model_type\":\"qwen2\",\"hidden_size\":1024,\"intermediate_size\":4096,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":8,\"num_key_value_heads\":2,\"vocab_size\":32000,\"torch_dtype\":\"bfloat16\"}";

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fuzz_report-XXXXXX", base ? base : "/tmp");
    require(mkdtemp(folder) != NULL);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/session", folder);
    require(mkdir(path, 0700) == 0);
    snprintf(config_path, sizeof config_path, "%s/config.json", folder);
    FILE *file = fopen(config_path, "w");
    require(file && fputs(config, file) >= 0 && fclose(file) == 0);
    path_of(SESSION_PART_CALIBRATION, calibration_file, sizeof calibration_file);
    setenv("XDG_DATA_HOME", folder, 1); /* no calibration of this machine */
    return 0;
}

static struct session *open_session(const char *path)
{
    struct session_error error = {""};
    const struct session_options options = {.calibration_file = calibration_file};
    struct session *session = access(calibration_file, F_OK) ? NULL : session_open_with(path, &options, &error);
    if (!session)
        session = session_open(path, &error);
    require(session || (error.text[0] && !strchr(error.text, '\n')));
    return session;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct books_options options = {.model = {.tensor_parallel = 1}, .context = 100};
    struct model_error error;
    char path[PATH_MAX + 16];
    write_session(data, size);
    snprintf(path, sizeof path, "%s/session", folder);
    struct session *session = open_session(path);
    if (!session)
        return 0;
    struct books *books = books_open(config_path, &options, &error);
    require(books != NULL);
    books_close_with(books, session);
    print_json(session, books, size);
    print_views(session, books, size);
    if (size % 4 == 0) /* it takes longer than all else */
        print_page(session, books, size);
    books_free(books);
    session_close(session);
    return 0;
}
