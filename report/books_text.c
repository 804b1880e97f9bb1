/* SPDX-License-Identifier: Apache-2.0 */
/* For each GPU: the table by shape, what the model has and nobody saw, what was seen and the model has not, attention, and
 * the sentence that closes the books. */
#include "report/books_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/session.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"
#include "report/text_table.h"
#include "report/wrapped_text.h"

enum { PATH_WIDTH = 100, EXTRAS_SHOWN = 10, INDENT = 4 };

/* ---- small texts ---- */

/* "28", "0.5", "2 to 8". */
static char *print_calls(char *text, struct predict_range calls)
{
    if (isnan(calls.low))
        strcpy(text, FORMAT_UNKNOWN);
    else if (calls.low == calls.high)
        snprintf(text, FORMAT_BYTES, "%.10g", round(100 * calls.low) / 100);
    else
        snprintf(text, FORMAT_BYTES, "%.0f to %.0f", calls.low, calls.high);
    return text;
}

static char *print_bits(char *text, double bits)
{
    if (isnan(bits))
        strcpy(text, FORMAT_UNKNOWN);
    else
        snprintf(text, FORMAT_BYTES, "%.4g", bits);
    return text;
}

static char *print_bytes(char *text, struct predict_range bytes)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    if (bytes.low == bytes.high)
        return format_gibibytes(text, bytes.low);
    snprintf(text, 2 * FORMAT_BYTES, "%s to %s", format_gibibytes(low, bytes.low), format_gibibytes(high, bytes.high));
    return text;
}

static void print_share(const double share[2], FILE *out)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    fprintf(out, "%s", format_share(low, share[0]));
    if (share[0] != share[1])
        fprintf(out, " to %s", format_share(high, share[1]));
    fputs(" %", out);
}

/* ---- the model ---- */

static void print_checkpoint(const struct books *books, FILE *out)
{
    const struct checkpoint_comparison *c = &books->checkpoint;
    char count[FORMAT_BYTES];
    if (!books->checkpoint_path)
        return;
    label_print(out, "checked");
    safe_text_print_middle(out, books->checkpoint_path, PATH_WIDTH);
    if (books->checkpoint_problem.text[0]) {
        fputs(" can't be: ", out);
        safe_text_print(out, books->checkpoint_problem.text, 300);
        fputc('\n', out);
        return;
    }
    if (c->parameters >= 0)
        fprintf(out, ": %s parameters", format_count(count, (uint64_t)c->parameters));
    if (c->verdict == CHECKPOINT_EQUAL)
        fputs(", those of config.json\n", out);
    else if (c->verdict == CHECKPOINT_NOT_COMPARABLE)
        fprintf(out, ": can't be compared: %s\n", c->note);
    else
        fprintf(out, "; config.json means %s: %s\n", format_count(count, (uint64_t)c->expected),
                c->difference_count ? c->differences[0] : "another number");
}

static void print_model(const struct books *books, FILE *out)
{
    const struct model_config *config = &books->config;
    char bytes[2 * FORMAT_BYTES];
    label_print(out, "model");
    safe_text_print_middle(out, books->config_path, PATH_WIDTH);
    fputs(": ", out);
    safe_text_print(out, config->model_type, 40);
    fprintf(out, ", %" PRId64 " layers\n", config->layers);
    label_print(out, "");
    fprintf(out, "%s of weights are multiplied in a step", print_bytes(bytes, books->model_bytes));
    if (books->options.model.tensor_parallel > 1)
        fprintf(out, ", on each of %" PRId64 " GPUs", books->options.model.tensor_parallel);
    fprintf(out, "; the embedding is %s\n",
            config->tied ? "counted as lm_head" : "looked up, not multiplied, so not counted");
    print_checkpoint(books, out);
}

/* ---- the table ---- */

