/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says on standard error: always one line, always with its name in front. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

/* COMMAND may be NULL: then the line starts with "rooftap: ". Control characters are shown as '?'.
 */
void message_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Why something could not be printed on standard output: it could not be written, or memory ran out. */
void message_not_printed(const char *command);

#endif
