/* SPDX-License-Identifier: Apache-2.0 */
/* A session as one HTML file. report/page has the page, this fills its places: what works without scripts, and the JSON. */
#ifndef REPORT_REPORT_HTML_H
#define REPORT_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"
#include "report/report.h"

enum {
    REPORT_HTML_BYTES = 1000000, /* a file is smaller than that: it can be mailed and put into a ticket */
    REPORT_HTML_ROWS = 256,      /* of each list, unless the caller asks for another number */
};

/* As many ROWS of each list as fit, beginning with the number asked for, 0: REPORT_HTML_ROWS. BOOKS and MODEL_BOOKS may be
 * NULL. False: memory ran out, *PAGE is empty. The caller frees page->text. */
bool report_html(const struct session *session, const struct books *books, const struct model_books *model_books,
                 size_t rows, struct report_page *page);

#endif
