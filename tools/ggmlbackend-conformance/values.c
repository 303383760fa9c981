/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/values.c - a tensor's values in double precision.
 */
#include "tools/ggmlbackend-conformance/values.h"

#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

void *
must_alloc(size_t count, size_t size)
{
    void *block = calloc(count > 0 ? count : 1, size);

    if (block == NULL) {
        tool_error("no memory");
        exit(TOOL_FAILED);
    }
    return block;
}

struct values
values_new(const int64_t ne[4])
{
    struct values x;

    memcpy(x.ne, ne, sizeof(x.ne));
    x.terms = 0;
    x.v = must_alloc((size_t)values_count(&x), sizeof(*x.v));
    return x;
}

struct values
values_copy(const struct values *values)
{
    struct values x = values_new(values->ne);

    x.terms = values->terms;
    memcpy(x.v, values->v, (size_t)values_count(values) * sizeof(*x.v));
    return x;
}

void
values_free(struct values *values)
{
    free(values->v);
    values->v = NULL;
}

/* One element of a type that is not made of blocks. */
static double
read_one(enum ggml_type type, const uint8_t *at)
{
    union {
        float f32;
        double f64;
        ggml_fp16_t f16;
        ggml_bf16_t bf16;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } x;

    memcpy(&x, at, ggml_type_size(type));
    switch ((int)type) {
    case GGML_TYPE_F32:
        return x.f32;
    case GGML_TYPE_F64:
        return x.f64;
    case GGML_TYPE_F16:
        return ggml_fp16_to_fp32(x.f16);
    case GGML_TYPE_BF16:
        return ggml_bf16_to_fp32(x.bf16);
    case GGML_TYPE_I8:
        return x.i8;
    case GGML_TYPE_I16:
        return x.i16;
    case GGML_TYPE_I32:
        return x.i32;
    default:
        return (double)x.i64;
    }
}

/* Blocks of activations, which the interface does not convert: a scale, halves or a
 * float, and behind it (and the sum of q8_1) a byte a value. */
static void
read_activations(const struct ggml_tensor *t, const uint8_t *row, double *out)
{
    const int64_t n = ggml_blck_size(t->type);

    for (int64_t i = 0; i < t->ne[0]; i++) {
        const uint8_t *block = row + (size_t)(i / n) * ggml_type_size(t->type);
        const enum ggml_type scale =
            t->type == GGML_TYPE_Q8_1 ? GGML_TYPE_F16 : GGML_TYPE_F32;

        out[i] = read_one(scale, block) * (int8_t)block[4 + i % n];
    }
}

static void
read_row(const struct ggml_tensor *t, const uint8_t *row, double *out)
{
    if (t->type == GGML_TYPE_Q8_1 || t->type == GGML_TYPE_Q8_K) {
        read_activations(t, row, out);
        return;
    }
    if (ggml_is_quantized(t->type)) {
        float *floats = must_alloc((size_t)t->ne[0], sizeof(*floats));

        ggml_get_type_traits(t->type)->to_float(row, floats, t->ne[0]);
        for (int64_t i = 0; i < t->ne[0]; i++)
            out[i] = floats[i];
        free(floats);
        return;
    }
    for (int64_t i = 0; i < t->ne[0]; i++)
        out[i] = read_one(t->type, row + (size_t)i * t->nb[0]);
}

struct values
values_read(const struct ggml_tensor *t, const uint8_t *data)
{
    struct values x = values_new(t->ne);

    if (values_count(&x) == 0)
        return x;
    for (int64_t i3 = 0; i3 < t->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < t->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < t->ne[1]; i1++)
                read_row(t,
                         data + t->view_offs + (size_t)i1 * t->nb[1] +
                             (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3],
                         at(&x, 0, i1, i2, i3));
    return x;
}
