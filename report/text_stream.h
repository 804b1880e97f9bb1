/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed, as a text in memory. open_memstream() of glibc drops what finds no memory and tells no error of it. */
#ifndef REPORT_TEXT_STREAM_H
#define REPORT_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* Never NULL; where memory runs out the command ends. From fclose() on *TEXT has *BYTES and a final 0; the caller frees it. */
FILE *text_stream_open(char **text, size_t *bytes);

#endif
