/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/level-2024.c - what becomes of a backend of 2024-10.
 *
 * The registration is one object for the whole program, so the tests build on
 * each other.
 */
#include "tests/levels/backends/old.h"
#include "tests/util/fault.h"

#include "ggml-backend-impl.h"
#include "ggmlbackend-2024.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
wrap_once(void *data)
{
    struct ggml_backend_reg **entry = data;

    *entry = ggmlbackend_reg_2024(old_2024_reg());
    assert_true((*entry == NULL) == gb_fault_happened());
}

static void
before_it_is_registered_it_answers_its_own_level(void **state)
{
    (void)state;
    assert_string_equal(old_2024_name_of(old_2024_reg()), "Mid");
    assert_int_equal(old_2024_count_of(old_2024_reg()), 1);
    assert_true(old_2024_has_function(old_2024_reg(), "something"));
    assert_ptr_equal(((ggml_backend_dev_t)old_2024_device_of(old_2024_reg()))
                         ->reg,
                     old_2024_reg());
    assert_null(old_2024_name_of(NULL));
    assert_null(ggmlbackend_reg_2024(NULL));
}

static void
one_without_all_its_functions_is_refused_by_name(void **state)
{
    struct {
        struct ggml_backend_reg_i iface;
        void *context;
    } old = { { NULL, NULL, NULL, NULL }, NULL };

    (void)state;
    assert_null(ggmlbackend_reg_2024((struct ggml_backend_reg *)&old));
    assert_non_null(strstr(ggmlbackend_last_failure(), "has no get_name"));
    ggmlbackend_clear_failure();
}

static void
an_entry_of_today_stands_for_it(void **state)
{
    struct ggml_backend_reg *entry = NULL;

    (void)state;
    ggml_backend_dev_count(); /* the built-in backends are there */
    assert_int_equal(gb_fault_each(wrap_once, &entry), 2);
    assert_non_null(entry);
    assert_int_equal(entry->api_version, GGML_BACKEND_API_VERSION);
    assert_ptr_equal(ggmlbackend_reg_2024(old_2024_reg()), entry);
    assert_null(ggml_backend_reg_by_name("Mid"));
}

static void
its_devices_point_to_the_entry(void **state)
{
    struct ggml_backend_reg *reg;
    ggml_backend_dev_t dev;
    const size_t n_regs = ggml_backend_reg_count();

    (void)state;
    old_2024_register();
    old_2024_register();
    assert_int_equal(ggml_backend_reg_count(), n_regs + 1);
    reg = ggml_backend_reg_by_name("Mid");
    assert_non_null(reg);
    assert_ptr_equal(reg, ggmlbackend_reg_2024(old_2024_reg()));
    assert_ptr_equal(reg, ggmlbackend_reg_2024(reg));
    assert_int_equal(ggml_backend_reg_dev_count(reg), 1);
    dev = ggml_backend_dev_by_name("Mid0");
    assert_non_null(dev);
    assert_ptr_equal(dev, ggml_backend_reg_dev_get(reg, 0));
    assert_ptr_equal(ggml_backend_dev_backend_reg(dev), reg);
    assert_non_null(ggml_backend_reg_get_proc_address(reg, "something"));
    assert_null(ggml_backend_reg_get_proc_address(reg, "anything"));
}

static void
registrations_of_both_levels_are_understood(void **state)
{
    struct ggml_backend_reg *cpu = ggml_backend_reg_by_name("CPU");

    (void)state;
    assert_string_equal(old_2024_name_of(old_2024_reg()), "Mid");
    assert_string_equal(old_2024_name_of(ggml_backend_reg_by_name("Mid")),
                        "Mid");
    assert_string_equal(old_2024_name_of(cpu), "CPU");
    assert_int_equal(old_2024_count_of(cpu), 1);
    assert_ptr_equal(old_2024_device_of(cpu),
                     ggml_backend_dev_by_name("CPU"));
    assert_true(old_2024_has_function(cpu, "ggml_backend_set_n_threads"));
    assert_false(old_2024_has_function(old_2024_reg(), "anything"));
}

static void
a_device_by_itself_gets_an_entry_too(void **state)
{
    ggml_backend_dev_t dev;

    (void)state;
    old_2024_register_second();
    dev = ggml_backend_dev_by_name("Mid1");
    assert_non_null(dev);
    assert_string_equal(
        ggml_backend_reg_name(ggml_backend_dev_backend_reg(dev)), "Mid");
}

static void
init_tensor_is_called_and_has_succeeded(void **state)
{
    const struct ggml_init_params params = {
        .mem_size = 4 * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(ggml_backend_dev_by_name("Mid0")), 64);

    (void)state;
    assert_non_null(buffer);
    assert_int_equal(
        ggml_backend_tensor_alloc(buffer, a,
                                  ggml_backend_buffer_get_base(buffer)),
        GGML_STATUS_SUCCESS);
    assert_int_equal(old_2024.n_init_tensor, 1);
    ggml_backend_buffer_free(buffer);
    assert_int_equal(old_2024.n_buffers, 0);
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_it_is_registered_it_answers_its_own_level),
        cmocka_unit_test(one_without_all_its_functions_is_refused_by_name),
        cmocka_unit_test(an_entry_of_today_stands_for_it),
        cmocka_unit_test(its_devices_point_to_the_entry),
        cmocka_unit_test(registrations_of_both_levels_are_understood),
        cmocka_unit_test(a_device_by_itself_gets_an_entry_too),
        cmocka_unit_test(init_tensor_is_called_and_has_succeeded),
    };

    return cmocka_run_group_tests_name("backends of 2024-10", tests, NULL,
                                       NULL);
}
