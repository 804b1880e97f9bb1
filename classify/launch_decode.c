/* SPDX-License-Identifier: Apache-2.0 */
/* From a launch to its row, and from the row's expressions to roles. A role that is needed and not known leaves the launch
 * unread; a check that isn't true, or a size out of its range, refuses it. */
#include "classify/launch_decode.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "classify/launch_format.h"
#include "classify/launch_row.h"
#include "classify/launch_table.h"
#include "trace/kernel_signature.h"

/* ---- words ---- */

/* clang-format off */
static const char *const reading_names[LAUNCH_READING_COUNT] = {
    [LAUNCH_NOT_IN_TABLE]   = "not_in_table",
    [LAUNCH_OTHER_REVISION] = "other_revision",
    [LAUNCH_NO_VALUES]      = "no_values",
    [LAUNCH_REFUSED]        = "refused",
    [LAUNCH_READ]           = "read",
};
static const char *const kind_names[LAUNCH_KIND_COUNT] = {
    [LAUNCH_OTHER]     = "other",
    [LAUNCH_MATMUL]    = "matmul",
    [LAUNCH_ATTENTION] = "attention",
    [LAUNCH_HELPER]    = "helper",
};
static const char *const serves_names[] = {
    [LAUNCH_SERVES_NONE]           = "none",
    [LAUNCH_SERVES_NEXT_MATMUL]    = "next_matmul",
    [LAUNCH_SERVES_LAST_MATMUL]    = "last_matmul",
    [LAUNCH_SERVES_NEXT_ATTENTION] = "next_attention",
    [LAUNCH_SERVES_LAST_ATTENTION] = "last_attention",
    [LAUNCH_SERVES_NEXT]           = "next",
    [LAUNCH_SERVES_LAST_OUTPUT]    = "last_output",
};
/* clang-format on */

const char *launch_reading_name(enum launch_reading reading)
{
    return reading_names[reading];
}

const char *launch_kind_name(enum launch_kind kind)
{
    return kind_names[kind];
}

const char *launch_serves_name(enum launch_serves serves)
{
    return serves_names[serves];
}

const char *launch_row_place(const struct launch_row *row)
{
    return row->place;
}

const char *launch_row_source(const struct launch_row *row)
{
    return row->source;
}

const char *launch_row_version(const struct launch_row *row)
{
    return row->version;
}

/* ---- one launch ---- */

struct reading {
    const struct launch_row *row;
    struct launch_facts facts;
    struct launch_value names[LAUNCH_NAMES_MOST];
    const char *values_problem; /* why there are no parameters' values */
    struct launch_decode *decode;
};

