/* SPDX-License-Identifier: Apache-2.0 */
/* probe [--quick] QUESTION: asks a GPU one question and prints the answer as a line of JSON; without one, lists them. A
 * process asks one question, since CUPTI has one life in each. 77: no GPU, or no CUPTI. */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/probe.h"

bool probe_quick;
static bool first_field;

static void key_of(const char *key)
{
    printf("%s\"%s\": ", first_field ? "" : ", ", key);
    first_field = false;
}

void answer_begin(const char *question)
{
    printf("{");
    first_field = true;
    answer_text("question", question);
}

void answer_number(const char *key, long long value)
{
    key_of(key);
    printf("%lld", value);
}

void answer_real(const char *key, double value)
{
    key_of(key);
    printf("%.1f", value);
}

void answer_text(const char *key, const char *value)
{
    key_of(key);
    putchar('"');
    for (; *value; value++)
        if (*value == '"' || *value == '\\')
            printf("\\%c", *value);
        else if ((unsigned char)*value >= ' ')
            putchar(*value);
    putchar('"');
}

void answer_bool(const char *key, bool value)
{
    key_of(key);
    fputs(value ? "true" : "false", stdout);
}

int answer_end(void)
{
    puts("}");
    return 0;
}

int answer_holds(bool holds)
{
    answer_bool("holds", holds);
    answer_end();
    return holds ? 0 : 1;
}

static const struct question *const tables[] = {join_questions, graph_questions, cost_questions};

int main(int argc, char **argv)
{
    int at = 1;
    probe_quick = argc > at && strcmp(argv[at], "--quick") == 0;
    at += probe_quick;
    const char *wanted = argc > at ? argv[at] : NULL;
    for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct question *q = tables[t]; q->name; q++) {
            if (!wanted)
                printf("%s\t%s\n", q->name, q->asks);
            else if (strcmp(q->name, wanted) == 0)
                return q->answer();
        }
    if (wanted)
        fprintf(stderr, "probe: no question named %s\n", wanted);
    return wanted ? 2 : 0;
}
