/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a file to who sits before the machine. */
#ifndef CLI_OPEN_PAGE_H
#define CLI_OPEN_PAGE_H

#include <stdbool.h>

/* What opens files on the desktop that this process runs on: "xdg-open", ... NULL: there is no desktop here, or nothing on it
 * opens files. */
const char *open_page_program(void);

/* Why there is none, as half a sentence. */
const char *open_page_why_not(void);

/* Starts PROGRAM on the file with that absolute PATH and does not wait for it. False: it could not be started, errno says why. */
bool open_page(const char *program, const char *path);

#endif
