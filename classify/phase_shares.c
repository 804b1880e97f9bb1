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

void phase_share_take(struct phase_share *share, uint64_t executions, uint64_t phases[PHASE_COUNT])
{
    const uint64_t taken = executions < share->executions ? executions : share->executions;
    for (int p = 0; p < PHASE_COUNT; p++) {
        const uint64_t part = part_of(share->phases[p], taken, share->executions);
        share->phases[p] -= part;
        sum_add(&phases[p], part);
    }
    share->executions -= taken;
}
