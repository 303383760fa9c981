/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/groups.c - which groups of nodes the backend computes together, and
 * which that only look like them it leaves.
 */
#include "config.h"

#include "backends/vulkan/ops/fused.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct ggml_context *ctx;

/* ---- graphs ---- */

static struct ggml_tensor *
of(enum ggml_type type, int64_t n0, int64_t n1)
{
    return ggml_new_tensor_2d(ctx, type, n0, n1);
}

static struct ggml_tensor *
leaf(int64_t n0, int64_t n1)
{
    return of(GGML_TYPE_F32, n0, n1);
}

static struct ggml_tensor *
normed(struct ggml_tensor *x, struct ggml_tensor *weights)
{
    return ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), weights);
}

static struct ggml_tensor *
norm(void)
{
    return ggml_add(ctx, normed(leaf(64, 3), leaf(64, 1)), leaf(64, 1));
}

/* A weight of each row. */
static struct ggml_tensor *
norm_by_column(void)
{
    return normed(leaf(64, 3), leaf(1, 3));
}

static struct ggml_tensor *
add_norm(void)
{
    return normed(ggml_add(ctx, leaf(64, 3), leaf(64, 3)), leaf(64, 1));
}

static struct ggml_tensor *
add_column_norm(void)
{
    return normed(ggml_add(ctx, leaf(64, 3), leaf(1, 3)), leaf(64, 1));
}

static struct ggml_tensor *
picked(enum ggml_type type)
{
    return normed(ggml_get_rows(ctx, of(type, 64, 5), of(GGML_TYPE_I32, 3, 1)),
                  leaf(64, 1));
}

static struct ggml_tensor *
get_norm(void)
{
    return picked(GGML_TYPE_F32);
}

static struct ggml_tensor *
get_halves_norm(void)
{
    return picked(GGML_TYPE_F16);
}

static struct ggml_tensor *
gate(void)
{
    return ggml_mul(ctx, leaf(64, 3), ggml_silu(ctx, leaf(64, 3)));
}

/* The function is of one row, which is used for all. */
static struct ggml_tensor *
gate_of_row(void)
{
    return ggml_mul(ctx, leaf(64, 3), ggml_silu(ctx, leaf(64, 1)));
}

static struct ggml_tensor *
gate_of_halves(void)
{
    return ggml_mul(ctx, ggml_silu(ctx, of(GGML_TYPE_F16, 64, 3)),
                    leaf(64, 3));
}

static struct ggml_tensor *
product(int64_t k, int64_t n)
{
    return ggml_mul_mat(ctx, of(GGML_TYPE_Q8_0, k, 37), leaf(k, n));
}

static struct ggml_tensor *
product_and_bias(void)
{
    return ggml_add_inplace(ctx, product(64, 1), leaf(37, 1));
}

/* Somebody may see the product. */
static struct ggml_tensor *
visible_product(void)
{
    return ggml_add(ctx, product(64, 1), leaf(37, 1));
}

static struct ggml_tensor *
split_product(void)
{
    return ggml_add_inplace(ctx, product(4096, 9), leaf(37, 9));
}

/* A GEMM that is not split. */
static struct ggml_tensor *
many_columns(void)
{
    return ggml_add_inplace(ctx, product(64, 9), leaf(37, 9));
}

/* There is room for one addend; the other is an operation by itself. */
static struct ggml_tensor *
two_addends(void)
{
    return ggml_add_inplace(ctx, product_and_bias(), leaf(37, 1));
}

static struct ggml_tensor *
two_products(struct ggml_tensor *a, struct ggml_tensor *b)
{
    return ggml_add(ctx, ggml_mul_mat(ctx, leaf(64, 37), a),
                    ggml_sqr(ctx, ggml_mul_mat(ctx, leaf(64, 37), b)));
}

static struct ggml_tensor *
products(void)
{
    struct ggml_tensor *x = leaf(64, 2);

    return two_products(x, x);
}

static struct ggml_tensor *
products_apart(void)
{
    return two_products(leaf(64, 2), leaf(64, 2));
}

static struct ggml_tensor *
rotated(struct ggml_tensor *x)
{
    return ggml_rope(ctx, ggml_reshape_3d(ctx, x, 64, 1, x->ne[1]),
                     of(GGML_TYPE_I32, x->ne[1], 1), 64, 0);
}

static struct ggml_tensor *
stored(struct ggml_tensor *x, enum ggml_type type)
{
    return ggml_cpy(ctx, x,
                    ggml_view_1d(ctx, of(type, 64, 8), ggml_nelements(x), 0));
}

static struct ggml_tensor *
rope_store(void)
{
    return stored(rotated(leaf(64, 3)), GGML_TYPE_F16);
}

static struct ggml_tensor *
rope_store_into_blocks(void)
{
    return stored(rotated(leaf(64, 3)), GGML_TYPE_Q8_0);
}

/* What is not read by one is read by the other. */
static struct ggml_tensor *
stores(void)
{
    return ggml_add(ctx, stored(leaf(64, 3), GGML_TYPE_F32),
                    stored(leaf(64, 3), GGML_TYPE_F32));
}

static struct ggml_tensor *
stores_of_stores(void)
{
    return stored(stored(leaf(64, 3), GGML_TYPE_F16), GGML_TYPE_F32);
}

static struct ggml_tensor *
soft_max_of(struct ggml_tensor *mask)
{
    struct ggml_tensor *x = ggml_scale(ctx, leaf(64, 3), 0.5f);

    return ggml_soft_max_ext(ctx, ggml_diag_mask_inf(ctx, x, 2), mask, 1, 0);
}

static struct ggml_tensor *
soft_max(void)
{
    return soft_max_of(NULL);
}

