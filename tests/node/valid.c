/* SPDX-License-Identifier: MIT */
/*
 * Which nodes are valid: the samples of tests/op/operations.def, which builders
 * made; and none of them when a source that the operation reads is gone, a
 * count or a type is another one, or a parameter means nothing.
 */
#include "tests/cpu/ops/nodes.h"

#include "lib/node/node.h"

#include <limits.h>

#define MAX_TENSORS (GGML_MAX_SRC + 1)

struct scene {
    struct ggml_context *ctx;
    struct ggml_tensor *tensor[MAX_TENSORS]; /* sources, and the node */
    struct ggml_tensor *node;
};

static void
build(struct scene *scene, const struct sample *sample)
{
    const struct ggml_init_params params = {
        .mem_size = 64 * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    const int n = n_sources(sample);

    memset(scene, 0, sizeof(*scene));
    scene->ctx = ggml_init(params);
    assert_non_null(scene->ctx);
    for (int i = 0; i < n; i++)
        scene->tensor[i] = ggml_new_tensor(
            scene->ctx, sample->sources[i].type, 4, sample->sources[i].ne);
    scene->node = sample->build(scene->ctx, scene->tensor);
    assert_int_equal(scene->node->op, sample->op);
}

/* ---- operations ---- */

/* How many sources nodes have; -1: no backend computes it by lib/node. */
static int
sources_of(enum ggml_op op)
{
    switch ((int)op) {
#define GB_NODE(op, name, n) \
    case GGML_OP_##op:       \
        return n;
#include "lib/node/nodes.def"
#undef GB_NODE
    default:
        return -1;
    }
}

/* Views, the client's functions, and what the interface names but no backend
 * computes. */
static bool
is_for_others(enum ggml_op op)
{
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE ||
           op == GGML_OP_VIEW || op == GGML_OP_PERMUTE ||
           op == GGML_OP_TRANSPOSE || op == GGML_OP_FLASH_ATTN_BACK ||
           (op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3);
}

static void
each_operation_has_a_row_or_is_for_others(void **state)
{
    struct ggml_tensor node = { .type = GGML_TYPE_F32, .ne = { 1, 1, 1, 1 } };

    (void)state;
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        node.op = (enum ggml_op)op;
        if ((sources_of(node.op) < 0) != is_for_others(node.op))
            fail_msg("%s", ggml_op_name(node.op));
        if (is_for_others(node.op))
            assert_false(gb_node_is_valid(&node));
    }
    node.op = GGML_OP_COUNT;
    assert_false(gb_node_is_valid(&node));
    node.op = (enum ggml_op)INT_MAX;
    assert_false(gb_node_is_valid(&node));
}

static void
what_builders_make_is_valid_and_needs_its_sources(void **state)
{
    int n_asked = 0;

    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const int n = sources_of(samples[i].op);
        struct scene scene;

        if (n < 0)
            continue;
        build(&scene, &samples[i]);
        if (!gb_node_is_valid(scene.node))
            fail_msg("%s: a builder made it", samples[i].name);
        for (int s = 0; s < n; s++) {
            struct ggml_tensor *source = scene.node->src[s];

            assert_non_null(source);
            scene.node->src[s] = NULL;
            if (gb_node_is_valid(scene.node))
                fail_msg("%s: without source %d", samples[i].name, s);
            scene.node->src[s] = source;
            n_asked++;
        }
        ggml_free(scene.ctx);
    }
    assert_true(n_asked >= 100);
}

/* ---- counts ---- */

/* Nodes that may have other counts than the builder gives: the rest of a row
 * is padding, or more windows than the image has. */
static bool
may_be_larger(enum ggml_op op, int d)
{
    switch ((int)op) {
    case GGML_OP_ARANGE:
        return d == 0;
    case GGML_OP_PAD:
    case GGML_OP_REPEAT:
    case GGML_OP_UPSCALE:
    case GGML_OP_GET_ROWS_BACK:
        return true;
    case GGML_OP_TIMESTEP_EMBEDDING:
        return d == 0;
    case GGML_OP_IM2COL:
        return d == 1 || d == 2;
    case GGML_OP_IM2COL_BACK:
        return d == 0 || d == 1;
    case GGML_OP_POOL_1D:
        return d == 0;
    case GGML_OP_POOL_2D:
        return d < 2;
    case GGML_OP_WIN_PART:
    case GGML_OP_GET_REL_POS:
        return d > 0;
    default:
        return false;
    }
}

/* 1009 more elements, a prime, along one dimension of a node are too many: its
 * sources do not have them. */
static void
counts_are_those_of_the_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct scene scene;

        if (sources_of(samples[i].op) < 0)
            continue;
        build(&scene, &samples[i]);
        for (int d = 0; d < GGML_MAX_DIMS; d++) {
            if (may_be_larger(samples[i].op, d))
                continue;
            scene.node->ne[d] += 1009;
            if (gb_node_is_valid(scene.node))
                fail_msg("%s: dimension %d", samples[i].name, d);
            scene.node->ne[d] -= 1009;
        }
        ggml_free(scene.ctx);
    }
}

/* ---- types ---- */

