/* SPDX-License-Identifier: Apache-2.0 */
/* Naive attention: products around a softmax whose scores go through memory, and what a fused kernel would move. */
#ifndef REPORT_ATTENTION_TEXT_H
#define REPORT_ATTENTION_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "report/columns.h"
#include "report/view.h"

/* A heading, a table and its legend; nothing where there is none. Attention that differs in the number of keys alone, as a
 * growing KV cache makes it, is one row. AT_MOST: rows, SIZE_MAX for all. */
void attention_text_print(const struct column_source *source, const struct view *view, size_t at_most, FILE *out);

#endif
