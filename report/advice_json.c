/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them; sentences are those of the text report. */
#include "report/advice_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/advice.h"
#include "classify/verdict.h"
#include "report/advice_text.h"
#include "report/caveats.h"
#include "report/json_value.h"
#include "report/text_stream.h"
#include "report/verdict_text.h"

static json_t *sentence(const struct session *session, const struct advice_list *list, const struct verdict *verdict)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = text_stream_open(&text, &bytes);
    if (!out)
        return json_null();
    verdict_text_print(session, list, verdict, out);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
    json_t *value = json_value_text(text);
    free(text);
    return value;
}

static json_t *time_by_bound(const struct verdict *verdict)
{
    json_t *object = json_object();
    for (int bound = 0; bound < VERDICT_BOUNDS; bound++)
        json_value_set(object, bound_name((enum bound)bound), json_value_number(verdict->time_ns[bound]));
    return object;
}

static json_t *verdict_object(const struct session *session, const struct advice_list *list,
                              const struct verdict *verdict)
{
    json_t *object = json_object(), *shares = json_object();
    for (int bound = 0; bound < VERDICT_BOUNDS; bound++)
        json_value_set(shares, bound_name((enum bound)bound), json_value_real(verdict->share[bound]));
    json_value_set(object, "kind", json_value_text(verdict_kind_name(verdict->kind)));
    json_value_set(object, "sentence", sentence(session, list, verdict));
    json_value_set(object, "by_roof", json_boolean(verdict->by_roof));
    json_value_set(object, "bound", json_value_text(bound_name(verdict->bound)));
    json_value_set(object, "share", shares);
    json_value_set(object, "idle_share", json_value_real(verdict->idle_share));
    json_value_set(object, "lever", json_value_text(verdict->lever ? verdict->lever->row->id : NULL));
    json_value_set(object, "lever_share", json_value_real(verdict->lever ? verdict->lever->saved_share : NAN));
    return object;
}

static json_t *subject_object(const struct session *session, const struct advice *advice, size_t i)
{
    const struct advice_subject *subject = &advice->subjects[i];
    json_t *object = json_object();
    char *text = advice_text_subject(session, advice->row, subject->index);
    json_value_set(object, "index", advice->row->kind == ADVICE_RUN ? json_null() : json_value_count(subject->index));
    json_value_set(object, "text", json_value_text(text));
    json_value_set(object, "saved_ns", json_value_real(subject->saved_ns));
    free(text);
    return object;
}

static json_t *advice_object(struct json_cut *cut, const struct session *session, const struct advice_list *list,
                             const struct advice *advice)
{
    json_t *object = json_object(), *subjects = json_array();
    const size_t items = json_cut_items(cut, subjects, advice->subject_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(subjects, subject_object(session, advice, i));
    json_value_set(object, "id", json_value_text(advice->row->id));
    json_value_set(object, "text", json_value_text(advice->row->text));
    json_value_set(object, "source", json_value_text(advice->row->source));
    json_value_set(object, "saved_ns", json_value_real(advice->saved_ns));
    json_value_set(object, "saved_share", json_value_real(advice->saved_share));
    json_value_set(object, "saved_of",
                   json_value_text(advice->row->of_span ? "span"
                                   : list->by_roof      ? "roof"
                                                        : "busy"));
    json_value_set(object, "subject_kind", json_value_text(advice_kind_name(advice->row->kind)));
    json_value_set(object, "subjects", subjects);
    return object;
}

static json_t *caveats_array(const struct session *session)
{
    size_t count;
    const struct caveat *caveat = caveats(&count);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        char *text = caveat_text(&caveat[i], session);
        if (!text)
            continue;
        json_t *object = json_object();
        json_value_set(object, "id", json_value_text(caveat[i].id));
        json_value_set(object, "text", json_value_text(text));
        json_array_append_new(array, object);
        free(text);
    }
    return array;
}

void advice_json_set_verdict(json_t *object, const struct session *session, const struct advice_list *list)
{
    const struct verdict verdict = verdict_of(session, list);
    json_value_set(object, "verdict", verdict_object(session, list, &verdict));
    json_value_set(object, "caveats", caveats_array(session));
    json_value_set(object, "time_by_bound", time_by_bound(&verdict));
}

json_t *advice_json(struct json_cut *cut, const struct session *session, const struct advice_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, advice_object(cut, session, list, &list->items[i]));
    return array;
}
