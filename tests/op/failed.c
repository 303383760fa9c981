/* SPDX-License-Identifier: MIT */
/*
 * tests/op/failed.c - what all builders do without a context, without a source,
 * with failed sources, and without room.
 */
#include "tests/op/node.h"

#include <stdio.h>
#include <stdlib.h>

/* The deprecated builders are part of the interface and tested like others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define MAX_SOURCES 6

static int sections[4] = { 1, 0, 0, 0 };
static int64_t image[GGML_MAX_DIMS] = { 1, 1, 1, 1 };

/* Functions of clients, which nobody calls. */
static ggml_unary_op_f32_t run_unary = (ggml_unary_op_f32_t)abort;
static ggml_binary_op_f32_t run_binary = (ggml_binary_op_f32_t)abort;
static ggml_custom1_op_t run_custom1 = (ggml_custom1_op_t)abort;
static ggml_custom2_op_t run_custom2 = (ggml_custom2_op_t)abort;
static ggml_custom3_op_t run_custom3 = (ggml_custom3_op_t)abort;
static ggml_custom1_op_f32_t run_custom1_f32 = (ggml_custom1_op_f32_t)abort;
static ggml_custom2_op_f32_t run_custom2_f32 = (ggml_custom2_op_f32_t)abort;
static ggml_custom3_op_f32_t run_custom3_f32 = (ggml_custom3_op_f32_t)abort;

/* build_<name>: the builder, with all but context and sources chosen. */
#define BUILDER(name, n, arguments)                                       \
    static struct ggml_tensor *build_##name(                              \
        struct ggml_context *ctx, struct ggml_tensor *const *s)           \
    {                                                                     \
        return ggml_##name arguments;                                     \
    }
#include "tests/op/operations.def"

static const struct {
    const char *name;
    int n_sources;
    struct ggml_tensor *(*build)(
        struct ggml_context *ctx, struct ggml_tensor *const *s);
} builders[] = {
#define BUILDER(name, n, arguments) { #name, n, build_##name },
#include "tests/op/operations.def"
};

#define N_BUILDERS (sizeof(builders) / sizeof(builders[0]))

static void
set_sources(struct ggml_tensor *s[MAX_SOURCES])
{
    struct ggml_tensor *good = f32(1, 1, 1, 1);

    for (int i = 0; i < MAX_SOURCES; i++)
        s[i] = good;
}

static void
without_a_context_there_is_no_node(void **state)
{
    struct ggml_tensor *s[MAX_SOURCES];

    (void)state;
    set_sources(s);
    for (size_t i = 0; i < N_BUILDERS; i++) {
        if (builders[i].build(NULL, s) != NULL)
            fail_msg("%s: a node without a context", builders[i].name);
        if (world.n_messages != 1)
            fail_msg("%s: %d messages", builders[i].name, world.n_messages);
        world.n_messages = 0;
    }
}

/* NODE of builder I is CTX's failed one, after N messages. */
static void
check_failed(size_t i, int source, const struct ggml_tensor *node, int n)
{
    if (node == NULL || !gb_tensor_is_failed(node))
        fail_msg("%s: source %d did no harm", builders[i].name, source);
    if (world.n_messages != n)
        fail_msg("%s: source %d: %d messages, \"%s\"", builders[i].name,
                 source, world.n_messages, world.last);
    world.n_messages = 0;
}

static void
a_missing_source_is_named(void **state)
{
    struct ggml_tensor *s[MAX_SOURCES];
    char said[32];

    (void)state;
    for (size_t i = 0; i < N_BUILDERS; i++) {
        for (int j = 0; j < builders[i].n_sources; j++) {
            set_sources(s);
            s[j] = NULL;
            check_failed(i, j, builders[i].build(world.ctx, s), 1);
            snprintf(said, sizeof(said), ": source %d is NULL\n", j);
            if (strstr(world.last, said) == NULL)
                fail_msg("%s: said \"%s\"", builders[i].name, world.last);
        }
    }
}

