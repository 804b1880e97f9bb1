/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of attention: by geometry with the lengths it ran at, and as products whose scores go through memory. New
 * references. */
#ifndef REPORT_ATTENTION_JSON_H
#define REPORT_ATTENTION_JSON_H

#include <jansson.h>

#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"
#include "report/json_cut.h"

/* BOOKS and MODEL_BOOKS may be NULL. */
json_t *attention_json(struct json_cut *cut, const struct session *session, const struct books *books,
                       const struct model_books *model_books);
json_t *attention_json_naive(struct json_cut *cut, const struct session *session);

#endif