static const struct text_column table_columns[] = {
    {.title = "N"},
    {.title = "K"},
    {.title = "BITS", .spare = 2},
    {.title = "READ", .spare = 3},
    {.title = "CALLS"},
    {.title = "SEEN"},
    {.title = "M p50"},
    {.title = "TIME"},
    {.title = "AT ROOF", .spare = 1},
    {.title = "x"},
    {.title = "WEIGHTS", .left = true},
};
enum {
    TABLE_COLUMNS = sizeof table_columns / sizeof table_columns[0],
    OTHERS_WIDTH = 62,
    LEAST_NAMES = 24,
    MOST_NAMES = 90
};

static void add_row(struct text_table *table, const struct books_row *row, const struct books_measured *measured,
                    double routed, size_t names_width)
{
    char cell[TABLE_COLUMNS][TEXT_TABLE_CELL_BYTES];
    const char *cells[TABLE_COLUMNS];
    char *names = NULL;
    if (asprintf(&names, "%s", row->names) < 0)
        return;
    safe_text_cut_middle(names, names_width);
    format_size(cell[0], row->n);
    format_size(cell[1], row->k);
    if (row->batch > 1)
        snprintf(cell[0], sizeof cell[0], "%" PRId64 " x %" PRId64, row->batch, row->n);
    print_bits(cell[2], row->bits);
    print_bits(cell[3], measured->bits);
    print_calls(cell[4], books_narrow(row->calls, routed));
    print_calls(cell[5], (struct predict_range){measured->calls, measured->calls});
    format_size(cell[6], measured->m_p50);
    format_duration(cell[7], measured->time_ns);
    format_duration(cell[8], measured->roof_ns);
    if (isnan(measured->times_roof))
        strcpy(cell[9], FORMAT_UNKNOWN);
    else
        snprintf(cell[9], sizeof cell[9], "%.2f", measured->times_roof);
    snprintf(cell[10], sizeof cell[10], "%s", names);
    for (int i = 0; i < TABLE_COLUMNS; i++)
        cells[i] = cell[i];
    text_table_add(table, cells, COLOUR_NONE);
    free(names);
}

/* PHASE UNKNOWN: all steps. */
static void print_table_of(const struct books_device *device, enum phase phase, const struct view *view, FILE *out)
{
    struct text_table *table = text_table_open(table_columns, TABLE_COLUMNS);
    size_t names = view->width < OTHERS_WIDTH + LEAST_NAMES ? LEAST_NAMES : view->width - OTHERS_WIDTH;
    for (size_t i = 0; i < device->seen_count; i++) {
        const struct books_row *row = &device->rows[i];
        const struct books_measured *measured = phase == PHASE_UNKNOWN ? &row->measured : &row->of[phase];
        add_row(table, row, measured, device->routed[phase], names < MOST_NAMES ? names : MOST_NAMES);
    }
    text_table_close(table, view->width, view->colours, out);
}

/* Prefill and decode apart where there are both: a mean over them is no step of any kind. */
static void print_table(const struct books_device *device, const struct view *view, FILE *out)
{
    char steps[FORMAT_BYTES];
    if (!(device->steps_of[PHASE_PREFILL] > 0 && device->steps_of[PHASE_DECODE] > 0)) {
        print_table_of(device, PHASE_UNKNOWN, view, out);
        return;
    }
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        fprintf(out, "%s%s: %s %s, ", p == PHASE_UNKNOWN + 1 ? "" : "\n", phase_name(p),
                format_count(steps, (uint64_t)device->steps_of[p]),
                format_plural((uint64_t)device->steps_of[p], "step", "steps"));
        print_share(device->share_of[p], out);
        fputs(" of the weights accounted for\n", out);
        print_table_of(device, p, view, out);
    }
}

/* ---- what did not match ---- */

static void print_missing(const struct books_device *device, FILE *out)
{
    char bytes[2 * FORMAT_BYTES], calls[FORMAT_BYTES];
    if (device->seen_count == device->row_count)
        return;
    fputs("\nof the model, and not seen:\n", out);
    for (size_t i = device->seen_count; i < device->row_count; i++) {
        const struct books_row *row = &device->rows[i];
        fprintf(out, "  N %" PRId64 "  K %" PRId64 "  %s %s a step, %s: %s\n", row->n, row->k,
                print_calls(calls, books_narrow(row->calls, device->routed[PHASE_UNKNOWN])),
                row->experts           ? "matrices"
                : row->calls.high == 1 ? "call"
                                       : "calls",
                print_bytes(bytes, books_narrow(row->bytes, device->routed[PHASE_UNKNOWN])), row->names);
    }
}