static void
failed_sources_are_passed_on_without_a_word(void **state)
{
    struct ggml_context *ctx = new_context(1 << 12);
    struct ggml_tensor *s[MAX_SOURCES];
    struct ggml_tensor *failed = ggml_dup(ctx, NULL);
    const struct ggml_tensor before = *failed;

    (void)state;
    world.n_messages = 0;
    for (size_t i = 0; i < N_BUILDERS; i++) {
        for (int j = 0; j < builders[i].n_sources; j++) {
            set_sources(s);
            s[j] = failed;
            check_failed(i, j, builders[i].build(world.ctx, s), 0);
            assert_memory_equal(failed, &before, sizeof(before));
        }
    }
    ggml_free(ctx);
}

static void
optional_sources_may_have_failed_too(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 1, 1, 1);
    struct ggml_tensor *pos = leaf(GGML_TYPE_I32, 1, 1, 1, 1);
    struct ggml_tensor *failed = ggml_dup(ctx, NULL);

    (void)state;
    world.n_messages = 0;
    assert_true(gb_tensor_is_failed(
        ggml_soft_max_ext(ctx, a, failed, 1.0f, 0.0f)));
    assert_true(gb_tensor_is_failed(
        ggml_flash_attn_ext(ctx, a, a, a, failed, 1.0f, 0.0f, 0.0f)));
    assert_true(gb_tensor_is_failed(ggml_rope_ext(
        ctx, a, pos, failed, 8, 0, 0, 1e4f, 1.0f, 0.0f, 1.0f, 0.0f, 0.0f)));
    assert_int_equal(world.n_messages, 0);
}

static void
setters_leave_failed_nodes_alone(void **state)
{
    struct ggml_tensor *failed = ggml_dup(world.ctx, NULL);
    const struct ggml_tensor before = *failed;

    (void)state;
    world.n_messages = 0;
    ggml_mul_mat_set_prec(failed, GGML_PREC_F32);
    ggml_flash_attn_ext_set_prec(failed, GGML_PREC_F32);
    assert_int_equal(ggml_flash_attn_ext_get_prec(failed), GGML_PREC_DEFAULT);
    assert_memory_equal(failed, &before, sizeof(before));
    assert_int_equal(world.n_messages, 0);
}

/* A convolution, which is seven nodes, in contexts with room for 0 to 10. */
static void
a_context_without_room_gives_a_failed_node(void **state)
{
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 2, 4, 5);
    struct ggml_tensor *b = f32(10, 9, 4, 2);
    const size_t one = ggml_tensor_overhead();

    (void)state;
    for (size_t n = 0; n <= 10; n++) {
        struct ggml_context *ctx = new_context(n * one + one / 2);
        const struct ggml_tensor *node;

        assert_non_null(ctx);
        node = ggml_conv_2d(ctx, a, b, 1, 1, 0, 0, 1, 1);
        assert_int_equal(gb_tensor_is_failed(node), n < 7);
        if (n < 7)
            assert_true(strlen(gb_tensor_failure(node)) > 0);
        ggml_free(ctx);
    }
}

static void
a_full_context_keeps_failing(void **state)
{
    struct ggml_context *ctx = new_context(ggml_tensor_overhead() / 2);
    struct ggml_tensor *a = named(f32(8, 6, 1, 1), "a");

    (void)state;
    assert_true(gb_tensor_is_failed(ggml_add(ctx, a, a)));
    assert_true(gb_tensor_is_failed(ggml_add_inplace(ctx, a, a)));
    assert_true(gb_tensor_is_failed(ggml_cast(ctx, a, GGML_TYPE_F16)));
    assert_true(gb_tensor_is_failed(ggml_cpy(ctx, a, a)));
    assert_true(gb_tensor_is_failed(ggml_cpy(ctx, a, f32(8, 6, 1, 1))));
    assert_true(gb_tensor_is_failed(ggml_reshape_1d(ctx, a, 48)));
    assert_true(gb_tensor_is_failed(ggml_view_1d(ctx, a, 3, 4)));
    assert_true(gb_tensor_is_failed(ggml_permute(ctx, a, 1, 0, 2, 3)));
    assert_true(gb_tensor_is_failed(ggml_transpose(ctx, a)));
    assert_true(gb_tensor_is_failed(ggml_scale(ctx, a, 2.0f)));
    assert_true(gb_tensor_is_failed(ggml_top_k(ctx, a, 3)));
    assert_true(gb_tensor_is_failed(ggml_arange(ctx, 0.0f, 2.0f, 1.0f)));
    assert_int_equal(ggml_used_mem(ctx), 0);
    ggml_free(ctx);
}

