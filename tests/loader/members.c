/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/members.c - tables with members that are missing: each that must
 * be there is named in the refusal, and each that may be missing is not missed.
 */
#include "tests/backend/fake.h"
#include "tests/loader/folder.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A member, and whether a backend may leave it out. */
struct member {
    size_t offset;
    const char *name;
    bool is_optional;
};

#define NEEDED(table, member)   { offsetof(struct table, member), #member, false }
#define OPTIONAL(table, member) { offsetof(struct table, member), #member, true }

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

static struct fake fake;
static const void *no_function;

/* TABLE, of the fake, without MEMBER; made whole again by fake_init. */
static void
take_out(void *table, const struct member *member)
{
    memcpy((char *)table + member->offset, &no_function, sizeof(no_function));
}

/* Was MEMBER named in a failure, if it is needed, and else none? */
static void
assert_missed(const struct member *member)
{
    const char *failure = ggmlbackend_last_failure();
    char words[64];

    snprintf(words, sizeof(words), "has no %s", member->name);
    if (member->is_optional)
        assert_string_equal(failure, "");
    else if (strstr(failure, words) == NULL)
        fail_msg("%s: %s", member->name, failure);
}

static void
registrations(void **state)
{
    static const struct member members[] = {
        NEEDED(ggml_backend_reg_i, get_name),
        NEEDED(ggml_backend_reg_i, get_device_count),
        NEEDED(ggml_backend_reg_i, get_device),
        OPTIONAL(ggml_backend_reg_i, get_proc_address),
    };
    const size_t n_regs = ggml_backend_reg_count();

    (void)state;
    for (size_t i = 0; i < LENGTH(members); i++) {
        fake_init(&fake, "Fake");
        take_out(&fake.reg.iface, &members[i]);
        ggml_backend_register(&fake.reg);
        assert_missed(&members[i]);
        assert_int_equal(ggml_backend_reg_count(),
                         n_regs + members[i].is_optional);
        ggml_backend_unload(&fake.reg);
    }
}

static const struct member device_members[] = {
    NEEDED(ggml_backend_device_i, get_name),
    NEEDED(ggml_backend_device_i, get_description),
    NEEDED(ggml_backend_device_i, get_memory),
    NEEDED(ggml_backend_device_i, get_type),
    NEEDED(ggml_backend_device_i, get_props),
    NEEDED(ggml_backend_device_i, init_backend),
    NEEDED(ggml_backend_device_i, get_buffer_type),
    OPTIONAL(ggml_backend_device_i, get_host_buffer_type),
    OPTIONAL(ggml_backend_device_i, buffer_from_host_ptr),
    NEEDED(ggml_backend_device_i, supports_op),
    NEEDED(ggml_backend_device_i, supports_buft),
    OPTIONAL(ggml_backend_device_i, offload_op),
    OPTIONAL(ggml_backend_device_i, event_new),
    OPTIONAL(ggml_backend_device_i, event_free),
    OPTIONAL(ggml_backend_device_i, event_synchronize),
};

/* With their registration, and alone. */
static void
devices(void **state)
{
    const size_t n_devices = ggml_backend_dev_count();
    const size_t n_regs = ggml_backend_reg_count();

    (void)state;
    for (size_t i = 0; i < LENGTH(device_members); i++) {
        const size_t n_more = device_members[i].is_optional;

        fake_init(&fake, "Fake");
        take_out(&fake.device.iface, &device_members[i]);
        ggml_backend_register(&fake.reg);
        assert_missed(&device_members[i]);
        assert_int_equal(ggml_backend_dev_count(), n_devices + n_more);
        assert_int_equal(ggml_backend_reg_count(), n_regs + n_more);
        ggml_backend_unload(&fake.reg);
    }
}

static void
devices_alone(void **state)
{
    static struct fake fakes[LENGTH(device_members)];
    size_t n_devices = ggml_backend_dev_count();

    (void)state;
    for (size_t i = 0; i < LENGTH(device_members); i++) {
        fake_init(&fakes[i], "Fake");
        take_out(&fakes[i].device.iface, &device_members[i]);
        ggml_backend_device_register(&fakes[i].device);
        assert_missed(&device_members[i]);
        n_devices += device_members[i].is_optional;
        assert_int_equal(ggml_backend_dev_count(), n_devices);
    }
}

static const char *
no_reg_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return NULL;
}

static const char *
no_device_name(ggml_backend_dev_t device)
{
    (void)device;
    return NULL;
}

static const char *
no_type_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return NULL;
}

static const char *
no_backend_name(ggml_backend_t backend)
{
    (void)backend;
    return NULL;
}

static const struct member name = { 0, "name", false };

