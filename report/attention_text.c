/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of products that differ in L_k alone are brought together by sorting; their sums are what is shown. */
#include "report/attention_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "report/format.h"
#include "report/text_table.h"
#include "report/wrapped_text.h"

enum { KEY_NUMBERS = 7, LEGEND_INDENT = 4 };

struct attention_row {
    const struct naive_attention *first; /* the one of fewest keys */
    int64_t most_keys;
    /* Over all times; NAN where not known. */
    double times, flops, bytes, bytes_fused, kv_bytes, saved_ns;
};

/* ---- rows ---- */

struct keyed {
    int64_t key[KEY_NUMBERS]; /* what pairs of one row have in common */
    const struct naive_attention *pair;
};

static int64_t type_key(struct number_format type)
{
    return (int64_t)type.type << 32 | type.bits << 1 | type.complex;
}

static struct keyed keyed_of(const struct session *session, const struct naive_attention *pair)
{
    const struct work *scores = &session->operators[pair->scores].work;
    return (struct keyed){
        {pair->device, pair->l_q, pair->batch, pair->d, pair->d_v, scores->path, type_key(scores->type[0])}, pair};
}

static int compare_keys(const struct keyed *a, const struct keyed *b)
{
    for (int i = 0; i < KEY_NUMBERS; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

static int by_key_and_keys(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int order = compare_keys(a, b);
    if (!order)
        order = (a->pair->l_k > b->pair->l_k) - (a->pair->l_k < b->pair->l_k);
    return order ? order : (a->pair > b->pair) - (a->pair < b->pair);
}

static int by_saved(const void *left, const void *right)
{
    const struct attention_row *a = left, *b = right;
    double saved_a = isnan(a->saved_ns) ? -1 : a->saved_ns, saved_b = isnan(b->saved_ns) ? -1 : b->saved_ns;
    if (saved_a != saved_b)
        return saved_a < saved_b ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_pair(struct attention_row *row, const struct naive_attention *pair)
{
    double times = (double)pair->times * pair->replays;
    row->most_keys = pair->l_k;
    row->times += times;
    row->flops += times * pair->flops;
    row->bytes += times * pair->bytes;
    row->bytes_fused += times * pair->bytes_fused;
    row->kv_bytes += times * pair->kv_bytes;
    row->saved_ns += pair->saved_ns;
}

/* Into ROWS, most saved first. */
static size_t rows_of(const struct session *session, struct attention_row *rows)
{
    size_t count = 0, pairs = session->naive_attention_count;
    struct keyed *keyed = allocate(pairs, sizeof *keyed);
    for (size_t i = 0; i < pairs; i++)
        keyed[i] = keyed_of(session, &session->naive_attention[i]);
    qsort(keyed, pairs, sizeof *keyed, by_key_and_keys);
    for (size_t i = 0; i < pairs; i++) {
        if (!i || compare_keys(&keyed[i - 1], &keyed[i]))
            rows[count++] = (struct attention_row){.first = keyed[i].pair};
        add_pair(&rows[count - 1], keyed[i].pair);
    }
    free(keyed);
    qsort(rows, count, sizeof *rows, by_saved);
    return count;
}

/* ---- the table ---- */

/* clang-format off */
enum { GPU, TIMES, L_Q, L_K, HEADS, D, TYPES, BYTES, FUSED, BY_KV, BY_ALL, SAVED, SAVED_SHARE, COLUMN_COUNT };
static const struct text_column titles[COLUMN_COUNT] = {
    [GPU]         = {.title = "GPU"},
    [TIMES]       = {.title = "TIMES"},
    [L_Q]         = {.title = "L_q"},
    [L_K]         = {.title = "L_k"},
    [HEADS]       = {.title = "HEADS"},
    [D]           = {.title = "d", .spare = 3},
    [TYPES]       = {.title = "TYPES", .left = true, .spare = 1},
    [BYTES]       = {.title = "BYTES"},
    [FUSED]       = {.title = "FUSED"},
    [BY_KV]       = {.title = "F/B KV"},
    [BY_ALL]      = {.title = "F/B ALL"},
    [SAVED]       = {.title = "SAVED", .spare = 2},
    [SAVED_SHARE] = {.title = "%SAVED"},
};
/* clang-format on */

/* "513-576"; "128/64" where V is narrower than K. */
static void print_two(int64_t a, int64_t b, const char *between, char *cell)
{
    if (a == b)
        format_size(cell, a);
    else
        snprintf(cell, TEXT_TABLE_CELL_BYTES, "%" PRId64 "%s%" PRId64, a, between, b);
}

static void add_row(struct text_table *table, const struct column_source *source, const struct attention_row *row)
{
    const struct naive_attention *pair = row->first;
    char text[COLUMN_COUNT][TEXT_TABLE_CELL_BYTES];
    const char *cells[COLUMN_COUNT];
    format_size(text[GPU], pair->device);
    format_count(text[TIMES], (uint64_t)llround(fmin(row->times, 1e18)));
    format_size(text[L_Q], pair->l_q);
    print_two(pair->l_k, row->most_keys, "-", text[L_K]);
    format_size(text[HEADS], pair->batch);
    print_two(pair->d, pair->d_v, "/", text[D]);
    columns_types(&source->session->operators[pair->scores], text[TYPES]);
    format_bytes(text[BYTES], row->bytes / row->times);
    format_bytes(text[FUSED], row->bytes_fused / row->times);
    format_intensity(text[BY_KV], row->flops / row->kv_bytes);
    format_intensity(text[BY_ALL], row->flops / row->bytes_fused);
    format_duration(text[SAVED], row->saved_ns);
    format_gain(text[SAVED_SHARE], columns_busy_share(source, pair->device, row->saved_ns));
    for (int c = 0; c < COLUMN_COUNT; c++)
        cells[c] = text[c];
    text_table_add(table, cells, COLOUR_NONE);
}

static void print_table(const struct column_source *source, const struct view *view, const struct attention_row *rows,
                        size_t shown, FILE *out)
{
    struct text_column columns[COLUMN_COUNT];
    for (int c = 0; c < COLUMN_COUNT; c++)
        columns[c] = titles[c];
    columns[GPU].hidden = source->session->device_count < 2;
    struct text_table *table = text_table_open(columns, COLUMN_COUNT);
    for (size_t i = 0; i < shown; i++)
        add_row(table, source, &rows[i]);
    text_table_may_drop(table, view->fit);
    text_table_close(table, view->width, view->colours, out);
}

void attention_text_print(const struct column_source *source, const struct view *view, size_t at_most, FILE *out)
{
    const struct session *session = source->session;
    struct wrapped_text wrapped;
    if (!session->naive_attention_count)
        return;
    struct attention_row *rows = allocate(session->naive_attention_count, sizeof *rows);
    size_t count = rows_of(session, rows), shown = count > at_most ? at_most : count;
    FILE *text = wrapped_text_begin(&wrapped, view->width, 0, out);
    fprintf(text,
            "\nnaive attention: scores go through memory; what a fused kernel would save at the roof, %% of %s:\n",
            source->by_roof ? "the time at the roof" : "busy time");
    wrapped_text_end(&wrapped);
    print_table(source, view, rows, shown, out);
    text = wrapped_text_begin(&wrapped, view->width, LEGEND_INDENT, out);
    fputs(
        "  HEADS: of all sequences; BYTES: each time, as it is, and FUSED (over several L_k the mean); F/B: FLOP/B of "
        "the fused kernel by K and V alone, and by all that it moves; no mask is known, so all scores count\n",
        text);
    if (shown < count)
        fprintf(text, "  (%zu more: --all)\n", count - shown);
    wrapped_text_end(&wrapped);
    free(rows);
}