static bool leave(struct launch_decode *decode, enum launch_reading reading, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool leave(struct launch_decode *decode, enum launch_reading reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    decode->reading = reading;
    vsnprintf(decode->problem, sizeof decode->problem, format, arguments);
    va_end(arguments);
    return false;
}

/* WHAT is not known, for the reason in VALUE. */
static bool leave_unknown(const struct reading *r, const char *what, struct launch_value value)
{
    if (value.state == LAUNCH_VALUE_OUT_OF_RANGE)
        return leave(r->decode, LAUNCH_REFUSED, "check of %s failed: %s is out of range", r->decode->kernel, what);
    return leave(r->decode, LAUNCH_NO_VALUES, "%s: %s is not known, as %s", r->decode->kernel, what, r->values_problem);
}

/* What the list of types and the plan by which values were kept say of one parameter's size must agree, else neither does. */
static void take_parameters(struct reading *r, const struct launch_parameters *parameters)
{
    const struct kernel_signature *signature = r->facts.signature;
    r->values_problem = "the launch carries no parameters";
    if (!parameters)
        return;
    r->values_problem = "the parameters kept are not those of its list of types";
    if (parameters->plan->count != signature->parameter_count)
        return;
    for (unsigned i = 0; i < signature->parameter_count; i++) {
        const struct trace_parameter *p = &parameters->plan->parameter[i];
        bool is_pointer = p->kind == TRACE_PARAMETER_POINTER;
        if (is_pointer && !signature->parameter_is_pointer[i])
            return;
        if (p->bytes && signature->parameter_bytes[i] && p->bytes != signature->parameter_bytes[i])
            return;
    }
    r->values_problem = r->facts.grid && r->facts.block ? "its parameters were not kept" : "its grid is not known";
    r->facts.parameters = parameters;
}

/* ---- roles ---- */

static void evaluate_lets(struct reading *r)
{
    for (size_t i = 0; i < r->row->let_count; i++)
        r->names[LAUNCH_ROLE_COUNT + i] = launch_expression_evaluate(r->row->let[i], &r->facts);
}

static struct launch_value known(int64_t number)
{
    return (struct launch_value){.state = LAUNCH_VALUE_KNOWN, .number = number};
}

static struct launch_value fallback(const struct reading *r, int role)
{
    const struct launch_role_row *about = &launch_roles[role];
    int64_t product;
    if (about->fallback < LAUNCH_ROLE_COUNT)
        return r->names[about->fallback];
    if (role != LAUNCH_ROLE_MATRICES_MOST)
        return known(about->value);
    if (__builtin_mul_overflow(r->names[LAUNCH_ROLE_BATCH].number, r->names[LAUNCH_ROLE_WEIGHTS].number, &product))
        return (struct launch_value){.state = LAUNCH_VALUE_OUT_OF_RANGE};
    return known(product);
}

static bool evaluate_role(struct reading *r, int role)
{
    const struct launch_role_row *about = &launch_roles[role];
    const struct launch_expression *e = r->row->role[role];
    bool is_text = about->type > LAUNCH_ROLE_CONDITION;
    struct launch_value value = e ? launch_expression_evaluate(e, &r->facts) : fallback(r, role);
    if (is_text && !e)
        value = (struct launch_value){.state = LAUNCH_VALUE_NOT_KEPT};
    if (about->type == LAUNCH_ROLE_CONDITION && value.state == LAUNCH_VALUE_KNOWN)
        value.number = value.number != 0;
    r->names[role] = value;
    if (is_text)
        return true;
    if (value.state != LAUNCH_VALUE_KNOWN)
        return leave_unknown(r, about->name, value);
    if (value.number < about->least || value.number > about->most)
        return leave(r->decode, LAUNCH_REFUSED, "check of %s failed: %s is %lld, not %lld to %lld", r->decode->kernel,
                     about->name, (long long)value.number, (long long)about->least, (long long)about->most);
    return true;
}

static int64_t number_of(const struct reading *r, enum launch_role role)
{
    return r->names[role].number;
}

static bool format_of(const struct reading *r, enum launch_role role, struct launch_format *format)
{
    struct launch_value value = r->names[role];
    if (value.state == LAUNCH_VALUE_KNOWN && value.text && launch_format_find(value.text, format))
        return true;
    *format = (struct launch_format){.bits = NAN};
    return false;
}

static void take_format(const struct reading *r, enum launch_role role, double *bits, const char **name)
{
    struct launch_format format;
    *name = format_of(r, role, &format) ? format.name : NULL;
    *bits = format.bits;
}

/* ---- what always holds ---- */

static bool refuse(const struct reading *r, const char *check)
{
    return leave(r->decode, LAUNCH_REFUSED, "check of %s failed: %s", r->decode->kernel, check);
}

static bool check_matmul(const struct reading *r)
{
    struct launch_format format;
    double products = (double)number_of(r, LAUNCH_ROLE_BATCH) * (double)number_of(r, LAUNCH_ROLE_WEIGHTS);
    double most = (double)number_of(r, LAUNCH_ROLE_MATRICES_MOST);
    if (number_of(r, LAUNCH_ROLE_MATRICES_LEAST) > number_of(r, LAUNCH_ROLE_MATRICES_MOST))
        return refuse(r, "matrices_least <= matrices_most");
    if (most > products * (double)number_of(r, LAUNCH_ROLE_M))
        return refuse(r, "matrices_most <= m * batch * weights");
    if (number_of(r, LAUNCH_ROLE_ACTIVATIONS) > number_of(r, LAUNCH_ROLE_BATCH))
        return refuse(r, "activations <= batch");
    if (format_of(r, LAUNCH_ROLE_WEIGHT_FORMAT, &format) && format.block > 1 &&
        number_of(r, LAUNCH_ROLE_K) % format.block)
        return refuse(r, "k % block_of(weight_format) == 0");
    return true;
}

static bool check_attention(const struct reading *r)
{
    if (number_of(r, LAUNCH_ROLE_N_Q) % number_of(r, LAUNCH_ROLE_N_KV))
        return refuse(r, "n_q % n_kv == 0");
    if (number_of(r, LAUNCH_ROLE_V_IN_K) && number_of(r, LAUNCH_ROLE_D_V) > number_of(r, LAUNCH_ROLE_D))
        return refuse(r, "d_v <= d, as V is part of K");
    return true;
}

static bool check_row(struct reading *r)
{
    const struct launch_row *row = r->row;
    for (size_t i = 0; i < row->check_count; i++) {
        struct launch_value value = launch_expression_evaluate(row->checks[i].expression, &r->facts);
        if (value.state == LAUNCH_VALUE_NOT_KEPT)
            return leave_unknown(r, row->checks[i].text, value);
        if (value.state != LAUNCH_VALUE_KNOWN || !value.number)
            return refuse(r, row->checks[i].text);
    }
    return row->kind == LAUNCH_MATMUL ? check_matmul(r) : row->kind == LAUNCH_ATTENTION ? check_attention(r) : true;
}

/* ---- into the decode ---- */

static void take_matmul(const struct reading *r, struct launch_decode *decode)
{
    struct launch_format weight;
    decode->m = number_of(r, LAUNCH_ROLE_M);
    decode->n = number_of(r, LAUNCH_ROLE_N);
    decode->k = number_of(r, LAUNCH_ROLE_K);
    decode->batch = number_of(r, LAUNCH_ROLE_BATCH);
    decode->weights = (int)number_of(r, LAUNCH_ROLE_WEIGHTS);
    decode->experts = number_of(r, LAUNCH_ROLE_EXPERTS);
    decode->matrices_least = (double)number_of(r, LAUNCH_ROLE_MATRICES_LEAST);
    decode->matrices_most = (double)number_of(r, LAUNCH_ROLE_MATRICES_MOST);
    decode->activations = (double)number_of(r, LAUNCH_ROLE_ACTIVATIONS);
    decode->adds = number_of(r, LAUNCH_ROLE_ADDS);
    decode->weight_format = format_of(r, LAUNCH_ROLE_WEIGHT_FORMAT, &weight) ? weight.weight : NULL;
    take_format(r, LAUNCH_ROLE_A_FORMAT, &decode->a_bits, &decode->a_format);
    take_format(r, LAUNCH_ROLE_D_FORMAT, &decode->d_bits, &decode->d_format);
    decode->weight_parameter = r->row->weight;
}

static void take_attention(const struct reading *r, struct launch_decode *decode)
{
    decode->n_q = number_of(r, LAUNCH_ROLE_N_Q);
    decode->n_kv = number_of(r, LAUNCH_ROLE_N_KV);
    decode->d = number_of(r, LAUNCH_ROLE_D);
    decode->d_v = number_of(r, LAUNCH_ROLE_D_V);
    decode->queries = number_of(r, LAUNCH_ROLE_QUERIES);
    decode->keys = number_of(r, LAUNCH_ROLE_KEYS);
    decode->sequences = number_of(r, LAUNCH_ROLE_SEQUENCES);
    decode->keys_at_most = number_of(r, LAUNCH_ROLE_KEYS_AT_MOST);
    decode->masked = number_of(r, LAUNCH_ROLE_MASKED);
    decode->v_in_k = number_of(r, LAUNCH_ROLE_V_IN_K);
    decode->splits = number_of(r, LAUNCH_ROLE_SPLITS);
    decode->split_row_bits = (double)number_of(r, LAUNCH_ROLE_SPLIT_ROW_BITS);
    take_format(r, LAUNCH_ROLE_Q_FORMAT, &decode->q_bits, &decode->q_format);
    take_format(r, LAUNCH_ROLE_K_FORMAT, &decode->k_bits, &decode->k_format);
    take_format(r, LAUNCH_ROLE_V_FORMAT, &decode->v_bits, &decode->v_format);
    take_format(r, LAUNCH_ROLE_O_FORMAT, &decode->o_bits, &decode->o_format);
}

static void take_provenance(const struct launch_row *row, struct launch_decode *decode)
{
    bool bounds = decode->matrices_least < decode->matrices_most || decode->keys_at_most || decode->masked;
    if (row->kind != LAUNCH_MATMUL && row->kind != LAUNCH_ATTENTION)
        return;
    decode->provenance = row->at_most || bounds ? TRACE_AT_MOST : row->reads_parameters ? TRACE_PARAMS : TRACE_EXACT;
}

static bool read_roles(struct reading *r)
{
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++)
        if (launch_roles[role].kinds >> r->row->kind & 1 && !evaluate_role(r, role))
            return false;
    return true;
}