static void print_extra(const struct session *session, const struct weight_row *weight, FILE *out)
{
    char calls[FORMAT_BYTES], time[FORMAT_BYTES], types[COLUMN_CELL_BYTES];
    columns_weight_types(session, weight, types);
    fprintf(out, "  N %" PRId64 "  K %" PRId64, weight->n, weight->k);
    if (weight->batch > 1)
        fprintf(out, "  batch %" PRId64, weight->batch);
    fprintf(out, "  M %" PRId64 "  %s: %s %s", weight->m_p50, types, format_count(calls, weight->executions),
            format_plural(weight->executions, "call", "calls"));
    if (weight_has_time(weight))
        fprintf(out, ", %s", format_duration(time, (double)weight->time_ns));
    fputs(weight->k == 1 ? " (K = 1: no weight, such as rotary angles)\n" : "\n", out);
}

static void print_grouped(const struct operator_row *op, FILE *out)
{
    char calls[FORMAT_BYTES], time[FORMAT_BYTES], types[COLUMN_CELL_BYTES];
    columns_types(op, types);
    fprintf(out, "  N %" PRId64 "  K %" PRId64 "  in groups  %s: %s %s", op->work.n, op->work.k, types,
            format_count(calls, op->calls), format_plural(op->calls, "call", "calls"));
    if (op->timed && op->time_ns)
        fprintf(out, ", %s", format_duration(time, (double)op->time_ns));
    fputc('\n', out);
}

static size_t extra_count(const struct books_device *device)
{
    return device->extra_weights.count + device->extra_grouped.count;
}

static void print_extras(const struct books_device *device, const struct session *session, const struct view *view,
                         FILE *out)
{
    size_t count = extra_count(device), weights = device->extra_weights.count;
    size_t shown = view->rows == SIZE_MAX || count <= EXTRAS_SHOWN + 1 ? count : EXTRAS_SHOWN;
    if (!count)
        return;
    fputs("\nmeasured in the whole run, and of no shape that the model has:\n", out);
    for (size_t i = 0; i < shown; i++)
        if (i < weights)
            print_extra(session, &session->weights[device->extra_weights.indexes[i]], out);
        else
            print_grouped(&session->operators[device->extra_grouped.indexes[i - weights]], out);
    if (shown < count)
        fprintf(out, "  (%zu more: --all)\n", count - shown);
}

/* ---- by name only ---- */

static void print_named(const struct books_named *named, const char *what, FILE *out)
{
    char kernels[FORMAT_BYTES], time[FORMAT_BYTES];
    fprintf(out, "%s %s by name", format_count(kernels, named->kernels), what);
    if (!isnan(named->time_ns))
        fprintf(out, ", %s in the whole run", format_duration(time, named->time_ns));
}

static void print_decode_time(const struct books_named *named, const struct books_attention *attention, FILE *out)
{
    char time[FORMAT_BYTES];
    if (named->kernels && !isnan(named->decode_ns))
        fprintf(out, ", %s in each of %.0f decode steps", format_duration(time, named->decode_ns),
                attention->decode_steps);
}

/* Read off its launches, or by name. */
static void print_fused_attention(const struct books_attention *attention, FILE *out)
{
    char kernels[FORMAT_BYTES], time[FORMAT_BYTES];
    if (attention->read.kernels) {
        fprintf(out, " was read off %s launches", format_count(kernels, attention->read.kernels));
        if (!isnan(attention->read.time_ns))
            fprintf(out, ", %s in the whole run", format_duration(time, attention->read.time_ns));
        print_decode_time(&attention->read, attention, out);
        if (!attention->named.kernels)
            return;
        fputs(", and otherwise", out);
    }
    fputs(" is not measured by shape: ", out);
    if (!attention->named.kernels)
        fputs("no kernel has such a name", out);
    else
        print_named(&attention->named, "kernels", out);
    print_decode_time(&attention->named, attention, out);
}

