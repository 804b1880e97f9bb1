/* SPDX-License-Identifier: Apache-2.0 */
/* One sentence a phase that says whether the books are closed, then each shape of matrix with what was seen of it, then what
 * differs and what may be why. */
#include "report/model_books_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "classify/session.h"
#include "classify/weight_format.h"
#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"
#include "report/text_table.h"
#include "report/wrapped_text.h"

enum { PATH_WIDTH = 90, NAMES_BYTES = TEXT_TABLE_CELL_BYTES, EXTRAS_SHOWN = 10, INDENT = 4 };

void model_books_text_names(const struct model_books_class *class, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < class->name_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", class->names[i].name);
    if (used >= room)
        memcpy(text + room - 4, "...", 4);
}

/* In ggml's own spelling, q4_K. */
static const char *format_of(const struct model_books_class *class)
{
    const struct weight_format *format = weight_format_of_file(class->format->name);
    return format ? format->name : class->format->name;
}

/* "3,686,400", or "1,000 to 2,000". */
static void print_bytes(struct predict_range bytes, FILE *out)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    fputs(format_count(low, (uint64_t)llround(bytes.low)), out);
    if (bytes.low != bytes.high)
        fprintf(out, " to %s", format_count(high, (uint64_t)llround(bytes.high)));
}

static struct predict_range of_a_step(struct predict_range range, double steps)
{
    return (struct predict_range){range.low / steps, range.high / steps};
}

/* ---- the model ---- */

static double token_bytes(const struct model_books *books)
{
    double bytes = 0;
    for (size_t i = 0; i < books->class_count; i++)
        bytes += books->classes[i].own[PHASE_UNKNOWN].high * books->classes[i].matrix_bytes;
    return bytes;
}

static bool is_tied(const struct gguf_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->matrices[i].tied)
            return true;
    return false;
}

static void print_model(const struct model_books *books, FILE *out)
{
    const struct gguf_facts *facts = &books->model.facts;
    char bytes[FORMAT_BYTES];
    label_print(out, "model");
    safe_text_print_middle(out, books->path, PATH_WIDTH);
    fputs(": ", out);
    safe_text_print(out, facts->architecture[0] ? facts->architecture : "architecture not told", 40);
    if (facts->layers > 0)
        fprintf(out, ", %" PRId64 " %s", facts->layers, format_plural((uint64_t)facts->layers, "layer", "layers"));
    if (facts->experts > 0)
        fprintf(out, ", %" PRId64 " experts of which a token uses %" PRId64, facts->experts, facts->experts_used);
    fputc('\n', out);
    label_print(out, "");
    fprintf(out, "%s of weights are multiplied for a token", format_gibibytes(bytes, token_bytes(books)));
    fputs(is_tied(&books->model) ? "; token_embd is the output, too\n"
                                 : "; token_embd is looked up, not multiplied, so not counted\n",
          out);
    if (books->model.files_missing) {
        label_print(out, "");
        fprintf(out, "%zu %s of it %s not found beside this one: what %s holds is not counted\n",
                books->model.files_missing, books->model.files_missing == 1 ? "part" : "parts",
                books->model.files_missing == 1 ? "was" : "were", books->model.files_missing == 1 ? "it" : "they");
    }
}

/* ---- the sentences ---- */

static const char *const verdicts[] = {
    [MODEL_BOOKS_UNKNOWN] = "",
    [MODEL_BOOKS_EQUAL] = "equal",
    [MODEL_BOOKS_WITHIN] = "within what routing to experts leaves open",
    [MODEL_BOOKS_LESS] = "less",
    [MODEL_BOOKS_MORE] = "more",
};

static void print_phase(const struct model_books *books, enum phase which, FILE *out)
{
    const struct model_books_phase *phase = &books->phases[which];
    if (!(phase->steps > 0))
        return;
    if (which == PHASE_DECODE && phase->rows == 1)
        fputs("weight bytes a decode token: ", out);
    else if (phase->rows > 0)
        fprintf(out, "weight bytes a %s step of %.10g tokens: ", phase_name(which), round(10 * phase->rows) / 10);
    else
        fprintf(out, "weight bytes a %s step: ", phase_name(which));
    print_bytes(of_a_step(phase->bytes, phase->steps), out);
    fputs(" measured, ", out);
    print_bytes(phase->own, out);
    fprintf(out, " in the model: %s\n", verdicts[phase->verdict]);
}

