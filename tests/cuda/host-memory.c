/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/host-memory.c - memory of the host that cards reach: pinned, the
 * program's own that is pinned, and what a card computes in.
 */
#include "config.h"

#include "tests/cuda/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool is_pinned; /* what the case expects */

static void
use_pinned_memory(void)
{
    ggml_backend_buffer_type_t buft;
    uint8_t *expected;
    struct bytes b, card;

    CHECK(cuda_load() != NULL);
    buft = ggml_backend_dev_host_buffer_type(cuda_device("CUDA0"));
    CHECK(buft != NULL && ggml_backend_buft_is_host(buft));
    CHECK(strcmp(ggml_backend_buft_name(buft), "CUDA_Host") == 0);
    expected = bytes_pattern(LONG_SIZE, 8);
    b = bytes_make(buft, LONG_SIZE);
    CHECK((emulator.count(EMU_HOST_ALLOCATIONS) == 1) == is_pinned);
    CHECK((ggml_backend_buffer_get_type(b.buffer) == buft) == is_pinned);
    ggml_backend_tensor_set(b.tensor, expected, 0, LONG_SIZE);
    ggml_backend_tensor_memset(b.tensor, 9, 100, 50);
    memset(expected + 100, 9, 50);
    CHECK(memcmp(b.tensor->data, expected, LONG_SIZE) == 0);
    CHECK(bytes_are(b.tensor, expected, LONG_SIZE));
    /* Pinned memory is copied as it is, without the ring of pinned chunks. */
    card = bytes_make(bytes_type("CUDA0"), LONG_SIZE);
    ggml_backend_tensor_set(card.tensor, b.tensor->data, 0, LONG_SIZE);
    ggml_backend_buffer_clear(b.buffer, 0);
    ggml_backend_tensor_get(card.tensor, b.tensor->data, 0, LONG_SIZE);
    CHECK(memcmp(b.tensor->data, expected, LONG_SIZE) == 0);
    CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == 1);
    bytes_free(&card);
    bytes_free(&b);
    free(expected);
    bytes_end();
}

static void
pinned_memory_is_the_hosts(void **state)
{
    const char *errors;

    (void)state;
    is_pinned = true;
    cuda_case(use_pinned_memory, "", NULL);
    is_pinned = false;
    cuda_case(use_pinned_memory, "EMU_FAIL=cuMemHostAlloc:1:2", &errors);
    assert_non_null(strstr(errors, "ordinary memory instead"));
}

static void
use_no_pinned_memory(void)
{
    struct ggml_backend_dev_props props;
    ggml_backend_dev_t dev;

    CHECK(cuda_load() != NULL);
    dev = cuda_device("CUDA0");
    CHECK(ggml_backend_dev_host_buffer_type(dev) == NULL);
    ggml_backend_dev_get_props(dev, &props);
    CHECK(!props.caps.host_buffer);
}

static void
pinned_memory_can_be_forbidden(void **state)
{
    (void)state;
    cuda_case(use_no_pinned_memory, "GGML_CUDA_NO_PINNED=1", NULL);
}

static bool (*register_host)(void *memory, size_t size);
static void (*unregister_host)(void *memory);

static void
use_registered_memory(void)
{
    ggml_backend_reg_t reg = cuda_load();
    uint8_t *memory = bytes_pattern(LONG_SIZE, 9);
    uint8_t *other = bytes_pattern(LONG_SIZE, 10);
    struct bytes b;

    *(void **)&register_host = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_register_host_buffer");
    *(void **)&unregister_host = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_unregister_host_buffer");
    CHECK(register_host(memory, LONG_SIZE) == is_pinned);
    CHECK((emulator.count(EMU_HOST_ALLOCATIONS) == 1) == is_pinned);
    CHECK(!is_pinned || register_host(other, LONG_SIZE));
    b = bytes_make(bytes_type("CUDA0"), LONG_SIZE);
    ggml_backend_tensor_set(b.tensor, memory, 0, LONG_SIZE);
    CHECK(bytes_are(b.tensor, memory, LONG_SIZE));
    unregister_host(memory);
    unregister_host(memory); /* which is not pinned any more */
    unregister_host(other);
    bytes_free(&b);
    free(memory);
    free(other);
    bytes_end();
}

