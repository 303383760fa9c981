/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/line.c - rows of any type and stride, read and written as floats.
 *
 * Elements of a strided row are gathered into a dense buffer of GB_CPU_BUFFER
 * elements before they are converted; what goes to a strided row is converted
 * in a dense buffer, then scattered.  Dense rows go through one conversion, or
 * one memmove, without these buffers.
 *
 * Accuracy  from F16 and BF16 to F32 exact, from quantised types their formula
 *           in F32; from F32 one rounding, or the type's quantiser.  Between
 *           other types values go through F32.
 */
#include "backends/cpu/ops/line.h"

#include "lib/type/type.h"

#include "ggml-cpu.h"

#include <string.h>

bool
gb_cpu_can_read_blocks(const struct ggml_tensor *t)
{
    return ggml_is_quantized(t->type) && gb_is_dense(t) &&
           ggml_get_type_traits(t->type)->to_float != NULL;
}

bool
gb_cpu_can_write_blocks(const struct ggml_tensor *t)
{
    return ggml_is_quantized(t->type) && gb_is_dense(t) &&
           ggml_get_type_traits_cpu(t->type)->from_float != NULL;
}

bool
gb_cpu_can_convert(enum ggml_type from, enum ggml_type to)
{
    if (from == to)
        return ggml_type_size(from) > 0;
    if (gb_cpu_is_float(from))
        return gb_cpu_is_float(to) ||
               (ggml_is_quantized(to) &&
                ggml_get_type_traits_cpu(to)->from_float != NULL);
    return to == GGML_TYPE_F32 && ggml_is_quantized(from) &&
           ggml_get_type_traits(from)->to_float != NULL;
}

/* How many blocks N elements are, without a division for types whose blocks are
 * single elements: this is computed for each row, and rows may be short. */
static size_t
blocks_of(enum ggml_type type, int64_t n)
{
    const int64_t block = gb_type_get(type)->block;

    return (size_t)(block == 1 ? n : n / block);
}

/* Bytes of N elements, a whole number of blocks. */
static size_t
bytes_of(enum ggml_type type, int64_t n)
{
    return blocks_of(type, n) * gb_type_get(type)->bytes;
}

/* N floats as dense elements of type TO.  F32 may overlap its source. */
static void
from_floats(const struct gb_cpu_kernels *k, enum ggml_type to, int64_t n,
            void *dst, const float *src)
{
    if (to == GGML_TYPE_F32)
        memmove(dst, src, (size_t)n * sizeof(float));
    else if (to == GGML_TYPE_F16)
        k->f32_to_f16(n, dst, src);
    else if (to == GGML_TYPE_BF16)
        k->f32_to_bf16(n, dst, src);
    else
        ggml_get_type_traits_cpu(to)->from_float(src, dst, n);
}

void
gb_cpu_convert(const struct gb_cpu_kernels *k, enum ggml_type from,
               enum ggml_type to, int64_t n, void *dst, const void *src)
{
    float buffer[GB_CPU_BUFFER];

    /* A source without elements may have a NULL address. */
    if (n == 0)
        return;
    /* A client's node may overlap its source in memory. */
    if (from == to) {
        memmove(dst, src, bytes_of(from, n));
        return;
    }
    if (from == GGML_TYPE_F32) {
        from_floats(k, to, n, dst, src);
        return;
    }
    if (to == GGML_TYPE_F32) {
        k->floats(from, n, dst, src);
        return;
    }
    /* No direct conversion: through F32. */
    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        k->floats(from, len, buffer,
                  (const char *)src + bytes_of(from, i));
        from_floats(k, to, len, (char *)dst + bytes_of(to, i), buffer);
    }
}

void
gb_cpu_gather(int64_t n, size_t size, void *dst, const void *src,
              size_t stride)
{
    const char *from = src;
    char *to = dst;

    /* A copy of a constant size compiles to one load and one store. */
    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            to[i] = from[(size_t)i * stride];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * 2, from + (size_t)i * stride, 2);
        break;
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * 4, from + (size_t)i * stride, 4);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * size, from + (size_t)i * stride, size);
        break;
    }
}

