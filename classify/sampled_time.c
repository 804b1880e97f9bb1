/* SPDX-License-Identifier: Apache-2.0 */
/* In each stratum, the time of what was timed by its number is taken for all. Strata make that right where the share that
 * was timed changes with time along with durations, as where a budget makes windows rarer; clusters make the variance right
 * where what one window holds is alike. */
#include "classify/sampled_time.h"

#include <math.h>
#include <stdbool.h>

/* ---- Student's t ---- */

/* 0.975 quantiles of 1 to 30 degrees of freedom (Abramowitz and Stegun, table 26.10). */
static const double student_table[] = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
};

/* Between whole numbers, and beyond the table, it is near to linear in 1 / freedom. */
double sampled_time_student(double freedom)
{
    enum { TABLE = sizeof student_table / sizeof student_table[0] };
    const double normal = 1.959964;
    if (!(freedom >= 1))
        return NAN;
    if (freedom >= TABLE)
        return normal + (student_table[TABLE - 1] - normal) * TABLE / freedom;
    const int below = (int)freedom;
    const double left = student_table[below - 1], right = student_table[below];
    const double part = (1.0 / below - 1 / freedom) / (1.0 / below - 1.0 / (below + 1));
    return left + (right - left) * part;
}

double sampled_time_margin(double variance, double freedom)
{
    return sampled_time_student(freedom) * sqrt(variance);
}

/* ---- the estimate ---- */

/* Sums of variances: those whose own freedom is small count for little freedom in all (Satterthwaite). */
struct variances {
    double sum, squares, freedom;
};

static void add_variance(struct variances *all, double variance, double freedom)
{
    all->sum += variance;
    all->squares += variance * variance / freedom;
    all->freedom += freedom;
}

static double freedom_of(const struct variances *all)
{
    return all->squares > 0 && isfinite(all->squares) ? fmax(1, all->sum * all->sum / all->squares) : all->freedom;
}

static size_t clusters_in(const struct sampled_part *parts, size_t count)
{
    size_t clusters = 0;
    for (size_t i = 0; i < count; i++)
        clusters += parts[i].timed > 0;
    return clusters;
}

static size_t strata_of(size_t clusters)
{
    size_t strata = clusters / SAMPLED_CLUSTERS_A_STRATUM;
    return strata < 1 ? 1 : strata > SAMPLED_STRATA_MOST ? SAMPLED_STRATA_MOST : strata;
}

static void add_stratum(const struct sampled_part *parts, size_t count, double *influence, struct sampled_time *result,
                        struct variances *variances)
{
    double all = 0, timed = 0, time_ns = 0, squares = 0;
    const size_t clusters = clusters_in(parts, count);
    for (size_t i = 0; i < count; i++) {
        all += parts[i].all;
        timed += parts[i].timed;
        time_ns += parts[i].time_ns;
    }
    if (!(timed > 0))
        return;
    const double times = all > timed ? all / timed : 1;
    const double left = sqrt(1 - 1 / times); /* of what was timed itself nothing is uncertain */
    for (size_t i = 0; i < count; i++) {
        const double moved = times * left * (parts[i].time_ns - time_ns / timed * parts[i].timed);
        squares += moved * moved;
        if (influence)
            influence[i] += moved;
    }
    result->time_ns += times * time_ns;
    result->covered += times * timed;
    if (clusters > 1)
        add_variance(variances, squares * (double)clusters / (double)(clusters - 1), (double)(clusters - 1));
}

struct stratum {
    size_t from, to;
    double all, timed;
};

static size_t cut_strata(const struct sampled_part *parts, size_t count, size_t clusters,
                         struct stratum strata[SAMPLED_STRATA_MOST])
{
    const size_t wanted = strata_of(clusters);
    size_t at = 0, passed = 0;
    for (size_t i = 0; i < wanted; i++) {
        strata[i] = (struct stratum){.from = at};
        for (; at < count && (passed < clusters * (i + 1) / wanted || i + 1 == wanted); at++) {
            passed += parts[at].timed > 0;
            strata[i].all += parts[at].all;
            strata[i].timed += parts[at].timed;
        }
        strata[i].to = at;
    }
    return wanted;
}

/* What was launched in one stratum may run in a later one. Where more was timed than launched, that is so: it becomes one with the
 * stratum before. */
static size_t join_strata(struct stratum *strata, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        strata[kept++] = strata[i];
        while (kept > 1 &&
               (strata[kept - 1].all < strata[kept - 1].timed || strata[kept - 2].all < strata[kept - 2].timed)) {
            strata[kept - 2].to = strata[kept - 1].to;
            strata[kept - 2].all += strata[kept - 1].all;
            strata[kept - 2].timed += strata[kept - 1].timed;
            kept--;
        }
    }
    return kept;
}

struct sampled_time sampled_time_of(const struct sampled_part *parts, size_t count, double *influence)
{
    struct sampled_time result = {0, 0, NAN, 0};
    struct variances variances = {0};
    struct stratum strata[SAMPLED_STRATA_MOST];
    const size_t clusters = clusters_in(parts, count);
    const size_t cut = join_strata(strata, cut_strata(parts, count, clusters, strata));
    for (size_t i = 0; i < cut; i++)
        add_stratum(parts + strata[i].from, strata[i].to - strata[i].from,
                    influence ? influence + strata[i].from : NULL, &result, &variances);
    if (!clusters)
        result.time_ns = NAN;
    if (clusters > 1) {
        result.variance = variances.sum;
        result.freedom = freedom_of(&variances);
    }
    return result;
}

struct sampled_time sampled_time_of_influence(const double *influence, const unsigned char *present, size_t count)
{
    struct sampled_time result = {NAN, 0, NAN, 0};
    struct variances variances = {0};
    size_t clusters = 0, from = 0, passed = 0;
    for (size_t i = 0; i < count; i++)
        clusters += present[i];
    const size_t strata = strata_of(clusters);
    for (size_t stratum = 1; clusters > 1 && stratum <= strata; stratum++) {
        double sum = 0, squares = 0;
        size_t to = from, here = 0;
        const size_t wanted = clusters * stratum / strata;
        for (; to < count && (passed < wanted || stratum == strata); to++) {
            passed += present[to];
            here += present[to];
            sum += influence[to];
            squares += influence[to] * influence[to];
        }
        from = to;
        if (here > 1)
            add_variance(&variances, (squares - sum * sum / (double)here) * (double)here / (double)(here - 1),
                         (double)(here - 1));
    }
    if (clusters > 1) {
        result.variance = fmax(0, variances.sum);
        result.freedom = freedom_of(&variances);
    }
    return result;
}
