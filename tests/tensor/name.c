/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/name.c - names are kept, cut and found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/name.h"

#include "tests/util/sink.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* 70 characters. */
static const char long_name[] =
    "0123456789012345678901234567890123456789012345678901234567890123456789";

static void
a_long_name_is_cut(void **state)
{
    struct ggml_tensor t;

    (void)state;
    memset(&t, 'x', sizeof(t));
    assert_ptr_equal(ggml_set_name(&t, long_name), &t);
    assert_int_equal(strlen(t.name), GGML_MAX_NAME - 1);
    assert_memory_equal(t.name, long_name, GGML_MAX_NAME - 1);
    assert_string_equal(ggml_get_name(&t), t.name);
    ggml_set_name(&t, "");
    assert_string_equal(t.name, "");
}

static void
a_formatted_name_is_cut_too(void **state)
{
    struct ggml_tensor t;

    (void)state;
    assert_ptr_equal(ggml_format_name(&t, "blk.%d.%s", 3, "attn"), &t);
    assert_string_equal(t.name, "blk.3.attn");
    ggml_format_name(&t, "%s", long_name);
    assert_int_equal(strlen(t.name), GGML_MAX_NAME - 1);
}

static void
a_name_may_be_made_from_the_old_one(void **state)
{
    struct ggml_tensor t;

    (void)state;
    ggml_set_name(&t, "ab");
    ggml_format_name(&t, "%s (%s)", t.name, t.name);
    assert_string_equal(t.name, "ab (ab)");
    ggml_set_name(&t, t.name + 3);
    assert_string_equal(t.name, "(ab)");
}

static void
a_name_of_parts_is_what_printf_writes(void **state)
{
    struct ggml_tensor from, to;
    char want[200];

    (void)state;
    memset(&to, 'x', sizeof(to));
    for (size_t n = 0; n < sizeof(long_name) - 1; n++) {
        size_t length;

        ggml_format_name(&from, "%.*s", (int)n, long_name);
        snprintf(want, sizeof(want), "%s <%s>", from.name, from.name);
        want[GGML_MAX_NAME - 1] = '\0';
        length = gb_name_add_name(&to, 0, &from);
        length = gb_name_add(&to, length, " <", 2);
        length = gb_name_add_name(&to, length, &from);
        length = gb_name_add(&to, length, ">", 1);
        assert_string_equal(to.name, want);
        assert_int_equal(length, strlen(want));
    }
}

static void
a_numbered_name_is_what_printf_writes(void **state)
{
    static const int numbers[] = { 0, 1, 9, 10, 99, 100, 12345, INT_MAX };
    struct ggml_tensor t;
    char want[GGML_MAX_NAME];

    (void)state;
    memset(&t, 'x', sizeof(t));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        gb_name_number(&t, "node_", numbers[i]);
        snprintf(want, sizeof(want), "node_%d", numbers[i]);
        assert_string_equal(t.name, want);
    }
}

static void
the_first_of_equal_names_is_found(void **state)
{
    const struct ggml_init_params params = { 10000, NULL, true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *c = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);

    (void)state;
    ggml_set_name(a, "one");
    ggml_set_name(b, "two");
    ggml_set_name(c, "two");
    assert_ptr_equal(ggml_get_tensor(ctx, "two"), b);
    assert_ptr_equal(ggml_get_tensor(ctx, "one"), a);
    assert_null(ggml_get_tensor(ctx, "tw"));
    assert_null(ggml_get_tensor(ctx, ""));
    ggml_free(ctx);
}

static void
nobody_has_no_name(void **state)
{
    static struct gb_sink sink;
    struct ggml_tensor t = { .name = "t" };

    (void)state;
    gb_sink_begin(&sink);
    assert_string_equal(ggml_get_name(NULL), "");
    assert_null(ggml_set_name(NULL, "x"));
    assert_null(ggml_format_name(NULL, "x"));
    assert_ptr_equal(ggml_set_name(&t, NULL), &t);
    assert_null(ggml_get_tensor(NULL, "x"));
    gb_sink_end();
    assert_string_equal(t.name, "t");
    assert_int_equal(sink.n, 5);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(a_formatted_name_is_cut_too),
        cmocka_unit_test(a_name_may_be_made_from_the_old_one),
        cmocka_unit_test(a_name_of_parts_is_what_printf_writes),
        cmocka_unit_test(a_numbered_name_is_what_printf_writes),
        cmocka_unit_test(the_first_of_equal_names_is_found),
        cmocka_unit_test(nobody_has_no_name),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
