/* SPDX-License-Identifier: MIT */
/*
 * fuse/members.h - what the nodes of a group are to each other, and what a
 * kernel has to know of them besides.
 *
 * Groups are found by their operations and by who reads whom; whether shapes
 * and places are those that one kernel can go through is asked here.  Backends
 * ask their own kernels' limits afterwards.
 */
#ifndef GB_FUSE_MEMBERS_H
#define GB_FUSE_MEMBERS_H

#include "lib/fuse/fuse.h"

#include <stdbool.h>
#include <stdint.h>

/* The operand of NODE that is not INNER. */
const struct ggml_tensor *gb_fuse_operand(
    const struct ggml_tensor *node, const struct ggml_tensor *inner);

/* ---- norms: GB_FUSE_ADD_NORM, GB_FUSE_GET_NORM, GB_FUSE_NORM ---- */

/* Members, -1 for what is not there, and what some of them read besides. */
struct gb_fuse_norm {
    int get, add, norm, mul, bias;
    const struct ggml_tensor *addend, *weights, *bias_values; /* or NULL */
};

struct gb_fuse_norm gb_fuse_norm_of(const struct gb_fuse_group *group);

/* Are all members rows of F32 of one shape, and operands rows as long, each
 * one for itself or one for several? */
bool gb_fuse_norm_has_rows(const struct gb_fuse_group *group);

/* ---- GB_FUSE_ROUTE ---- */

/* Members; a short group ends with PICKED. */
enum gb_fuse_route_member {
    GB_FUSE_VALUES,
    GB_FUSE_ORDER,
    GB_FUSE_PICKED,
    GB_FUSE_SUMS,
    GB_FUSE_SHARES,
    GB_FUSE_ROUTE_NODES,
};

/* Are the values rows of at most MOST, without a mask, the indices the first of
 * each row's order, the result what they pick of the row, and the shares those
 * of the sums of that? */
bool gb_fuse_is_route(const struct gb_fuse_group *group, int64_t most);

/* ---- GB_FUSE_SLICES ---- */

/* The slices of the product that member I of GROUP, a sum, adds: two of the
 * first one, or one. */
int gb_fuse_slices_of(const struct gb_fuse_group *group, int i,
                      const struct ggml_tensor *slices[2]);

/* Which one along dimension 1 of PRODUCT it is; -1: none, or not a whole one. */
int64_t gb_fuse_slice_index(
    const struct ggml_tensor *slice, const struct ggml_tensor *product);

/* Is the product one of three dimensions, of F32 and without gaps, with at most
 * MOST slices along dimension 1, and does each sum add whole slices of it? */
bool gb_fuse_adds_slices(const struct gb_fuse_group *group, int64_t most);

/* ---- GB_FUSE_SOFT_MAX ---- */

/* Members, -1 for what is not there, what becomes scores, and what is added to
 * them: NULL for nothing. */
struct gb_fuse_soft_max {
    int scale, mask, soft_max;
    const struct ggml_tensor *scores, *addend;
};

struct gb_fuse_soft_max gb_fuse_soft_max_of(const struct gb_fuse_group *group);

/* Are all members and the scores rows of F32 of one shape, and those of the
 * addend as long, each one for itself or one for several?  The last member has
 * no mask of its own. */
bool gb_fuse_soft_max_has_rows(const struct gb_fuse_group *group);

#endif
