/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/add.c - launches of one kernel, for tests of the emulated
 * driver.
 */
#include "config.h"

#include "tests/gpu-emulator/add.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = ADD_N * (int)sizeof(float) };

void
add_begin(struct add *add)
{
    add->stream = emu_stream();
    add->memory = emu_memory(4 * BYTES);
    assert_int_equal(cu.host_alloc((void **)&add->pinned, 4 * BYTES, 0),
                     GB_CUDA_SUCCESS);
    for (int i = 0; i < 4 * ADD_N; i++)
        add->pinned[i] = (float)(i / ADD_N + 1);
    assert_int_equal(
        cu.copy_to_device(add->memory, add->pinned, 4 * BYTES, add->stream),
        GB_CUDA_SUCCESS);
    emu_wait(add->stream);
    assert_int_equal(cu.module_load(&add->module, "GB-IMAGE binary\n"),
                     GB_CUDA_SUCCESS);
    assert_int_equal(
        cu.module_function(&add->function, add->module, ADD_KERNEL),
        GB_CUDA_SUCCESS);
}

void
add_end(struct add *add)
{
    assert_int_equal(cu.module_unload(add->module), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_free(add->pinned), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(add->memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(add->stream), GB_CUDA_SUCCESS);
}

static struct gb_cuda_tensor
tensor(const struct add *add, int i)
{
    return (struct gb_cuda_tensor){
        .data = (char *)(uintptr_t)(add->memory + (unsigned)(i * BYTES)),
        .ne = { ADD_N, 1, 1, 1 },
        .nb = { sizeof(float), BYTES, BYTES, BYTES },
    };
}

struct gb_cuda_binary_args
add_args(const struct add *add, int to, int a, int b)
{
    return (struct gb_cuda_binary_args){
        .dst = tensor(add, to),
        .src0 = tensor(add, a),
        .src1 = tensor(add, b),
        .n = ADD_N,
        .n_src1 = ADD_N,
        .op = GB_CUDA_ADD,
        .dst_type = GB_CUDA_F32,
        .src0_type = GB_CUDA_F32,
        .src1_type = GB_CUDA_F32,
    };
}

struct gb_cuda_kernel_node
add_node(const struct add *add, void **params)
{
    return (struct gb_cuda_kernel_node){
        .function = add->function,
        .grid = { 1, 1, 1 },
        .block = { 256, 1, 1 },
        .params = params,
    };
}

int
add_launch(const struct add *add, int to, int a, int b)
{
    struct gb_cuda_binary_args args = add_args(add, to, a, b);
    void *params[] = { &args };

    return cu.launch(add->function, 1, 1, 1, 256, 1, 1, 0, add->stream, params,
                     NULL);
}

float
add_result(const struct add *add, int i)
{
    assert_int_equal(
        cu.copy_to_host(add->pinned, add->memory, 4 * BYTES, add->stream),
        GB_CUDA_SUCCESS);
    emu_wait(add->stream);
    for (int k = 1; k < ADD_N; k++)
        assert_float_equal(add->pinned[i * ADD_N], add->pinned[i * ADD_N + k],
                           0.0f);
    return add->pinned[i * ADD_N];
}
