/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a page that are made without scripts, alone: page_parts tables|skinny|roofline ROWS SESSION */
#include <stdlib.h>
#include <string.h>

#include "classify/session.h"
#include "report/columns.h"
#include "report/page_tables.h"
#include "report/roofline_svg.h"

int main(int argc, char **argv)
{
    struct session_error error;
    if (argc != 4)
        return 2;
    struct session *session = session_open(argv[3], &error);
    if (!session) {
        fprintf(stderr, "page_parts: %s\n", error.text);
        return 2;
    }
    struct column_source source = column_source_of(session);
    size_t rows = strtoul(argv[2], NULL, 10);
    if (!strcmp(argv[1], "tables"))
        page_tables_print(&source, rows, stdout);
    else if (!strcmp(argv[1], "skinny"))
        page_skinny_print(&source, rows, stdout);
    else if (!strcmp(argv[1], "roofline"))
        roofline_svg_print(session, rows, stdout);
    column_source_free(&source);
    session_close(session);
    return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
