/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/activations.h - the rows of a product's second operand, packed as
 * columns.
 *
 * They are rounded to what the weights' type is multiplied with, once for each
 * product, into the step's shared memory; F32 rows for float weights are used
 * where they lie.
 */
#ifndef GB_CPU_OPS_ACTIVATIONS_H
#define GB_CPU_OPS_ACTIVATIONS_H

#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/place.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Can rows of A be multiplied with rows of B, and the products be counted? */
bool gb_cpu_can_multiply(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

/* A column of more values would have more bytes than there are; others' bytes
 * can be counted without a look at what fits. */
#define GB_CPU_LONGEST_ROW (INT64_MAX / 64)

/* Where a product's columns are: part of its tiling. */
struct gb_cpu_activations {
    enum gb_path path;        /* that they are packed for */
    bool in_place;            /* F32 rows for float weights: not packed */
    size_t nb[GGML_MAX_DIMS]; /* from column to column in dimension 1 to 3;
                                 SIZE_MAX where packed ones do not fit */
};

/* Columns of B for weights of A and FORMAT that take PATH; the bytes of shared
 * memory and the tiles that it takes to pack them. */
void gb_cpu_activations_init(
    struct gb_cpu_activations *columns, const struct ggml_tensor *b,
    const struct gb_format *format, enum gb_path path);
size_t gb_cpu_activations_bytes(
    const struct gb_cpu_activations *columns, const struct ggml_tensor *b);
int64_t gb_cpu_activations_tiles(
    const struct gb_cpu_activations *columns, const struct ggml_tensor *b);

/* One of those tiles, for the node whose sources 0 and 1 are A and B. */
void gb_cpu_activations_pack(
    const struct gb_cpu_task *task, const struct gb_cpu_activations *columns,
    int64_t tile);

/* Rows of A in a tile of a GEMV or skinny GEMM with COLS columns. */
int64_t gb_cpu_gemv_rows(const struct ggml_tensor *a, int64_t cols);

/* The column that B's row at (i1, i2, i3) has become. */
static inline const char *
gb_cpu_column_at(const struct gb_cpu_task *task,
                 const struct gb_cpu_activations *columns, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const void *data =
        columns->in_place ? task->node->src[1]->data : task->shared;

    return gb_cpu_place(data, (size_t)i1 * columns->nb[1] +
                                  (size_t)i2 * columns->nb[2] +
                                  (size_t)i3 * columns->nb[3]);
}

#endif
