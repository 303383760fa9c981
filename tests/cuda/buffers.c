/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/buffers.c - memory of cards: what is put there in any way comes
 * back, byte for byte.
 */
#include "config.h"

#include "tests/cuda/bytes.h"

#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- a card's ---- */

static void
change_ranges(void)
{
    enum { SIZE = 1000 };
    uint8_t *expected, *other;
    struct bytes b;

    CHECK(cuda_load() != NULL);
    b = bytes_make(bytes_type("CUDA0"), SIZE);
    CHECK(!ggml_backend_buffer_is_host(b.buffer));
    expected = bytes_pattern(SIZE, 1);
    other = bytes_pattern(SIZE, 2);
    ggml_backend_tensor_set(b.tensor, expected, 0, SIZE);
    CHECK(bytes_are(b.tensor, expected, SIZE));
    ggml_backend_tensor_set(b.tensor, other + 3, 501, 77);
    memcpy(expected + 501, other + 3, 77);
    ggml_backend_tensor_memset(b.tensor, 0x5a, 13, 100);
    memset(expected + 13, 0x5a, 100);
    CHECK(bytes_are(b.tensor, expected, SIZE));
    ggml_backend_tensor_get(b.tensor, other, 490, 20);
    CHECK(memcmp(other, expected + 490, 20) == 0);
    ggml_backend_buffer_clear(b.buffer, 0x33);
    memset(expected, 0x33, SIZE);
    CHECK(bytes_are(b.tensor, expected, SIZE));
    free(other);
    free(expected);
    bytes_free(&b);
    bytes_end();
}

static void
ranges_are_set_filled_and_read(void **state)
{
    (void)state;
    cuda_case(change_ranges, "", NULL);
    cuda_case(change_ranges, "GGML_CUDA_ENABLE_UNIFIED_MEMORY=1", NULL);
    cuda_case(change_ranges, "GGMLBACKEND_GPU_WAIT=spin", NULL);
    cuda_case(change_ranges, "GGMLBACKEND_GPU_WAIT=sleep", NULL);
}

static void
copy_much(void)
{
    uint8_t *first, *second;
    struct bytes a, b;

    CHECK(cuda_load() != NULL);
    a = bytes_make(bytes_type("CUDA0"), LONG_SIZE);
    b = bytes_make(bytes_type("CUDA0"), LONG_SIZE);
    first = bytes_pattern(LONG_SIZE, 3);
    second = bytes_pattern(LONG_SIZE, 4);
    ggml_backend_tensor_set(a.tensor, first, 0, LONG_SIZE);
    ggml_backend_tensor_set(b.tensor, second, 0, LONG_SIZE);
    CHECK(bytes_are(a.tensor, first, LONG_SIZE));
    CHECK(bytes_are(b.tensor, second, LONG_SIZE));
    ggml_backend_tensor_copy(a.tensor, b.tensor);
    CHECK(bytes_are(b.tensor, first, LONG_SIZE));
    free(first);
    free(second);
    bytes_free(&a);
    bytes_free(&b);
    bytes_end();
}

static void
long_copies_of_pageable_memory_come_right(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(copy_much, "", &errors);
    assert_null(strstr(errors, "no pinned memory"));
    cuda_case(copy_much, "EMU_FAIL=cuMemHostAlloc:1:2 GGMLBACKEND_LOG=info",
              &errors);
    assert_non_null(strstr(errors, "no pinned memory"));
}

/* Behind the last value of a quantised row the interface has zeros, in a buffer
 * that had other bytes before. */
static void
look_behind_rows(void)
{
    enum { K = 32 * 5, ROWS = 3 };
    struct ggml_tensor *weights, *behind;
    ggml_backend_buffer_t buffer;
    struct ggml_context *ctx;
    uint8_t data[4096];
    size_t size, room;

    CHECK(cuda_load() != NULL);
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead(), .no_alloc = true });
    weights = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, K, ROWS);
    size = ggml_nbytes(weights);
    room = ggml_backend_buft_get_alloc_size(bytes_type("CUDA0"), weights);
    CHECK(room == size + ggml_row_size(GGML_TYPE_Q8_0, 512 - K));
    buffer = ggml_backend_buft_alloc_buffer(bytes_type("CUDA0"), room);
    CHECK(buffer != NULL && room <= sizeof(data));
    ggml_backend_buffer_clear(buffer, 0x77);
    CHECK(ggml_backend_tensor_alloc(buffer, weights,
                                    ggml_backend_buffer_get_base(buffer)) ==
          GGML_STATUS_SUCCESS);
    behind = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, (int64_t)(room - size));
    CHECK(ggml_backend_tensor_alloc(
              buffer, behind,
              (char *)ggml_backend_buffer_get_base(buffer) + size) ==
          GGML_STATUS_SUCCESS);
    memset(data, 0, sizeof(data));
    CHECK(bytes_are(behind, data, room - size));
    memset(data, 0x77, sizeof(data));
    CHECK(bytes_are(weights, data, size));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    bytes_end();
}

static void
there_are_zeros_behind_quantised_rows(void **state)
{
    (void)state;
    cuda_case(look_behind_rows, "", NULL);
}

/* ---- in a backend's stream, and between backends ---- */