static struct ggml_tensor *
soft_max_with_mask(void)
{
    return soft_max_of(leaf(64, 3));
}

static struct ggml_tensor *
sum_of_slices(int64_t width)
{
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 4, 3);

    x = ggml_mul(ctx, x, ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 1, 4, 3));
    return ggml_add(ctx, ggml_view_2d(ctx, x, width, 3, x->nb[2], 0),
                    ggml_view_2d(ctx, x, width, 3, x->nb[2], x->nb[1]));
}

static struct ggml_tensor *
slices(void)
{
    return sum_of_slices(64);
}

static struct ggml_tensor *
half_slices(void)
{
    return sum_of_slices(32);
}

static struct ggml_tensor *
routed(int64_t n)
{
    struct ggml_tensor *values = ggml_soft_max(ctx, leaf(n, 3));
    struct ggml_tensor *x =
        ggml_get_rows(ctx, ggml_reshape_3d(ctx, values, 1, n, 3),
                      ggml_top_k(ctx, values, 4));

    x = ggml_reshape_2d(ctx, x, 4, 3);
    return ggml_div(ctx, x, ggml_sum_rows(ctx, x));
}

static struct ggml_tensor *
route(void)
{
    return routed(60);
}

static struct ggml_tensor *
route_of_many(void)
{
    return routed(300);
}

/* ---- claims ---- */

/* What a graph has but nodes by themselves: one group, or none for 0 nodes. */
static const struct {
    const char *name;
    struct ggml_tensor *(*make)(void);
    enum gb_fuse_pattern pattern;
    int n_nodes;
} rows[] = {
    { "norm", norm, GB_FUSE_NORM, 3 },
    { "a norm by column", norm_by_column, GB_FUSE_NORM, 0 },
    { "add_norm", add_norm, GB_FUSE_ADD_NORM, 3 },
    { "the norm alone", add_column_norm, GB_FUSE_NORM, 2 },
    { "get_norm", get_norm, GB_FUSE_GET_NORM, 3 },
    { "the norm of halves alone", get_halves_norm, GB_FUSE_NORM, 2 },
    { "gate", gate, GB_FUSE_GATE, 2 },
    { "a gate of one row", gate_of_row, GB_FUSE_GATE, 0 },
    { "a gate of halves", gate_of_halves, GB_FUSE_GATE, 0 },
    { "product", product_and_bias, GB_FUSE_PRODUCT, 2 },
    { "a visible product", visible_product, GB_FUSE_PRODUCT, 0 },
    { "split product", split_product, GB_FUSE_PRODUCT, 2 },
    { "many columns", many_columns, GB_FUSE_PRODUCT, 0 },
    { "one of two addends", two_addends, GB_FUSE_PRODUCT, 2 },
    { "products", products, GB_FUSE_PRODUCTS, 2 },
    { "products apart", products_apart, GB_FUSE_PRODUCTS, 0 },
    { "rope_store", rope_store, GB_FUSE_ROPE_STORE, 2 },
    { "into blocks", rope_store_into_blocks, GB_FUSE_ROPE_STORE, 0 },
    { "stores", stores, GB_FUSE_STORES, 2 },
    { "stores of stores", stores_of_stores, GB_FUSE_STORES, 0 },
    { "soft_max", soft_max, GB_FUSE_SOFT_MAX, 3 },
    { "a softmax with a mask", soft_max_with_mask, GB_FUSE_SOFT_MAX, 0 },
    { "slices", slices, GB_FUSE_SLICES, 2 },
    { "half slices", half_slices, GB_FUSE_SLICES, 0 },
    { "route", route, GB_FUSE_ROUTE, 5 },
    { "many experts", route_of_many, GB_FUSE_ROUTE, 0 },
};

static const struct gb_vk_limits limits = {
    .range = (size_t)1 << 27, .threads = 256
};

static bool
accepts(void *data, const struct gb_fuse_group *group)
{
    (void)data;
    return gb_vk_supports_group(&limits, group);
}

static void
check(size_t number)
{
    struct ggml_tensor *last = rows[number].make();
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_cpu_buffer_type());
    struct gb_fuse fuse = { .n_groups = 0 };
    const int n_wanted = rows[number].n_nodes > 0 ? 1 : 0;

    assert_non_null(buffer);
    ggml_build_forward_expand(graph, last);
    assert_true(gb_fuse_find(&fuse, graph, accepts, NULL));
    if (fuse.n_groups != n_wanted ||
        (n_wanted == 1 && (fuse.groups[0].pattern != rows[number].pattern ||
                           fuse.groups[0].n_nodes != rows[number].n_nodes)))
        fail_msg("%s: %d groups, the first %s of %d", rows[number].name,
                 fuse.n_groups,
                 fuse.n_groups > 0 ? gb_vk_fused_name(fuse.groups[0].pattern)
                                   : "none",
                 fuse.n_groups > 0 ? fuse.groups[0].n_nodes : 0);
    gb_fuse_clear(&fuse);
    ggml_backend_buffer_free(buffer);
}

static void
groups_are_those(void **state)
{
    bool is_there[GB_FUSE_PATTERN_COUNT] = { false };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ctx = ggml_init((struct ggml_init_params){ .mem_size = 1 << 20,
                                                   .no_alloc = true });
        assert_non_null(ctx);
        check(i);
        ggml_free(ctx);
        is_there[rows[i].pattern] |= rows[i].n_nodes > 0;
    }
    for (int i = 0; i < GB_FUSE_PATTERN_COUNT; i++)
        assert_true(is_there[i]);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_those),
    };

    return cmocka_run_group_tests_name("groups that Vulkan computes", tests,
                                       NULL, NULL);
}
