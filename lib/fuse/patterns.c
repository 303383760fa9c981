/* SPDX-License-Identifier: MIT */
/*
 * fuse/patterns.c - what groups of nodes look like.
 */
#include "lib/fuse/patterns.h"

#define ONE(op)     { { GGML_OP_##op, GGML_OP_NONE } }
#define EITHER(a, b) { { GGML_OP_##a, GGML_OP_##b } }

const struct gb_fuse_chain gb_fuse_chains[] = {
    { GB_FUSE_ADD_NORM, 3, { ONE(ADD), EITHER(RMS_NORM, NORM), ONE(MUL) } },
    { GB_FUSE_GATE, 2, { ONE(UNARY), ONE(MUL) } },
    { GB_FUSE_GET_NORM, 4,
      { ONE(GET_ROWS), EITHER(RMS_NORM, NORM), ONE(MUL), ONE(ADD) } },
    { GB_FUSE_GET_NORM, 3,
      { ONE(GET_ROWS), EITHER(RMS_NORM, NORM), ONE(MUL) } },
    { GB_FUSE_NORM, 3, { EITHER(RMS_NORM, NORM), ONE(MUL), ONE(ADD) } },
    { GB_FUSE_NORM, 2, { EITHER(RMS_NORM, NORM), ONE(MUL) } },
    { GB_FUSE_PRODUCT, 3, { ONE(MUL_MAT), ONE(ADD), ONE(ADD) } },
    { GB_FUSE_PRODUCT, 2, { ONE(MUL_MAT), ONE(ADD) } },
    { GB_FUSE_ROPE_STORE, 2, { ONE(ROPE), ONE(CPY) } },
    { GB_FUSE_SOFT_MAX, 3,
      { ONE(SCALE), EITHER(DIAG_MASK_INF, ADD), ONE(SOFT_MAX) } },
    { GB_FUSE_SOFT_MAX, 2, { ONE(SCALE), ONE(SOFT_MAX) } },
    { GB_FUSE_SOFT_MAX, 2, { EITHER(DIAG_MASK_INF, ADD), ONE(SOFT_MAX) } },
};

const int gb_fuse_n_chains =
    (int)(sizeof(gb_fuse_chains) / sizeof(gb_fuse_chains[0]));

#define NODE(op, a, b) { GGML_OP_##op, { a, b } }

const struct gb_fuse_subgraph gb_fuse_subgraphs[] = {
    { GB_FUSE_ROUTE, 5,
      { NODE(SOFT_MAX, -1, -1), NODE(ARGSORT, 0, -1), NODE(GET_ROWS, 0, 1),
        NODE(SUM_ROWS, 2, -1), NODE(DIV, 2, 3) } },
    { GB_FUSE_ROUTE, 3,
      { NODE(SOFT_MAX, -1, -1), NODE(ARGSORT, 0, -1),
        NODE(GET_ROWS, 0, 1) } },
};

const int gb_fuse_n_subgraphs =
    (int)(sizeof(gb_fuse_subgraphs) / sizeof(gb_fuse_subgraphs[0]));

bool
gb_fuse_is_by_row(enum ggml_op op)
{
    return op != GGML_OP_MUL_MAT && op != GGML_OP_GET_ROWS;
}

bool
gb_fuse_is_store(enum ggml_op op)
{
    return op == GGML_OP_ROPE || op == GGML_OP_CPY;
}

bool
gb_fuse_is_store_chain(enum gb_fuse_pattern pattern)
{
    return pattern == GB_FUSE_ROPE_STORE;
}
