/* SPDX-License-Identifier: Apache-2.0 */
/* One table. A kind that is refused stays off, and is not asked for again. */
#include "cupti/timed_kinds.h"

#include "cupti/cupti_session.h"
#include "cupti/cupti_types.h"

enum group { KERNELS, COPIES, GRAPHS, EXTERNAL };

/* clang-format off */
static struct {
    int kind;
    enum group group;
    bool wanted, refused, on;
} kinds[] = {
    /* First, and one way: it ends the recording of graphs' single kernels, which disabling it does not bring back (CUpti_ActivityKind
     * in cupti_activity.h of CUDA 13.5). */
    {CUPTI_KIND_GRAPH_TRACE,          GRAPHS,   false, false, false},
    {CUPTI_KIND_CONCURRENT_KERNEL,    KERNELS,  true,  false, false},
    {CUPTI_KIND_MEMCPY,               COPIES,   true,  false, false},
    {CUPTI_KIND_MEMCPY2,              COPIES,   true,  false, false}, /* between devices: in no MEMCPY record */
    {CUPTI_KIND_MEMSET,               COPIES,   true,  false, false},
    {CUPTI_KIND_EXTERNAL_CORRELATION, EXTERNAL, false, false, false},
    {CUPTI_KIND_DRIVER,               EXTERNAL, false, false, false}, /* external records come only beside those of calls */
};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof *kinds };
static bool are_on;

static void want(enum group group)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].group == group)
            kinds[i].wanted = true;
}

static bool any_refused(enum group group)
{
    bool any = false;
    for (unsigned i = 0; i < KINDS; i++)
        any |= kinds[i].group == group && kinds[i].refused;
    return any;
}

void timed_kinds_choose(bool graphs_whole)
{
    if (graphs_whole)
        want(GRAPHS);
}

static int switch_on(unsigned i)
{
    int result = cupti_session_switch_kind(kinds[i].kind, true);
    kinds[i].on = result == CUPTI_OK;
    kinds[i].refused = !kinds[i].on;
    return result;
}

static void switch_off(unsigned i)
{
    cupti_session_switch_kind(kinds[i].kind, false);
    kinds[i].on = false;
}

static void all_off(void)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].on)
            switch_off(i);
    are_on = false;
}

int timed_kinds_switch(bool on)
{
    if (!on) {
        all_off();
        return CUPTI_OK;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        bool kernels = kinds[i].group == KERNELS;
        if (!kinds[i].wanted || kinds[i].on || (kinds[i].refused && !kernels))
            continue;
        int result = switch_on(i);
        if (kernels && result != CUPTI_OK) {
            all_off();
            return result;
        }
    }
    are_on = true;
    return CUPTI_OK;
}

bool timed_kinds_are_on(void)
{
    return are_on;
}

bool timed_kinds_add_external(void)
{
    want(EXTERNAL);
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].group == EXTERNAL && !kinds[i].on && (any_refused(EXTERNAL) || switch_on(i) != CUPTI_OK))
            return false;
    if (!are_on) /* it was to see whether CUPTI does it */
        all_off();
    return true;
}

bool timed_kinds_graphs_whole(void)
{
    bool whole = false;
    for (unsigned i = 0; i < KINDS; i++)
        whole |= kinds[i].group == GRAPHS && kinds[i].wanted && !kinds[i].refused;
    return whole;
}

bool timed_kinds_lack_copies(void)
{
    return any_refused(COPIES);
}