/* What is moved as it is has any type, and what is copied becomes one. */
static bool
may_have_any_type(enum ggml_op op)
{
    return op == GGML_OP_DUP || op == GGML_OP_CPY || op == GGML_OP_CONT ||
           op == GGML_OP_ADD || op == GGML_OP_ADD1 || op == GGML_OP_SUB ||
           op == GGML_OP_MUL || op == GGML_OP_DIV || op == GGML_OP_SILU_BACK;
}

static void
no_other_node_is_of_integers_of_16_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct scene scene;

        if (sources_of(samples[i].op) < 0 || may_have_any_type(samples[i].op))
            continue;
        build(&scene, &samples[i]);
        scene.node->type = GGML_TYPE_I16;
        if (gb_node_is_valid(scene.node))
            fail_msg("%s", samples[i].name);
        ggml_free(scene.ctx);
    }
}

/* ---- parameters ---- */

/* Of the first sample of an operation: a word that means nothing. */
static const struct {
    enum ggml_op op;
    int word;
    int32_t value;
} bad_words[] = {
    { GGML_OP_ACC, 0, -4 },
    { GGML_OP_ACC, 0, 2 },
    { GGML_OP_ACC, 3, 2 },
    { GGML_OP_ACC, 3, 1 << 30 },
    { GGML_OP_SET, 0, 1 << 30 },
    { GGML_OP_SET, 3, -4 },
    { GGML_OP_ARGSORT, 0, 2 },
    { GGML_OP_ARGSORT, 0, -1 },
    { GGML_OP_CONCAT, 0, 4 },
    { GGML_OP_CONCAT, 0, -1 },
    { GGML_OP_CONV_TRANSPOSE_1D, 0, 0 },
    { GGML_OP_CONV_TRANSPOSE_1D, 0, INT32_MAX },
    { GGML_OP_CONV_TRANSPOSE_1D, 1, 1 },
    { GGML_OP_CONV_TRANSPOSE_1D, 2, 2 },
    { GGML_OP_CONV_TRANSPOSE_2D, 0, -1 },
    { GGML_OP_DIAG_MASK_INF, 0, -1 },
    { GGML_OP_DIAG_MASK_ZERO, 0, INT32_MIN },
    { GGML_OP_GROUP_NORM, 0, 0 },
    { GGML_OP_IM2COL, 0, 0 },
    { GGML_OP_IM2COL, 0, -1 },
    { GGML_OP_IM2COL_BACK, 0, 0 },
    { GGML_OP_PAD_REFLECT_1D, 0, -1 },
    { GGML_OP_PAD_REFLECT_1D, 1, 1 << 20 },
    { GGML_OP_POOL_1D, 0, GGML_OP_POOL_COUNT },
    { GGML_OP_POOL_1D, 0, -1 },
    { GGML_OP_POOL_1D, 1, 0 },
    { GGML_OP_POOL_2D, 2, 0 },
    { GGML_OP_POOL_2D_BACK, 1, -3 },
    { GGML_OP_ROPE, 1, 3 },
    { GGML_OP_ROPE, 1, -2 },
    { GGML_OP_ROPE, 1, 1 << 20 },
    { GGML_OP_ROPE, 2, GGML_ROPE_TYPE_MROPE },
    { GGML_OP_ROPE_BACK, 1, 1 },
    { GGML_OP_SOFT_MAX_BACK, 1, 0x3f800000 },
    { GGML_OP_TIMESTEP_EMBEDDING, 0, -1 },
    { GGML_OP_TIMESTEP_EMBEDDING, 0, 1 << 20 },
    { GGML_OP_UNARY, 0, GGML_UNARY_OP_COUNT },
    { GGML_OP_UNARY, 0, -1 },
    { GGML_OP_WIN_PART, 0, 0 },
    { GGML_OP_WIN_PART, 2, -1 },
    { GGML_OP_WIN_UNPART, 0, 0 },
};

static const struct sample *
sample_of(enum ggml_op op)
{
    for (size_t i = 0; i < N_SAMPLES; i++)
        if (samples[i].op == op)
            return &samples[i];
    fail_msg("%s has no sample", ggml_op_name(op));
    return NULL;
}

static void
parameters_mean_something(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_words) / sizeof(bad_words[0]); i++) {
        const enum ggml_op op = bad_words[i].op;
        struct scene scene;

        build(&scene, sample_of(op));
        assert_true(gb_node_is_valid(scene.node));
        scene.node->op_params[bad_words[i].word] = bad_words[i].value;
        if (gb_node_is_valid(scene.node))
            fail_msg("%s: word %d is %d", ggml_op_name(op), bad_words[i].word,
                     (int)bad_words[i].value);
        ggml_free(scene.ctx);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_has_a_row_or_is_for_others),
        cmocka_unit_test(what_builders_make_is_valid_and_needs_its_sources),
        cmocka_unit_test(counts_are_those_of_the_sources),
        cmocka_unit_test(no_other_node_is_of_integers_of_16_bits),
        cmocka_unit_test(parameters_mean_something),
    };

    return cmocka_run_group_tests_name("valid nodes", tests, NULL, NULL);
}
