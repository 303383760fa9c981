/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/values.c - reading and writing single elements of tensors, by index.
 *
 * Every type whose elements stand alone is a row of a table: how to read one as
 * a double, which holds all of them exactly, and how to write one.  Blocks of
 * the quantised types cannot be written element by element and have no row.
 *
 * For tests and small tensors: each call looks the type up and checks the
 * index.
 */
#include "config.h"

#include "ggml-cpu.h"

#include "lib/base/status.h"
#include "lib/tensor/context.h"

#include <math.h>
#include <string.h>

/* How elements of one type are read and written. */
struct accessor {
    double (*get)(const void *p);
    void (*set)(void *p, double value);
};

/* As C converts, towards 0, but for what it leaves undefined: values beyond the
 * range give its nearest end, NaN gives 0. */
static int32_t
to_i32(double value)
{
    if (isnan(value))
        return 0;
    if (value >= INT32_MAX)
        return INT32_MAX;
    return value <= INT32_MIN ? INT32_MIN : (int32_t)value;
}

/* A pair for each type.  I8 and I16 keep the low bits of an int32_t; floats are
 * rounded to the nearest. */

static double
get_i8(const void *p)
{
    return *(const int8_t *)p;
}

static void
set_i8(void *p, double value)
{
    *(int8_t *)p = (int8_t)to_i32(value);
}

static double
get_i16(const void *p)
{
    return *(const int16_t *)p;
}

static void
set_i16(void *p, double value)
{
    *(int16_t *)p = (int16_t)to_i32(value);
}

static double
get_i32(const void *p)
{
    return *(const int32_t *)p;
}

static void
set_i32(void *p, double value)
{
    *(int32_t *)p = to_i32(value);
}

static double
get_f16(const void *p)
{
    return ggml_fp16_to_fp32(*(const ggml_fp16_t *)p);
}

static void
set_f16(void *p, double value)
{
    *(ggml_fp16_t *)p = ggml_fp32_to_fp16((float)value);
}

static double
get_bf16(const void *p)
{
    return ggml_bf16_to_fp32(*(const ggml_bf16_t *)p);
}

static void
set_bf16(void *p, double value)
{
    *(ggml_bf16_t *)p = ggml_fp32_to_bf16((float)value);
}

static double
get_f32(const void *p)
{
    return *(const float *)p;
}

static void
set_f32(void *p, double value)
{
    *(float *)p = (float)value;
}

static const struct accessor accessors[GGML_TYPE_COUNT] = {
    [GGML_TYPE_I8] = { get_i8, set_i8 },
    [GGML_TYPE_I16] = { get_i16, set_i16 },
    [GGML_TYPE_I32] = { get_i32, set_i32 },
    [GGML_TYPE_F16] = { get_f16, set_f16 },
    [GGML_TYPE_BF16] = { get_bf16, set_bf16 },
    [GGML_TYPE_F32] = { get_f32, set_f32 },
};

/* The type's row, NULL when this tensor's elements cannot be reached from
 * here. */
static const struct accessor *
accessor_of(const struct ggml_tensor *tensor)
{
    ggml_backend_buffer_t buffer;
    const struct accessor *accessor;

    GB_NEED_OR(NULL, tensor != NULL, "element: no tensor");
    GB_NEED_OR(NULL, tensor->data != NULL, "element: \"%s\" has no memory",
               tensor->name);
    buffer = tensor->view_src != NULL ? tensor->view_src->buffer
                                      : tensor->buffer;
    GB_NEED_OR(NULL, buffer == NULL || ggml_backend_buffer_is_host(buffer),
               "element: \"%s\" is not in host memory", tensor->name);
    accessor = (unsigned)tensor->type < GGML_TYPE_COUNT
                   ? &accessors[tensor->type] : NULL;
    GB_NEED_OR(NULL, accessor != NULL && accessor->get != NULL,
               "element: \"%s\" is %s, whose elements cannot be reached",
               tensor->name, ggml_type_name(tensor->type));
    return accessor;
}

/* The address of the element at INDEX; NULL, with the reason recorded, when an
 * index is out of range. */
static void *
element_at(const struct ggml_tensor *tensor, const int64_t index[4])
{
    char *p = tensor->data;

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        GB_NEED_OR(NULL, index[d] >= 0 && index[d] < tensor->ne[d],
                   "element: \"%s\" has no index %lld along dimension %d",
                   tensor->name, (long long)index[d], d);
        p += (size_t)index[d] * tensor->nb[d];
    }
    return p;
}

/* Element I in the order of the indices. */
static void *
element_1d(const struct ggml_tensor *tensor, int i)
{
    int64_t index[4] = { 0, 0, 0, 0 };

    GB_NEED_OR(NULL, i >= 0 && i < ggml_nelements(tensor),
               "element: \"%s\" has no element %d", tensor->name, i);
    ggml_unravel_index(
        tensor, i, &index[0], &index[1], &index[2], &index[3]);
    return element_at(tensor, index);
}

