/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/blocks.c - floats copied into blocks on Vulkan0 have the bytes
 * that the library's own quantisers make.
 *
 * blocks.sh runs it where Vulkan0 is lavapipe.
 */
#include "config.h"

#include "tests/util/random.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PIECES 48 /* of 256 values */

enum { N_VALUES = 256 * PIECES };

static const enum ggml_type types[] = {
    GGML_TYPE_Q4_0,   GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,  GGML_TYPE_Q5_1,
    GGML_TYPE_Q8_0,   GGML_TYPE_Q8_1,   GGML_TYPE_IQ4_NL, GGML_TYPE_Q2_K,
    GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,  GGML_TYPE_Q6_K,
    GGML_TYPE_Q8_K,   GGML_TYPE_IQ4_XS, GGML_TYPE_TQ1_0, GGML_TYPE_TQ2_0,
};

static ggml_backend_dev_t device;
static float values[N_VALUES];

/* What values of a piece are made of V, between -1 and 1. */
static float
value_of(int piece, int i, float v)
{
    switch (piece % 12) {
    case 0:
        return v;
    case 1:
        return ldexpf(v, piece - PIECES / 2); /* scales that halves lose */
    case 2:
        return floorf(v * 8) / 4; /* ties */
    case 3:
        return i % 32 == 7 ? v * 100 : v;
    case 4:
        return 0;
    case 5:
        return 1.5f;
    case 6:
        return -fabsf(v);
    case 7:
        return fabsf(v);
    case 8:
        return i / 32 % 3 == 0 ? 0 : v;
    case 9:
        return v * 1e-16f; /* below what searches call nothing */
    case 10:
        return i % 64 < 32 ? v * 1e-7f : v;
    default:
        return v * v * v * 1e4f;
    }
}

static void
fill_values(void)
{
    struct gb_random r;

    gb_random_init(&r, gb_test_seed(7));
    for (int i = 0; i < N_VALUES; i++)
        values[i] =
            value_of(i / 256, i % 256, gb_random_float(&r, -1.0f, 1.0f));
}

/* ---- both ways ---- */

/* The values copied to TYPE on the device. */
static void
copy_there(ggml_backend_t backend, enum ggml_type type, void *to)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 4 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *from =
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_VALUES);
    struct ggml_tensor *copy =
        ggml_cpy(ctx, from, ggml_new_tensor_1d(ctx, type, N_VALUES));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;

    ggml_build_forward_expand(graph, copy);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    assert_true(ggml_backend_supports_op(backend, copy));
    ggml_backend_tensor_set(from, values, 0, sizeof(values));
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(copy, to, 0, ggml_nbytes(copy));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* The same by the library; q8_K has the CPU backend's quantiser alone. */
static void
copy_here(enum ggml_type type, void *to)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(type);

    if (traits->from_float_ref != NULL)
        traits->from_float_ref(values, to, N_VALUES);
    else
        ggml_get_type_traits_cpu(type)->from_float(values, to, N_VALUES);
}

/* ---- the claim ---- */

static void
compare(ggml_backend_t backend, enum ggml_type type)
{
    const size_t size = ggml_type_size(type);
    const size_t bytes = ggml_row_size(type, N_VALUES);
    char *const there = malloc(bytes), *const here = malloc(bytes);

    assert_non_null(there);
    assert_non_null(here);
    copy_there(backend, type, there);
    copy_here(type, here);
    for (size_t at = 0; at < bytes; at += size)
        if (memcmp(there + at, here + at, size) != 0)
            fail_msg("%s, block %zu", ggml_type_name(type), at / size);
    free(here);
    free(there);
}

static void
copies_into_blocks_have_the_bytes_of_the_library(void **state)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    (void)state;
    assert_non_null(backend);
    fill_values();
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        compare(backend, types[i]);
    ggml_backend_free(backend);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_into_blocks_have_the_bytes_of_the_library),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; blocks.sh brings one");
        return 0;
    }
    return cmocka_run_group_tests_name("blocks on Vulkan", tests, NULL, NULL);
}
