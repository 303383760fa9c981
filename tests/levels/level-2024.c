/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/level-2024.c - what becomes of a backend of 2024-10.
 *
 * The registration is one object for the whole program, so the tests build on
 * each other.
 */
#include "tests/levels/backends/old.h"
#include "tests/util/fault.h"

#include "lib/levels/level-2024.h"

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

/*
 * A registration that is made here: what it answers is in fields, and nobody
 * registers it.  Entries and devices stay, so each case has one of its own.
 */
struct small {
    struct gb_2024_reg reg;
    size_t n_devices;
    ggml_backend_dev_t devices[2]; /* NULL for one that does not come up */
    struct ggml_backend_device device[2];
};

static const char *
small_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "Small";
}

static size_t
small_device_count(ggml_backend_reg_t reg)
{
    return ((const struct small *)reg)->n_devices;
}

static ggml_backend_dev_t
small_device(ggml_backend_reg_t reg, size_t index)
{
    return ((const struct small *)reg)->devices[index];
}

static bool
supports_nothing(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    (void)op;
    return false;
}

/* The registration of SMALL, which has N devices that name it. */
static ggml_backend_reg_t
make_small(struct small *small, size_t n)
{
    memset(small, 0, sizeof(*small));
    small->reg.iface.get_name = small_name;
    small->reg.iface.get_device_count = small_device_count;
    small->reg.iface.get_device = small_device;
    small->n_devices = n;
    for (size_t i = 0; i < n; i++) {
        small->device[i].reg = (ggml_backend_reg_t)small;
        small->device[i].iface.supports_op = supports_nothing;
        small->devices[i] = &small->device[i];
    }
    return (ggml_backend_reg_t)small;
}

static void
one_without_devices_gets_an_entry(void **state)
{
    static struct small small;
    static struct ggml_backend_reg *entry; /* nobody else knows it */

    (void)state;
    entry = ggmlbackend_reg_2024(make_small(&small, 0));
    assert_non_null(entry);
    assert_string_equal(ggml_backend_reg_name(entry), "Small");
    assert_int_equal(ggml_backend_reg_dev_count(entry), 0);
    assert_null(ggml_backend_reg_get_proc_address(entry, "something"));
}

static void
a_device_that_does_not_come_up_is_left_out(void **state)
{
    static struct small small;
    ggml_backend_reg_t reg = make_small(&small, 2);
    struct ggml_backend_reg *entry;

    (void)state;
    small.devices[0] = NULL;
    entry = ggmlbackend_reg_2024(reg);
    assert_non_null(entry);
    assert_null(ggml_backend_reg_dev_get(entry, 0));
    assert_ptr_equal(ggml_backend_reg_dev_get(entry, 1), &small.device[1]);
    assert_ptr_equal(small.device[1].reg, entry);
    assert_ptr_equal(small.device[0].reg, reg);
}

static void
functions_that_a_device_lacks_stay_missing(void **state)
{
    static struct small small;
    ggml_backend_reg_t reg = make_small(&small, 2);
    const struct ggml_tensor op = { .type = GGML_TYPE_F32, .op = GGML_OP_NONE };

    (void)state;
    small.device[1].iface.supports_op = NULL;
    assert_non_null(ggmlbackend_reg_2024(reg));
    assert_null(small.device[0].iface.get_type);
    assert_null(small.device[0].iface.get_props);
    assert_null(small.device[1].iface.supports_op);
    assert_ptr_not_equal(small.device[0].iface.supports_op, supports_nothing);
    assert_false(small.device[0].iface.supports_op(&small.device[0], &op));
}

static void
wrap_small(void *data)
{
    struct small *small = data;
    struct ggml_backend_reg *entry =
        ggmlbackend_reg_2024((ggml_backend_reg_t)small);

    assert_true((entry == NULL) == gb_fault_happened());
    if (entry != NULL)
        assert_ptr_equal(small->device[1].reg, entry);
}

/* Once the first device points to an entry, the next try goes on with it. */
static void
without_memory_for_a_device_the_next_try_goes_on(void **state)
{
    static struct small small;

    (void)state;
    make_small(&small, 2);
    assert_int_equal(gb_fault_each(wrap_small, &small), 3);
    assert_ptr_equal(small.device[0].reg, small.device[1].reg);
}

static void
get_new_device(void *data)
{
    struct ggml_backend_reg *entry = data;
    ggml_backend_dev_t device = ggml_backend_reg_dev_get(entry, 1);

    assert_true((device == NULL) == gb_fault_happened());
}

static void
a_device_that_comes_up_later_is_the_entrys_too(void **state)
{
    static struct small small;
    ggml_backend_reg_t reg = make_small(&small, 2);
    struct ggml_backend_reg *entry;

    (void)state;
    small.n_devices = 1;
    entry = ggmlbackend_reg_2024(reg);
    assert_ptr_equal(small.device[1].reg, reg);
    small.n_devices = 2;
    assert_int_equal(gb_fault_each(get_new_device, entry), 1);
    assert_ptr_equal(small.device[1].reg, entry);
}

