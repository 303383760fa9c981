/* SPDX-License-Identifier: MIT */
/*
 * tests/op/table.c - names, symbols and numbers of sources of all operations.
 */
#include "tests/op/node.h"

#include "lib/op/op.h"

/* The interface's numbers, names and symbols. */
static const struct {
    int number;
    const char *name;
    const char *symbol;
} facts[] = {
#define OPERATION(number, op, symbol) \
    { number == GGML_OP_##op ? number : -1, #op, symbol },
#include "tests/op/operations.def"
};

static const char *const unary_facts[GGML_UNARY_OP_COUNT] = {
    "ABS",     "SGN",  "NEG",        "STEP", "TANH",      "ELU",         "RELU",
    "SIGMOID", "GELU", "GELU_QUICK", "SILU", "HARDSWISH", "HARDSIGMOID", "EXP",
};

static void
names_and_symbols_are_the_interfaces(void **state)
{
    (void)state;
    assert_int_equal(sizeof(facts) / sizeof(facts[0]), GGML_OP_COUNT);
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        assert_int_equal(facts[op].number, op);
        assert_string_equal(ggml_op_name((enum ggml_op)op), facts[op].name);
        assert_string_equal(ggml_op_symbol((enum ggml_op)op),
                            facts[op].symbol);
    }
}

static void
every_operation_has_one_row(void **state)
{
    int rows = 0;

    (void)state;
#define GB_OP(op, word, sources, kind, in_place, written, derivative, text) \
    rows++;
#include "lib/op/ops.def"
#undef GB_OP
    assert_int_equal(rows, GGML_OP_COUNT);
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        const struct gb_op *row = gb_op_get((enum ggml_op)op);

        assert_non_null(row);
        assert_non_null(row->name);
        assert_string_equal(gb_op_word((enum ggml_op)op), row->word);
        assert_in_range(row->n_src, 0, GGML_MAX_SRC);
    }
    assert_null(gb_op_get(GGML_OP_COUNT));
    assert_null(gb_op_get((enum ggml_op)-1));
}

/* Four operations make views; a tensor of none and these have no work. */
static void
views_and_no_operation_have_no_work(void **state)
{
    static const enum ggml_op views[] = { GGML_OP_RESHAPE, GGML_OP_VIEW,
                                          GGML_OP_PERMUTE, GGML_OP_TRANSPOSE };

    (void)state;
    for (int op = -1; op <= GGML_OP_COUNT; op++) {
        bool is_view = false;

        for (int i = 0; i < 4; i++)
            is_view |= views[i] == (enum ggml_op)op;
        assert_int_equal(gb_op_is_view((enum ggml_op)op), is_view);
        assert_int_equal(gb_op_has_work((enum ggml_op)op),
                         !is_view && op != GGML_OP_NONE);
    }
}

/* A step of AdamW its two moments; the client's functions anything. */
static void
written_sources_are_known(void **state)
{
    (void)state;
    for (int op = -1; op <= GGML_OP_COUNT; op++) {
        const bool is_known = op >= 0 && op < GGML_OP_COUNT;
        unsigned want = is_known ? 0 : GB_OP_WRITES_ANYTHING;

        if (op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3)
            want = GB_OP_WRITES_ANYTHING;
        if (op == GGML_OP_OPT_STEP_ADAMW)
            want = 1u << 2 | 1u << 3;
        assert_int_equal(gb_op_writes((enum ggml_op)op), want);
    }
}

static void
unary_functions_have_the_interfaces_names(void **state)
{
    (void)state;
    for (int u = 0; u < GGML_UNARY_OP_COUNT; u++) {
        assert_string_equal(ggml_unary_op_name((enum ggml_unary_op)u),
                            unary_facts[u]);
        assert_true(gb_op_is_unary((enum ggml_unary_op)u));
    }
    assert_false(gb_op_is_unary(GGML_UNARY_OP_COUNT));
    assert_false(gb_op_is_unary((enum ggml_unary_op)-1));
}

static void
a_description_is_the_function_of_a_unary_operation(void **state)
{
    struct ggml_tensor *a = f32(4, 1, 1, 1);
    struct ggml_tensor *silu = ggml_silu(world.ctx, a);
    struct ggml_tensor *add = ggml_add(world.ctx, a, a);

    (void)state;
    assert_int_equal(ggml_get_unary_op(silu), GGML_UNARY_OP_SILU);
    assert_string_equal(ggml_op_desc(silu), "SILU");
    assert_string_equal(ggml_op_desc(add), "ADD");
    assert_string_equal(ggml_op_desc(a), "NONE");
}

static void
what_is_no_operation_has_no_name(void **state)
{
    struct ggml_tensor *a = f32(4, 1, 1, 1);

    (void)state;
    assert_string_equal(ggml_op_name(GGML_OP_COUNT), "unknown");
    assert_string_equal(ggml_op_symbol((enum ggml_op)-1), "unknown");
    assert_string_equal(ggml_unary_op_name(GGML_UNARY_OP_COUNT), "unknown");
    assert_string_equal(ggml_op_desc(NULL), "unknown");
    assert_int_equal(world.n_messages, 4);
    assert_int_equal(ggml_get_unary_op(a), GGML_UNARY_OP_COUNT);
    assert_int_equal(ggml_get_unary_op(NULL), GGML_UNARY_OP_COUNT);
    assert_int_equal(world.n_messages, 6);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(names_and_symbols_are_the_interfaces),
        TEST(every_operation_has_one_row),
        TEST(views_and_no_operation_have_no_work),
        TEST(written_sources_are_known),
        TEST(unary_functions_have_the_interfaces_names),
        TEST(a_description_is_the_function_of_a_unary_operation),
        TEST(what_is_no_operation_has_no_name),
    };

    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
