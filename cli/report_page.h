/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap report --html FILE --open`: where the page goes, what is said of it, and who shows it. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stdbool.h>

#include "report/report.h"

struct page_request {
    const char *file; /* of --html; "-": standard output; NULL: report.html in the session's folder */
    bool open;        /* on the desktop, where there is one */
};

bool page_request_any(const struct page_request *request);

/* Makes the report with its page. Returns the command's exit status. */
int report_page_command(const struct page_request *request, struct report_options *options, const char *command);

#endif
