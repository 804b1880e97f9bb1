/* SPDX-License-Identifier: Apache-2.0 */
/* How the launch table reads one launch of a kernel, or why it doesn't. */
#ifndef CLI_LAUNCH_EXPLANATION_H
#define CLI_LAUNCH_EXPLANATION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* As options give it. */
struct launch_question {
    const char *params, *grid, *block; /* NULL: not given */
};

/* False, with one line on standard error, where it can't be a launch of the kernel NAME. */
bool launch_question_fits(const struct launch_question *question, const char *name, const char *command);

/* QUESTION fits NAME. As lines below the name's others; nothing where no row knows the kernel and nothing was asked. */
void launch_explanation_print(const struct launch_question *question, const char *name);
json_t *launch_explanation_json(const struct launch_question *question, const char *name);

#endif
