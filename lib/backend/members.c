/* SPDX-License-Identifier: MIT */
/*
 * backend/members.c - which members of the interface's tables must be there.
 *
 * They are looked at where an object comes in, so that nobody asks again.  What
 * else the interface lets a backend leave out is asked for where it is called.
 */
#include "config.h"

#include "lib/backend/members.h"

#include "ggml-backend-impl.h"

#include <string.h>

#define MEMBERS(list) { list, sizeof(list) / sizeof((list)[0]) }

static const struct gb_member reg_list[] = {
    GB_MEMBER(ggml_backend_reg_i, get_name),
    GB_MEMBER(ggml_backend_reg_i, get_device_count),
    GB_MEMBER(ggml_backend_reg_i, get_device),
};

static const struct gb_member device_list[] = {
    GB_MEMBER(ggml_backend_device_i, get_name),
    GB_MEMBER(ggml_backend_device_i, get_description),
    GB_MEMBER(ggml_backend_device_i, get_memory),
    GB_MEMBER(ggml_backend_device_i, get_type),
    GB_MEMBER(ggml_backend_device_i, get_props),
    GB_MEMBER(ggml_backend_device_i, init_backend),
    GB_MEMBER(ggml_backend_device_i, get_buffer_type),
    GB_MEMBER(ggml_backend_device_i, supports_op),
    GB_MEMBER(ggml_backend_device_i, supports_buft),
};

static const struct gb_member buffer_type_list[] = {
    GB_MEMBER(ggml_backend_buffer_type_i, get_name),
    GB_MEMBER(ggml_backend_buffer_type_i, alloc_buffer),
    GB_MEMBER(ggml_backend_buffer_type_i, get_alignment),
};

/* Backends have buffers that are written but never read: no get_tensor. */
static const struct gb_member buffer_list[] = {
    GB_MEMBER(ggml_backend_buffer_i, get_base),
    GB_MEMBER(ggml_backend_buffer_i, set_tensor),
    GB_MEMBER(ggml_backend_buffer_i, clear),
};

static const struct gb_member backend_list[] = {
    GB_MEMBER(ggml_backend_i, get_name),
    GB_MEMBER(ggml_backend_i, free),
    GB_MEMBER(ggml_backend_i, graph_compute),
};

const struct gb_members gb_reg_members = MEMBERS(reg_list);
const struct gb_members gb_device_members = MEMBERS(device_list);
const struct gb_members gb_buffer_type_members = MEMBERS(buffer_type_list);
const struct gb_members gb_buffer_members = MEMBERS(buffer_list);
const struct gb_members gb_backend_members = MEMBERS(backend_list);

const char *
gb_missing_member(const struct gb_members *members, const void *table)
{
    for (size_t i = 0; i < members->n; i++) {
        void (*function)(void);

        memcpy(&function, (const char *)table + members->list[i].offset,
               sizeof(function));
        if (function == NULL)
            return members->list[i].name;
    }
    return NULL;
}
