/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/im2col.c - the windows of an image as rows (im2col), by which a
 * convolution becomes a matrix product, and its gradient.
 *
 * IM2COL, with stride s, padding p and dilation d along x (0) and y (1):
 *     dst[(c * KH + kh) * KW + kw, ow, oh, n] =
 *         src1[ow * s0 + kw * d0 - p0, oh * s1 + kh * d1 - p1, c, n]
 *     and 0 outside of the image
 *   src0   the kernel [KW, KH, IC, OC]; only its shape is used
 *   src1   images, F32 [IW, IH, IC, N], any strides
 *   dst    a float type [IC * KH * KW, OW, OH, N], any strides
 *
 * IM2COL_BACK is the transpose of that linear map, which is its gradient: each
 * pixel is the sum of all elements of windows that read it (col2im).
 *   src0   gradient of the windows, F32 [IC * KH * KW, OW, OH, N], any strides
 *   src1   the kernel; only its shape is used
 *   dst    F32 [IW, IH, IC, N], rows dense
 *
 * Parameters: s0, s1, p0, p1, d0, d1, and 1 for the two-dimensional form.  In
 * the one-dimensional form (0) tensors have no dimensions KH, IH and OH, those
 * behind them move down by one, and the parameters for y are not used.
 *
 * Threads   tiles are whole rows of dst: windows, or rows of images.  The
 *           gradient is computed as a gather for that reason, pixel row by
 *           pixel row.
 * Accuracy  IM2COL copies, with one rounding to the type of dst; IM2COL_BACK
 *           adds in F32, in the order of kh, kw and ow.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <string.h>

/* Sizes of an im2col, the one-dimensional form as an image of height 1. */
struct windows {
    int64_t s0, s1, p0, p1, d0, d1; /* strides, paddings, dilations */
    int64_t kw, kh;                 /* the kernel */
    int64_t iw, ih, channels;       /* the image */
    int64_t ow, oh;                 /* windows along both */
    /* byte strides of the image: pixel, row, channel, image of the batch */
    size_t pixel, row, channel, batch;
    /* and of the windows: along a row of them, rows, image of the batch */
    size_t window, window_row, window_batch;
};

static bool
is_2d(const struct ggml_tensor *node)
{
    return gb_cpu_param_i32(node, 6) == 1;
}

/* The sizes for a node with these three tensors, in whichever role they are its
 * sources or itself. */
static struct windows
windows_of(const struct ggml_tensor *node, const struct ggml_tensor *kernel,
           const struct ggml_tensor *image, const struct ggml_tensor *columns)
{
    const bool is_flat = !is_2d(node);
    const struct windows w = {
        .s0 = gb_cpu_param_i32(node, 0),
        .s1 = is_flat ? 1 : gb_cpu_param_i32(node, 1),
        .p0 = gb_cpu_param_i32(node, 2),
        .p1 = is_flat ? 0 : gb_cpu_param_i32(node, 3),
        .d0 = gb_cpu_param_i32(node, 4),
        .d1 = is_flat ? 1 : gb_cpu_param_i32(node, 5),
        .kw = kernel->ne[0],
        .kh = is_flat ? 1 : kernel->ne[1],
        .iw = image->ne[0],
        .ih = is_flat ? 1 : image->ne[1],
        .channels = image->ne[is_flat ? 1 : 2],
        .ow = columns->ne[1],
        .oh = is_flat ? 1 : columns->ne[2],
        .pixel = image->nb[0],
        .row = is_flat ? 0 : image->nb[1],
        .channel = image->nb[is_flat ? 1 : 2],
        .batch = image->nb[is_flat ? 2 : 3],
        .window = columns->nb[1],
        .window_row = is_flat ? 0 : columns->nb[2],
        .window_batch = columns->nb[is_flat ? 2 : 3],
    };

    return w;
}

/* Do the shapes agree?  All sizes are below 2^30, so that their products with
 * strides and dilations fit an int64_t.  OW and OH need not be
 * those of the formula: positions outside of the image are 0. */
static bool
are_consistent(const struct windows *w, bool is_flat,
               const struct ggml_tensor *kernel,
               const struct ggml_tensor *image,
               const struct ggml_tensor *columns)
{
    int64_t elements;

    return gb_cpu_is_countable(kernel) && gb_cpu_is_countable(image) &&
           gb_cpu_is_countable(columns) && w->s0 > 0 && w->s1 > 0 &&
           gb_mul_count(w->kw * w->kh, w->channels, &elements) &&
           columns->ne[0] == elements &&
           columns->ne[is_flat ? 2 : 3] == image->ne[is_flat ? 2 : 3] &&
           (!is_flat || (columns->ne[3] == 1 && image->ne[3] == 1));
}

