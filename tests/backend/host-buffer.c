/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/host-buffer.c - ordinary memory as buffers.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/mem.h"
#include "tests/util/fault.h"

static void
the_type_is_what_clients_expect(void **state)
{
    ggml_backend_buffer_type_t buft = ggml_backend_cpu_buffer_type();

    (void)state;
    assert_string_equal(ggml_backend_buft_name(buft), "CPU");
    assert_int_equal(ggml_backend_buft_get_alignment(buft), 32);
    assert_true(ggml_backend_buft_get_max_size(buft) == SIZE_MAX);
    assert_true(ggml_backend_buft_is_host(buft));
    assert_null(ggml_backend_buft_get_device(buft));
    assert_ptr_equal(buft, ggml_backend_cpu_buffer_type());
}

static void
memory_is_aligned_and_as_large_as_asked(void **state)
{
    (void)state;
    for (size_t size = 1; size < 200; size += 13) {
        ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
            ggml_backend_cpu_buffer_type(), size);
        unsigned char *base = ggml_backend_buffer_get_base(buffer);

        assert_int_equal((uintptr_t)base % 64, 0);
        assert_int_equal(ggml_backend_buffer_get_size(buffer), size);
        ggml_backend_buffer_clear(buffer, 0x5a);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(base[i], 0x5a);
        ggml_backend_buffer_free(buffer);
    }
}

static void
a_buffer_over_callers_memory_leaves_it_to_the_caller(void **state)
{
    static _Alignas(32) unsigned char memory[256];
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, 100);
    ggml_backend_buffer_t buffer;

    (void)state;
    buffer = ggml_backend_cpu_buffer_from_ptr(memory, sizeof(memory));
    assert_non_null(buffer);
    assert_string_equal(ggml_backend_buffer_name(buffer), "CPU_Mapped");
    assert_true(ggml_backend_buffer_is_host(buffer));
    assert_ptr_not_equal(ggml_backend_buffer_get_type(buffer),
                         ggml_backend_cpu_buffer_type());
    assert_ptr_equal(ggml_backend_buffer_get_base(buffer), memory);
    assert_ptr_equal(buffer->context, memory);

    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, memory + 32),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_memset(t, 9, 10, 20);
    for (int i = 0; i < 256; i++)
        assert_int_equal(memory[i], i >= 42 && i < 62 ? 9 : 0);
    ggml_backend_buffer_free(buffer);
    assert_int_equal(memory[42], 9);
    ggml_free(ctx);
}

static void
the_mapped_type_allocates_like_the_other(void **state)
{
    static _Alignas(32) unsigned char memory[32];
    ggml_backend_buffer_t mapped, own;

    (void)state;
    mapped = ggml_backend_cpu_buffer_from_ptr(memory, sizeof(memory));
    own = ggml_backend_buft_alloc_buffer(ggml_backend_buffer_get_type(mapped),
                                         100);
    assert_non_null(own);
    ggml_backend_buffer_clear(own, 1);
    ggml_backend_buffer_free(own);
    ggml_backend_buffer_free(mapped);
}

static void
memory_off_the_alignment_is_refused(void **state)
{
    static _Alignas(32) unsigned char memory[64];

    (void)state;
    fake_failed();
    assert_null(ggml_backend_cpu_buffer_from_ptr(memory + 16, 32));
    assert_true(fake_failed());
    assert_null(ggml_backend_cpu_buffer_from_ptr(NULL, 32));
    assert_true(fake_failed());
}

static void
tensors_in_host_memory_are_copied_directly(void **state)
{
    struct ggml_context *ctx = fake_context(4);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    const float in[4] = { 1, 2, 3, 4 };
    float out[4] = { 0 };
    ggml_backend_buffer_t buffer;
    char *base;

    (void)state;
    buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 128);
    base = ggml_backend_buffer_get_base(buffer);
    ggml_backend_tensor_alloc(buffer, a, base);
    ggml_backend_tensor_alloc(buffer, b, base + 32);
    ggml_backend_tensor_set(a, in, 0, sizeof(in));
    assert_true(ggml_backend_buffer_copy_tensor(a, b));
    ggml_backend_tensor_get(b, out, 4, 8);
    assert_memory_equal(out, in + 1, 8);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* ---- large buffers ---- */

#define LARGE ((size_t)64 << 20)

static ggml_backend_buffer_t
new_large(void)
{
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_cpu_buffer_type(), LARGE);

    assert_non_null(buffer);
    assert_int_equal(ggml_backend_buffer_get_size(buffer), LARGE);
    assert_int_equal((uintptr_t)ggml_backend_buffer_get_base(buffer) % 64, 0);
    return buffer;
}