static void print_attention(const struct books *books, const struct books_device *device, FILE *out)
{
    const struct books_attention *attention = &device->attention;
    char time[FORMAT_BYTES];
    fputs("\nattention", out);
    if (attention->naive_times) {
        fprintf(out, " ran %s %s as two batched GEMMs", format_count(time, attention->naive_times),
                format_plural(attention->naive_times, "time", "times"));
        if (attention->naive_ns > 0)
            fprintf(out, " (%s in the whole run)", format_duration(time, attention->naive_ns));
        fputs(", and otherwise", out);
    }
    print_fused_attention(attention, out);
    if (!isnan(attention->roof_ns))
        fprintf(out, "; at the roof one of %" PRId64 " %s with %" PRId64 " keys%s takes %s\n", attention->batch,
                attention->batch == 1 ? "sequence" : "sequences", books->options.context,
                attention->batch == 1 ? "" : " each", format_duration(time, attention->roof_ns));
    else
        fprintf(out, "; %s to see what a decode step takes at the roof\n",
                !books->options.context ? "pass --context"
                : !attention->batch     ? "pass --batch"
                                        : "it needs a GPU with known figures");
}

/* ---- the books ---- */

/* Steps hold some of the calls only: warm-up, captures, and what came before the first whole step are outside. */
static double share_in_steps(const struct books_device *device)
{
    double counted = 0, all = 0;
    for (size_t i = 0; i < device->seen_count; i++) {
        counted += device->rows[i].measured.counted;
        all += device->rows[i].executions;
    }
    return counted / all;
}

static void print_steps(const struct books_device *device, FILE *out)
{
    if (device->steps_source == BOOKS_STEPS_PHASES) {
        char share[FORMAT_BYTES];
        fprintf(out, "%.0f prefill and decode %s told apart", device->steps,
                device->steps == 1 ? "step was" : "steps were");
        if (share_in_steps(device) < 1)
            fprintf(out, ", with %s %% of the matched calls in them", format_share(share, share_in_steps(device)));
        fputs("; calls and times are of one step\n", out);
    } else if (device->steps_source == BOOKS_STEPS_CALLS)
        fprintf(out,
                "no step was told apart; the calls of %.0f %% of the matched bytes come to %.10g %s over the model: "
                "calls and times are of one pass, if each ran all of it\n",
                100 * device->passes_share, device->steps, device->steps == 1 ? "pass" : "passes");
    else
        fputs("no step was told apart, and calls agree on no number of passes over the model: nothing is known of one "
              "step\n",
              out);
}

/* Phases say one thing and the calls of most weights another, in steps as well. */
static void print_disagreement(const struct books_device *device, FILE *out)
{
    bool differs = false;
    for (size_t i = 0; i < device->seen_count; i++) {
        const struct books_row *row = &device->rows[i];
        if (!row->experts && row->executions / row->calls.high == device->passes)
            differs |= fabs(row->measured.calls / row->calls.high - 1) > 0.01;
    }
    if (device->steps_source == BOOKS_STEPS_PHASES && differs)
        fprintf(out,
                "\n%.0f %% of the matched bytes were read %.10g times in all, and not once in each step: a model of "
                "another depth, or one that is split over GPUs by layers\n",
                100 * device->passes_share, device->passes);
}

static void print_list(const struct books_device *device, FILE *out)
{
    size_t missing = 0;
    for (size_t i = device->seen_count; i < device->row_count; i++)
        fprintf(out, "%s%s", missing++ ? ", " : "; missing: ", device->rows[i].names);
    fputs(missing ? "" : "; missing: nothing", out);
    if (extra_count(device)) {
        char bytes[FORMAT_BYTES];
        fprintf(out, "; extra: %zu %s", extra_count(device),
                format_plural(extra_count(device), "shape that the model has not", "shapes that the model has not"));
        if (!isnan(device->extra_bytes))
            fprintf(out, ", %s a step", format_gibibytes(bytes, device->extra_bytes));
    }
}