static void read_launch(struct reading *r)
{
    struct launch_decode *decode = r->decode;
    const struct launch_row *row = r->row;
    if (!read_roles(r) || !check_row(r))
        return;
    struct launch_value path = r->names[LAUNCH_ROLE_PATH];
    decode->reading = LAUNCH_READ;
    decode->kind = row->kind;
    decode->serves = row->serves;
    if (row->role[LAUNCH_ROLE_PATH] && path.state == LAUNCH_VALUE_KNOWN)
        decode->path = gpu_path_by_word(path.text);
    if (row->kind == LAUNCH_MATMUL)
        take_matmul(r, decode);
    else if (row->kind == LAUNCH_ATTENTION)
        take_attention(r, decode);
    take_provenance(row, decode);
}

/* ---- finding the row ---- */

/* The first of ROWS that fits and whose condition holds; false: none, or it can't be told, and the decode says why. */
static bool find_row(struct reading *r, const struct launch_row *const *rows, size_t count)
{
    struct launch_decode *decode = r->decode;
    for (size_t i = 0; i < count; i++) {
        if (!launch_row_fits(rows[i], r->facts.signature))
            continue;
        decode->row = r->row = rows[i];
        evaluate_lets(r);
        if (!r->row->where)
            return true;
        struct launch_value where = launch_expression_evaluate(r->row->where, &r->facts);
        if (where.state != LAUNCH_VALUE_KNOWN)
            return leave_unknown(r, "what tells its rows apart", where);
        if (where.number)
            return true;
    }
    if (decode->row)
        return leave(decode, LAUNCH_REFUSED, "no row of %s has this use of it", decode->kernel);
    return leave(decode, LAUNCH_OTHER_REVISION, "unknown revision of %s", decode->kernel);
}