/* The first byte of every 4096, and the last of all. */
static void
expect_all(ggml_backend_buffer_t buffer, unsigned char value)
{
    const unsigned char *base = ggml_backend_buffer_get_base(buffer);

    for (size_t i = 0; i < LARGE; i += 4096)
        assert_int_equal(base[i], value);
    assert_int_equal(base[LARGE - 1], value);
}

static void
large_buffers_are_cleared_like_others(void **state)
{
    ggml_backend_buffer_t buffer = new_large();

    (void)state;
    ggml_backend_buffer_clear(buffer, 0);
    expect_all(buffer, 0);
    for (int round = 0; round < 2; round++) {
        ggml_backend_buffer_clear(buffer, 0xa5);
        expect_all(buffer, 0xa5);
        ggml_backend_buffer_clear(buffer, 0);
        expect_all(buffer, 0);
    }
    ggml_backend_buffer_free(buffer);
}

#ifdef __linux__
/* Pages of the buffer that take memory. */
static size_t
count_resident(ggml_backend_buffer_t buffer)
{
    static unsigned char pages[LARGE / 4096];
    size_t n = 0;

    assert_int_equal(sysconf(_SC_PAGESIZE), 4096);
    memset(pages, 0, sizeof(pages));
    assert_int_equal(
        mincore(ggml_backend_buffer_get_base(buffer), LARGE, (void *)pages),
        0);
    for (size_t i = 0; i < sizeof(pages); i++)
        n += pages[i] & 1;
    return n;
}

static void
clearing_takes_no_memory_and_gives_back_what_was_used(void **state)
{
    ggml_backend_buffer_t buffer;

    (void)state;
    if (sysconf(_SC_PAGESIZE) != 4096) {
        print_message("pages of another size\n");
        skip();
    }
    buffer = new_large();
    ggml_backend_buffer_clear(buffer, 0);
    assert_int_equal(count_resident(buffer), 0);
    /* A byte in each of the tensors of a cache takes a page, and no large
     * one. */
    for (size_t i = 0; i < LARGE; i += LARGE / 32)
        ((char *)ggml_backend_buffer_get_base(buffer))[i] = 1;
    assert_int_equal(count_resident(buffer), 32);
    ggml_backend_buffer_clear(buffer, 1);
    assert_int_equal(count_resident(buffer), LARGE / 4096);
    ggml_backend_buffer_clear(buffer, 0);
    assert_int_equal(count_resident(buffer), 0);
    ggml_backend_buffer_free(buffer);
}

static void
memory_that_is_locked_is_cleared_too(void **state)
{
    ggml_backend_buffer_t buffer = new_large();
    char *base = ggml_backend_buffer_get_base(buffer);

    (void)state;
    base[5000] = 1;
    base[LARGE - 1] = 1;
    if (mlock(base, 8192) != 0) {
        ggml_backend_buffer_free(buffer);
        print_message("no memory may be locked\n");
        skip();
    }
    ggml_backend_buffer_clear(buffer, 0);
    expect_all(buffer, 0);
    assert_int_equal(base[5000], 0);
    ggml_backend_buffer_free(buffer);
}
#endif

static void
take_a_large_buffer(void *data)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), LARGE);

    (void)data;
    assert_int_equal(buffer == NULL, gb_fault_happened());
    assert_int_equal(fake_failed(), gb_fault_happened());
    ggml_backend_buffer_free(buffer);
}

static void
take_a_buffer(void *data)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 10);

    (void)data;
    assert_int_equal(buffer == NULL, gb_fault_happened());
    assert_int_equal(fake_failed(), gb_fault_happened());
    ggml_backend_buffer_free(buffer);
}

static void
more_than_there_is_gives_null(void **state)
{
    const size_t n_blocks = gb_mem_n_blocks();

    (void)state;
    assert_null(ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(),
                                               SIZE_MAX - 10));
    assert_true(fake_failed());
    assert_int_equal(gb_fault_each(take_a_buffer, NULL), 2);
    assert_int_equal(gb_fault_each(take_a_large_buffer, NULL), 2);
    assert_int_equal(gb_mem_n_blocks(), n_blocks);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_is_what_clients_expect),
        cmocka_unit_test(memory_is_aligned_and_as_large_as_asked),
        cmocka_unit_test(a_buffer_over_callers_memory_leaves_it_to_the_caller),
        cmocka_unit_test(the_mapped_type_allocates_like_the_other),
        cmocka_unit_test(memory_off_the_alignment_is_refused),
        cmocka_unit_test(tensors_in_host_memory_are_copied_directly),
        cmocka_unit_test(large_buffers_are_cleared_like_others),
#ifdef __linux__
        cmocka_unit_test(clearing_takes_no_memory_and_gives_back_what_was_used),
        cmocka_unit_test(memory_that_is_locked_is_cleared_too),
#endif
        cmocka_unit_test(more_than_there_is_gives_null),
    };

    return cmocka_run_group_tests_name("host buffers", tests, NULL, NULL);
}
