/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/add.h - launches of one kernel, for tests of the emulated
 * driver: what it has in CARD memory is dst = src0 + src1, of ADD_N floats
 * each.
 */
#ifndef GB_GPU_EMULATOR_ADD_H
#define GB_GPU_EMULATOR_ADD_H

#include "tests/gpu-emulator/open.h"

#include "backends/cuda/kernels/args-binary.h"

enum { ADD_N = 100 };

/* That kernel. */
#define ADD_KERNEL "gb_binary_any"

struct add {
    gb_cuda_stream stream;
    gb_cuda_module module;
    gb_cuda_function function;
    gb_cuda_address memory; /* four arrays: 0 to 3 */
    float *pinned;
};

/* In the current context.  Array I has I + 1 in each element. */
void add_begin(struct add *add);
void add_end(struct add *add);

/* Arguments for array TO = array A + array B. */
struct gb_cuda_binary_args
add_args(const struct add *add, int to, int a, int b);
/* A launch of that with one block. */
struct gb_cuda_kernel_node
add_node(const struct add *add, void **params);
int add_launch(const struct add *add, int to, int a, int b);
/* What array I has in each element, after all of the stream ran. */
float add_result(const struct add *add, int i);

#endif
