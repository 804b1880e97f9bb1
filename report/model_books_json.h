/* SPDX-License-Identifier: Apache-2.0 */
/* The books of a GGUF as JSON.md has them. */
#ifndef REPORT_MODEL_BOOKS_JSON_H
#define REPORT_MODEL_BOOKS_JSON_H

#include <jansson.h>

#include "classify/model_books.h"
#include "report/json_cut.h"

json_t *model_books_json(struct json_cut *cut, const struct model_books *books);
/* Names of what the operator multiplied; null: nothing of the model's. BOOKS may be NULL. */
json_t *model_books_json_names(const struct model_books *books, size_t op);

#endif
