/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. Every conversion of units in text output is here. NAN is printed as FORMAT_UNKNOWN. */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum { FORMAT_BYTES = 48 };
#define FORMAT_UNKNOWN "-"

/* Each writes into TEXT, of FORMAT_BYTES, and returns it. */
char *format_count(char *text, uint64_t count);                               /* 1,234,567 */
char *format_size(char *text, int64_t size);                                  /* 3584; negative: not known */
char *format_duration(char *text, double ns);                                 /* 12.34 ms */
char *format_share(char *text, double share);                                 /* 12.3 %, without the sign */
char *format_gain(char *text, double share);                                  /* 0.68, 12.3; <0.01: next to nothing */
char *format_intensity(char *text, double flops_per_byte);                    /* 162.9 */
char *format_tera(char *text, double per_second);                             /* 165.2, of 1.652e14 */
char *format_giga(char *text, double per_second);                             /* 1008, of 1.008e12 */
char *format_bytes(char *text, double bytes);                                 /* 12.3 MB */
const char *format_plural(uint64_t count, const char *one, const char *many); /* the word for COUNT */
char *format_gibibytes(char *text, double bytes);                             /* 14.2 GiB: memory and files */

#endif
