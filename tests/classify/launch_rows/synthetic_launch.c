/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/classify/launch_rows/synthetic_launch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/classify/launch_fixture.h"

static _Noreturn void give_up(const char *what, const char *text)
{
    fprintf(stderr, "synthetic launches: %s: %s\n", what, text);
    exit(2);
}

/* ---- lines ---- */

static void read_triple(const char *text, uint32_t into[3])
{
    if (sscanf(text, "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &into[0], &into[1], &into[2]) != 3)
        give_up("no three numbers", text);
}

static void read_bytes(const char *hex, struct synthetic_parameter *parameter)
{
    unsigned char *out = (unsigned char *)parameter->value;
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1 && parameter->bytes < sizeof parameter->value; hex += 2)
        out[parameter->bytes++] = (unsigned char)byte;
    if (*hex)
        give_up("no bytes", hex);
}

/* BYTES of it by its type; 0: not known by the type. */
static void read_parameter(const char *text, unsigned bytes, struct synthetic_parameter *parameter)
{
    uint32_t words[3];
    memset(parameter, 0, sizeof *parameter);
    if (!strcmp(text, "*") || !strcmp(text, "-")) {
        parameter->pointer = true;
        parameter->set = *text == '*';
    } else if (!strcmp(text, "?")) {
        parameter->untold = true;
        parameter->bytes = 16;
    } else if (*text == 'x') {
        read_bytes(text + 1, parameter);
    } else if (strchr(text, ',')) {
        read_triple(text, words);
        memcpy(parameter->value, words, sizeof words);
        parameter->bytes = sizeof words;
    } else if (text[strlen(text) - 1] == 'f') {
        float value = strtof(text, NULL);
        memcpy(parameter->value, &value, sizeof value);
        parameter->bytes = sizeof value;
    } else {
        parameter->value[0] = (uint64_t)strtoll(text, NULL, 10);
        parameter->bytes = bytes;
    }
    if (!parameter->pointer && (!parameter->bytes || (bytes && bytes != parameter->bytes)))
        give_up("a value of another size than its type", text);
}

static void read_parameters(char *text, struct synthetic_launch *launch)
{
    static struct kernel_signature signature;
    if (!kernel_signature_parse(launch->name, &signature))
        give_up("a name that cannot be taken apart", launch->name);
    for (char *rest = text, *token; (token = strtok_r(rest, " ", &rest));) {
        if (launch->count >= signature.parameter_count)
            give_up("more values than parameters", launch->name);
        read_parameter(token, signature.parameter_bytes[launch->count], &launch->parameter[launch->count]);
        if (launch->parameter[launch->count].pointer != signature.parameter_is_pointer[launch->count])
            give_up("a pointer where none is, or none where one is", launch->name);
        launch->count++;
    }
    if (launch->count != signature.parameter_count)
        give_up("fewer values than parameters", launch->name);
}

static void read_line(char *line, struct synthetic_launch *launch)
{
    char *column[6];
    int columns = 0;
    for (char *rest = line; columns < 6 && rest; columns++)
        column[columns] = strsep(&rest, "\t");
    if (columns != 6)
        give_up("six columns are needed", line);
    launch->label = strdup(column[0]);
    launch->name = strdup(column[1]);
    launch->expected = strdup(column[5]);
    read_triple(column[2], launch->grid);
    read_triple(column[3], launch->block);
    read_parameters(column[4], launch);
}

struct synthetic_launch *synthetic_launches_read(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, capacity = 65536;
    struct synthetic_launch *launches = calloc(capacity, sizeof *launches);
    if (!file || !launches)
        give_up("cannot be opened", path);
    *count = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line == '#')
            continue;
        if (*count == capacity)
            give_up("more lines than this program has room for", path);
        read_line(line, &launches[(*count)++]);
    }
    free(line);
    fclose(file);
    return launches;
}

void synthetic_launches_free(struct synthetic_launch *launches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(launches[i].label);
        free(launches[i].name);
        free(launches[i].expected);
    }
    free(launches);
}

