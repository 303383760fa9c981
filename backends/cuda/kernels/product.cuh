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
    int32_t i2, i3;      /* its indices */
    int64_t row;         /* the first of the tile */
    int32_t col;
    int32_t n_cols;
    int64_t k, k_end; /* of the split; equal where no expert is chosen */
    int64_t dst;      /* where the split's part of D begins */
};

/* Takes N % D off N, as gb_take_index() does.  Tiles, columns and pairs are
 * fewer than 2^31, and a division of 64 bits is a kilobyte of code.  The usual
 * matrix has one tile of columns, one split and no third dimension: nothing is
 * divided for it, since a kernel of some microseconds feels each division. */
GB_DEVICE uint32_t
gb_take_number(uint32_t *n, uint32_t d)
{
    uint32_t index = *n;

    if (index < d) {
        *n = 0;
        return index;
    }
    if (d == 1)
        return 0;
    index %= d;
    *n /= d;
    return index;
}

/* Set the tile's columns and matrix, for column tile NUMBER. */
GB_DEVICE void
gb_take_columns(const gb_cuda_product_args &a, int32_t number,
                gb_product_tile *tile)
{
    const int32_t left = a.n_cols - number * a.col_step;

    tile->col = number * a.col_step;
    tile->n_cols = left < a.col_step ? left : a.col_step;
    if (a.ids.data == nullptr)
        return;
    if (a.tiles != nullptr) {
        tile->col = a.tiles[number].first;
        tile->n_cols = a.tiles[number].count;
        tile->i2 = a.tiles[number].expert;
    } else {
        uint32_t pair = (uint32_t)number;
        const uint32_t slot = gb_take_number(&pair, (uint32_t)a.ids.ne[0]);

        tile->i2 = *(const int32_t *)(a.ids.data + slot * a.ids.nb[0] +
                                      pair * a.ids.nb[1]);
    }
}

/* Tile NUMBER, which a thread block computes. */
GB_DEVICE gb_product_tile
gb_product_tile_of(const gb_cuda_product_args &a, uint32_t number)
{
    const int32_t col_tile = (int32_t)gb_take_number(&number, a.col_tiles);
    const int64_t row_tile = gb_take_number(&number, a.row_tiles);
    const int64_t split = gb_take_number(&number, a.n_splits);
    const int64_t k_end = (split + 1) * a.split_k;
    gb_product_tile tile;

    tile.i2 = (int32_t)gb_take_number(&number, (uint32_t)a.weights.ne[2]);
    tile.i3 = (int32_t)number;
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

/* Which of the products of a launch thread block BLOCK works on. */
GB_DEVICE int
gb_product_of(const gb_cuda_products_args &a, uint32_t block)
{
    int i = 0;

    while (i + 1 < a.n && block >= a.first[i + 1])
        i++;
    return i;
}

/* A column of B, and that of D which it becomes. */
struct gb_column {
    const char *from;
    char *to;
};

/* Where column J of TILE stands in D. */
GB_DEVICE gb_row
gb_column_place(
    const gb_cuda_product_args &a, const gb_product_tile &tile, int j)
{
    uint32_t number = (uint32_t)(tile.col + j);
    gb_row d;

    if (a.ids.data != nullptr) {
        if (a.pairs != nullptr)
            number = (uint32_t)a.pairs[number];
        d.i1 = gb_take_number(&number, (uint32_t)a.ids.ne[0]);
        d.i2 = number;
        d.i3 = 0;
    } else {
        d.i1 = gb_take_number(&number, (uint32_t)a.columns.ne[1]);
        d.i2 = tile.i2 * a.r2 + (int64_t)gb_take_number(&number, a.r2);
        d.i3 = tile.i3 * a.r3 + (int64_t)number;
    }
    return d;
}

/* Column J of TILE. */
GB_DEVICE gb_column
gb_column_of(const gb_cuda_product_args &a, const gb_product_tile &tile, int j)
{
    const gb_row d = gb_column_place(a, tile, j);
    gb_row b = d;

    if (a.ids.data != nullptr)
        b.i1 = (uint32_t)d.i1 % (uint32_t)a.columns.ne[1];
    return { gb_row_data(a.columns, b), gb_row_data(a.dst, d) + tile.dst };
}

/* The same for a J that may be behind the last one: that one's. */
GB_DEVICE gb_column
gb_column_within(const gb_cuda_product_args &a, const gb_product_tile &tile,
                 int j)
{
    return gb_column_of(a, tile, j < tile.n_cols ? j : tile.n_cols - 1);
}

/*
 * N columns into shared memory, a thread each, since finding one takes
 * divisions.  All threads of a block, which may then read the list.
 */
GB_DEVICE void
gb_list_columns(const gb_cuda_product_args &a, const gb_product_tile &tile,
                gb_column *list, int n)
{
    for (int j = gb_thread(); j < n; j += gb_n_threads())
        list[j] = gb_column_within(a, tile, j);
    gb_sync();
}

#endif
