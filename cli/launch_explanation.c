/* SPDX-License-Identifier: Apache-2.0 */
/* Reads it as a report would, and shows what the row makes of it. */
#include "cli/launch_explanation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/launch_decode.h"
#include "classify/launch_table.h"
#include "cli/launch_params.h"
#include "cli/message.h"
#include "report/json_value.h"
#include "report/launch_json.h"
#include "report/safe_text.h"

enum { ROWS_SHOWN = 8, LINE_BYTES = 4096 };

/* ---- the launch that was asked for ---- */

struct asked {
    struct kernel_signature signature;
    struct launch_params params;
    uint32_t grid[3], block[3];
    struct launch_decode decode;
};

static bool take_params(const struct launch_question *question, const char *name, struct asked *asked,
                        char error[LAUNCH_PARAMS_ERROR_BYTES])
{
    if (!question->params)
        return true;
    if (kernel_signature_parse(name, &asked->signature))
        return launch_params_read(question->params, &asked->signature, &asked->params, error);
    snprintf(error, LAUNCH_PARAMS_ERROR_BYTES, "'%.100s' is no mangled name, so its parameters are not known", name);
    return false;
}

bool launch_question_fits(const struct launch_question *question, const char *name, const char *command)
{
    char error[LAUNCH_PARAMS_ERROR_BYTES];
    struct asked *asked = calloc(1, sizeof *asked);
    if (!asked)
        abort();
    bool grid = !question->grid || launch_params_read_extent(question->grid, asked->grid);
    bool block = !question->block || launch_params_read_extent(question->block, asked->block);
    bool params = take_params(question, name, asked, error);
    if (!grid || !block)
        message_error(command, "--%s takes up to three numbers such as 128,2,1, not '%s'", grid ? "block" : "grid",
                      grid ? question->block : question->grid);
    else if (!params)
        message_error(command, "--params: %s", error);
    free(asked);
    return grid && block && params;
}

static struct asked *ask(const struct launch_question *question, const char *name)
{
    char error[LAUNCH_PARAMS_ERROR_BYTES];
    struct asked *asked = calloc(1, sizeof *asked);
    if (!asked)
        abort();
    if (!kernel_signature_parse(name, &asked->signature))
        memset(&asked->signature, 0, sizeof asked->signature);
    take_params(question, name, asked, error);
    if (question->grid)
        launch_params_read_extent(question->grid, asked->grid);
    if (question->block)
        launch_params_read_extent(question->block, asked->block);
    launch_decode(name, question->grid ? asked->grid : NULL, question->block ? asked->block : NULL,
                  question->params ? &asked->params.parameters : NULL, &asked->decode);
    return asked;
}

/* ---- text ---- */

static void print_line(const char *label, const char *text)
{
    char *safe = safe_text_terminal(text);
    printf("  %-11s %s\n", label, safe);
    free(safe);
}

static void print_parameters(const struct kernel_signature *signature)
{
    char line[LINE_BYTES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < signature->parameter_count && used < sizeof line; i++)
        used +=
            (size_t)snprintf(line + used, sizeof line - used, "%sa%u %s", i ? ", " : "", i, signature->parameter[i]);
    print_line("parameters", *line ? line : "none");
}

static void print_row(const struct launch_row *row)
{
    const char *source = launch_row_source(row), *version = launch_row_version(row);
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s%s%s%s%s", launch_row_place(row), source ? ", " : "", source ? source : "",
             version ? "; " : "", version ? version : "");
    print_line("row", line);
}

/* What other lists of types the table knows the kernel by. */
static void print_known(const char *kernel)
{
    size_t count;
    const struct launch_row *const *rows = launch_table_rows(kernel, &count);
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "%zu%s parameters by %s%s%s", rows[i]->type_count,
                 rows[i]->has_tail ? " or more" : "", launch_row_place(rows[i]), rows[i]->version ? "; " : "",
                 rows[i]->version ? rows[i]->version : "");
        print_line(i ? "" : "known with", line);
    }
    if (count > ROWS_SHOWN)
        printf("  %-11s and by %zu more rows\n", "", count - ROWS_SHOWN);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "not known";
}

static void print_figures(double flops, double least, double most, enum gpu_path path)
{
    char line[LINE_BYTES];
    int used = snprintf(line, sizeof line, "%.0f FLOP, ", flops);
    if (isnan(most))
        used += snprintf(line + used, sizeof line - (size_t)used, "bytes not known");
    else if (least < most)
        used += snprintf(line + used, sizeof line - (size_t)used, "%.0f to %.0f bytes", least, most);
    else
        used += snprintf(line + used, sizeof line - (size_t)used, "%.0f bytes", most);
    snprintf(line + used, sizeof line - (size_t)used, ", on %s",
             path < GPU_PATH_COUNT ? gpu_paths[path].word : "a path that is not known");
    print_line("asks for", line);
}

