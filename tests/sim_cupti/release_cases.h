/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of release_cases.c and fault_cases.c, for the table of all cases. */
#ifndef TESTS_SIM_CUPTI_RELEASE_CASES_H
#define TESTS_SIM_CUPTI_RELEASE_CASES_H

void records_are_the_headers(void **state);
void release_behaves(void **state);
void graph_level(void **state);
void subscribers_share(void **state);

void leak_sets_in(void **state);
void foreign_and_inverted(void **state);
void first_iteration_only(void **state);
void first_period_only(void **state);
void dropped_unknown(void **state);
void clock_is_ahead(void **state);
void kernels_are_early(void **state);
void late_writes(void **state);
void stub_refuses(void **state);
void strings_fail(void **state);

#endif