static double
get_1d(const struct ggml_tensor *tensor, int i)
{
    const struct accessor *accessor = accessor_of(tensor);
    const void *p = accessor != NULL ? element_1d(tensor, i) : NULL;

    return p != NULL ? accessor->get(p) : 0;
}

static void
set_1d(const struct ggml_tensor *tensor, int i, double value)
{
    const struct accessor *accessor = accessor_of(tensor);
    void *p = accessor != NULL ? element_1d(tensor, i) : NULL;

    if (p != NULL)
        accessor->set(p, value);
}

static double
get_nd(const struct ggml_tensor *tensor, const int64_t index[4])
{
    const struct accessor *accessor = accessor_of(tensor);
    const void *p = accessor != NULL ? element_at(tensor, index) : NULL;

    return p != NULL ? accessor->get(p) : 0;
}

static void
set_nd(const struct ggml_tensor *tensor, const int64_t index[4], double value)
{
    const struct accessor *accessor = accessor_of(tensor);
    void *p = accessor != NULL ? element_at(tensor, index) : NULL;

    if (p != NULL)
        accessor->set(p, value);
}

/* Write the elements of one row. */
static void
fill_row(const struct ggml_tensor *tensor, char *row,
         const struct accessor *accessor, double value)
{
    for (int64_t i0 = 0; i0 < tensor->ne[0]; i0++)
        accessor->set(row + (size_t)i0 * tensor->nb[0], value);
}

/* All elements, row by row; rows may have any strides. */
static void
fill(struct ggml_tensor *tensor, double value)
{
    const struct accessor *accessor = accessor_of(tensor);
    char *data = tensor != NULL ? tensor->data : NULL;

    if (accessor == NULL || ggml_is_empty(tensor))
        return;
    for (int64_t row = 0; row < ggml_nrows(tensor); row++) {
        const size_t i1 = (size_t)(row % tensor->ne[1]);
        const size_t i2 = (size_t)(row / tensor->ne[1] % tensor->ne[2]);
        const size_t i3 = (size_t)(row / tensor->ne[1] / tensor->ne[2]);

        fill_row(tensor,
                 data + i1 * tensor->nb[1] + i2 * tensor->nb[2] +
                     i3 * tensor->nb[3],
                 accessor, value);
    }
}

/* A tensor of one element in CTX, which has to give it memory. */
static struct ggml_tensor *
new_scalar(struct ggml_context *ctx, enum ggml_type type, double value)
{
    struct ggml_tensor *tensor;

    if (ctx == NULL || ggml_get_no_alloc(ctx))
        return gb_context_failed(
            ctx, "new %s: the context gives no memory", ggml_type_name(type));
    tensor = ggml_new_tensor_1d(ctx, type, 1);
    if (!gb_tensor_is_failed(tensor))
        fill(tensor, value);
    return tensor;
}

struct ggml_tensor *
ggml_new_i32(struct ggml_context *ctx, int32_t value)
{
    return new_scalar(ctx, GGML_TYPE_I32, value);
}

struct ggml_tensor *
ggml_new_f32(struct ggml_context *ctx, float value)
{
    return new_scalar(ctx, GGML_TYPE_F32, (double)value);
}

struct ggml_tensor *
ggml_set_i32(struct ggml_tensor *tensor, int32_t value)
{
    fill(tensor, value);
    return tensor;
}

struct ggml_tensor *
ggml_set_f32(struct ggml_tensor *tensor, float value)
{
    fill(tensor, (double)value);
    return tensor;
}

int32_t
ggml_get_i32_1d(const struct ggml_tensor *tensor, int i)
{
    return to_i32(get_1d(tensor, i));
}

void
ggml_set_i32_1d(const struct ggml_tensor *tensor, int i, int32_t value)
{
    set_1d(tensor, i, value);
}

int32_t
ggml_get_i32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3)
{
    return to_i32(get_nd(tensor, (const int64_t[4]){ i0, i1, i2, i3 }));
}

void
ggml_set_i32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, int32_t value)
{
    set_nd(tensor, (const int64_t[4]){ i0, i1, i2, i3 }, value);
}

float
ggml_get_f32_1d(const struct ggml_tensor *tensor, int i)
{
    return (float)get_1d(tensor, i);
}

void
ggml_set_f32_1d(const struct ggml_tensor *tensor, int i, float value)
{
    set_1d(tensor, i, (double)value);
}

float
ggml_get_f32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3)
{
    return (float)get_nd(tensor, (const int64_t[4]){ i0, i1, i2, i3 });
}

void
ggml_set_f32_nd(const struct ggml_tensor *tensor, int i0, int i1, int i2,
                int i3, float value)
{
    set_nd(tensor, (const int64_t[4]){ i0, i1, i2, i3 }, (double)value);
}
