/* SPDX-License-Identifier: Apache-2.0 */
/* What tells a kernel from others, in few columns. Of "void at::native::vectorized_elementwise_kernel<4,
 * at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >(int, …)" that is
 * "vectorized_elementwise_kernel<4, FillFunctor<bf16>, ...>". */
#ifndef REPORT_SHORT_NAME_H
#define REPORT_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum short_name_detail {
    SHORT_NAME_BRIEF,    /* what says little is left out: short_name.c has the tables */
    SHORT_NAME_COMPLETE, /* every template argument and the number of every lambda; still no namespace */
};

/* Of a demangled or plain name, or of one that is mangled still because it is cut off or too long. NAME must be valid
 * UTF-8. Template arguments nested deeper than DEPTH become "<...>". The caller frees. */
char *short_name(const char *name, enum short_name_detail detail, int depth);

/* The most detailed brief form that fits WIDTH; if none does, one with dots in the middle. The caller frees. */
char *short_name_within(const char *name, size_t width);

#endif