void
gb_cpu_scatter(int64_t n, size_t size, void *dst, size_t stride,
               const void *src)
{
    const char *from = src;
    char *to = dst;

    /* Constant sizes as above. */
    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            to[(size_t)i * stride] = from[i];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * stride, from + i * 2, 2);
        break;
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * stride, from + i * 4, 4);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * stride, from + (size_t)i * size, size);
        break;
    }
}

/* The address of element FIRST, the first one of a block.  LINE may have no
 * elements and no address: then the result is not read. */
static char *
element(const struct gb_cpu_line *line, int64_t first)
{
    return gb_cpu_place(line->data,
                        blocks_of(line->type, first) * line->stride);
}

/* Are elements next to each other?  Quantised rows always are, since
 * gb_cpu_line_copy() demands it; their stride is not asked, because that of a
 * row of one block means nothing. */
static bool
line_is_dense(const struct gb_cpu_line *line)
{
    const struct gb_type *type = gb_type_get(line->type);

    return line->stride == type->bytes || type->block != 1;
}

/* Write N dense elements of type FROM to LINE from element FIRST on, converted
 * to its type: at once if LINE is dense, else through a buffer. */
static void
put(const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, enum ggml_type from, const void *src)
{
    const size_t size = ggml_type_size(from);
    /* Strided rows have blocks of one element, of eight bytes at most. */
    uint64_t converted[GB_CPU_BUFFER];

    if (line_is_dense(line)) {
        gb_cpu_convert(k, from, line->type, n, element(line, first), src);
        return;
    }
    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;
        const void *values = (const char *)src + (size_t)i * size;

        if (from != line->type) {
            gb_cpu_convert(k, from, line->type, len, converted, values);
            values = converted;
        }
        gb_cpu_scatter(len, ggml_type_size(line->type),
                       element(line, first + i), line->stride, values);
    }
}

void
gb_cpu_line_copy(const struct gb_cpu_kernels *k, const struct gb_cpu_line *dst,
                 int64_t dst_first, const struct gb_cpu_line *src,
                 int64_t src_first, int64_t n)
{
    /* As in put(): eight bytes an element. */
    uint64_t gathered[GB_CPU_BUFFER];

    if (line_is_dense(src)) {
        put(k, dst, dst_first, n, src->type, element(src, src_first));
        return;
    }
    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        gb_cpu_gather(len, ggml_type_size(src->type), gathered,
                      element(src, src_first + i), src->stride);
        put(k, dst, dst_first + i, len, src->type, gathered);
    }
}

const float *
gb_cpu_line_read(const struct gb_cpu_kernels *k,
                 const struct gb_cpu_line *line, int64_t first, int64_t n,
                 float *buffer)
{
    const struct gb_cpu_line floats = {
        .data = (char *)buffer,
        .stride = sizeof(float),
        .type = GGML_TYPE_F32,
    };

    if (gb_cpu_line_is_plain(line))
        return (const float *)gb_cpu_place(line->data,
                                           (size_t)first * sizeof(float));
    gb_cpu_line_copy(k, &floats, 0, line, first, n);
    return buffer;
}

float *
gb_cpu_line_target(const struct gb_cpu_line *line, int64_t first,
                   float *buffer)
{
    if (gb_cpu_line_is_plain(line))
        return (float *)gb_cpu_place(line->data,
                                     (size_t)first * sizeof(float));
    return buffer;
}

void
gb_cpu_line_write(const struct gb_cpu_kernels *k,
                  const struct gb_cpu_line *line, int64_t first, int64_t n,
                  const float *values)
{
    if (!gb_cpu_line_is_plain(line))
        put(k, line, first, n, GGML_TYPE_F32, values);
}

void
gb_cpu_line_add(const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
                int64_t first, int64_t n, float *dst)
{
    float buffer[GB_CPU_BUFFER];

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        k->add_f32(len, dst + i, dst + i,
                   gb_cpu_line_read(k, line, first + i, len, buffer));
    }
}

double
gb_cpu_line_sum(const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
                int64_t first, int64_t n)
{
    float buffer[GB_CPU_BUFFER];
    double sum = 0.0;

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        sum += k->sum_f32(
            len, gb_cpu_line_read(k, line, first + i, len, buffer));
    }
    return sum;
}
