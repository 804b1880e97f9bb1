/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables have formats: weight_format.c what weights cost, model/formats.c what files hold. ggml's formats stand in both,
 * and differ by the case of their K. */
#include "classify/launch_format.h"

#include <string.h>
#include <strings.h>

#include "classify/model/formats.h"

static const struct model_format *stored_as(const char *name)
{
    size_t count;
    const struct model_format *rows = model_formats(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

bool launch_format_find(const char *name, struct launch_format *format)
{
    const struct weight_format *weight = weight_format_find(name);
    const struct model_format *stored = weight ? stored_as(name) : model_format_by_name(name);
    *format = (struct launch_format){.name = weight ? weight->name : stored ? stored->name : NULL, .weight = weight};
    if (!format->name || (!weight && weight_format_of_file(name))) /* "q4_k": one format has one name */
        return false;
    format->bits = weight ? weight_format_bits(weight) : stored->bits;
    format->block = stored ? stored->block : 0;
    format->block_bytes = stored ? stored->block_bytes : 0;
    return true;
}

const char *launch_format_of_ggml(int64_t type)
{
    const struct model_format *stored = type >= 0 && type <= UINT32_MAX ? model_format_by_gguf((uint32_t)type) : NULL;
    if (!stored)
        return NULL;
    const struct weight_format *weight = weight_format_of_file(stored->name);
    return weight ? weight->name : stored->name;
}
