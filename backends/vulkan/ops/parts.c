/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/parts.c - nodes whose operands are larger than a binding, computed
 * in parts.
 *
 * The longest extent of the largest operand is halved until all operands fit, so
 * that operands of different strides are cut each where it helps.
 */
#include "backends/vulkan/ops/parts.h"

/* Parts along rows have a multiple of so many elements: whole blocks of each type,
 * and whole words. */
#define ROW_UNIT 256

/* More parts than that take longer than a way around the card. */
#define MOST_PARTS 65536

const struct gb_vk_parts gb_vk_parts_of_elements = {
    .dims = { true, true, true, true },
    .sources = GB_VK_ALL_ALIKE,
};

const struct gb_vk_parts gb_vk_parts_of_rows = {
    .dims = { false, true, true, true },
    .sources = GB_VK_ALL_ALIKE,
};

bool
gb_vk_is_as_long(const struct ggml_tensor *node, int dim)
{
    return node->src[0]->ne[dim] == node->ne[dim];
}

bool
gb_vk_is_cut(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const size_t room = gb_vk_room(limits);

    return ggml_nbytes(node) > room || ggml_nbytes(node->src[0]) > room ||
           ggml_nbytes(node->src[1]) > room;
}

int64_t
gb_vk_rows_shown(const struct gb_vk_limits *limits, const struct ggml_tensor *t)
{
    const size_t room = gb_vk_room(limits);
    const size_t length = ggml_row_size(t->type, t->ne[0]);
    size_t n;

    if (length > room)
        return 0;
    if (t->ne[1] == 1 || t->nb[1] > room)
        return 1; /* and the stride means nothing */
    n = t->nb[1] > 0 ? (room - length) / t->nb[1] + 1 : SIZE_MAX;
    return n > (size_t)t->ne[1] ? t->ne[1] : (int64_t)n;
}

/* ---- views ---- */

/* Elements of T along DIM from FIRST on, N of them or those that are left. */
static void
cut(struct ggml_tensor *t, int dim, int64_t first, int64_t n)
{
    const int64_t left = t->ne[dim] - first;
    const int64_t steps = dim == 0 ? first / ggml_blck_size(t->type) : first;
    const size_t offset = (size_t)steps * t->nb[dim];

    t->ne[dim] = n < left ? n : left;
    t->view_offs += offset;
    if (t->data != NULL)
        t->data = (char *)t->data + offset;
}

/* Strides of single elements mean nothing: let them be those of a tensor without
 * gaps, as far as T is one. */
static void
close_gaps(struct ggml_tensor *t)
{
    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        const size_t below =
            d == 1 ? ggml_row_size(t->type, t->ne[0])
                   : t->nb[d - 1] * (size_t)t->ne[d - 1];

        if (t->ne[d] == 1)
            t->nb[d] = below;
    }
}

/* The dimension of source I that goes with dimension DIM of the node; -1: none. */
static int
dim_of_source(const struct gb_vk_parts *parts, const struct ggml_tensor *node,
              int i, int dim)
{
    const int with = parts->sources[i][dim] - 1;

    return with >= 0 && node->src[i]->ne[with] >= node->ne[dim] ? with : -1;
}

static void
cut_source(const struct gb_vk_parts *parts, const struct ggml_tensor *node,
           int i, const int64_t first[GGML_MAX_DIMS], struct gb_vk_part *part)
{
    struct ggml_tensor *source = &part->sources[i];

    *source = *node->src[i];
    part->node.src[i] = source;
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        const int with = dim_of_source(parts, node, i, d);

        if (with >= 0 && part->node.ne[d] < node->ne[d])
            cut(source, with, first[d], part->node.ne[d]);
    }
    close_gaps(source);
}

void
gb_vk_make_part(
    const struct gb_vk_parts *parts, const struct ggml_tensor *node,
    const int64_t first[GGML_MAX_DIMS], const struct gb_vk_part_size *size,
    struct gb_vk_part *part)
{
    part->node = *node;
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (size->ne[d] < node->ne[d])
            cut(&part->node, d, first[d], size->ne[d]);
    close_gaps(&part->node);
    for (int i = 0; i < GB_VK_PART_SOURCES; i++)
        if (node->src[i] != NULL)
            cut_source(parts, node, i, first, part);
}