static void print_matmul(const struct launch_decode *d)
{
    char line[LINE_BYTES];
    struct work work;
    launch_decode_work(d, &work);
    snprintf(line, sizeof line, "M %lld, N %lld, K %lld%s; weight %s, activations %s, output %s", (long long)d->m,
             (long long)d->n, (long long)d->k, d->adds ? ", and a matrix added" : "",
             or_unknown(d->weight_format ? d->weight_format->name : NULL), or_unknown(d->a_format),
             or_unknown(d->d_format));
    print_line("means", line);
    int used = snprintf(line, sizeof line, "%lld product%s of %d weight%s each, ", (long long)d->batch,
                        d->batch == 1 ? "" : "s", d->weights, d->weights == 1 ? "" : "s");
    if (d->matrices_least < d->matrices_most)
        snprintf(line + used, sizeof line - (size_t)used, "%.0f to %.0f different ones", d->matrices_least,
                 d->matrices_most);
    else
        snprintf(line + used, sizeof line - (size_t)used, "%.0f different in all", d->matrices_most);
    print_line("", line);
    print_figures(work.flops, launch_decode_bytes_least(d), work.bytes, d->path);
}

static void print_attention(const struct launch_decode *d)
{
    char line[LINE_BYTES];
    struct attention_model model;
    struct attention_work work;
    launch_decode_attention(d, &model);
    attention_work(&model, &work);
    snprintf(line, sizeof line,
             "%lld query heads on %lld, head dim %lld, of V %lld; %lld quer%s, %s%lld keys, %lld sequence%s",
             (long long)d->n_q, (long long)d->n_kv, (long long)d->d, (long long)d->d_v, (long long)d->queries,
             d->queries == 1 ? "y" : "ies", d->keys_at_most ? "at most " : "", (long long)d->keys,
             (long long)d->sequences, d->sequences == 1 ? "" : "s");
    print_line("means", line);
    snprintf(line, sizeof line, "Q %s, K %s, V %s, output %s%s", or_unknown(d->q_format), or_unknown(d->k_format),
             or_unknown(d->v_format), or_unknown(d->o_format), d->masked ? "; a mask on the device" : "");
    print_line("", line);
    print_figures(work.flops, work.bytes, work.bytes, d->path);
}

/* In the words of the report's coverage. */
static const char *provenance_word(enum trace_provenance provenance)
{
    return provenance == TRACE_EXACT     ? "exact"
           : provenance == TRACE_PARAMS  ? "params"
           : provenance == TRACE_AT_MOST ? "at most"
                                         : NULL;
}

static void print_reading(const struct launch_decode *d)
{
    char line[LINE_BYTES];
    if (d->reading != LAUNCH_READ) {
        print_line("launch", d->problem);
        return;
    }
    const char *provenance = provenance_word(d->provenance);
    bool serves = d->serves != LAUNCH_SERVES_NONE;
    snprintf(line, sizeof line, "%s%s%s%s%s", launch_kind_name(d->kind), provenance ? ", " : "",
             provenance ? provenance : "", serves ? ": serves " : "", serves ? launch_serves_name(d->serves) : "");
    char *joint = serves ? strrchr(line, '_') : NULL;
    if (joint)
        *joint = ' ';
    print_line("launch", line);
}

void launch_explanation_print(const struct launch_question *question, const char *name)
{
    struct asked *asked = ask(question, name);
    const struct launch_decode *d = &asked->decode;
    bool wanted = question->params || question->grid || question->block;
    if (d->reading != LAUNCH_NOT_IN_TABLE || wanted) {
        print_reading(d);
        if (*d->kernel)
            print_parameters(&asked->signature);
        if (d->row)
            print_row(d->row);
        else if (*d->kernel)
            print_known(d->kernel);
        if (d->reading == LAUNCH_READ && d->kind == LAUNCH_MATMUL)
            print_matmul(d);
        else if (d->reading == LAUNCH_READ && d->kind == LAUNCH_ATTENTION)
            print_attention(d);
    }
    free(asked);
}

/* ---- JSON ---- */

static void set_figures(json_t *object, const struct launch_decode *d)
{
    struct work work;
    struct attention_model model;
    struct attention_work attention = {.flops = NAN, .bytes = NAN};
    launch_decode_work(d, &work);
    if (d->reading == LAUNCH_READ && d->kind == LAUNCH_ATTENTION) {
        launch_decode_attention(d, &model);
        attention_work(&model, &attention);
    }
    bool is_attention = !isnan(attention.flops);
    json_value_set(object, "flops", json_value_real(is_attention ? attention.flops : work.flops));
    json_value_set(object, "bytes", json_value_real(is_attention ? attention.bytes : work.bytes));
    json_value_set(object, "bytes_least",
                   json_value_real(is_attention ? attention.bytes : launch_decode_bytes_least(d)));
}

json_t *launch_explanation_json(const struct launch_question *question, const char *name)
{
    struct asked *asked = ask(question, name);
    const struct launch_decode *d = &asked->decode;
    json_t *object = launch_json_object(d, d->weight_format), *types = json_array();
    for (unsigned i = 0; i < asked->signature.parameter_count; i++) {
        char *safe = safe_text_utf8(asked->signature.parameter[i]);
        json_array_append_new(types, json_string(safe));
        free(safe);
    }
    json_object_set_new(object, "parameters", types);
    set_figures(object, d);
    free(asked);
    return object;
}
