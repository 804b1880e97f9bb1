/* SPDX-License-Identifier: Apache-2.0 */
/* Backend descriptors: counted references to a list of attributes. A descriptor that another one refers to lives on
 * after its owner destroys it, as a plan outlives the descriptors that it was built from. */
#include "backend.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x53696d44 };

struct descriptor {
    uint32_t magic;
    int type;
    bool finalized;
    atomic_uint references;
    struct attribute *attributes;
};

size_t attribute_type_bytes(int type)
{
    switch (type) {
    case TYPE_HANDLE:
    case TYPE_INT64:
    case TYPE_DOUBLE:
    case TYPE_VOID_PTR:
    case TYPE_BACKEND_DESCRIPTOR:
        return 8;
    case TYPE_BOOLEAN:
    case TYPE_CHAR:
        return 1;
    case TYPE_FRACTION:
        return 16;
    default:
        return 4; /* float, int32 and all enumerations */
    }
}

struct descriptor *descriptor_new(int type)
{
    struct descriptor *descriptor = calloc(1, sizeof *descriptor);

    if (descriptor) {
        descriptor->magic = MAGIC;
        descriptor->type = type;
        atomic_init(&descriptor->references, 1);
    }
    return descriptor;
}

bool descriptor_valid(const struct descriptor *descriptor)
{
    return descriptor && descriptor->magic == MAGIC;
}

int descriptor_type(const struct descriptor *descriptor)
{
    return descriptor->type;
}

bool descriptor_finalized(const struct descriptor *descriptor)
{
    return descriptor->finalized;
}

void descriptor_finalize(struct descriptor *descriptor)
{
    descriptor->finalized = true;
}

static void drop_attribute(struct attribute *attribute)
{
    if (attribute->type == TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < attribute->count; i++)
            descriptor_release(((struct descriptor **)attribute->data)[i]);
    free(attribute->data);
    free(attribute);
}

static void drop_attributes(struct descriptor *descriptor)
{
    struct attribute *attribute = descriptor->attributes;

    while (attribute) {
        struct attribute *next = attribute->next;

        drop_attribute(attribute);
        attribute = next;
    }
    descriptor->attributes = NULL;
}

void descriptor_release(struct descriptor *descriptor)
{
    if (!descriptor_valid(descriptor) || atomic_fetch_sub(&descriptor->references, 1) != 1)
        return;
    drop_attributes(descriptor);
    descriptor->magic = 0;
    free(descriptor);
}

const struct attribute *descriptor_get(const struct descriptor *descriptor, int name)
{
    for (const struct attribute *attribute = descriptor->attributes; attribute; attribute = attribute->next)
        if (attribute->name == name)
            return attribute;
    return NULL;
}

struct descriptor *descriptor_refers(const struct descriptor *descriptor, int name, int64_t index)
{
    const struct attribute *attribute = descriptor_get(descriptor, name);

    if (!attribute || attribute->type != TYPE_BACKEND_DESCRIPTOR || index >= attribute->count)
        return NULL;
    return ((struct descriptor **)attribute->data)[index];
}

static void remove_attribute(struct descriptor *descriptor, int name)
{
    for (struct attribute **link = &descriptor->attributes; *link; link = &(*link)->next) {
        struct attribute *attribute = *link;

        if (attribute->name == name) {
            *link = attribute->next;
            drop_attribute(attribute);
            return;
        }
    }
}

int descriptor_set(struct descriptor *descriptor, int name, int type, int64_t count, const void *data)
{
    size_t bytes = (size_t)count * attribute_type_bytes(type);
    struct attribute *attribute;

    if (type == TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < count; i++)
            if (!descriptor_valid(((struct descriptor *const *)data)[i]))
                return STATUS_BAD_PARAM;
    attribute = calloc(1, sizeof *attribute);
    if (!attribute || !(attribute->data = malloc(bytes ? bytes : 1))) {
        free(attribute);
        return STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    attribute->name = name;
    attribute->type = type;
    attribute->count = count;
    if (bytes)
        memcpy(attribute->data, data, bytes);
    if (type == TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < count; i++)
            atomic_fetch_add(&((struct descriptor **)attribute->data)[i]->references, 1);
    remove_attribute(descriptor, name);
    attribute->next = descriptor->attributes;
    descriptor->attributes = attribute;
    return STATUS_SUCCESS;
}

int descriptor_copy(struct descriptor *to, const struct descriptor *from)
{
    if (to == from)
        return STATUS_SUCCESS;
    if (to->type != from->type)
        return STATUS_BAD_PARAM;
    drop_attributes(to);
    for (const struct attribute *a = from->attributes; a; a = a->next) {
        int status = descriptor_set(to, a->name, a->type, a->count, a->data);

        if (status)
            return status;
    }
    to->finalized = from->finalized;
    return STATUS_SUCCESS;
}
