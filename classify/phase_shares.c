/* SPDX-License-Identifier: Apache-2.0 */
/* The last to take gets all that is left, so that sums stay what they were. */
#include "classify/phase_shares.h"

#include <stddef.h>

#include "classify/allocate.h"

static uint64_t part_of(uint64_t number, uint64_t part, uint64_t all)
{
    __extension__ typedef unsigned __int128 product;
    return all ? (uint64_t)((product)number * part / all) : 0;
}

static void add(struct phase_share *share, const uint64_t phases[PHASE_COUNT], uint64_t part, uint64_t all)
{
    for (int p = 0; p < PHASE_COUNT; p++)
        sum_add(&share->phases[p], part == all ? phases[p] : part_of(phases[p], part, all));
}

static struct phase_share *share_at(struct phase_share *shares, const struct execution_book *book, struct graph_use use)
{
    const struct execution_count *count = execution_book_find(book, use);
    return count ? &shares[count - book->counts] : NULL;
}

struct phase_share *phase_shares_of(const struct operator_join *join, const struct execution_book *book)
{
    const struct step_counts *steps = &join->sequence.steps;
    struct phase_share *shares = allocate(book->count, sizeof *shares);
    for (size_t i = 0; i < book->count; i++)
        shares[i].executions = book->counts[i].executions;
    for (size_t i = 0; i < join->signature_count; i++) {
        struct phase_share *share = share_at(shares, book, (struct graph_use){USE_CALL, join->signatures[i].id});
        if (share)
            add(share, step_counts_of(steps, (uint32_t)i, false), 1, 1);
    }
    for (size_t i = 0; i < join->launch_share_count; i++) {
        const struct launch_share *launches = &join->launch_shares[i];
        struct phase_share *share = share_at(shares, book, launch_share_use(join, launches));
        if (share)
            add(share, step_counts_of(steps, launches->row, true), launches->launches,
                join->launches[launches->row].launches);
    }
    return shares;
}

static uint64_t rest_of(uint64_t number, uint64_t part, uint64_t all)
{
    __extension__ typedef unsigned __int128 product;
    return all ? (uint64_t)((product)number * part % all) : 0;
}

/* By largest remainder: rounded down, and what is left over goes where most was cut off. */
static void find_parts(const struct phase_share *share, uint64_t taken, uint64_t parts[PHASE_COUNT])
{
    uint64_t sum = 0, given = 0;
    bool raised[PHASE_COUNT] = {false};
    for (int p = 0; p < PHASE_COUNT; p++) {
        sum_add(&sum, share->phases[p]);
        parts[p] = part_of(share->phases[p], taken, share->executions);
        given += parts[p];
    }
    for (uint64_t left = part_of(sum, taken, share->executions) - given; left; left--) {
        int most = -1;
        for (int p = 0; p < PHASE_COUNT; p++)
            if (!raised[p] && (most < 0 || rest_of(share->phases[p], taken, share->executions) >
                                               rest_of(share->phases[most], taken, share->executions)))
                most = p;
        if (most < 0)
            return;
        raised[most] = true;
        parts[most]++;
    }
}

void phase_share_take(struct phase_share *share, uint64_t executions, uint64_t phases[PHASE_COUNT])
{
    const uint64_t taken = executions < share->executions ? executions : share->executions;
    uint64_t parts[PHASE_COUNT];
    find_parts(share, taken, parts);
    for (int p = 0; p < PHASE_COUNT; p++) {
        share->phases[p] -= parts[p];
        sum_add(&phases[p], parts[p]);
    }
    share->executions -= taken;
}
