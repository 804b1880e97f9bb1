/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tokens of a valid text; only braces, brackets, commas and strings matter. */
#include "classify/json_lines.h"

#include <stdbool.h>
#include <string.h>

struct walk {
    const char *at;
    int line, depth;
    const char *string; /* the string just passed, without quotes */
    size_t string_length;
};

/* Moves past one token and returns its first character; 0 at the end. */
static char next_token(struct walk *w)
{
    while (*w->at && strchr(" \t\r\n", *w->at))
        w->line += *w->at++ == '\n';
    char first = *w->at;
    if (!first)
        return 0;
    w->at++;
    if (first == '{' || first == '[')
        w->depth++;
    else if (first == '}' || first == ']')
        w->depth--;
    else if (first == '"') {
        w->string = w->at;
        while (*w->at && *w->at != '"')
            w->at += *w->at == '\\' && w->at[1] ? 2 : 1;
        w->string_length = (size_t)(w->at - w->string);
        w->at += *w->at == '"';
    } else if (!strchr(",:", first))
        while (*w->at && !strchr(",:{}[] \t\r\n", *w->at))
            w->at++;
    return first;
}

static bool is_string(const struct walk *w, const char *text)
{
    return strlen(text) == w->string_length && !memcmp(w->string, text, w->string_length);
}

/* Whether the string just passed is the name of a member: a colon follows. */
static bool is_name(const struct walk *w)
{
    return w->at[strspn(w->at, " \t\r\n")] == ':';
}

/* To the '[' of the list. */
static bool find_list(struct walk *w, const char *list)
{
    for (char token; (token = next_token(w));)
        if (token == '"' && w->depth == 1 && is_name(w) && is_string(w, list))
            return next_token(w) == ':' && next_token(w) == '[';
    return false;
}

int json_lines_of(const char *text, const char *list, size_t index, const char *member)
{
    struct walk w = {.at = text, .line = 1};
    if (!find_list(&w, list))
        return 1;
    char token = next_token(&w);
    for (size_t i = 0; i < index && token; i += token == ',' && w.depth == 2)
        token = next_token(&w);
    if (index)
        token = next_token(&w);
    int line = w.line;
    while (member && token && w.depth >= 3 && (token = next_token(&w)))
        if (token == '"' && w.depth == 3 && is_name(&w) && is_string(&w, member))
            return w.line;
    return line;
}
