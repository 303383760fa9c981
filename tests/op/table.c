/* SPDX-License-Identifier: MIT */
/*
 * tests/op/table.c - names, symbols and numbers of sources of all operations.
 */
#include "tests/op/node.h"

#include "lib/op/op.h"

/* The interface's names and symbols; lib/op/ops.def. */
static const struct {
    const char *name;
    const char *symbol;
} facts[GGML_OP_COUNT] = {
    { "NONE", "none" },
    { "DUP", "x" },
    { "ADD", "x+y" },
    { "ADD1", "x+y" },
    { "ACC", "view(x,nb,offset)+=y->x" },
    { "SUB", "x-y" },
    { "MUL", "x*y" },
    { "DIV", "x/y" },
    { "SQR", "x^2" },
    { "SQRT", "\xe2\x88\x9ax" },
    { "LOG", "log(x)" },
    { "SIN", "sin(x)" },
    { "COS", "cos(x)" },
    { "SUM", "\xce\xa3x" },
    { "SUM_ROWS", "\xce\xa3x_k" },
    { "MEAN", "\xce\xa3x/n" },
    { "ARGMAX", "argmax(x)" },
    { "COUNT_EQUAL", "count_equal(x)" },
    { "REPEAT", "repeat(x)" },
    { "REPEAT_BACK", "repeat_back(x)" },
    { "CONCAT", "concat(x, y)" },
    { "SILU_BACK", "silu_back(x)" },
    { "NORM", "norm(x)" },
    { "RMS_NORM", "rms_norm(x)" },
    { "RMS_NORM_BACK", "rms_norm_back(x)" },
    { "GROUP_NORM", "group_norm(x)" },
    { "MUL_MAT", "X*Y" },
    { "MUL_MAT_ID", "X[i]*Y" },
    { "OUT_PROD", "X*Y" },
    { "SCALE", "x*v" },
    { "SET", "y-\\>view(x)" },
    { "CPY", "x-\\>y" },
    { "CONT", "cont(x)" },
    { "RESHAPE", "reshape(x)" },
    { "VIEW", "view(x)" },
    { "PERMUTE", "permute(x)" },
    { "TRANSPOSE", "transpose(x)" },
    { "GET_ROWS", "get_rows(x)" },
    { "GET_ROWS_BACK", "get_rows_back(x)" },
    { "DIAG", "diag(x)" },
    { "DIAG_MASK_INF", "diag_mask_inf(x)" },
    { "DIAG_MASK_ZERO", "diag_mask_zero(x)" },
    { "SOFT_MAX", "soft_max(x)" },
    { "SOFT_MAX_BACK", "soft_max_back(x)" },
    { "ROPE", "rope(x)" },
    { "ROPE_BACK", "rope_back(x)" },
    { "CLAMP", "clamp(x)" },
    { "CONV_TRANSPOSE_1D", "conv_transpose_1d(x)" },
    { "IM2COL", "im2col(x)" },
    { "IM2COL_BACK", "im2col_back(x)" },
    { "CONV_TRANSPOSE_2D", "conv_transpose_2d(x)" },
    { "POOL_1D", "pool_1d(x)" },
    { "POOL_2D", "pool_2d(x)" },
    { "POOL_2D_BACK", "pool_2d_back(x)" },
    { "UPSCALE", "upscale(x)" },
    { "PAD", "pad(x)" },
    { "PAD_REFLECT_1D", "pad_reflect_1d(x)" },
    { "ARANGE", "arange(start, stop, step)" },
    { "TIMESTEP_EMBEDDING", "timestep_embedding(timesteps, dim, max_period)" },
    { "ARGSORT", "argsort(x)" },
    { "LEAKY_RELU", "leaky_relu(x)" },
    { "FLASH_ATTN_EXT", "flash_attn_ext(x)" },
    { "FLASH_ATTN_BACK", "flash_attn_back(x)" },
    { "SSM_CONV", "ssm_conv(x)" },
    { "SSM_SCAN", "ssm_scan(x)" },
    { "WIN_PART", "win_part(x)" },
    { "WIN_UNPART", "win_unpart(x)" },
    { "GET_REL_POS", "get_rel_pos(x)" },
    { "ADD_REL_POS", "add_rel_pos(x)" },
    { "RWKV_WKV6", "rwkv_wkv6(k, v, r, tf, td, s)" },
    { "GATED_LINEAR_ATTN", "gated_linear_attn(k, v, q, gate, s)" },
    { "UNARY", "unary(x)" },
    { "MAP_UNARY", "f(x)" },
    { "MAP_BINARY", "f(x,y)" },
    { "MAP_CUSTOM1_F32", "custom_f32(x)" },
    { "MAP_CUSTOM2_F32", "custom_f32(x,y)" },
    { "MAP_CUSTOM3_F32", "custom_f32(x,y,z)" },
    { "MAP_CUSTOM1", "custom(x)" },
    { "MAP_CUSTOM2", "custom(x,y)" },
    { "MAP_CUSTOM3", "custom(x,y,z)" },
    { "CROSS_ENTROPY_LOSS", "cross_entropy_loss(x,y)" },
    { "CROSS_ENTROPY_LOSS_BACK", "cross_entropy_loss_back(x,y)" },
    { "OPT_STEP_ADAMW", "adamw(x)" },
};

static const char *const unary_facts[GGML_UNARY_OP_COUNT] = {
    "ABS",     "SGN",  "NEG",        "STEP", "TANH",      "ELU",         "RELU",
    "SIGMOID", "GELU", "GELU_QUICK", "SILU", "HARDSWISH", "HARDSIGMOID", "EXP",
};

static void
names_and_symbols_are_the_interfaces(void **state)
{
    (void)state;
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        assert_non_null(facts[op].name);
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
#define GB_OP(op, word, sources, kind, in_place, derivative, text) rows++;
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
        TEST(unary_functions_have_the_interfaces_names),
        TEST(a_description_is_the_function_of_a_unary_operation),
        TEST(what_is_no_operation_has_no_name),
    };

    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