static void
names(void **state)
{
    const size_t n_regs = ggml_backend_reg_count();
    const size_t n_devices = ggml_backend_dev_count();

    (void)state;
    fake_init(&fake, "Fake");
    fake.reg.iface.get_name = no_reg_name;
    ggml_backend_register(&fake.reg);
    assert_missed(&name);

    fake_init(&fake, "Fake");
    fake.device.iface.get_name = no_device_name;
    ggml_backend_register(&fake.reg);
    assert_missed(&name);
    fake_init(&fake, "Fake");
    fake.device.iface.get_name = no_device_name;
    fake.device.iface.get_description = no_device_name;
    ggml_backend_device_register(&fake.device);
    assert_missed(&name);
    assert_int_equal(ggml_backend_reg_count(), n_regs);
    assert_int_equal(ggml_backend_dev_count(), n_devices);
    assert_string_equal(ggml_backend_dev_description(&fake.device), "");

    fake_init(&fake, "Fake");
    fake.backend_members.get_name = no_backend_name;
    assert_null(ggml_backend_dev_init(&fake.device, NULL));
    assert_missed(&name);

    fake_init(&fake, "Fake");
    fake.buft.iface.get_name = no_type_name;
    assert_null(ggml_backend_dev_buffer_type(&fake.device));
    assert_missed(&name);
}

/* A backend without free stays with who made it. */
static void
backends(void **state)
{
    static const struct member members[] = {
        NEEDED(ggml_backend_i, get_name),
        OPTIONAL(ggml_backend_i, set_tensor_async),
        OPTIONAL(ggml_backend_i, get_tensor_async),
        OPTIONAL(ggml_backend_i, cpy_tensor_async),
        OPTIONAL(ggml_backend_i, synchronize),
        OPTIONAL(ggml_backend_i, graph_plan_create),
        OPTIONAL(ggml_backend_i, graph_plan_free),
        OPTIONAL(ggml_backend_i, graph_plan_update),
        OPTIONAL(ggml_backend_i, graph_plan_compute),
        NEEDED(ggml_backend_i, graph_compute),
        OPTIONAL(ggml_backend_i, event_record),
        OPTIONAL(ggml_backend_i, event_wait),
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(members); i++) {
        ggml_backend_t backend;

        fake_init(&fake, "Fake");
        take_out(&fake.backend_members, &members[i]);
        backend = ggml_backend_dev_init(&fake.device, NULL);
        assert_missed(&members[i]);
        assert_int_equal(backend != NULL, members[i].is_optional);
        ggml_backend_free(backend);
    }
}

static struct ggml_backend *kept;

static ggml_backend_t
give_kept(ggml_backend_dev_t device, const char *params)
{
    (void)device, (void)params;
    return kept;
}

static void
a_backend_that_cannot_be_freed(void **state)
{
    const struct member member = NEEDED(ggml_backend_i, free);

    (void)state;
    fake_init(&fake, "Fake");
    kept = fake_backend(&fake);
    kept->iface.free = NULL;
    fake.device.iface.init_backend = give_kept;
    assert_null(ggml_backend_dev_init(&fake.device, NULL));
    assert_missed(&member);
    kept->iface.free = fake.backend_members.free;
    ggml_backend_free(kept);
}

static void
buffer_types(void **state)
{
    static const struct member members[] = {
        NEEDED(ggml_backend_buffer_type_i, get_name),
        NEEDED(ggml_backend_buffer_type_i, alloc_buffer),
        NEEDED(ggml_backend_buffer_type_i, get_alignment),
        OPTIONAL(ggml_backend_buffer_type_i, get_max_size),
        OPTIONAL(ggml_backend_buffer_type_i, get_alloc_size),
        OPTIONAL(ggml_backend_buffer_type_i, is_host),
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(members); i++) {
        ggml_backend_buffer_type_t buft;

        fake_init(&fake, "Fake");
        take_out(&fake.buft.iface, &members[i]);
        buft = ggml_backend_dev_buffer_type(&fake.device);
        assert_missed(&members[i]);
        assert_int_equal(buft != NULL, members[i].is_optional);
        ggmlbackend_clear_failure();
        buft = ggml_backend_dev_host_buffer_type(&fake.device);
        assert_missed(&members[i]);
        assert_int_equal(buft != NULL, members[i].is_optional);
    }
}

