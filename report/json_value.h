/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the JSON report: what is not known is null. All return new references; json_value_set() takes one over. */
#ifndef REPORT_JSON_VALUE_H
#define REPORT_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *json_value_text(const char *text); /* NULL: null; bytes that are no UTF-8 become U+FFFD */
json_t *json_value_real(double value);     /* not finite: null */
json_t *json_value_number(double value);   /* the same; an integer where it is whole */
json_t *json_value_count(uint64_t value);  /* at most INT64_MAX */
json_t *json_value_count_if(bool known, uint64_t value);
json_t *json_value_size(int64_t value); /* negative: null */
/* From SINCE to REALTIME_NS, which may be before it; null: one of them is 0, not known. */
json_t *json_value_at(uint64_t realtime_ns, uint64_t since_ns);

void json_value_set(json_t *object, const char *key, json_t *value);

#endif
