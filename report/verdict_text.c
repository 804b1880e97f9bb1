/* SPDX-License-Identifier: Apache-2.0 */
/* What is not known comes before what is: a reader who stops after the first half must not be misled. */
#include "report/verdict_text.h"

#include <math.h>

#include "report/advice_text.h"
#include "report/format.h"

static const char *bound_text(enum bound bound)
{
    static const char *const texts[] = {
        [BOUND_UNKNOWN] = "of unknown class",
        [BOUND_MEMORY] = "memory-bound",
        [BOUND_COMPUTE] = "compute-bound",
        [BOUND_OVERHEAD] = "the start-up of small kernels",
    };
    return texts[bound];
}

static bool any_roof(const struct session *session)
{
    for (size_t i = 0; i < session->device_count; i++)
        if (session->devices[i].roofs.spec)
            return true;
    return false;
}

static const char *time_text(const struct session *session, const struct verdict *verdict)
{
    if (verdict->by_roof)
        return "the time at the roof";
    return session->simulated ? "simulated GPU time" : "GPU time";
}

static void print_share(const struct session *session, const struct verdict *verdict, FILE *out)
{
    char share[FORMAT_BYTES];
    fprintf(out, "%s %% of %s is %s", format_share(share, verdict->share[verdict->bound]), time_text(session, verdict),
            bound_text(verdict->bound));
}

static void print_unknown(const struct session *session, const struct verdict *verdict, FILE *out)
{
    char share[FORMAT_BYTES];
    bool roof = !any_roof(session) || verdict->roofless_share > verdict->share[BOUND_UNKNOWN] / 2;
    fprintf(out, "%s %% of %s is in kernels whose %s not known", format_share(share, verdict->share[BOUND_UNKNOWN]),
            time_text(session, verdict), roof ? "roof is" : "shape is");
    if (verdict->bound == BOUND_UNKNOWN)
        return;
    fputs("; ", out);
    print_share(session, verdict, out);
}

static void print_lever(const struct session *session, const struct advice_list *list, const struct verdict *verdict,
                        FILE *out)
{
    char share[FORMAT_BYTES];
    if (verdict->kind == VERDICT_NOTHING || !any_roof(session))
        return;
    if (!verdict->lever && verdict->bound == BOUND_UNKNOWN)
        return; /* nothing is known that advice could be about */
    if (!verdict->lever)
        fputs("; no advice here would save 0.1 % of it", out);
    else if (verdict->lever->row->of_span) /* how much that is has been said */
        fprintf(out, "; the largest lever: %s", verdict->lever->row->lever);
    else
        fprintf(out, "; the largest lever: %s, at most %s %% of %s", verdict->lever->row->lever,
                format_gain(share, verdict->lever->saved_share), advice_text_base(session, list, verdict->lever->row));
}

void verdict_text_print(const struct session *session, const struct advice_list *list, const struct verdict *verdict,
                        FILE *out)
{
    char share[FORMAT_BYTES];
    if (verdict->by_roof && verdict->kind != VERDICT_NOTHING)
        fputs("Nothing was timed. ", out);
    switch (verdict->kind) {
    case VERDICT_NOTHING:
        fputs(any_roof(session) ? "Nothing was timed and no shape is known: there is no verdict"
                                : "Nothing was timed and no roof is known for this GPU: there is no verdict",
              out);
        break;
    case VERDICT_UNKNOWN:
        print_unknown(session, verdict, out);
        break;
    case VERDICT_WAITS:
        fprintf(out, "The GPU waits for %s %% of the time from first start to last end; ",
                format_share(share, verdict->idle_share));
        if (verdict->bound == BOUND_UNKNOWN || verdict->share[BOUND_UNKNOWN] > verdict->share[verdict->bound])
            print_unknown(session, verdict, out);
        else
            print_share(session, verdict, out);
        break;
    case VERDICT_BOUND:
        print_share(session, verdict, out);
        break;
    }
    print_lever(session, list, verdict, out);
    fputs(".\n", out);
}
