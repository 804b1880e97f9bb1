/* SPDX-License-Identifier: Apache-2.0 */
/* Five letters are enough: no attribute of the page is without quotes, and no name goes into a script or a style. What XML
 * does not allow is replaced as well, so that an SVG that is cut out of the page is well-formed. */
#include "report/html_text.h"

#include <stdbool.h>
#include <stdint.h>

#include "report/safe_text.h"

static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "\xe2\x80\xa6";

static const char *escape_of(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;"; /* HTML 4 has no &apos; */
    default:
        return NULL;
    }
}

static bool is_harmless(uint32_t character)
{
    bool blank = character == '\t' || character == '\n';
    bool noncharacter = (character & 0xfffe) == 0xfffe || (character >= 0xfdd0 && character <= 0xfdef);
    return blank || (!safe_text_is_hostile(character) && !noncharacter);
}

void html_text_print_cut(FILE *out, const char *text, size_t bytes)
{
    if (!text)
        return;
    for (size_t at = 0; text[at];) {
        uint32_t character;
        size_t taken = safe_text_character(text + at, &character);
        size_t step = taken ? taken : 1;
        if (step > bytes - at) {
            fputs(ellipsis, out);
            return;
        }
        const char *escape = taken ? escape_of(character) : NULL;
        if (escape)
            fputs(escape, out);
        else if (taken && is_harmless(character))
            fwrite(text + at, 1, taken, out);
        else
            fputs(replacement, out);
        at += step;
    }
}

void html_text_print(FILE *out, const char *text)
{
    html_text_print_cut(out, text, SIZE_MAX);
}
