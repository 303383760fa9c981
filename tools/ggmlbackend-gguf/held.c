/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/held.c - refusing values that a type cannot hold.
 *
 * Blocks whose values are large are quantised a second time, scaled down to where
 * every type has room.  Where that comes out much nearer, or twice as large, the
 * first was clamped.  Weights of models are small, so this is rarely done.
 */
#include "tools/ggmlbackend-gguf/held.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every type holds values below it, and values scaled to half of it. */
#define ROOMY 1024.0f

/* Every type holds values up to it, the largest of f16. */
#define SURELY_HELD 65504.0f

/* Values that are looked at together: whole blocks of every type. */
enum { STEP = 256, MAX_VALUE_SIZE = 8 };

/* Where a value is. */
struct spot {
    const char *path;
    const struct ggml_tensor *t;
    int64_t row;
};

/* Says that a value cannot be held, for REASON. */
static bool
refuse(const struct spot *spot, int64_t column, double value, const char *reason)
{
    char text[32];

    if (isnan(value))
        snprintf(text, sizeof(text), "NaN");
    else if (isinf(value))
        snprintf(text, sizeof(text), "%sinfinity", value < 0.0 ? "-" : "");
    else
        snprintf(text, sizeof(text), "%.9g", value);
    return tool_error("%s: tensor '%s', row %lld, column %lld: the value %s is "
                      "%s", spot->path, spot->t->name, (long long)spot->row,
                      (long long)column, text, reason);
}

/* The bits of the largest magnitude; those of NaN are above infinity's. */
static uint32_t
largest_bits(const float *x, int64_t n)
{
    uint32_t largest = 0;

    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &x[i], sizeof(bits));
        bits &= 0x7FFFFFFF;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

static float
largest_of(const float *x, int64_t n)
{
    const uint32_t bits = largest_bits(x, n);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The sum of (x - scale * y)^2, and in *WORST where most of it comes from: of equal
 * ones the largest value, which made its block what it is. */
static double
error_of(int64_t n, const float *x, const float *y, double scale, int64_t *worst)
{
    double sum = 0.0, most = -1.0;

    for (int64_t i = 0; i < n; i++) {
        const double d = (double)x[i] - scale * (double)y[i];
        const double error = isnan(d) ? (double)INFINITY : d * d;

        sum += error;
        if (error > most || (error == most && fabsf(x[i]) > fabsf(x[*worst]))) {
            most = error;
            *worst = i;
        }
    }
    return sum;
}

/* True if BLOCKS hold the N values X, at most STEP; else *WORST is the value that
 * is farthest off. */
static bool
is_held(enum ggml_type type, int64_t n, const float *x, const uint8_t *blocks,
        int64_t *worst)
{
    const ggml_to_float_t to_float = ggml_get_type_traits(type)->to_float;
    float y[STEP], scaled[STEP];
    uint8_t again[STEP * MAX_VALUE_SIZE];
    const float largest = largest_of(x, n);
    double error, expected, energy = 0.0;
    float top;
    int64_t ignored;
    int exponent;

    to_float(blocks, y, n);
    error = error_of(n, x, y, 1.0, worst);
    top = largest_of(y, n);
    frexpf(largest, &exponent);
    exponent -= 9;
    for (int64_t i = 0; i < n; i++) {
        energy += (double)x[i] * (double)x[i];
        scaled[i] = ldexpf(x[i], -exponent);
    }
    ggml_quantize_chunk(type, scaled, again, 0, 1, n, NULL);
    to_float(again, y, n);
    expected = error_of(n, x, y, ldexp(1.0, exponent), &ignored);
    /* Coarse types lose most of a block with one large value, cut off or not. */
    if (largest > SURELY_HELD && error > expected &&
        top < ldexpf(0.5f * largest_of(y, n), exponent))
        return false;
    return error <= 2.0 * expected + 1e-6 * energy;
}

/* The same as held_check, of one row. */
static bool
check_row(const struct spot *spot, enum ggml_type type, const float *x,
          const uint8_t *blocks)
{
    const int64_t n = spot->t->ne[0];
    char reason[128];
    int64_t worst;

    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return refuse(spot, i, (double)x[i], "not a finite number");
    for (int64_t i = 0; type != GGML_TYPE_F32 && i < n; i += STEP) {
        const int64_t step = n - i < STEP ? n - i : STEP;

        if (largest_of(x + i, step) < ROOMY ||
            is_held(type, step, x + i, blocks + ggml_row_size(type, i), &worst))
            continue;
        snprintf(reason, sizeof(reason), "beyond what %s holds; types bf16 and "
                 "f32 have a larger range", ggml_type_name(type));
        return refuse(spot, i + worst, (double)x[i + worst], reason);
    }
    return true;
}

bool
held_check(const char *path, const struct ggml_tensor *t, enum ggml_type type,
           int64_t row, int64_t n_rows, const float *x, const uint8_t *blocks)
{
    const int64_t n = t->ne[0];

    if (largest_of(x, n * n_rows) < ROOMY)
        return true;
    for (int64_t i = 0; i < n_rows; i++) {
        const struct spot spot = { path, t, row + i };

        if (!check_row(&spot, type, x + i * n,
                       blocks + (size_t)i * ggml_row_size(type, n)))
            return false;
    }
    return true;
}

/* The N values at DATA, at most STEP. */
static void
read_values(enum ggml_type type, const uint8_t *data, int64_t n, double *out)
{
    const ggml_to_float_t to_float = ggml_get_type_traits(type)->to_float;
    float x[STEP];

    if (type == GGML_TYPE_F64) {
        memcpy(out, data, (size_t)n * sizeof(*out));
        return;
    }
    if (to_float != NULL)
        to_float(data, x, n);
    else
        memcpy(x, data, (size_t)n * sizeof(*x));
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

/* Looks for the first value that is not finite in a row of DATA; true, with
 * nothing said, if there is none. */
static bool
find_in_row(const struct spot *spot, const uint8_t *data)
{
    const enum ggml_type type = spot->t->type;
    const int64_t n = spot->t->ne[0];
    double values[STEP];

    for (int64_t i = 0; i < n; i += STEP) {
        const int64_t step = n - i < STEP ? n - i : STEP;

        read_values(type, data + ggml_row_size(type, i), step, values);
        for (int64_t k = 0; k < step; k++)
            if (!isfinite(values[k]))
                return refuse(spot, i + k, values[k], "not a finite number");
    }
    return true;
}

bool
held_check_copy(const char *path, const struct ggml_tensor *t,
                const uint8_t *data)
{
    const size_t row_size = ggml_row_size(t->type, t->ne[0]);
    const bool is_read = type_has_floats(t->type) || t->type == GGML_TYPE_F64;
    struct spot spot = { path, t, 0 };

    tool_forget_reason();
    if (ggml_validate_row_data(t->type, data, ggml_nbytes(t)))
        return true;
    for (; is_read && spot.row < ggml_nrows(t); spot.row++)
        if (!find_in_row(&spot, data + (size_t)spot.row * row_size))
            return false;
    return tool_error("%s: tensor '%s': %s", path, t->name, tool_reason());
}
