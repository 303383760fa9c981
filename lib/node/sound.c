/* SPDX-License-Identifier: MIT */
/*
 * node/sound.c - whether a tensor alone can be worked on, whatever a client
 * wrote into it.
 *
 * Every tensor of every graph passes here when a plan is made.  Most are small
 * and contiguous, of numbers of four bytes: these take a short path without a
 * call or a division.
 */
#include "lib/node/sound.h"

#include "lib/node/apart.h"

#include <stdint.h>

/* The most bytes from a tensor's first to its last one. */
#define MAX_EXTENT (SIZE_MAX / 4)

/* ---- any tensor ---- */

/*
 * Add N strides of STEP bytes along one dimension to *bytes, the extent so far,
 * of a tensor whose elements or blocks have SIZE bytes.  NEXT is the stride of a
 * dense tensor.  A single element (N = 0) has no use for its stride, but kernels
 * may add it to an address once.
 */
static bool
add_steps(int64_t n, size_t step, size_t size, size_t next, size_t *bytes)
{
    if (n == 0)
        return step <= MAX_EXTENT;
    if (step != next && step % size != 0)
        return false;
    if (step > 0 && (uint64_t)n > (MAX_EXTENT - *bytes) / step)
        return false;
    *bytes += (size_t)n * step;
    return true;
}

/* True if no dimension of T is negative and its elements are not too many,
 * dimensions of 0 not counted. */
static bool
has_counts(const struct ggml_tensor *t)
{
    int64_t n = 1;

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        if (t->ne[d] < 0 ||
            (t->ne[d] > 0 && n > GB_NODE_MAX_ELEMENTS / t->ne[d]))
            return false;
        n *= t->ne[d] > 0 ? t->ne[d] : 1;
    }
    return true;
}

static bool
is_empty(const struct ggml_tensor *t)
{
    return t->ne[0] == 0 || t->ne[1] == 0 || t->ne[2] == 0 || t->ne[3] == 0;
}

static bool
has_values(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT && ggml_blck_size(type) > 0;
}

/* The extent of T, whose type has values. */
static bool
extent_of(const struct ggml_tensor *t, size_t *bytes)
{
    const int64_t block = ggml_blck_size(t->type);
    const size_t size = ggml_type_size(t->type);
    size_t sum = size;

    if (!has_counts(t) || t->ne[0] % block != 0)
        return false;
    *bytes = 0;
    if (is_empty(t))
        return true;
    if (!add_steps(t->ne[0] / block - 1, t->nb[0], size, size, &sum))
        return false;
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        if (!add_steps(t->ne[d] - 1, t->nb[d], size, sum, &sum))
            return false;
    *bytes = sum;
    return true;
}

/* What addresses of TYPE are a multiple of: elements begin at multiples of their
 * size, blocks at those of the widest number in them. */
static size_t
alignment_of(enum ggml_type type)
{
    if (ggml_blck_size(type) == 1)
        return ggml_type_size(type);
    return type == GGML_TYPE_Q8_K ? sizeof(float) : sizeof(ggml_fp16_t);
}

static bool
is_aligned(const struct ggml_tensor *t)
{
    const bool has_blocks = ggml_blck_size(t->type) > 1;

    if ((uintptr_t)t->data % alignment_of(t->type) != 0)
        return false;
    return !has_blocks || t->view_src == NULL ||
           t->view_src->type != t->type ||
           t->view_offs % ggml_type_size(t->type) == 0;
}

/* ---- the short path ---- */

/* Is T contiguous, of F32 or I32, each dimension below 2^14, at a multiple of
 * 4? */
static inline bool
is_plain(const struct ggml_tensor *t)
{
    return (t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_I32) &&
           (uint64_t)(t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 14 == 0 &&
           t->nb[0] == sizeof(float) &&
           t->nb[1] == sizeof(float) * (size_t)t->ne[0] &&
           t->nb[2] == t->nb[1] * (size_t)t->ne[1] &&
           t->nb[3] == t->nb[2] * (size_t)t->ne[2] &&
           (uintptr_t)t->data % sizeof(float) == 0;
}

/* ---- what others ask ---- */

bool
gb_node_extent(const struct ggml_tensor *t, size_t *bytes)
{
    if (is_plain(t)) {
        *bytes = t->nb[3] * (size_t)t->ne[3];
        return true;
    }
    return has_values(t->type) && extent_of(t, bytes);
}

bool
gb_node_is_sound(const struct ggml_tensor *t)
{
    size_t bytes;

    return is_plain(t) || (gb_node_extent(t, &bytes) && is_aligned(t));
}

bool
gb_node_has_places(const struct ggml_tensor *t)
{
    size_t bytes;

    return is_plain(t) ||
           (gb_node_extent(t, &bytes) && (is_empty(t) || gb_node_is_apart(t)));
}

bool
gb_node_is_within(const struct ggml_tensor *t, uintptr_t base, size_t size)
{
    const size_t offset = (uintptr_t)t->data - base;
    size_t bytes;

    return gb_node_extent(t, &bytes) && t->data != NULL && offset <= size &&
           bytes <= size - offset;
}