static void print_devices(const struct model_books *books, enum phase which, FILE *out)
{
    const struct model_books_phase *phase = &books->phases[which];
    if (books->device_count < 2 || !(phase->steps > 0))
        return;
    fprintf(out, "%s, by GPU: ", phase_name(which));
    for (size_t i = 0; i < books->device_count; i++) {
        const struct model_books_device *device = &books->devices[i];
        if (device->device >= 0)
            fprintf(out, "%sGPU %d ", i ? ", " : "", device->device);
        else
            fprintf(out, "%snot known which ", i ? ", " : "");
        print_bytes(of_a_step(device->bytes[which], phase->steps), out);
    }
    fputc('\n', out);
}

static void print_without_steps(const struct model_books *books, FILE *out)
{
    const struct predict_range all = books->phases[PHASE_UNKNOWN].bytes;
    if (books->phases[PHASE_PREFILL].steps > 0 || books->phases[PHASE_DECODE].steps > 0)
        return;
    if (!(all.high > 0)) {
        fputs("books: not closed, since nothing that was measured has a shape and format of the model's\n", out);
        return;
    }
    fprintf(out, "books: not closed, since %s read ",
            books->rotated ? "records were rotated out (--max-size), parts of steps among them; what is left"
                           : "no step was told apart; the whole run");
    print_bytes(all, out);
    fprintf(out, " bytes of the model's weights, as %.4g tokens one by one do\n", all.high / token_bytes(books));
}

/* ---- the table ---- */

static const struct text_column table_columns[] = {
    {.title = "N"},
    {.title = "K"},
    {.title = "FORMAT", .left = true},
    {.title = "MATRICES"},
    {.title = "SEEN"},
    {.title = "M p50"},
    {.title = "TIME"},
    {.title = "AT ROOF", .spare = 1},
    {.title = "WEIGHTS", .left = true},
};
enum { TABLE_COLUMNS = sizeof table_columns / sizeof table_columns[0] };

static void print_number(char text[TEXT_TABLE_CELL_BYTES], struct predict_range number)
{
    if (isnan(number.low))
        strcpy(text, FORMAT_UNKNOWN);
    else if (number.low == number.high)
        snprintf(text, TEXT_TABLE_CELL_BYTES, "%.10g", round(100 * number.low) / 100);
    else
        snprintf(text, TEXT_TABLE_CELL_BYTES, "%.10g to %.10g", round(100 * number.low) / 100,
                 round(100 * number.high) / 100);
}

/* STEPS: what figures are a mean over. */
static void add_class(struct text_table *table, const struct model_books_class *class, enum phase phase, double steps)
{
    char cell[TABLE_COLUMNS][TEXT_TABLE_CELL_BYTES];
    const char *cells[TABLE_COLUMNS];
    const struct model_books_measured *measured = &class->measured[phase];
    const bool seen = measured->matrices.high > 0;
    format_size(cell[0], class->n);
    format_size(cell[1], class->k);
    snprintf(cell[2], sizeof cell[2], "%s", format_of(class));
    print_number(cell[3], class->own[phase]);
    print_number(cell[4], of_a_step(measured->matrices, steps));
    format_size(cell[5], measured->m_p50);
    format_duration(cell[6], seen ? measured->time_ns / steps : NAN);
    format_duration(cell[7], seen ? measured->roof_ns / steps : NAN);
    model_books_text_names(class, cell[8], NAMES_BYTES);
    for (int i = 0; i < TABLE_COLUMNS; i++)
        cells[i] = cell[i];
    text_table_add(table, cells, COLOUR_NONE);
}

static void print_table(const struct model_books *books, enum phase phase, double steps, const struct view *view,
                        FILE *out)
{
    struct text_table *table = text_table_open(table_columns, TABLE_COLUMNS);
    for (size_t i = 0; i < books->class_count; i++)
        add_class(table, &books->classes[i], phase, steps);
    text_table_close(table, view->width, view->colours, out);
}