static void
copy_in_streams(void)
{
    enum { SIZE = 3 << 20 }; /* more than the slots of a staged copy */
    ggml_backend_t one, two;
    ggml_backend_event_t event, other;
    uint8_t *first, *second, *back;
    struct bytes a, b;

    CHECK(cuda_load() != NULL);
    one = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    two = ggml_backend_dev_init(cuda_device("CUDA1"), NULL);
    event = ggml_backend_event_new(cuda_device("CUDA1"));
    other = ggml_backend_event_new(cuda_device("CUDA0"));
    CHECK(one != NULL && two != NULL && event != NULL && other != NULL);
    a = bytes_make(bytes_type("CUDA0"), SIZE);
    b = bytes_make(bytes_type("CUDA1"), SIZE);
    first = bytes_pattern(SIZE, 5);
    second = bytes_pattern(SIZE, 6);
    back = malloc(SIZE);
    CHECK(back != NULL);
    /* The source changes again behind the copy. */
    ggml_backend_tensor_set_async(one, a.tensor, first, 0, SIZE);
    ggml_backend_tensor_copy_async(one, two, a.tensor, b.tensor);
    ggml_backend_tensor_set_async(one, a.tensor, second, 0, SIZE);
    ggml_backend_tensor_get_async(two, b.tensor, back, 0, SIZE);
    ggml_backend_event_record(event, two);
    ggml_backend_event_wait(one, event);
    ggml_backend_event_synchronize(event);
    CHECK(memcmp(back, first, SIZE) == 0);
    /* Back, where what is queued already would write over it. */
    ggml_backend_event_record(other, one);
    ggml_backend_event_wait(two, other);
    ggml_backend_tensor_copy_async(two, one, b.tensor, a.tensor);
    ggml_backend_tensor_set_async(two, b.tensor, second, 0, SIZE);
    ggml_backend_tensor_get_async(one, a.tensor, back, 0, SIZE);
    ggml_backend_synchronize(one);
    CHECK(memcmp(back, first, SIZE) == 0);
    ggml_backend_synchronize(two);
    CHECK(bytes_are(b.tensor, second, SIZE));
    /* And by blocking calls. */
    ggml_backend_tensor_copy(b.tensor, a.tensor);
    CHECK(bytes_are(a.tensor, second, SIZE));
    ggml_backend_event_free(event);
    ggml_backend_event_free(other);
    bytes_free(&a);
    bytes_free(&b);
    ggml_backend_free(one);
    ggml_backend_free(two);
    free(back);
    free(first);
    free(second);
    bytes_end();
}

static void
copies_between_backends_keep_their_order(void **state)
{
    (void)state;
    for (int order = 0; order < 4; order++) {
        static const char *const peers[] = {
            "EMU_DEVICES=2", "EMU_DEVICES=2 EMU_PEER=refused",
            "EMU_DEVICES=2 EMU_PEER=corrupting GGMLBACKEND_LOG=none",
            "EMU_DEVICES=2 GGMLBACKEND_GPU_PEER=off",
            "EMU_DEVICES=1 GGMLBACKEND_GPU_DEVICES=0,0",
        };

        for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
            char variables[128];

            snprintf(variables, sizeof(variables), "EMU_ORDER=%d %s", order,
                     peers[i]);
            cuda_case(copy_in_streams, variables, NULL);
        }
    }
}

/* What is asked of the wrong card is refused, with the reason. */
static bool
is_refused(const char *reason)
{
    const bool is_told = strstr(ggmlbackend_last_failure(), reason) != NULL;

    ggmlbackend_clear_failure();
    return is_told;
}

static void
use_the_wrong_card(void)
{
    enum { SIZE = 64 };
    ggml_backend_t one, cpu = ggml_backend_cpu_init();
    ggml_backend_event_t event;
    uint8_t *data = bytes_pattern(SIZE, 7);
    struct bytes a, b, host;

    CHECK(cuda_load() != NULL && cpu != NULL);
    one = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    event = ggml_backend_event_new(cuda_device("CUDA1"));
    CHECK(one != NULL && event != NULL);
    a = bytes_make(bytes_type("CUDA0"), SIZE);
    b = bytes_make(bytes_type("CUDA1"), SIZE);
    host = bytes_make(ggml_backend_cpu_buffer_type(), SIZE);
    ggml_backend_tensor_set(b.tensor, data, 0, SIZE);
    ggml_backend_tensor_set_async(one, b.tensor, data + 1, 0, SIZE - 1);
    CHECK(is_refused("is not in this GPU's memory"));
    ggml_backend_tensor_get_async(one, host.tensor, data, 0, SIZE);
    CHECK(is_refused("is not in this GPU's memory"));
    ggml_backend_event_record(event, one);
    CHECK(is_refused("cannot be recorded"));
    /* The core copies what no backend can. */
    ggml_backend_tensor_copy_async(one, cpu, b.tensor, host.tensor);
    CHECK(bytes_are(host.tensor, data, SIZE));
    CHECK(bytes_are(b.tensor, data, SIZE));
    ggml_backend_tensor_copy_async(cpu, one, host.tensor, a.tensor);
    CHECK(bytes_are(a.tensor, data, SIZE));
    ggml_backend_event_free(event);
    bytes_free(&host);
    bytes_free(&a);
    bytes_free(&b);
    ggml_backend_free(one);
    ggml_backend_free(cpu);
    free(data);
    bytes_end();
}

static void
what_lies_on_another_card_is_refused(void **state)
{
    (void)state;
    cuda_case(use_the_wrong_card, "EMU_DEVICES=2 GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_set_filled_and_read),
        cmocka_unit_test(long_copies_of_pageable_memory_come_right),
        cmocka_unit_test(there_are_zeros_behind_quantised_rows),
        cmocka_unit_test(copies_between_backends_keep_their_order),
        cmocka_unit_test(what_lies_on_another_card_is_refused),
    };

    return cmocka_run_group_tests_name("buffers", tests, NULL, NULL);
}