void synthetic_launch_decode(const struct synthetic_launch *launch, const char *name, struct launch_decode *decode)
{
    static struct launch_fixture fixture;
    fixture_begin(&fixture);
    for (size_t i = 0; i < launch->count; i++) {
        const struct synthetic_parameter *parameter = &launch->parameter[i];
        if (parameter->pointer)
            fixture_pointer(&fixture, parameter->set);
        else
            fixture_bytes(&fixture, parameter->value, parameter->bytes, parameter->untold ? 0 : parameter->bytes);
    }
    launch_decode(name ? name : launch->name, launch->grid, launch->block, &fixture.parameters, decode);
}

/* ---- what is expected ---- */

static const char *provenance_name(enum trace_provenance provenance)
{
    switch (provenance) {
    case TRACE_PARAMS:
        return "params";
    case TRACE_EXACT:
        return "exact";
    case TRACE_AT_MOST:
        return "at_most";
    default:
        return "none";
    }
}

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

/* As the file spells it; NULL: no such key. */
static const char *told(const struct launch_decode *decode, const char *key, char text[64])
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"m", (double)decode->m},
        {"n", (double)decode->n},
        {"k", (double)decode->k},
        {"batch", (double)decode->batch},
        {"weights", decode->weights},
        {"experts", decode->experts},
        {"least", decode->matrices_least},
        {"most", decode->matrices_most},
        {"activations", decode->activations},
        {"adds", decode->adds},
        {"weight", decode->weight_parameter},
        {"n_q", (double)decode->n_q},
        {"n_kv", (double)decode->n_kv},
        {"d", (double)decode->d},
        {"d_v", (double)decode->d_v},
        {"queries", (double)decode->queries},
        {"keys", (double)decode->keys},
        {"sequences", (double)decode->sequences},
        {"keys_at_most", decode->keys_at_most},
        {"masked", decode->masked},
        {"v_in_k", decode->v_in_k},
        {"splits", (double)decode->splits},
        {"split_row_bits", decode->split_row_bits},
    };
    const struct {
        const char *key, *value;
    } words[] = {
        {"reading", launch_reading_name(decode->reading)},
        {"kind", launch_kind_name(decode->kind)},
        {"serves", launch_serves_name(decode->serves)},
        {"provenance", provenance_name(decode->provenance)},
        {"format", decode->weight_format ? decode->weight_format->name : "none"},
        {"path", decode->path == GPU_PATH_UNKNOWN ? "none" : gpu_paths[decode->path].word},
        {"a_format", or_none(decode->a_format)},
        {"d_format", or_none(decode->d_format)},
        {"q_format", or_none(decode->q_format)},
        {"k_format", or_none(decode->k_format)},
        {"v_format", or_none(decode->v_format)},
        {"o_format", or_none(decode->o_format)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(numbers[i].key, key)) {
            snprintf(text, 64, "%.17g", numbers[i].value);
            return text;
        }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i].key, key))
            return words[i].value;
    return NULL;
}

bool synthetic_launch_differs(const struct synthetic_launch *launch, const struct launch_decode *decode, char text[256])
{
    char copy[1024], number[64];
    snprintf(copy, sizeof copy, "%s", launch->expected);
    for (char *rest = copy, *pair; (pair = strtok_r(rest, " ", &rest));) {
        char *value = strchr(pair, '=');
        if (!value)
            give_up("no key=value", pair);
        *value++ = 0;
        const char *found = told(decode, pair, number);
        if (!found)
            give_up("no such key", pair);
        if (strcmp(found, value)) {
            snprintf(text, 256, "%s is %s, not %s%s%s", pair, found, value, decode->problem[0] ? ": " : "",
                     decode->problem);
            return true;
        }
    }
    return false;
}

static const char *const kept_keys[] = {
    "reading",     "kind",         "serves",   "provenance", "m",        "n",
    "k",           "batch",        "weights",  "experts",    "least",    "most",
    "activations", "adds",         "format",   "path",       "a_format", "d_format",
    "n_q",         "n_kv",         "d",        "d_v",        "queries",  "keys",
    "sequences",   "keys_at_most", "masked",   "v_in_k",     "splits",   "split_row_bits",
    "q_format",    "k_format",     "v_format", "o_format"};

bool synthetic_decodes_equal(const struct launch_decode *left, const struct launch_decode *right)
{
    char a[64], b[64];
    for (size_t i = 0; i < sizeof kept_keys / sizeof kept_keys[0]; i++)
        if (strcmp(told(left, kept_keys[i], a), told(right, kept_keys[i], b)))
            return false;
    return true;
}
