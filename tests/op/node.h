/* SPDX-License-Identifier: MIT */
/*
 * tests/op/node.h - what all tests of builders share: a context, what a node is
 * compared with, and what was said when one failed.
 */
#ifndef TESTS_OP_NODE_H
#define TESTS_OP_NODE_H

#include "lib/tensor/context.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One test's context, and the messages of the library since it began. */
struct world {
    struct ggml_context *ctx;
    int n_messages;
    char last[512];
};

static struct world world;

static inline void
keep_message(enum ggml_log_level level, const char *text, void *data)
{
    struct world *w = data;

    (void)level;
    w->n_messages++;
    strncpy(w->last, text, sizeof(w->last) - 1);
}

/* A context without data for SIZE bytes of objects. */
static inline struct ggml_context *
new_context(size_t size)
{
    return ggml_init((struct ggml_init_params){ size, NULL, true });
}

static inline int
begin(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.ctx = new_context(1 << 20);
    ggml_log_set(keep_message, &world);
    return world.ctx == NULL;
}

static inline int
end(void **state)
{
    (void)state;
    ggml_log_set(NULL, NULL);
    ggml_free(world.ctx);
    return 0;
}

/* A leaf of the four sizes. */
static inline struct ggml_tensor *
leaf(enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor_4d(world.ctx, type, ne0, ne1, ne2, ne3);
}

static inline struct ggml_tensor *
f32(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return leaf(GGML_TYPE_F32, ne0, ne1, ne2, ne3);
}

static inline struct ggml_tensor *
named(struct ggml_tensor *t, const char *name)
{
    return ggml_set_name(t, name);
}

/* The word that a float parameter is stored as. */
static inline int32_t
bits(float value)
{
    int32_t word;

    memcpy(&word, &value, sizeof(word));
    return word;
}

/* What a node has to be.  Sources are all ten, NULL where nothing is said. */
struct want {
    enum ggml_op op;
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS];
    struct ggml_tensor *src[GGML_MAX_SRC];
    int32_t params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    const char *name; /* NULL for none */
};

static inline void
check_as_wanted(const struct ggml_tensor *node, const struct want *want)
{
    assert_non_null(node);
    if (gb_tensor_is_failed(node))
        fail_msg("%s: failed: %s", ggml_op_name(want->op), world.last);
    assert_string_equal(ggml_op_name(node->op), ggml_op_name(want->op));
    assert_int_equal(node->type, want->type);
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (node->ne[i] != want->ne[i])
            fail_msg("%s: dimension %d has %lld elements, not %lld",
                     ggml_op_name(want->op), i, (long long)node->ne[i],
                     (long long)want->ne[i]);
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != want->src[i])
            fail_msg("%s: source %d is another", ggml_op_name(want->op), i);
    for (size_t i = 0; i < GGML_MAX_OP_PARAMS / sizeof(int32_t); i++)
        if (node->op_params[i] != want->params[i])
            fail_msg("%s: parameter %zu is %#x, not %#x",
                     ggml_op_name(want->op), i, (unsigned)node->op_params[i],
                     (unsigned)want->params[i]);
    assert_string_equal(node->name, want->name != NULL ? want->name : "");
}

/* A dimension that a tensor can have, and most results of it cannot: a quarter
 * of the largest size. */
#define LARGEST ((int64_t)(SIZE_MAX / 4 + 1))

/* NODE has a result of its own. */
static inline void
check_new(const struct ggml_tensor *node, const struct want *want)
{
    check_as_wanted(node, want);
    assert_true(ggml_is_contiguous(node));
    assert_null(node->view_src);
    assert_int_equal(world.n_messages, 0);
}

/* NODE is a view of ROOT, with the strides of A, OFFSET bytes behind ROOT. */
static inline void
check_view(const struct ggml_tensor *node, const struct want *want,
           const struct ggml_tensor *root, const size_t nb[GGML_MAX_DIMS],
           size_t offset)
{
    check_as_wanted(node, want);
    assert_ptr_equal(node->view_src, root);
    assert_int_equal(node->view_offs, offset);
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (node->nb[i] != nb[i])
            fail_msg("%s: stride %d is %zu, not %zu", ggml_op_name(want->op),
                     i, node->nb[i], nb[i]);
    assert_int_equal(world.n_messages, 0);
}

/* NODE overwrites its first source, which has no name and is no view. */
static inline void
check_inplace(const struct ggml_tensor *node, const struct want *want)
{
    struct want view = *want;
    const struct ggml_tensor *a = want->src[0];

    view.name = " (view)";
    check_view(node, &view, a, a->nb, 0);
}

/*
 * NODE was refused: a failed node came back, one message whose first word is
 * NAME was given, and the context still makes nodes.
 */
static inline void
check_refused(const struct ggml_tensor *node, const char *name)
{
    const size_t length = strlen(name);

    assert_non_null(node);
    if (!gb_tensor_is_failed(node))
        fail_msg("%s: not refused, behind \"%s\"", name, world.last);
    assert_null(node->data);
    if (world.n_messages != 1)
        fail_msg("%s: %d messages, \"%s\"", name, world.n_messages,
                 world.last);
    if (strncmp(world.last, name, length) != 0 || world.last[length] != ':')
        fail_msg("%s: said \"%s\"", name, world.last);
    assert_true(strlen(gb_tensor_failure(node)) > 0);
    world.n_messages = 0;
    assert_false(gb_tensor_is_failed(ggml_dup(world.ctx, f32(3, 1, 1, 1))));
}

/* A test with a world of its own. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
