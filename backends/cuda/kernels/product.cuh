/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/product.cuh - what a tile of a product of matrices is made of.
 */
#ifndef GB_CUDA_KERNELS_PRODUCT_CUH
#define GB_CUDA_KERNELS_PRODUCT_CUH

#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/rows.cuh"

struct gb_product_tile {
    const char *weights; /* a matrix of A */
    int64_t i2, i3;      /* its indices */
    int64_t row;         /* the first of the tile */
    int64_t col;
    int n_cols;
    int64_t k, k_end; /* of the split; equal where no expert is chosen */
    int64_t dst;      /* where the split's part of D begins */
};

/* Set the tile's columns and matrix, for column tile NUMBER. */
GB_DEVICE void
gb_take_columns(const gb_cuda_product_args &a, int64_t number,
                gb_product_tile *tile)
{
    if (a.ids.data == nullptr) {
        const int64_t left = a.n_cols - number * a.col_step;

        tile->col = number * a.col_step;
        tile->n_cols = left < a.col_step ? (int)left : a.col_step;
        return;
    }
    if (a.tiles != nullptr) {
        tile->col = a.tiles[number].first;
        tile->n_cols = a.tiles[number].count;
        tile->i2 = a.tiles[number].expert;
        return;
    }
    tile->col = number;
    tile->n_cols = 1;
    tile->i2 = *(const int32_t *)(a.ids.data +
                                  number % a.ids.ne[0] * a.ids.nb[0] +
                                  number / a.ids.ne[0] * a.ids.nb[1]);
}

GB_DEVICE gb_product_tile
gb_product_tile_of(const gb_cuda_product_args &a, int64_t number)
{
    const int64_t col_tile = gb_take_index(&number, a.col_tiles);
    const int64_t row_tile = gb_take_index(&number, a.row_tiles);
    const int64_t split = gb_take_index(&number, a.n_splits);
    const int64_t k_end = (split + 1) * a.split_k;
    gb_product_tile tile;

    tile.i2 = gb_take_index(&number, a.weights.ne[2]);
    tile.i3 = number;
    tile.row = row_tile * a.row_step;
    tile.k = split * a.split_k;
    tile.k_end = k_end < a.weights.ne[0] ? k_end : a.weights.ne[0];
    tile.dst = split * a.split_bytes;
    gb_take_columns(a, col_tile, &tile);
    if (tile.i2 < 0 || tile.i2 >= a.weights.ne[2]) {
        tile.i2 = 0;
        tile.k_end = tile.k;
    }
    tile.weights = a.weights.data + tile.i2 * a.weights.nb[2] +
                   tile.i3 * a.weights.nb[3];
    return tile;
}

/* A column of B, and that of D which it becomes. */
struct gb_column {
    const char *from;
    char *to;
};

/* Column J of TILE. */
GB_DEVICE gb_column
gb_column_of(const gb_cuda_product_args &a, const gb_product_tile &tile, int j)
{
    int64_t number = tile.col + j;
    gb_row b, d;

    if (a.ids.data != nullptr) {
        if (a.pairs != nullptr)
            number = a.pairs[number];
        d.i1 = gb_take_index(&number, a.ids.ne[0]);
        d.i2 = number;
        d.i3 = 0;
        b = d;
        b.i1 = d.i1 % a.columns.ne[1];
    } else {
        const int64_t r2 = gb_quotient(a.columns.ne[2], a.weights.ne[2]);
        const int64_t r3 = gb_quotient(a.columns.ne[3], a.weights.ne[3]);

        d.i1 = gb_take_index(&number, a.columns.ne[1]);
        d.i2 = tile.i2 * r2 + gb_take_index(&number, r2);
        d.i3 = tile.i3 * r3 + number;
        b = d;
    }
    return { gb_row_data(a.columns, b), gb_row_data(a.dst, d) + tile.dst };
}

/* The same for a J that may be behind the last one: that one's. */
GB_DEVICE gb_column
gb_column_within(const gb_cuda_product_args &a, const gb_product_tile &tile,
                 int j)
{
    return gb_column_of(a, tile, j < tile.n_cols ? j : tile.n_cols - 1);
}

#endif