/* ---- sizes ---- */

static int64_t
common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y != 0) {
        const int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* What a part's elements along DIM are a multiple of. */
static int64_t
unit_of(const struct gb_vk_parts *parts, const struct ggml_tensor *node,
        int dim)
{
    int64_t unit = dim == 0 ? ROW_UNIT : 1;

    for (int i = 0; i < GB_VK_PART_SOURCES; i++) {
        const int with = parts->sources[i][dim] - 1;

        if (node->src[i] != NULL && with >= 0 &&
            node->src[i]->ne[with] < node->ne[dim] &&
            node->src[i]->ne[with] > 0)
            unit = common_multiple(unit, node->src[i]->ne[with]);
    }
    return unit;
}

/* Half of the elements that SIZE has along DIM; as many where that cannot be. */
static int64_t
half_of(const struct gb_vk_parts *parts, const struct ggml_tensor *node,
        const struct gb_vk_part_size *size, int dim)
{
    const int64_t unit = unit_of(parts, node, dim);
    const int64_t n = size->ne[dim];
    const int64_t half = ((n + 1) / 2 + unit - 1) / unit * unit;

    if (!parts->dims[dim] || (parts->may != NULL && !parts->may(node, dim)))
        return n;
    return half < n ? half : n;
}

/* How far apart the first and the last elements of T along DIM are. */
static size_t
extent_of(const struct ggml_tensor *t, int dim)
{
    return (size_t)(t->ne[dim] - 1) * t->nb[dim];
}

/* The operand of PART that has the most bytes: -1 for the node, or a source. */
static int
largest_of(const struct gb_vk_part *part)
{
    size_t most = ggml_nbytes(&part->node);
    int largest = -1;

    for (int i = 0; i < GB_VK_PART_SOURCES; i++) {
        if (part->node.src[i] != NULL &&
            ggml_nbytes(part->node.src[i]) > most) {
            most = ggml_nbytes(part->node.src[i]);
            largest = i;
        }
    }
    return largest;
}

/* The dimension of the node along which halves help operand WHICH of PART most;
 * -1: none does. */
static int
longest_of(const struct gb_vk_parts *parts, const struct ggml_tensor *node,
           const struct gb_vk_part *part, const struct gb_vk_part_size *size,
           int which)
{
    size_t most = 0;
    int longest = -1;

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        const int with =
            which < 0 ? d : dim_of_source(parts, node, which, d);
        const struct ggml_tensor *t =
            which < 0 ? &part->node : &part->sources[which];

        if (with >= 0 && half_of(parts, node, size, d) < size->ne[d] &&
            extent_of(t, with) > most) {
            most = extent_of(t, with);
            longest = d;
        }
    }
    return longest;
}

static bool
are_few(const struct ggml_tensor *node, const struct gb_vk_part_size *size)
{
    double n = 1;

    for (int d = 0; d < GGML_MAX_DIMS; d++)
        n *= (double)((node->ne[d] + size->ne[d] - 1) / size->ne[d]);
    return n <= MOST_PARTS;
}

bool
gb_vk_choose_parts(
    const struct gb_vk_parts *parts, const struct gb_vk_limits *limits,
    const struct ggml_tensor *node,
    bool (*is_good)(const struct gb_vk_limits *limits,
                    const struct ggml_tensor *part),
    struct gb_vk_part_size *size)
{
    static const int64_t origin[GGML_MAX_DIMS];

    for (int d = 0; d < GGML_MAX_DIMS; d++)
        size->ne[d] = node->ne[d];
    if (ggml_is_empty(node))
        return false;
    for (;;) {
        struct gb_vk_part part;
        int dim;

        gb_vk_make_part(parts, node, origin, size, &part);
        if (is_good(limits, &part.node))
            return are_few(node, size);
        dim = longest_of(parts, node, &part, size, largest_of(&part));
        if (dim < 0)
            return false;
        size->ne[dim] = half_of(parts, node, size, dim);
    }
}
