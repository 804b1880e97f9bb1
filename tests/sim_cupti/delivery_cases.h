/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of delivery_cases.c, for the table of all cases. */
#ifndef TESTS_SIM_CUPTI_DELIVERY_CASES_H
#define TESTS_SIM_CUPTI_DELIVERY_CASES_H

void drops_are_counted(void **state);
void refused_buffers(void **state);
void zero_times(void **state);
void worker_delivers(void **state);
void only_what_has_ended(void **state);
void flush_inside_a_callback(void **state);

#endif