static void
larger_nodes_fail_in_a_full_context_too(void **state)
{
    struct ggml_context *ctx = new_context(ggml_tensor_overhead() / 2);
    struct ggml_tensor *a = f32(8, 1, 1, 1), *params = f32(7, 1, 1, 1);
    struct ggml_tensor *places = leaf(GGML_TYPE_I32, 4, 1, 1, 1);

    (void)state;
    ggml_set_param(world.ctx, a);
    assert_false(gb_tensor_is_failed(
        ggml_opt_step_adamw(world.ctx, a, a, a, a, params)));
    assert_true(gb_tensor_is_failed(
        ggml_opt_step_adamw(ctx, a, a, a, a, params)));
    assert_false(gb_tensor_is_failed(
        ggml_rope_multi(world.ctx, a, places, NULL, 8, sections, 0, 0, 1e4f,
                        1.0f, 0.0f, 1.0f, 0.0f, 0.0f)));
    assert_true(gb_tensor_is_failed(
        ggml_rope_multi(ctx, a, places, NULL, 8, sections, 0, 0, 1e4f, 1.0f,
                        0.0f, 1.0f, 0.0f, 0.0f)));
    ggml_free(ctx);
}

/*
 * Sources that builder I makes a node of: one element each, of types that it
 * takes.  False when there are none.
 */
static bool
choose_sources(size_t i, struct ggml_tensor *s[MAX_SOURCES])
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_I32,
                                            GGML_TYPE_F16 };
    const int n = builders[i].n_sources;
    int n_choices = 1;

    for (int j = 0; j < n; j++)
        n_choices *= 3;
    for (int choice = 0; choice < n_choices; choice++) {
        struct ggml_context *ctx = new_context(1 << 14);
        bool is_good;

        for (int j = 0, rest = choice; j < n; j++, rest /= 3)
            s[j] = leaf(types[rest % 3], 1, 1, 1, 1);
        is_good = !gb_tensor_is_failed(builders[i].build(ctx, s));
        ggml_free(ctx);
        if (is_good)
            return true;
    }
    return false;
}

/* How many objects the node of builder I and what it is made of take. */
static size_t
count_objects(size_t i, struct ggml_tensor *s[MAX_SOURCES])
{
    struct ggml_context *ctx = new_context(1 << 14);
    size_t used;

    builders[i].build(ctx, s);
    used = ggml_used_mem(ctx);
    ggml_free(ctx);
    return used / ggml_tensor_overhead();
}

static void
each_builder_fails_in_a_context_without_room(void **state)
{
    size_t n_built = 0;

    (void)state;
    for (size_t i = 0; i < N_BUILDERS; i++) {
        struct ggml_tensor *s[MAX_SOURCES];
        size_t n;

        ggml_reset(world.ctx);
        if (!choose_sources(i, s))
            continue;
        n_built++;
        n = count_objects(i, s);
        assert_in_range(n, 1, 16);
        world.n_messages = 0;
        for (size_t room = 0; room < n; room++) {
            struct ggml_context *ctx = new_context(
                room * ggml_tensor_overhead() + ggml_tensor_overhead() / 2);

            if (!gb_tensor_is_failed(builders[i].build(ctx, s)) ||
                world.n_messages == 0)
                fail_msg("%s: made of %zu objects with room for %zu",
                         builders[i].name, n, room);
            world.n_messages = 0;
            ggml_free(ctx);
        }
    }
    /* Gradients of attention are never built; others have larger sources. */
    assert_int_equal(N_BUILDERS - n_built, 4);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(without_a_context_there_is_no_node),
        TEST(a_missing_source_is_named),
        TEST(failed_sources_are_passed_on_without_a_word),
        TEST(optional_sources_may_have_failed_too),
        TEST(setters_leave_failed_nodes_alone),
        TEST(a_context_without_room_gives_a_failed_node),
        TEST(a_full_context_keeps_failing),
        TEST(larger_nodes_fail_in_a_full_context_too),
        TEST(each_builder_fails_in_a_context_without_room),
    };

    return cmocka_run_group_tests_name("failed nodes", tests, NULL, NULL);
}
