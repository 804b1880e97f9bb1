/* SPDX-License-Identifier: Apache-2.0 */
/* All that makes a report's figures doubtful, in one place. */
#ifndef REPORT_CAVEATS_H
#define REPORT_CAVEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "classify/session.h"

struct caveat {
    const char *id; /* for machines; never changes */
    /* One sentence without an end of line; false, and nothing written: it does not hold. */
    bool (*print)(const struct session *session, FILE *out);
};

const struct caveat *caveats(size_t *count);

/* NULL: the caveat does not hold. The caller frees. */
char *caveat_text(const struct caveat *caveat, const struct session *session);

void caveats_print(const struct session *session, FILE *out);

#endif
