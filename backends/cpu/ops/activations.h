/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/activations.h - the rows of a product's second operand, packed as
 * columns.
 *
 * In D = A * B the weights A [k, m] and the activations B [k, n] both have rows
 * of k values; a row of B makes a column of D.  Activations are packed once for
 * each product, before the first tile runs, into the memory that all threads of
 * the step share:
 *
 *   quantised weights  q8 activations in the layout of the path
 *                      (kernels/api/packing.h)
 *   float weights      F32; rows that are F32 already are used in place
 *
 * MUL_MAT and MUL_MAT_ID share this.
 */
#ifndef GB_CPU_OPS_ACTIVATIONS_H
#define GB_CPU_OPS_ACTIVATIONS_H

#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/place.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is there a kernel for A's type that multiplies its rows with rows of B, and
 * does the number of multiplications fit an int64_t? */
bool gb_cpu_can_multiply(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

/* A column of more values would have more bytes than can be addressed.  In
 * all layouts long columns take fewer than 64 bytes a value, so that the size
 * of a shorter one does not overflow. */
#define GB_CPU_LONGEST_ROW (INT64_MAX / 64)

/* Where a product's columns are.  Decided once a plan; part of the tiling. */
struct gb_cpu_activations {
    const struct gb_format *format; /* of the weights */
    enum gb_path path;        /* that they are packed for */
    bool in_place;            /* F32 rows for float weights: not packed */
    size_t nb[GGML_MAX_DIMS]; /* from column to column in dimension 1 to 3;
                                 SIZE_MAX where packed ones do not fit */
};

/* Decide where the rows of B go as columns of a product that takes PATH with
 * weights of FORMAT.  Then: the bytes of shared memory that they fill, SIZE_MAX
 * where that is too much, and the tiles in which they are packed; 0 of both if
 * they are used in place. */
void gb_cpu_activations_init(
    struct gb_cpu_activations *columns, const struct ggml_tensor *b,
    const struct gb_format *format, enum gb_path path);
size_t gb_cpu_activations_bytes(
    const struct gb_cpu_activations *columns, const struct ggml_tensor *b);
int64_t gb_cpu_activations_tiles(
    const struct gb_cpu_activations *columns, const struct ggml_tensor *b);

/* Pack the rows of one of those tiles, for a node with A as source 0 and B as
 * source 1. */
void gb_cpu_activations_pack(
    const struct gb_cpu_task *task, const struct gb_cpu_activations *columns,
    int64_t tile);

/* The kernels for A, weights as they are or repacked. */
const struct gb_format_kernels *gb_cpu_weight_kernels(
    const struct gb_cpu_kernels *k, const struct ggml_tensor *a);

/* Rows of A in a tile of a GEMV or skinny GEMM with COLS columns, a multiple of
 * 16; there may be more than A has. */
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
