/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, prints, and finds the exit code. */
#include "report/report.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"
#include "report/colour.h"
#include "report/columns.h"
#include "report/no_launch_text.h"
#include "report/report_html.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/safe_text.h"
#include "report/text_stream.h"
#include "report/view.h"

enum { ROWS_ON_TERMINAL = 30, LEAST_WIDTH = 80 };

static void complain(FILE *err, const char *text)
{
    char *safe = safe_text_terminal(text);
    fprintf(err, "rooftap report: %s\n", safe);
    free(safe);
}

static void complain_of_nothing(const struct session *session, FILE *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *line = text_stream_open(&text, &bytes);
    if (!line)
        return;
    no_launch_text_print(session, line);
    fclose(line);
    complain(err, text);
    free(text);
}

static size_t terminal_width(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) || !size.ws_col)
        return REPORT_TEXT_WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

static enum columns_of columns_of(const struct report_options *options)
{
    if (options->skinny)
        return COLUMNS_OF_SKINNY;
    if (options->by && !strcmp(options->by, "weight"))
        return COLUMNS_OF_WEIGHT;
    if (options->by && !strcmp(options->by, "kernel"))
        return COLUMNS_OF_KERNEL;
    return COLUMNS_OF_SHAPE;
}

void report_sort_keys(const struct report_options *options, char *text)
{
    size_t count, used = 0;
    const struct column *column = columns(columns_of(options), &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (column[i].key)
            used += (size_t)snprintf(text + used, REPORT_KEYS_BYTES - used, "%s%s", used ? ", " : "", column[i].key);
}

bool report_sort_key_known(const struct report_options *options)
{
    return !options->sort || columns_by_key(columns_of(options), options->sort);
}

/* What a session is compared with; both may be NULL. */
struct models {
    struct books *books;
    struct model_books *gguf;
};

static struct view view_of(const struct report_options *options, const struct models *models, FILE *out)
{
    int descriptor = fileno(out);
    bool terminal = descriptor >= 0 && isatty(descriptor);
    enum columns_of of = columns_of(options);
    bool folds = terminal && !options->all && !options->skinny;
    return (struct view){
        .rows = options->top ? options->top
                : folds      ? ROWS_ON_TERMINAL
                             : SIZE_MAX,
        .rows_asked_for = options->top,
        .width = terminal ? terminal_width(descriptor) : REPORT_TEXT_WIDTH,
        .fit = terminal,
        .colours = colour_wanted(out),
        .by = of,
        .sort = options->sort ? columns_by_key(of, options->sort) : NULL,
        .skinny = options->skinny,
        .books = models->books,
        .model_books = models->gguf,
    };
}

static bool print_json(const struct session *session, const struct models *models, const struct report_options *options,
                       FILE *out)
{
    json_t *root = report_json_root(session, models->books, models->gguf, options->top ? options->top : SIZE_MAX);
    bool written = report_json_write(root, out);
    json_decref(root);
    return written;
}

/* Of an empty session there is nothing to say as text. */
static bool print_report(const struct session *session, const struct models *models,
                         const struct report_options *options, FILE *out)
{
    bool written = true;
    if (options->json)
        written = print_json(session, models, options, out);
    if (options->page) {
        written = report_html(session, models->books, models->gguf, options->top, options->page) && written;
        options->page->unreadable = session->bad_file_count && !session->process_count;
        return written;
    }
    if (options->json || session_is_empty(session))
        return written;
    struct view view = view_of(options, models, out);
    return report_text(session, &view, out);
}

/* Returns an enum report_exit. */
static int show(const struct session *session, const struct models *models, const struct report_options *options,
                FILE *out, FILE *err)
{
    int status = REPORT_EXIT_OK;
    for (size_t i = 0; i < session->bad_file_count; i++)
        complain(err, session->bad_files[i].text);
    if (session->bad_file_count)
        status = REPORT_EXIT_BAD; /* what could be read is shown all the same */
    else if (session_is_empty(session)) {
        complain_of_nothing(session, err);
        status = REPORT_EXIT_NOTHING;
    }
    if (!print_report(session, models, options, out)) {
        char text[256];
        snprintf(text, sizeof text, "the report could not be written: %s", strerror(errno));
        complain(err, text);
        status = REPORT_EXIT_BAD;
    }
    return status;
}

/* Which layers have a window stands in no GGUF. */
static struct session_model model_of_gguf(const struct gguf_facts *facts)
{
    const bool known = facts->query_heads > 0 && facts->key_dim > 0;
    return known ? (struct session_model){facts->query_heads, facts->key_dim, 0} : (struct session_model){0};
}

/* A window counts only where every layer has it: attention of one shape may be any layer's. */
static struct session_model model_of(const struct models *models)
{
    if (models->gguf)
        return model_of_gguf(&models->gguf->model.facts);
    if (!models->books)
        return (struct session_model){0};
    const struct model_config *config = &models->books->config;
    bool everywhere = config->window > 0 && models->books->geometry.window_layers == config->layers;
    return (struct session_model){config->query_heads, config->head_dim, everywhere ? config->window : 0};
}

static bool models_open(struct models *models, const struct report_options *options, FILE *err)
{
    struct model_error error;
    *models = (struct models){0};
    if (options->config)
        models->books = books_open(options->config, options->model, &error);
    else if (options->gguf)
        models->gguf = model_books_open(options->gguf, &error);
    const bool good = (!options->config || models->books) && (!options->gguf || models->gguf);
    if (!good)
        complain(err, error.text);
    return good;
}

static void models_close_with(struct models *models, const struct session *session)
{
    if (models->books)
        books_close_with(models->books, session);
    if (models->gguf)
        model_books_close_with(models->gguf, session);
}

static void models_free(struct models *models)
{
    books_free(models->books);
    model_books_free(models->gguf);
}

int report_command(const struct report_options *options, FILE *out, FILE *err)
{
    struct session_error error;
    struct models models;
    if (!models_open(&models, options, err))
        return REPORT_EXIT_BAD;
    const struct session_options how = {
        .peaks = options->peaks, .calibration_file = options->calibration_file, .model = model_of(&models)};
    struct session *session = session_open_with(options->session_folder, &how, &error);
    if (!session) {
        complain(err, error.text);
        models_free(&models);
        return REPORT_EXIT_BAD;
    }
    models_close_with(&models, session);
    int status = show(session, &models, options, out, err);
    models_free(&models);
    session_close(session);
    return status;
}
