/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/pool2d.c - the largest or the mean of windows over rows and planes.
 *
 * POOL_1D POOL_2D POOL_2D_BACK.  With w(x, y) the window of k0 x k1 elements
 * that begins at column x * s0 - p0 and row y * s1 - p1 of a plane,
 *
 *     MAX   dst[x, y, c, b] = the largest of src0[w(x, y), c, b]
 *     AVG   dst[x, y, c, b] = their sum / (k0 * k1)
 *
 * POOL_1D has windows of one row: k1 = s1 = 1, p1 = 0, on each row of src0.
 *
 * A window may reach over the edges; what is outside does not count, but a mean
 * is always divided by the whole window's size.  A window that has nothing
 * inside gives -FLT_MAX, or 0.
 *
 *   src0   F32, F16 or BF16, any strides
 *   dst    F32, rows dense; dimensions from 1 (POOL_1D) or 2 on as src0's
 *   params op, then window, stride and padding: k0 s0 p0, or k0 k1 s0 s1 p0 p1
 *
 * Threads   tiles are rows of dst; of POOL_2D_BACK planes.
 * Accuracy  float sums in the order of memory.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <float.h>
#include <string.h>

/* A node's parameters, with those that POOL_1D lacks filled in. */
struct pool {
    enum ggml_op_pool op;
    int64_t k0, k1, s0, s1, p0, p1; /* window, strides, paddings */
};

static struct pool
pool_of(const struct ggml_tensor *node)
{
    struct pool pool = {
        .op = (enum ggml_op_pool)gb_cpu_param_i32(node, 0),
        .k0 = gb_cpu_param_i32(node, 1),
        .k1 = 1,
        .s0 = gb_cpu_param_i32(node, 2),
        .s1 = 1,
        .p0 = gb_cpu_param_i32(node, 3),
    };

    if (node->op != GGML_OP_POOL_1D) {
        pool.k1 = gb_cpu_param_i32(node, 2);
        pool.s0 = gb_cpu_param_i32(node, 3);
        pool.s1 = gb_cpu_param_i32(node, 4);
        pool.p0 = gb_cpu_param_i32(node, 5);
        pool.p1 = gb_cpu_param_i32(node, 6);
    }
    return pool;
}

/* A known function, and a window that is not empty.  Strides and paddings may
 * be anything: windows outside of the plane are empty. */
static bool
is_usable(const struct pool *pool)
{
    return (unsigned)pool->op < GGML_OP_POOL_COUNT && pool->k0 > 0 &&
           pool->k1 > 0;
}

static bool
pool_can_run(const struct ggml_tensor *node)
{
    const struct pool pool = pool_of(node);

    return gb_cpu_is_float(node->src[0]->type) &&
           node->type == GGML_TYPE_F32 && gb_is_dense(node) &&
           is_usable(&pool) && gb_cpu_is_countable(node) &&
           gb_cpu_is_countable(node->src[0]) &&
           gb_cpu_same_from(node, node->src[0],
                            node->op == GGML_OP_POOL_1D ? 1 : 2);
}

/* The part of a plane that a window covers: columns and rows [first, last),
 * none where last is not larger than first.  Sizes are below 2^30
 * (gb_cpu_is_countable), so that positions times parameters fit 64 bits. */
struct cover {
    int64_t x_first, x_last;
    int64_t y_first, y_last;
};

static struct cover
cover_of(const struct pool *pool, int64_t x, int64_t y, int64_t width,
         int64_t height)
{
    const int64_t x0 = x * pool->s0 - pool->p0;
    const int64_t y0 = y * pool->s1 - pool->p1;
    struct cover cover;

    cover.x_first = x0 > 0 ? x0 : 0;
    cover.x_last = x0 + pool->k0 < width ? x0 + pool->k0 : width;
    cover.y_first = y0 > 0 ? y0 : 0;
    cover.y_last = y0 + pool->k1 < height ? y0 + pool->k1 : height;
    return cover;
}

/* Element X of a row of any float type. */
static float
value_at(const struct gb_cpu_line *line, int64_t x)
{
    const char *from = line->data + (size_t)x * line->stride;
    uint16_t half;
    float value;

    if (line->type == GGML_TYPE_F32) {
        memcpy(&value, from, sizeof(value));
        return value;
    }
    memcpy(&half, from, sizeof(half));
    return line->type == GGML_TYPE_F16
               ? ggml_fp16_to_fp32(half)
               : ggml_bf16_to_fp32((ggml_bf16_t){ half });
}

/* One window over the plane whose row 0 is PLANE. */
static float
pool_window(const struct pool *pool, const struct cover *cover,
            const struct gb_cpu_line *plane, size_t row_stride)
{
    float max = -FLT_MAX;
    float sum = 0.0f;

    for (int64_t y = cover->y_first; y < cover->y_last; y++) {
        struct gb_cpu_line row = *plane;

        row.data = gb_cpu_place(plane->data, (size_t)y * row_stride);
        for (int64_t x = cover->x_first; x < cover->x_last; x++) {
            const float value = value_at(&row, x);

            max = value > max ? value : max;
            sum += value;
        }
    }
    return pool->op == GGML_OP_POOL_MAX ? max
                                        : sum / (float)(pool->k0 * pool->k1);
}