static void forget(struct launch_decode *decode)
{
    *decode = (struct launch_decode){
        .reading = LAUNCH_NOT_IN_TABLE,
        .provenance = TRACE_NONE,
        .path = GPU_PATH_UNKNOWN,
        .m = -1,
        .n = -1,
        .k = -1,
        .batch = -1,
        .weights = 1,
        .matrices_least = NAN,
        .matrices_most = NAN,
        .activations = NAN,
        .a_bits = NAN,
        .d_bits = NAN,
        .weight_parameter = -1,
        .n_q = -1,
        .n_kv = -1,
        .d = -1,
        .d_v = -1,
        .queries = -1,
        .keys = -1,
        .sequences = -1,
        .splits = -1,
        .split_row_bits = NAN,
        .q_bits = NAN,
        .k_bits = NAN,
        .v_bits = NAN,
        .o_bits = NAN,
    };
}

void launch_decode(const char *name, const uint32_t grid[3], const uint32_t block[3],
                   const struct launch_parameters *parameters, struct launch_decode *decode)
{
    struct kernel_signature signature;
    size_t count;
    forget(decode);
    decode->bare = !parameters;
    if (!kernel_signature_parse(name, &signature)) {
        leave(decode, LAUNCH_NOT_IN_TABLE, "the name is not one that can be taken apart");
        return;
    }
    snprintf(decode->kernel, sizeof decode->kernel, "%s", signature.base);
    const struct launch_row *const *rows = launch_table_rows(signature.base, &count);
    if (!rows) {
        leave(decode, LAUNCH_NOT_IN_TABLE, "no row has a kernel of this name");
        return;
    }
    struct reading reading = {.decode = decode, .facts = {.signature = &signature, .grid = grid, .block = block}};
    reading.facts.names = reading.names;
    take_parameters(&reading, parameters);
    if (find_row(&reading, rows, count))
        read_launch(&reading);
}