static void
memory_of_the_program_is_pinned_when_it_asks(void **state)
{
    const char *errors;

    (void)state;
    is_pinned = false;
    cuda_case(use_registered_memory, "", NULL);
    cuda_case(use_registered_memory,
              "GGML_CUDA_REGISTER_HOST=1 EMU_FAIL=cuMemHostRegister_v2:1:2",
              &errors);
    assert_non_null(strstr(errors, "cannot be pinned"));
    is_pinned = true;
    cuda_case(use_registered_memory, "GGML_CUDA_REGISTER_HOST=1", NULL);
    /* Not as read-only memory: the second try is another one. */
    cuda_case(use_registered_memory,
              "GGML_CUDA_REGISTER_HOST=1 EMU_FAIL=cuMemHostRegister_v2:1:801",
              NULL);
}

/* The graph's inputs and results lie in the program's own memory. */
static void
compute_in_the_programs_memory(void)
{
    ggml_backend_dev_t dev;
    ggml_backend_t backend;
    struct ggml_tensor *tensor;
    struct ggml_backend_dev_props props;
    struct sums sums;
    char *memory = aligned_alloc(4096, 1 << 16), *at = memory;

    CHECK(cuda_load() != NULL && memory != NULL);
    dev = cuda_device("CUDA0");
    ggml_backend_dev_get_props(dev, &props);
    CHECK(props.caps.buffer_from_host_ptr);
    backend = ggml_backend_dev_init(dev, NULL);
    sums = sums_make(bytes_type("CUDA0"), 1);
    CHECK(backend != NULL && sums.buffer != NULL);
    ggml_backend_buffer_free(sums.buffer);
    sums.buffer =
        ggml_backend_dev_buffer_from_host_ptr(dev, memory, 1 << 16, 1 << 16);
    CHECK(sums.buffer != NULL);
    at = ggml_backend_buffer_get_base(sums.buffer);
    for (tensor = ggml_get_first_tensor(sums.ctx); tensor != NULL;
         tensor = ggml_get_next_tensor(sums.ctx, tensor)) {
        tensor->data = NULL;
        tensor->buffer = NULL;
        CHECK(ggml_backend_tensor_alloc(sums.buffer, tensor, at) ==
              GGML_STATUS_SUCCESS);
        at += (ggml_nbytes(tensor) + 127) / 128 * 128;
    }
    sums_set(&sums, 4);
    CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(sums_are_right(&sums, 1, 4));
    sums_free(&sums);
    ggml_backend_free(backend);
    free(memory);
    bytes_end();
}

static void
do_not_get_the_programs_memory(void)
{
    char *memory = aligned_alloc(4096, 4096);
    ggml_backend_dev_t dev;

    CHECK(cuda_load() != NULL && memory != NULL);
    dev = cuda_device("CUDA0");
    CHECK(ggml_backend_dev_buffer_from_host_ptr(dev, memory, 4096, 4096) ==
          NULL);
    free(memory);
    bytes_end();
}

static void
a_card_computes_in_the_programs_memory(void **state)
{
    (void)state;
    cuda_case(compute_in_the_programs_memory, "EMU_INTEGRATED=1", NULL);
    cuda_case(do_not_get_the_programs_memory,
              "EMU_INTEGRATED=1 EMU_FAIL=cuMemHostRegister_v2:1:2 "
              "GGMLBACKEND_LOG=none",
              NULL);
    cuda_case(do_not_get_the_programs_memory,
              "EMU_INTEGRATED=1 EMU_FAIL=cuMemHostGetDevicePointer_v2:1:2 "
              "GGMLBACKEND_LOG=none",
              NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_is_the_hosts),
        cmocka_unit_test(pinned_memory_can_be_forbidden),
        cmocka_unit_test(memory_of_the_program_is_pinned_when_it_asks),
        cmocka_unit_test(a_card_computes_in_the_programs_memory),
    };

    return cmocka_run_group_tests_name("memory of the host", tests, NULL, NULL);
}