static void print_tables(const struct model_books *books, const struct view *view, FILE *out)
{
    bool any = false;
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        const double steps = books->phases[p].steps;
        char count[FORMAT_BYTES];
        if (!(steps > 0))
            continue;
        any = true;
        fprintf(out, steps == 1 ? "\n%s: %s step\n" : "\n%s: a mean of %s steps\n", phase_name(p),
                format_count(count, (uint64_t)steps));
        print_table(books, p, steps, view, out);
    }
    if (!any && books->phases[PHASE_UNKNOWN].bytes.high > 0) {
        fputs(books->rotated ? "\nwhat is left of the run, beside one token\n" : "\nthe whole run, beside one token\n",
              out);
        print_table(books, PHASE_UNKNOWN, 1, view, out);
    }
    fputs("  MATRICES: of the model, that such a step reads; SEEN: measured\n", out);
}

/* ---- what differs ---- */

static bool differs(const struct model_books *books, const struct model_books_class *class, enum phase phase)
{
    const double steps = books->phases[phase].steps;
    const struct predict_range own = class->own[phase], seen = class->measured[phase].matrices;
    return steps > 0 && (seen.high < own.low * steps || seen.low > own.high * steps);
}

static void print_differences(const struct model_books *books, enum phase phase, FILE *out)
{
    for (size_t i = 0; i < books->class_count; i++) {
        const struct model_books_class *class = &books->classes[i];
        char names[NAMES_BYTES], own[TEXT_TABLE_CELL_BYTES], seen[TEXT_TABLE_CELL_BYTES];
        if (!differs(books, class, phase))
            continue;
        model_books_text_names(class, names, sizeof names);
        print_number(own, class->own[phase]);
        print_number(seen, of_a_step(class->measured[phase].matrices, books->phases[phase].steps));
        fprintf(out, "%s differs: %s (%" PRId64 " x %" PRId64 " %s): %s of %s matrices a step\n", phase_name(phase),
                names, class->n, class->k, format_of(class), seen, own);
    }
}

static void print_reasons(const struct model_books *books, FILE *out)
{
    const int64_t layers = books->model.facts.layers;
    bool other = false;
    if (books->layers_seen >= 0 && books->layers_seen < layers)
        fprintf(out, "%" PRId64 " of %" PRId64 " layers were seen on a GPU: the others ran on the CPU (n_gpu_layers)\n",
                books->layers_seen, layers);
    for (size_t i = 0; i < books->class_count; i++)
        other |= books->classes[i].other_format;
    if (other)
        fputs("some products read weights in another format than these are stored in, such as unpacked ones\n", out);
}

static void print_extras(const struct model_books *books, const struct session *session, const struct view *view,
                         FILE *out)
{
    const size_t shown =
        view->rows == SIZE_MAX || books->extra_count <= EXTRAS_SHOWN ? books->extra_count : EXTRAS_SHOWN;
    if (books->extra_count)
        fputs("measured in the whole run, and of no shape that the model has:\n", out);
    for (size_t i = 0; i < shown; i++) {
        const struct operator_row *op = &session->operators[books->extra[i]];
        char count[FORMAT_BYTES];
        fprintf(out, "  N %" PRId64 "  K %" PRId64 "  M %" PRId64 ": %s times\n", op->work.n, op->work.k, op->work.m,
                format_count(count, operator_row_executions(op)));
    }
    if (shown < books->extra_count)
        fprintf(out, "  (%zu more: --all)\n", books->extra_count - shown);
}

void model_books_text_print(const struct model_books *books, const struct session *session, const struct view *view,
                            FILE *out)
{
    struct wrapped_text wrapped;
    FILE *text = wrapped_text_begin(&wrapped, view->width, LABEL_WIDTH, out);
    fputc('\n', text);
    print_model(books, text);
    wrapped_text_end(&wrapped);
    text = wrapped_text_begin(&wrapped, view->width, INDENT, out);
    for (int p = PHASE_COUNT - 1; p > PHASE_UNKNOWN; p--) {
        print_phase(books, p, text);
        print_devices(books, p, text);
    }
    print_without_steps(books, text);
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        print_differences(books, p, text);
    print_reasons(books, text);
    wrapped_text_end(&wrapped);
    print_tables(books, view, out);
    text = wrapped_text_begin(&wrapped, view->width, INDENT, out);
    print_extras(books, session, view, text);
    wrapped_text_end(&wrapped);
}
