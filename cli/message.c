/* SPDX-License-Identifier: Apache-2.0 */
/* One line, one write: lines of ours and of a target that shares the terminal don't get mixed. */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 }; /* two whole paths and a sentence */

void message_error(const char *command, const char *format, ...)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "rooftap%s%s: ", command ? " " : "", command ? command : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    va_end(arguments);
    size_t bytes = strlen(line);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[bytes++] = '\n';
    if (write(STDERR_FILENO, line, bytes) < 0)
        return; /* there is nobody to tell */
}

void message_not_printed(const char *command)
{
    if (ferror(stdout))
        message_error(command, "standard output can't be written: %m");
    else
        message_error(command, "out of memory");
}