static bool
im2col_can_run(const struct ggml_tensor *node)
{
    const struct windows w =
        windows_of(node, node->src[0], node->src[1], node);

    return node->src[1]->type == GGML_TYPE_F32 &&
           gb_cpu_is_float(node->type) &&
           are_consistent(&w, !is_2d(node), node->src[0], node->src[1],
                          node);
}

/* Bytes of scratch: one window as floats, before it is converted. */
static size_t
im2col_scratch(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)node->ne[0], sizeof(float));
}

/* Write one window of all channels to DST as floats: that which begins at pixel
 * (X, Y) of IMAGE.  Both may be negative, in the padding.  The address of a row
 * above the image is not computed. */
static void
fill_window(const struct windows *w, const char *image, int64_t x, int64_t y,
            float *dst)
{
    for (int64_t c = 0; c < w->channels; c++)
        for (int64_t kh = 0; kh < w->kh; kh++) {
            const int64_t iy = y + kh * w->d1;
            const size_t row =
                (size_t)c * w->channel + (iy < 0 ? 0 : (size_t)iy * w->row);

            for (int64_t kw = 0; kw < w->kw; kw++) {
                const int64_t ix = x + kw * w->d0;

                *dst = 0.0f;
                if (iy >= 0 && iy < w->ih && ix >= 0 && ix < w->iw)
                    memcpy(dst, image + row + (size_t)ix * w->pixel,
                           sizeof(*dst));
                dst++;
            }
        }
}

/* The windows of a tile: a row of dst is one window. */
static enum ggml_status
im2col_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *image = node->src[1];
    const struct windows w = windows_of(node, node->src[0], image, node);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const int64_t oh = is_2d(node) ? at.i2 : 0;
        const int64_t batch = is_2d(node) ? at.i3 : at.i2;
        float *const values = gb_cpu_line_target(&to, 0, task->scratch);

        fill_window(&w, gb_cpu_place(image->data, (size_t)batch * w.batch),
                    at.i1 * w.s0 - w.p0, oh * w.s1 - w.p1, values);
        gb_cpu_line_write(task->k, &to, 0, node->ne[0], values);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_im2col = {
    .n_src = 2,
    .can_run = im2col_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .scratch = im2col_scratch,
    .run = im2col_run,
};

/* The roles of im2col_can_run(): src0 has the windows, the node is the
 * image. */
static bool
im2col_back_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct windows w = windows_of(node, node->src[1], node, a);

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) &&
           are_consistent(&w, !is_2d(node), node->src[1], node, a);
}

/*
 * Add to DST, a row of one channel of the image, what one row of windows read
 * there with one kernel row: dst[ow * s0 + kw * d0 - p0] += the gradient of
 * element kw of window ow.  GRADIENT is the address of kw = 0 of window 0;
 * ELEMENT the bytes from one kw to the next.
 */
static void
add_window_row(const struct windows *w, const char *gradient, size_t element,
               float *dst)
{
    for (int64_t kw = 0; kw < w->kw; kw++)
        for (int64_t ow = 0; ow < w->ow; ow++) {
            const int64_t ix = ow * w->s0 + kw * w->d0 - w->p0;
            float g;

            if (ix < 0 || ix >= w->iw)
                continue;
            memcpy(&g,
                   gradient + (size_t)ow * w->window + (size_t)kw * element,
                   sizeof(g));
            dst[ix] += g;
        }
}

/* The image rows of a tile.  Window row oh reads image row iy with kernel row
 * kh if oh * s1 + kh * d1 - p1 = iy: for each kh there is one oh at most. */
static enum ggml_status
im2col_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct windows w = windows_of(node, node->src[1], node, a);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const int64_t iy = is_2d(node) ? at.i1 : 0;
        const int64_t c = is_2d(node) ? at.i2 : at.i1;
        const int64_t batch = is_2d(node) ? at.i3 : at.i2;
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);

        memset(dst, 0, (size_t)node->ne[0] * sizeof(float));
        /* A kernel of width 0 has no elements, and may have any height. */
        for (int64_t kh = 0; w.kw > 0 && kh < w.kh; kh++) {
            const int64_t y = iy + w.p1 - kh * w.d1;

            if (y < 0 || y % w.s1 != 0 || y / w.s1 >= w.oh)
                continue;
            add_window_row(&w,
                           gb_cpu_place(a->data,
                                        (size_t)batch * w.window_batch +
                                            (size_t)(y / w.s1) * w.window_row +
                                            (size_t)((c * w.kh + kh) * w.kw) *
                                                a->nb[0]),
                           a->nb[0], dst);
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_im2col_back = {
    .n_src = 2,
    .can_run = im2col_back_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = im2col_back_run,
};
