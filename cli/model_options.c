/* SPDX-License-Identifier: Apache-2.0 */
/* A wrong word is answered with the list of all, out of the table that is searched. */
#include "cli/model_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"

bool model_options_number(const char *command, const char *option, const char *text, int64_t absent, int64_t *value)
{
    *value = absent;
    if (!text)
        return true;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number < 1 || number > PREDICT_OPTION_MOST) {
        message_error(command, "--%s takes a whole number from 1 to %d, not '%s'", option, PREDICT_OPTION_MOST, text);
        return false;
    }
    *value = number;
    return true;
}

bool model_options_format(const char *command, const char *option, const char *name, enum model_format_use use,
                          const struct model_format **format)
{
    *format = model_format_by_name(name);
    if (!name || (*format && (*format)->uses & use))
        return true;
    char list[256];
    model_format_list(use, list, sizeof list);
    message_error(command, "--%s takes %s, not '%s'", option, list, name);
    return false;
}

bool model_options_weights(const char *command, const char *name, const struct weight_format **format)
{
    *format = name ? weight_format_find(name) : NULL;
    if (!name || *format)
        return true;
    char list[1024];
    size_t count, used = 0;
    const struct weight_format *rows = weight_formats(&count);
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? "|" : "", rows[i].name);
    message_error(command, "--weights takes %s, not '%s'", list, name);
    return false;
}