static void print_books(const struct books *books, const struct books_device *device, FILE *out)
{
    char bytes[2 * FORMAT_BYTES], share[FORMAT_BYTES];
    fputs("\nbooks: ", out);
    if (isnan(device->bytes))
        fprintf(out, "not closed, since steps are not known; the shapes of %s %% of %s of weights were seen",
                format_share(share, device->shape_share), print_bytes(bytes, device->own_bytes));
    else {
        print_share(device->share, out);
        fprintf(out, " of %s of weights a step accounted for", print_bytes(bytes, device->own_bytes));
        if (books->own_of_checkpoint)
            fputs(" (bytes of the checkpoint)", out);
    }
    print_list(device, out);
    fputc('\n', out);
    if (device->bits_differ && !isnan(device->bytes)) {
        fputs(
            "the products read weights in other bits than these are stored in (BITS, READ), such as unpacked ones; by "
            "number of weights ",
            out);
        print_share(device->parameter_share, out);
        fputs(" are accounted for\n", out);
    }
    if (device->gemms.kernels && device->seen_count < device->row_count) {
        fputs("what is missing may have run in kernels of no library that is seen: ", out);
        print_named(&device->gemms, "GEMMs", out);
        fputc('\n', out);
    }
    print_disagreement(device, out);
}

static void print_device(const struct books *books, const struct books_device *device, const struct session *session,
                         const struct view *view, FILE *out)
{
    struct wrapped_text wrapped;
    FILE *text = wrapped_text_begin(&wrapped, view->width, LABEL_WIDTH, out);
    fputc('\n', text);
    if (device->device >= 0) {
        char label[32];
        snprintf(label, sizeof label, "GPU %d", device->device);
        label_print(text, label);
        safe_text_print(text, session->devices[device->device].facts.name, 40);
        fputs(": ", text);
    } else {
        label_print(text, "GPU");
        fputs("not known which: ", text);
    }
    print_steps(device, text);
    fputc('\n', text);
    wrapped_text_end(&wrapped);
    if (device->seen_count) {
        print_table(device, view, out);
        text = wrapped_text_begin(&wrapped, view->width, INDENT, out);
        fputs("  BITS: of a weight as stored; READ: as measured; CALLS: of the model; SEEN: measured; x: TIME by AT "
              "ROOF\n",
              text);
        wrapped_text_end(&wrapped);
    } else
        fputs("nothing that was measured has a shape of the model's\n", out);
    text = wrapped_text_begin(&wrapped, view->width, INDENT, out);
    print_missing(device, text);
    print_extras(device, session, view, text);
    print_attention(books, device, text);
    print_books(books, device, text);
    wrapped_text_end(&wrapped);
}

void books_text_print(const struct books *books, const struct session *session, const struct view *view, FILE *out)
{
    struct wrapped_text wrapped;
    FILE *text = wrapped_text_begin(&wrapped, view->width, LABEL_WIDTH, out);
    fputc('\n', text);
    print_model(books, text);
    wrapped_text_end(&wrapped);
    for (size_t i = 0; i < books->device_count; i++)
        print_device(books, &books->devices[i], session, view, out);
    if (!books->device_count)
        fputs("\nnothing was multiplied: no weight was seen on any GPU\n", out);
    if (books->all_share > 0) {
        char share[FORMAT_BYTES];
        fprintf(out, "\nall GPUs together, as where each has some of the layers: %s %%\n",
                format_share(share, books->all_share));
    }
    if (books->fits_better)
        fprintf(out, "\nthe shapes are those of the model on %" PRId64 " %s: pass --tp %" PRId64 "\n",
                books->fits_better, format_plural((uint64_t)books->fits_better, "GPU", "GPUs"), books->fits_better);
}
