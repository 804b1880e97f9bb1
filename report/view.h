/* SPDX-License-Identifier: Apache-2.0 */
/* How a report is to be shown. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/books.h"
#include "report/columns.h"

struct model_books;

struct view {
    size_t rows;         /* of the operator table and of the skinny list; SIZE_MAX: all */
    bool rows_asked_for; /* exactly that many, not one more for want of a fold */
    size_t width;        /* columns of a line */
    bool fit; /* columns may be left out so that rows fit: on a terminal, where a row that wraps can't be read */
    bool colours;
    enum columns_of by;
    const struct column *sort;             /* NULL: as the session has them, longest time first */
    bool skinny;                           /* the skinny list alone, all of it */
    const struct books *books;             /* a model to compare with, in place of the tables; NULL: none */
    const struct model_books *model_books; /* a GGUF to close the books with; NULL: none */
};

#endif
