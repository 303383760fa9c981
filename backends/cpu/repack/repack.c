/* SPDX-License-Identifier: MIT */
/*
 * cpu/repack/repack.c - weights with sixteen rows side by side, and back.
 *
 * A block begins with one or two half floats, its d and m; codes follow.  Both
 * are moved and not looked at, so that what comes back is what was set, byte
 * for byte.  Kernels read half floats of many rows as an array, hence in the
 * machine's order.
 */
#include "config.h"

#include "backends/cpu/repack/repack.h"

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/kernels/api/repacked.h"

const char gb_cpu_repack_mark = 0;

bool
gb_cpu_can_repack(const struct ggml_tensor *t)
{
    return gb_cpu_kernels()->repacked(t->type) != NULL && t->ne[0] > 0 &&
           t->ne[0] % GB_REPACKED_VALUES == 0 && t->ne[1] > 0 &&
           t->ne[1] % GB_REPACKED_ROWS == 0 && t->ne[2] > 0 && t->ne[3] > 0 &&
           ggml_is_contiguous(t);
}

size_t
gb_cpu_repack_group_bytes(const struct ggml_tensor *t)
{
    return GB_REPACKED_ROWS * ggml_row_size(t->type, t->ne[0]);
}

static const struct gb_format *
format_of(const struct ggml_tensor *t)
{
    return gb_cpu_kernels()->repacked(t->type)->format;
}

void
gb_cpu_repack_group(const struct ggml_tensor *t, const void *rows, void *group)
{
    const struct gb_format *format = format_of(t);
    const int64_t blocks = t->ne[0] / GB_REPACKED_VALUES;

    for (int64_t i = 0; i < blocks; i++) {
        const struct gb_repacked_block b =
            gb_repacked_block(format, blocks, i);
        const char *block = (const char *)rows + (size_t)i * format->bytes;

        for (int r = 0; r < GB_REPACKED_ROWS; r++)
            gb_repacked_put(
                &b, block + (size_t)(r * blocks) * format->bytes, r, group);
    }
}

void
gb_cpu_unpack_group(const struct ggml_tensor *t, const void *group, void *rows)
{
    const struct gb_format *format = format_of(t);
    const int64_t blocks = t->ne[0] / GB_REPACKED_VALUES;

    for (int64_t i = 0; i < blocks; i++) {
        const struct gb_repacked_block b =
            gb_repacked_block(format, blocks, i);
        char *block = (char *)rows + (size_t)i * format->bytes;

        for (int r = 0; r < GB_REPACKED_ROWS; r++)
            gb_repacked_get(
                &b, group, r, block + (size_t)(r * blocks) * format->bytes);
    }
}
