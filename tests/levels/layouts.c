/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/layouts.c - the structs of older levels: as their tables say,
 * and as the adapters take them.
 */
#include "tests/levels/backends/layout.h"

#include "lib/levels/level-2023.h"
#include "lib/levels/level-2024.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t
find(const struct layout *list, const char *name)
{
    for (; list->name != NULL; list++)
        if (strcmp(list->name, name) == 0)
            return list->value;
    fail_msg("no %s", name);
    return 0;
}

/* LIST's next entries are STRUCT's members, one pointer each, in this order. */
static void
check_table(const struct layout *list, const char *table,
            const char *const *members, size_t n)
{
    char name[100];

    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s.%s", table, members[i]);
        if (find(list, name) != i * sizeof(void *))
            fail_msg("%s is at %zu", name, find(list, name));
    }
    assert_int_equal(find(list, table), n * sizeof(void *));
}

static void
the_tables_of_2023_have_their_members_in_order(void **state)
{
    static const char *const buffer[] = {
        "free_buffer", "get_base", "get_alloc_size", "init_tensor",
        "free_tensor",
    };
    static const char *const backend[] = {
        "get_name", "free", "alloc_buffer", "get_alignment",
        "set_tensor_async", "get_tensor_async", "synchronize",
        "cpy_tensor_from", "cpy_tensor_to", "graph_plan_create",
        "graph_plan_free", "graph_plan_compute", "graph_compute",
        "supports_op",
    };

    (void)state;
    check_table(layout_2023, "ggml_backend_buffer_i", buffer, 5);
    check_table(layout_2023, "ggml_backend_i", backend, 14);
}

/* What the header says, and what the adapter's own struct says. */
#define SAME(list, type, ours, member)                                  \
    assert_int_equal(find(list, #type "." #member),                     \
                     offsetof(struct ours, member))
#define SAME_SIZE(list, type, ours) \
    assert_int_equal(find(list, #type), sizeof(struct ours))

static void
the_adapter_of_2023_sees_the_same_structs(void **state)
{
    (void)state;
    SAME(layout_2023, ggml_backend_buffer_i, gb_2023_buffer_i, get_base);
    SAME(layout_2023, ggml_backend_buffer_i, gb_2023_buffer_i, get_alloc_size);
    SAME(layout_2023, ggml_backend_buffer_i, gb_2023_buffer_i, init_tensor);
    SAME(layout_2023, ggml_backend_buffer_i, gb_2023_buffer_i, free_tensor);
    SAME(layout_2023, ggml_backend_buffer, gb_2023_buffer, iface);
    SAME(layout_2023, ggml_backend_buffer, gb_2023_buffer, backend);
    SAME(layout_2023, ggml_backend_buffer, gb_2023_buffer, context);
    SAME(layout_2023, ggml_backend_buffer, gb_2023_buffer, size);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, alloc_buffer);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, get_alignment);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, set_tensor_async);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, get_tensor_async);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, synchronize);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, cpy_tensor_from);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, cpy_tensor_to);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, graph_plan_create);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, graph_plan_free);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, graph_plan_compute);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, graph_compute);
    SAME(layout_2023, ggml_backend_i, gb_2023_backend_i, supports_op);
    SAME(layout_2023, ggml_backend, gb_2023_backend, iface);
    SAME(layout_2023, ggml_backend, gb_2023_backend, context);
    SAME_SIZE(layout_2023, ggml_backend, gb_2023_backend);
}

static void
a_registration_of_2024_has_no_version(void **state)
{
    (void)state;
    assert_int_equal(find(layout_2024, "ggml_backend_reg.iface"), 0);
    assert_int_equal(find(layout_2024, "ggml_backend_reg.context"),
                     4 * sizeof(void *));
    SAME_SIZE(layout_2024, ggml_backend_reg, gb_2024_reg);
}

static void
everything_else_of_2024_is_as_today(void **state)
{
    (void)state;
    SAME(layout_2024, ggml_backend_buffer_i, ggml_backend_buffer_i,
         init_tensor);
    SAME_SIZE(layout_2024, ggml_backend_buffer_i, ggml_backend_buffer_i);
    SAME_SIZE(layout_2024, ggml_backend_buffer_type_i,
              ggml_backend_buffer_type_i);
    SAME_SIZE(layout_2024, ggml_backend_buffer_type, ggml_backend_buffer_type);
    SAME(layout_2024, ggml_backend_buffer, ggml_backend_buffer, buft);
    SAME_SIZE(layout_2024, ggml_backend_buffer, ggml_backend_buffer);
    SAME_SIZE(layout_2024, ggml_backend_i, ggml_backend_i);
    SAME_SIZE(layout_2024, ggml_backend, ggml_backend);
    SAME_SIZE(layout_2024, ggml_backend_event, ggml_backend_event);
    SAME_SIZE(layout_2024, ggml_backend_device_i, ggml_backend_device_i);
    SAME(layout_2024, ggml_backend_device, ggml_backend_device, reg);
    SAME_SIZE(layout_2024, ggml_backend_device, ggml_backend_device);
    SAME_SIZE(layout_2024, ggml_backend_reg_i, ggml_backend_reg_i);
}

static void
tensors_and_graphs_are_those_of_today_at_each_level(void **state)
{
    (void)state;
    SAME(layout_2023, ggml_tensor, ggml_tensor, extra);
    SAME_SIZE(layout_2023, ggml_tensor, ggml_tensor);
    SAME(layout_2023, ggml_cgraph, ggml_cgraph, nodes);
    SAME_SIZE(layout_2023, ggml_cgraph, ggml_cgraph);
    SAME_SIZE(layout_2024, ggml_tensor, ggml_tensor);
    SAME_SIZE(layout_2024, ggml_cgraph, ggml_cgraph);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_of_2023_have_their_members_in_order),
        cmocka_unit_test(the_adapter_of_2023_sees_the_same_structs),
        cmocka_unit_test(a_registration_of_2024_has_no_version),
        cmocka_unit_test(everything_else_of_2024_is_as_today),
        cmocka_unit_test(tensors_and_graphs_are_those_of_today_at_each_level),
    };

    return cmocka_run_group_tests_name("layouts of levels", tests, NULL, NULL);
}
