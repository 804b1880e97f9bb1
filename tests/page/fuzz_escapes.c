/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: any bytes as a text of the page, between tags and in its JSON. Whether a text is UTF-8 is jansson's word. */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_text.h"
#include "report/page_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(holds) require_at(holds, #holds, __LINE__)

static void require_at(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_escapes.c:%d: expected %s\n", line, what);
    abort();
}

static bool is_utf8(const char *text, size_t bytes)
{
    json_t *string = json_stringn(text, bytes);
    json_decref(string);
    return string != NULL;
}

/* ---- between tags and in attributes ---- */

/* In place: the five escapes and nothing else. */
static void unescape(char *text)
{
    static const struct {
        const char *escape;
        char letter;
    } escapes[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    char *to = text;
    while (*text) {
        size_t i = 0;
        if (*text != '&') {
            *to++ = *text++;
            continue;
        }
        while (i < 5 && strncmp(text, escapes[i].escape, strlen(escapes[i].escape)) != 0)
            i++;
        require(i < 5);
        *to++ = escapes[i].letter;
        text += strlen(escapes[i].escape);
    }
    *to = '\0';
}

static char *escaped(const char *text, size_t most)
{
    char *html = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&html, &bytes);
    require(out != NULL);
    if (most == SIZE_MAX)
        html_text_print(out, text);
    else
        html_text_print_cut(out, text, most);
    fclose(out);
    require(bytes == strlen(html) && is_utf8(html, bytes));
    for (const char *p = html; *p; p++) /* no control, nothing with a meaning in markup */
        require((unsigned char)*p >= 0x20 ? !strchr("<>\"'\x7f", *p) : *p == '\t' || *p == '\n');
    require(!strstr(html, "\xe2\x80\xa8") && !strstr(html, "\xe2\x80\xa9") && !strstr(html, "\xe2\x80\xae"));
    return html;
}

static void check_html(const char *text, size_t most)
{
    static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "\xe2\x80\xa6";
    char *whole = escaped(text, SIZE_MAX), *cut = escaped(text, most);
    const size_t kept = strlen(cut) >= 3 && strlen(text) > most ? strlen(cut) - 3 : strlen(cut);
    require(strncmp(whole, cut, kept) == 0 && (strlen(text) <= most) == (kept == strlen(cut)));
    require(kept == strlen(cut) || strcmp(cut + kept, ellipsis) == 0);
    unescape(whole);
    require(strstr(whole, replacement) || strcmp(whole, text) == 0);
    free(whole);
    free(cut);
}

/* ---- in the JSON ---- */

static void check_data(const char *text, size_t bytes)
{
    static const char head[] = "<script type=\"application/json\" id=\"data\">", tail[] = "</script>";
    if (!is_utf8(text, bytes))
        return;
    json_t *root = json_pack("{s:[s%], s%:n}", "value", text, bytes, text, bytes);
    char *page = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&page, &length);
    require(root && out && page_data_print(root, out));
    fclose(out);
    require(length > strlen(head) + strlen(tail) && strcmp(page + length - strlen(tail), tail) == 0);
    page[length - strlen(tail)] = '\0';
    const char *json = page + strlen(head);
    require(!strpbrk(json, "<>&\n\r") && !strstr(json, "\xe2\x80\xa8") && !strstr(json, "\xe2\x80\xa9"));
    json_t *again = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    require(again && json_equal(root, again));
    json_decref(again);
    json_decref(root);
    free(page);
}

/* The first byte is how much is kept of a text that is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_html(text, data[0]);
    check_data(text, strlen(text));
    free(text);
    return 0;
}
