/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/line.h - rows of any type and stride, read and written as floats.
 *
 * An operation that works on floats takes a row through here: a dense F32 row
 * is used where it lies, any other passes through a buffer, in pieces that stay
 * in the first cache.  So an operation is written once, not once a type.
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

/* Elements of a piece: whole blocks of every type. */
#define GB_CPU_PIECE 512

/* Elements along one dimension. */
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

/* Dense F32 can be used in place. */
static inline bool
gb_cpu_line_is_plain(const struct gb_cpu_line *line)
{
    return line->type == GGML_TYPE_F32 && line->stride == sizeof(float);
}

/* All rows of T can be used in place. */
static inline bool
gb_cpu_is_plain(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 &&
           (t->nb[0] == sizeof(float) || t->ne[0] == 1);
}

/* F32, F16 or BF16. */
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

/* Can dense rows of FROM be turned into dense rows of TO? */
bool gb_cpu_can_convert(enum ggml_type from, enum ggml_type to);

/*
 * N dense elements of type FROM as dense elements of type TO.  For quantised
 * types N is a whole number of blocks.
 */
void gb_cpu_convert(
    const struct gb_cpu_kernels *k, enum ggml_type from, enum ggml_type to,
    int64_t n, void *dst, const void *src);

/* N elements of SIZE bytes, from or to every STRIDE bytes.  They do not
 * overlap. */
void gb_cpu_gather(
    int64_t n, size_t size, void *dst, const void *src, size_t stride);
void gb_cpu_scatter(
    int64_t n, size_t size, void *dst, size_t stride, const void *src);

/*
 * N elements of LINE from element FIRST on, as floats: where they lie if that
 * is possible, else in BUFFER, which has room for N.  For quantised types FIRST
 * and N are whole numbers of blocks.
 */
const float *gb_cpu_line_read(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, float *buffer);

/*
 * Where floats for LINE from FIRST on should be put: the line itself, if that
 * is possible, or BUFFER; gb_cpu_line_write brings them home from there.
 */
float *gb_cpu_line_target(
    const struct gb_cpu_line *line, int64_t first, float *buffer);
void gb_cpu_line_write(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, const float *values);

/*
 * Copy N elements between lines, converting where the types differ.  Quantised
 * lines are dense, with FIRST and N whole numbers of blocks.
 */
void gb_cpu_line_copy(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *dst,
    int64_t dst_first, const struct gb_cpu_line *src, int64_t src_first,
    int64_t n);

/* dst += N floats of LINE, F32 or half, from FIRST on. */
void gb_cpu_line_add(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n, float *dst);

/* The sum of N elements of LINE, F32 or half, from FIRST on. */
double gb_cpu_line_sum(
    const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
    int64_t first, int64_t n);

#endif
