/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/repack-buffer.c - memory in which weights lie repacked: an extra
 * buffer type of the CPU, for clients that load weights by copy.
 *
 * The memory is ordinary, but what is in it is not in the standard layout, so
 * it is no host memory for clients: they set and get tensors.  Setting repacks
 * whole groups of rows; of a group that is set in part the rest is unpacked
 * before.  Getting gives the bytes that were set.  Other threads may do so for
 * other tensors.
 *
 * A tensor that cannot be repacked is kept as it is and computed by nobody:
 * supports_op says so, and clients ask.
 */
#include "config.h"

#include "backends/cpu/device/device.h"

#include "backends/cpu/repack/repack.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

static const char *
repack_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "CPU_REPACK";
}

/* A range of a tensor's bytes, SIZE of them from byte OFFSET on, in the memory
 * of ROOT: the tensor, or what it is a view of. */
struct range {
    const struct ggml_tensor *root;
    size_t offset;
    size_t size;
};

static struct range
range_of(const struct ggml_tensor *tensor, size_t offset, size_t size)
{
    if (tensor->view_src == NULL)
        return (struct range){ tensor, offset, size };
    return (struct range){ tensor->view_src, tensor->view_offs + offset, size };
}

/* The part of a group that the range begins with. */
struct part {
    char *group;
    size_t at; /* in the group */
    size_t size;
    bool is_whole;
};

static struct part
first_part(const struct range *range)
{
    const size_t bytes = gb_cpu_repack_group_bytes(range->root);
    const size_t at = range->offset % bytes;
    const size_t size = range->size < bytes - at ? range->size : bytes - at;

    return (struct part){
        .group = (char *)range->root->data + (range->offset - at),
        .at = at,
        .size = size,
        .is_whole = size == bytes,
    };
}

static void
next_part(struct range *range, const struct part *part)
{
    range->offset += part->size;
    range->size -= part->size;
}

/* Room for the rows of a group, unpacked; NULL is logged. */
static char *
room_for_group(const struct range *range)
{
    char *rows = gb_mem_alloc(gb_cpu_repack_group_bytes(range->root));

    if (rows == NULL)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for %zu bytes of "
                "\"%s\", which is repacked",
                gb_cpu_repack_group_bytes(range->root), range->root->name);
    return rows;
}

/* Write the range: DATA, or VALUE where that is NULL. */
static void
write_range(struct range range, const char *data, uint8_t value)
{
    char *rows = room_for_group(&range);

    if (rows == NULL)
        return;
    while (range.size > 0) {
        const struct part part = first_part(&range);

        if (!part.is_whole)
            gb_cpu_unpack_group(range.root, part.group, rows);
        if (data != NULL)
            memcpy(rows + part.at, data, part.size);
        else
            memset(rows + part.at, value, part.size);
        gb_cpu_repack_group(range.root, rows, part.group);
        data = data != NULL ? data + part.size : NULL;
        next_part(&range, &part);
    }
    gb_mem_free(rows);
}

static void
repack_set_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
                  const void *data, size_t offset, size_t size)
{
    const struct range range = range_of(tensor, offset, size);

    (void)buffer;
    if (gb_cpu_can_repack(range.root))
        write_range(range, data, 0);
    else
        memmove((char *)tensor->data + offset, data, size);
}

static void
repack_memset_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
                     uint8_t value, size_t offset, size_t size)
{
    const struct range range = range_of(tensor, offset, size);

    (void)buffer;
    if (gb_cpu_can_repack(range.root))
        write_range(range, NULL, value);
    else
        memset((char *)tensor->data + offset, value, size);
}

static void
read_range(struct range range, char *data)
{
    char *rows = room_for_group(&range);

    if (rows == NULL)
        return;
    while (range.size > 0) {
        const struct part part = first_part(&range);

        gb_cpu_unpack_group(range.root, part.group, rows);
        memcpy(data, rows + part.at, part.size);
        data += part.size;
        next_part(&range, &part);
    }
    gb_mem_free(rows);
}

static void
repack_get_tensor(ggml_backend_buffer_t buffer,
                  const struct ggml_tensor *tensor, void *data, size_t offset,
                  size_t size)
{
    const struct range range = range_of(tensor, offset, size);

    (void)buffer;
    if (gb_cpu_can_repack(range.root))
        read_range(range, data);
    else
        memmove(data, (const char *)tensor->data + offset, size);
}

/* The host's memory with other functions; what it does with the memory itself
 * (get_base, clear, free_buffer) stays. */
static ggml_backend_buffer_t
repack_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);

    if (buffer == NULL)
        return NULL;
    buffer->buft = buft;
    buffer->iface.memset_tensor = repack_memset_tensor;
    buffer->iface.set_tensor = repack_set_tensor;
    buffer->iface.get_tensor = repack_get_tensor;
    buffer->iface.cpy_tensor = NULL;
    return buffer;
}

static size_t
repack_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 64;
}

const struct ggml_backend_buffer_type gb_cpu_repack_buffer_type = {
    .iface = {
        .get_name = repack_get_name,
        .alloc_buffer = repack_alloc_buffer,
        .get_alignment = repack_get_alignment,
    },
    .device = GB_CPU_DEVICE,
    .context = (void *)&gb_cpu_repack_mark,
};