static void
nothing_is_registered_of_what_is_not_there(void **state)
{
    static struct small small, nameless;
    struct ggml_backend_device loner = { .reg = NULL };
    struct ggml_backend_device of_cpu = {
        .reg = ggml_backend_reg_by_name("CPU")
    };
    const size_t n_regs = ggml_backend_reg_count();
    const size_t n_devices = ggml_backend_dev_count();

    (void)state;
    make_small(&small, 1);
    make_small(&nameless, 1);
    nameless.reg.iface.get_name = NULL;
    ggmlbackend_l202410_backend_register(NULL);
    ggmlbackend_l202410_backend_device_register(NULL);
    ggmlbackend_clear_failure();
    ggmlbackend_l202410_backend_device_register(&nameless.device[0]);
    assert_non_null(strstr(ggmlbackend_last_failure(), "has no get_name"));
    assert_ptr_equal(nameless.device[0].reg, &nameless);
    /* Devices without their functions are refused, whatever they name. */
    ggmlbackend_clear_failure();
    ggmlbackend_l202410_backend_device_register(&loner);
    assert_string_not_equal(ggmlbackend_last_failure(), "");
    ggmlbackend_clear_failure();
    ggmlbackend_l202410_backend_device_register(&of_cpu);
    assert_string_not_equal(ggmlbackend_last_failure(), "");
    ggmlbackend_clear_failure();
    for (int i = 0; i < 2; i++) { /* the second time it is an entry's */
        ggmlbackend_l202410_backend_device_register(&small.device[0]);
        assert_string_not_equal(ggmlbackend_last_failure(), "");
        ggmlbackend_clear_failure();
        assert_ptr_not_equal(small.device[0].reg, &small);
    }
    assert_int_equal(ggml_backend_reg_count(), n_regs);
    assert_int_equal(ggml_backend_dev_count(), n_devices);
}

static void
register_small(void *data)
{
    struct small *small = data;

    small->device[0].reg = (ggml_backend_reg_t)small;
    small->device[0].iface.supports_op = supports_nothing;
    ggmlbackend_clear_failure();
    ggmlbackend_l202410_backend_device_register(&small->device[0]);
    assert_string_not_equal(ggmlbackend_last_failure(), "");
    if (gb_fault_happened())
        assert_non_null(strstr(ggmlbackend_last_failure(), "no memory"));
    ggmlbackend_clear_failure();
}

static void
without_memory_a_device_is_not_registered(void **state)
{
    static struct small small;
    const size_t n_devices = ggml_backend_dev_count();

    (void)state;
    make_small(&small, 1);
    assert_int_equal(gb_fault_each(register_small, &small), 2);
    assert_int_equal(ggml_backend_dev_count(), n_devices);
}

/* An entry that no device came to is lost unless it is freed. */
static void
without_memory_for_a_device_no_entry_is_left(void **state)
{
    static struct small small;
    const size_t n_devices = ggml_backend_dev_count();

    (void)state;
    make_small(&small, 1);
    small.n_devices = 0; /* it does not list the one that names it */
    assert_int_equal(gb_fault_each(register_small, &small), 2);
    assert_string_equal(ggml_backend_reg_name(small.device[0].reg), "Small");
    assert_int_equal(ggml_backend_dev_count(), n_devices);
}

static void
free_nothing(ggml_backend_buffer_t buffer)
{
    (void)buffer;
}

static void
make_buffer(void *data)
{
    const struct ggml_backend_buffer *like = data;
    struct ggml_backend_buffer_i iface = like->iface;
    ggml_backend_buffer_t buffer;

    iface.init_tensor = NULL;
    iface.free_buffer = free_nothing;
    buffer = ggmlbackend_l202410_backend_buffer_init(like->buft, iface,
                                                     like->context, 16);
    assert_true((buffer == NULL) == gb_fault_happened());
    if (buffer != NULL)
        assert_null(buffer->iface.init_tensor);
    ggml_backend_buffer_free(buffer);
}

static void
a_buffer_may_do_without_init_tensor(void **state)
{
    ggml_backend_buffer_t like =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 16);

    (void)state;
    assert_int_equal(gb_fault_each(make_buffer, like), 1);
    ggml_backend_buffer_free(like);
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
        cmocka_unit_test(one_without_devices_gets_an_entry),
        cmocka_unit_test(a_device_that_does_not_come_up_is_left_out),
        cmocka_unit_test(functions_that_a_device_lacks_stay_missing),
        cmocka_unit_test(without_memory_for_a_device_the_next_try_goes_on),
        cmocka_unit_test(a_device_that_comes_up_later_is_the_entrys_too),
        cmocka_unit_test(nothing_is_registered_of_what_is_not_there),
        cmocka_unit_test(without_memory_a_device_is_not_registered),
        cmocka_unit_test(without_memory_for_a_device_no_entry_is_left),
        cmocka_unit_test(a_buffer_may_do_without_init_tensor),
    };

    return cmocka_run_group_tests_name("backends of 2024-10", tests, NULL,
                                       NULL);
}
