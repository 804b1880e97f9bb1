/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `--html` as the build puts it together from report/page: one text, with places <!-- @name@ --> that
 * report_html.c fills. It ends with no zero. */
#ifndef REPORT_PAGE_TEMPLATE_H
#define REPORT_PAGE_TEMPLATE_H

#include <stddef.h>

extern const size_t page_template_bytes;
extern const unsigned char page_template[];

#endif