static enum ggml_status
pool_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct pool pool = pool_of(node);
    const bool is_flat = node->op == GGML_OP_POOL_1D;
    const int64_t height = is_flat ? 1 : a->ne[1];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line plane =
            gb_cpu_line_at(a, is_flat ? at.i1 : 0, at.i2, at.i3);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);

        for (int64_t x = 0; x < node->ne[0]; x++) {
            const struct cover cover = cover_of(
                &pool, x, is_flat ? 0 : at.i1, a->ne[0], height);

            dst[x] = pool_window(&pool, &cover, &plane, a->nb[1]);
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_pool = {
    .n_src = 1,
    .can_run = pool_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = pool_run,
};

/*
 * POOL_2D_BACK: dst = the gradient of POOL_2D's source.
 *
 *   src0   F32, the gradient of the result, any strides
 *   src1   what had been pooled, F32, F16 or BF16, any strides
 *   dst    F32, of src1's shape, rows dense
 *
 * MAX: the first of a window's largest elements gets all of its gradient.  AVG:
 * each element gets its 1 / (k0 * k1) part.  Windows may overlap, so gradients
 * are added up, and a plane is one thread's.
 */
static bool
pool_back_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct pool pool = pool_of(node);

    return a->type == GGML_TYPE_F32 && gb_cpu_is_float(b->type) &&
           node->type == GGML_TYPE_F32 && gb_is_dense(node) &&
           ggml_are_same_shape(b, node) && gb_cpu_same_from(a, node, 2) &&
           gb_cpu_is_countable(a) && gb_cpu_is_countable(node) &&
           is_usable(&pool);
}

/* A plane each. */
static int64_t
pool_back_tiles(const struct ggml_tensor *node)
{
    return node->ne[2] * node->ne[3];
}

/* Where the window's first largest element is, or false: none is larger than
 * the start value. */
static bool
find_largest(const struct cover *cover, const struct gb_cpu_line *plane,
             size_t row_stride, int64_t *x_out, int64_t *y_out)
{
    float max = -FLT_MAX;
    bool found = false;

    for (int64_t y = cover->y_first; y < cover->y_last; y++) {
        struct gb_cpu_line row = *plane;

        row.data = gb_cpu_place(plane->data, (size_t)y * row_stride);
        for (int64_t x = cover->x_first; x < cover->x_last; x++)
            if (value_at(&row, x) > max) {
                max = value_at(&row, x);
                *x_out = x;
                *y_out = y;
                found = true;
            }
    }
    return found;
}

/* Where element (x, y) of PLANE is in NODE, whose rows are dense. */
static float *
pixel(const struct ggml_tensor *node, const struct gb_cpu_row *plane,
      int64_t x, int64_t y)
{
    return (float *)(void *)gb_cpu_row_ptr(node, y, plane->i2, plane->i3) + x;
}

/* Send gradient G of a window to where it came from. */
static void
send_back(const struct ggml_tensor *node, const struct pool *pool,
          const struct cover *cover, const struct gb_cpu_row *plane, float g)
{
    const struct ggml_tensor *b = node->src[1];
    const struct gb_cpu_line values =
        gb_cpu_line_at(b, 0, plane->i2, plane->i3);
    const float share = g / (float)(pool->k0 * pool->k1);
    int64_t x_max;
    int64_t y_max;

    if (pool->op == GGML_OP_POOL_MAX) {
        if (find_largest(cover, &values, b->nb[1], &x_max, &y_max))
            *pixel(node, plane, x_max, y_max) += g;
        return;
    }
    for (int64_t y = cover->y_first; y < cover->y_last; y++)
        for (int64_t x = cover->x_first; x < cover->x_last; x++)
            *pixel(node, plane, x, y) += share;
}

static enum ggml_status
pool_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct pool pool = pool_of(node);
    const struct gb_cpu_row plane = {
        .i2 = tile % node->ne[2],
        .i3 = tile / node->ne[2],
    };

    for (int64_t y = 0; y < node->ne[1]; y++)
        memset(pixel(node, &plane, 0, y), 0,
               (size_t)node->ne[0] * sizeof(float));
    /* Rows without elements may be any number. */
    for (int64_t y = 0; a->ne[0] > 0 && y < a->ne[1]; y++) {
        const struct gb_cpu_line gradient =
            gb_cpu_line_at(a, y, plane.i2, plane.i3);

        for (int64_t x = 0; x < a->ne[0]; x++) {
            const struct cover cover =
                cover_of(&pool, x, y, node->ne[0], node->ne[1]);

            send_back(node, &pool, &cover, &plane, value_at(&gradient, x));
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_pool_2d_back = {
    .n_src = 2,
    .can_run = pool_back_can_run,
    .tiles = pool_back_tiles,
    .run = pool_back_run,
};
