/* SPDX-License-Identifier: Apache-2.0 */
/* The report's JSON inside a page. */
#ifndef REPORT_PAGE_DATA_H
#define REPORT_PAGE_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* <script type="application/json" id="data">, in which nothing can end the script or begin a comment. False: it could not be
 * made, for want of memory. */
bool page_data_print(const json_t *root, FILE *out);

#endif