/* Of 0 bytes all may be missing. */
static void
buffers(void **state)
{
    static const struct ggml_backend_buffer_i nothing;
    static const struct member members[] = {
        OPTIONAL(ggml_backend_buffer_i, free_buffer),
        NEEDED(ggml_backend_buffer_i, get_base),
        OPTIONAL(ggml_backend_buffer_i, init_tensor),
        OPTIONAL(ggml_backend_buffer_i, memset_tensor),
        NEEDED(ggml_backend_buffer_i, set_tensor),
        OPTIONAL(ggml_backend_buffer_i, get_tensor),
        OPTIONAL(ggml_backend_buffer_i, cpy_tensor),
        NEEDED(ggml_backend_buffer_i, clear),
        OPTIONAL(ggml_backend_buffer_i, reset),
    };
    ggml_backend_buffer_t buffer;

    (void)state;
    for (size_t i = 0; i < LENGTH(members); i++) {
        struct ggml_backend_buffer_i iface;

        fake_init(&fake, "Fake");
        iface = fake.buffer_members;
        take_out(&iface, &members[i]);
        buffer = ggml_backend_buffer_init(&fake.buft, iface, NULL, 64);
        assert_missed(&members[i]);
        assert_int_equal(buffer != NULL, members[i].is_optional);
        if (buffer != NULL)
            buffer->iface.free_buffer = NULL; /* it has no memory */
        ggml_backend_buffer_free(buffer);
    }
    buffer = ggml_backend_buffer_init(&fake.buft, nothing, NULL, 0);
    assert_non_null(buffer);
    ggml_backend_buffer_free(buffer);
}

/* Others' data stays as it is. */
static void
a_buffer_that_cannot_be_read(void **state)
{
    struct ggml_context *ctx = fake_context(4);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    float values[4] = { 1, 2, 3, 4 };
    ggml_backend_buffer_t from, to;

    (void)state;
    fake_init(&fake, "Fake");
    fake.buffer_members.get_tensor = NULL;
    from = ggml_backend_buft_alloc_buffer(&fake.buft, 64);
    to = ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 64);
    ggml_backend_tensor_alloc(from, a, ggml_backend_buffer_get_base(from));
    ggml_backend_tensor_alloc(to, b, ggml_backend_buffer_get_base(to));
    ggml_backend_tensor_set(a, values, 0, sizeof(values));
    ggml_backend_tensor_set(b, values, 0, sizeof(values));
    assert_false(fake_failed());
    ggml_backend_tensor_get(a, values, 0, sizeof(values));
    assert_non_null(strstr(ggmlbackend_last_failure(), "cannot be read"));
    ggmlbackend_clear_failure();
    ggml_backend_tensor_copy(a, b);
    assert_non_null(strstr(ggmlbackend_last_failure(), "cannot be read"));
    for (int i = 0; i < 4; i++) {
        assert_true(values[i] == (float)(i + 1));
        assert_true(((float *)b->data)[i] == (float)(i + 1));
    }
    ggml_backend_buffer_free(from);
    ggml_backend_buffer_free(to);
    ggml_free(ctx);
}

static void
modules(void **state)
{
    static const struct {
        const char *module;
        const char *reason;
    } cases[] = {
        { "partial", "its registration has no get_device" },
        { "nameless", "its registration has no name" },
        { "lame", "its device 0 has no supports_op" },
        { "borrowed", "gives a backend that is not its own: CPU" },
    };
    const size_t n_regs = ggml_backend_reg_count();
    const size_t n_devices = ggml_backend_dev_count();

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_null(ggml_backend_load(module_path(cases[i].module)));
        if (strstr(ggmlbackend_last_failure(), cases[i].reason) == NULL)
            fail_msg("%s: %s", cases[i].module, ggmlbackend_last_failure());
        assert_int_equal(ggml_backend_reg_count(), n_regs);
        assert_int_equal(ggml_backend_dev_count(), n_devices);
    }
    assert_null(ggmlbackend_module_path(ggml_backend_reg_by_name("CPU")));
}

/* It stays the CPU's when that was unloaded; nothing comes after this. */
static void
a_module_that_waits_for_the_cpu_to_go(void **state)
{
    (void)state;
    ggml_backend_unload(ggml_backend_reg_by_name("CPU"));
    assert_null(ggml_backend_load(module_path("borrowed")));
    assert_null(ggml_backend_reg_by_name("CPU"));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(registrations),
        cmocka_unit_test(devices),
        cmocka_unit_test(devices_alone),
        cmocka_unit_test(names),
        cmocka_unit_test(backends),
        cmocka_unit_test(a_backend_that_cannot_be_freed),
        cmocka_unit_test(buffer_types),
        cmocka_unit_test(buffers),
        cmocka_unit_test(a_buffer_that_cannot_be_read),
        cmocka_unit_test(modules),
        cmocka_unit_test(a_module_that_waits_for_the_cpu_to_go),
    };

    return cmocka_run_group_tests_name("missing members", tests, NULL, NULL);
}
