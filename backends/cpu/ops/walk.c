/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/walk.c - a tensor's elements in index order, run by run.
 *
 * Dimension d joins the one before it, e, when a step along d leads exactly
 * behind the last element along e:
 *
 *     nb[d] == nb[e] * ne[e]
 *
 * in units of blocks along dimension 0.  Dimensions of one element have no
 * steps, and are left out.
 */
#include "backends/cpu/ops/walk.h"

/* Blocks of a quantised type stay in dimension 0: nb[0] is then the stride from
 * block to block, and ne[0] still counts elements. */
struct gb_cpu_shape
gb_cpu_joined(const struct ggml_tensor *t)
{
    const int64_t block = ggml_blck_size(t->type);
    struct gb_cpu_shape shape = {
        .ne = { t->ne[0], 1, 1, 1 },
        .nb = { t->nb[0], 0, 0, 0 },
    };
    int last = 0;

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        const int64_t per_stride = last == 0 ? block : 1;

        if (t->ne[d] == 1)
            continue;
        if (shape.ne[last] == 1 && block == 1) {
            /* Nothing lies along it yet: its stride means nothing. */
            shape.ne[last] = t->ne[d];
            shape.nb[last] = t->nb[d];
        } else if (t->nb[d] ==
                   shape.nb[last] * (size_t)(shape.ne[last] / per_stride)) {
            shape.ne[last] *= t->ne[d];
        } else {
            last++;
            shape.ne[last] = t->ne[d];
            shape.nb[last] = t->nb[d];
        }
    }
    return shape;
}

/* FIRST is taken apart into indices of the joined shape, whose index order is
 * the tensor's own. */
struct gb_cpu_walk
gb_cpu_walk_begin(const struct ggml_tensor *t, int64_t first)
{
    struct gb_cpu_walk walk = {
        .shape = gb_cpu_joined(t),
        .type = t->type,
        .data = t->data,
    };

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        walk.at[d] = first % walk.shape.ne[d];
        first /= walk.shape.ne[d];
    }
    return walk;
}

struct gb_cpu_line
gb_cpu_walk_line(const struct gb_cpu_walk *walk)
{
    struct gb_cpu_line line;

    line.data = walk->data;
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        line.data += (size_t)walk->at[d] * walk->shape.nb[d];
    line.stride = walk->shape.nb[0];
    line.type = walk->type;
    return line;
}

/* Carries go up as in addition.  The last dimension is not wrapped: behind the
 * last element the walk stands at its end. */
void
gb_cpu_walk_advance(struct gb_cpu_walk *walk, int64_t n)
{
    walk->at[0] += n;
    for (int d = 0; d + 1 < GGML_MAX_DIMS; d++) {
        if (walk->at[d] < walk->shape.ne[d])
            return;
        walk->at[d] = 0;
        walk->at[d + 1]++;
    }
}
