/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/line.h - rows of any type and stride, read and written as floats.
 *
 * A "line" is one row of a tensor with its type and its stride.  Operations
 * that compute in F32 read and write rows through these functions, and so are
 * written once for all types:
 *
 *   dense F32            used in place, nothing is copied
 *   F16, BF16, strided   converted or gathered in a buffer of GB_CPU_BUFFER
 *   or quantised         elements, which stays in the first cache
 *
 * Dense means that elements, or blocks, of a row are next to each other.
 * Quantised rows must be dense and are read and written in whole blocks.
 */
#ifndef GB_CPU_OPS_LINE_H
#define GB_CPU_OPS_LINE_H

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/ops/place.h"

#include "lib/tensor/shape.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements that go through a buffer at a time: a multiple of the longest block,
 * 256, and 2 KiB of floats, so that a few buffers fit the first cache. */
#define GB_CPU_BUFFER 512

/* A row: elements along dimension 0 of a tensor. */
struct gb_cpu_line {
    char *data;
    size_t stride; /* bytes from one element (quantised: block) to the next */
    enum ggml_type type;
};

/* The row of T at (i1, i2, i3). */
static inline struct gb_cpu_line
gb_cpu_line_at(const struct ggml_tensor *t, int64_t i1, int64_t i2, int64_t i3)
{
    struct gb_cpu_line line;

    line.data = gb_cpu_place(t->data, (size_t)i1 * t->nb[1] +
                                          (size_t)i2 * t->nb[2] +
                                          (size_t)i3 * t->nb[3]);
    line.stride = t->nb[0];
    line.type = t->type;
    return line;
}

/* Is the row dense F32, which is used in place? */
static inline bool
gb_cpu_line_is_plain(const struct gb_cpu_line *line)
{
    return line->type == GGML_TYPE_F32 && line->stride == sizeof(float);
}

/* Are all rows of T used in place?  The stride of a single element means
 * nothing. */
static inline bool
gb_cpu_is_plain(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 &&
           (t->nb[0] == sizeof(float) || t->ne[0] == 1);
}

/* Is it one of the types that a row may have with any stride: F32, F16 or
 * BF16? */
static inline bool
gb_cpu_is_float(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16;
}

/* Can T's rows be read: dense, of a quantised type that has a reader? */
bool gb_cpu_can_read_blocks(const struct ggml_tensor *t);

/* Can T's rows be written: dense, of a type that the CPU has a row quantiser
 * for? */
bool gb_cpu_can_write_blocks(const struct ggml_tensor *t);

/* Can rows of T be read as floats: a float type with any stride, or blocks? */
static inline bool
gb_cpu_can_read(const struct ggml_tensor *t)
{
    return gb_cpu_is_float(t->type) || gb_cpu_can_read_blocks(t);
}

/* Can rows of T be written from floats, likewise? */
static inline bool
gb_cpu_can_write(const struct ggml_tensor *t)
{
    return gb_cpu_is_float(t->type) || gb_cpu_can_write_blocks(t);
}

/* Is there a conversion of dense rows of type FROM to dense rows of type TO?
 * There is one of a type to itself, of float types to all types that can be
 * written, and of quantised types to F32. */
bool gb_cpu_can_convert(enum ggml_type from, enum ggml_type to);

/*
 * Convert N dense elements of type FROM at SRC to dense elements of type TO at
 * DST.  For quantised types N is a whole number of blocks.  Without a change of
 * type the two may overlap.
 */
void gb_cpu_convert(
    const struct gb_cpu_kernels *k, enum ggml_type from, enum ggml_type to,
    int64_t n, void *dst, const void *src);

/* Strided loops: gather copies N elements of SIZE bytes, each STRIDE bytes
 * behind the one before, to consecutive ones; scatter is the inverse.  Source
 * and destination do not overlap. */
void gb_cpu_gather(
    int64_t n, size_t size, void *dst, const void *src, size_t stride);
void gb_cpu_scatter(
    int64_t n, size_t size, void *dst, size_t stride, const void *src);

/*
 * N elements of LINE from element FIRST on, as floats.  The result points into
 * the line if that is dense F32, else to BUFFER, which has room for N floats
 * and then has them.  For quantised types FIRST and N are whole numbers of
 * blocks.
 */
const float *gb_cpu_line_read(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, float *buffer);

/*
 * Writing floats to LINE from element FIRST on, in two steps.  target says
 * where to compute them: in the line itself if that is dense F32, else in
 * BUFFER.  write, called afterwards with these floats as VALUES, then converts
 * and scatters them from the buffer; for dense F32 it has nothing to do.
 */
float *gb_cpu_line_target(
    const struct gb_cpu_line *line, int64_t first, float *buffer);
void gb_cpu_line_write(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, const float *values);

/*
 * Copy N elements between rows, converting where the types differ
 * (gb_cpu_can_convert).  Quantised rows are dense, with FIRST and N whole
 * numbers of blocks.
 */
void gb_cpu_line_copy(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *dst,
    int64_t dst_first, const struct gb_cpu_line *src, int64_t src_first,
    int64_t n);

/* dst[i] += element FIRST + i of LINE, a row that can be read, for i < N: one
 * F32 addition each. */
void gb_cpu_line_add(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, float *dst);

/* The sum of N elements of LINE, a row that can be read, from FIRST on: F32
 * within blocks of vectors, double between them. */
double gb_cpu_line_sum(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n);

#endif
