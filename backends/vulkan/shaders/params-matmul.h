/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-matmul.h - products of matrices: dst, weights, columns,
 * chosen, and the table of the type of weights.
 *
 * chosen is the ids of MUL_MAT_ID where has_ids is GB_VK_BY_PAIR, and what
 * experts.comp made of them for GB_VK_BY_TILE; for GB_VK_WITH_ADDEND what is added
 * to the result; or else anything, and not read.
 */
#include "params.h"

GB_PARAMS(gb_vk_matmul_params, 5)
    uint32_t n_groups;
    uint32_t m, k;
    uint32_t n_cols;        /* that meet a matrix of weights; all pairs */
    uint32_t weights_nb[3]; /* of dimensions 1 to 3 */
    uint32_t columns_nb[3];
    uint32_t dst_nb[3];
    uint32_t weights_ne2;   /* matrices; experts */
    uint32_t n;     /* columns of a matrix; ids of a token */
    uint32_t r2;    /* matrices of columns for each of weights along dimension
                       2; columns of a token, of which id x has x % r2 */
    uint32_t r3;    /* the same along dimension 3 */
    uint32_t column_type;   /* GB_VK_F32 … */
    uint32_t ids_nb[2];     /* of an addend of dimensions 0 and 1 */
    uint32_t n_splits;      /* of k */
    uint32_t split_k;       /* values of a split */
    uint32_t split_bytes;   /* from a split's results to the next */
    uint32_t lanes;         /* GEMV: invocations that share k, 8 to 128;
                               GEMM: may reads be of 16 bytes? */
    uint32_t has_ids;       /* GB_VK_BY_PAIR …; 0: none */
    uint32_t first_expert;  /* whose weights are at the operand's beginning;
                               the first also has what is no expert's.  With an
                               addend its stride of dimension 2 */
    uint32_t end_expert;    /* behind the last one that is there; the stride of
                               dimension 3 */
GB_PARAMS_END

#define GB_VK_BY_PAIR 1
#define GB_VK_BY_TILE 2
#define GB_VK_WITH_ADDEND 3
