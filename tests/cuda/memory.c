/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/memory.c - the kinds of memory besides a card's own: pinned, the
 * client's, managed.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggml-cuda.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY_SIZE = 1 << 16 };

/* A page's multiple of the program's own. */
static _Alignas(4096) char memory[MEMORY_SIZE];

static void
nothing_is_left(void)
{
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* ---- pinned memory ---- */

static ggml_backend_buffer_t
host_buffer(size_t size)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_dev_host_buffer_type(cuda_device("CUDA0"));

    CHECK(strcmp(ggml_backend_buft_name(buft), DEVICES "_Host") == 0);
    CHECK(ggml_backend_buft_is_host(buft));
    return ggml_backend_buft_alloc_buffer(buft, size);
}

/* Set, filled, copied and read as the host's memory that it is. */
static void
use_tensors_in(ggml_backend_buffer_t buffer)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 4 * ggml_tensor_overhead(), .no_alloc = true });
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 16);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 16);
    struct ggml_tallocr room = ggml_tallocr_new(buffer);
    int32_t values[16];

    ggml_tallocr_alloc(&room, a);
    ggml_tallocr_alloc(&room, b);
    for (int32_t i = 0; i < 16; i++)
        values[i] = 3 * i;
    ggml_backend_tensor_set(a, values, 0, sizeof(values));
    ggml_backend_tensor_copy(a, b);
    ggml_backend_tensor_memset(b, 0xff, 4, 4);
    memset(values, 0, sizeof(values));
    ggml_backend_tensor_get(b, values, 0, sizeof(values));
    for (int32_t i = 0; i < 16; i++)
        CHECK(values[i] == (i == 1 ? -1 : 3 * i));
    CHECK(((const int32_t *)a->data)[5] == 15);
    ggml_backend_buffer_clear(buffer, 0);
    CHECK(((const int32_t *)a->data)[5] == 0);
    ggml_free(ctx);
}

static void
use_pinned_memory(void)
{
    ggml_backend_buffer_t buffer;

    CHECK(cuda_load() != NULL);
    buffer = host_buffer(4096);
    CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == 1);
    CHECK(strcmp(ggml_backend_buffer_name(buffer), DEVICES "_Host") == 0);
    use_tensors_in(buffer);
    ggml_backend_buffer_free(buffer);
    nothing_is_left();

    /* It is the driver's, and no client's to unregister. */
    buffer = host_buffer(4096);
    ggml_backend_cuda_unregister_host_buffer(
        ggml_backend_buffer_get_base(buffer));
    CHECK(emulator.live() > 0);
    ggml_backend_buffer_free(buffer);
    nothing_is_left();
}

static void
pinned_memory_is_ordinary_memory_to_the_host(void **state)
{
    (void)state;
    cuda_case(use_pinned_memory, "EMU_DEVICES=2", NULL);
}

static void
use_ordinary_memory_instead(void)
{
    CHECK(cuda_load() != NULL);
    for (int i = 0; i < 2; i++) {
        ggml_backend_buffer_t buffer;

        emulator.fail_call("cuMemHostAlloc", 1, 2);
        buffer = host_buffer(4096);
        CHECK(emulator.failures() == (uint64_t)i + 1);
        CHECK(strcmp(ggml_backend_buffer_name(buffer), "CPU") == 0);
        use_tensors_in(buffer);
        ggml_backend_buffer_free(buffer);
        nothing_is_left();
    }
}

static void
without_pinned_memory_there_is_ordinary_memory_told_once(void **state)
{
    const char *errors, *told;

    (void)state;
    cuda_case(use_ordinary_memory_instead, "EMU_DEVICES=1", &errors);
    told = strstr(errors, "4096 bytes of pinned memory cannot be had");
    assert_non_null(told);
    assert_null(strstr(told + 1, "4096 bytes"));
}

static void
offer_no_pinned_memory(void)
{
    struct ggml_backend_dev_props props;

    CHECK(cuda_load() != NULL);
    ggml_backend_dev_get_props(cuda_device("CUDA0"), &props);
    CHECK(!props.caps.host_buffer);
    CHECK(ggml_backend_dev_host_buffer_type(cuda_device("CUDA0")) == NULL);
}

static void
the_environment_may_refuse_pinned_memory(void **state)
{
    (void)state;
    cuda_case(offer_no_pinned_memory, "GGML_CUDA_NO_PINNED=1", NULL);
    cuda_case(use_pinned_memory, "GGML_CUDA_NO_PINNED=0", NULL);
}

/* ---- the client's memory, registered ---- */

static void
register_memory(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(ggml_backend_cuda_register_host_buffer(memory, MEMORY_SIZE));
    CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == 1);
    CHECK(!ggml_backend_cuda_register_host_buffer(memory, MEMORY_SIZE));
    ggml_backend_cuda_unregister_host_buffer(memory + 1);
    CHECK(emulator.live() > 0);
    ggml_backend_cuda_unregister_host_buffer(memory);
    nothing_is_left();
    ggml_backend_cuda_unregister_host_buffer(memory);
    nothing_is_left();

    /* Not every driver can pin read-only memory: it is asked once more. */
    emulator.reset();
    emulator.fail_call("cuMemHostRegister_v2", 1, 801);
    CHECK(ggml_backend_cuda_register_host_buffer(memory, MEMORY_SIZE));
    CHECK(emulator.calls("cuMemHostRegister_v2") == 2);
    ggml_backend_cuda_unregister_host_buffer(memory);
    nothing_is_left();
}

static void
register_nothing(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(!ggml_backend_cuda_register_host_buffer(memory, MEMORY_SIZE));
    CHECK(emulator.calls("cuMemHostRegister_v2") == 0);
    nothing_is_left();
}

static void
the_clients_memory_is_pinned_where_the_environment_lets_it(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(register_memory, "GGML_CUDA_REGISTER_HOST=1", &errors);
    assert_non_null(strstr(errors, "65536 bytes of the program's memory cannot "
                                   "be pinned"));
    cuda_case(register_nothing, "GGML_CUDA_REGISTER_HOST=0", NULL);
    cuda_case(register_nothing, "EMU_DEVICES=1", NULL);
}

/* ---- the client's memory, as a buffer ---- */

/* x + y with all of them in BUFFER, which is over the array above. */
static void
add_in(ggml_backend_buffer_t buffer)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1000);
    struct ggml_tensor *sum = ggml_add(ctx, x, x);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend =
        ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    float *values = (float *)memory;

    ggml_build_forward_expand(graph, sum);
    CHECK(ggml_backend_tensor_alloc(buffer, x, memory) ==
          GGML_STATUS_SUCCESS);
    CHECK(ggml_backend_tensor_alloc(buffer, sum, memory + 8192) ==
          GGML_STATUS_SUCCESS);
    for (int i = 0; i < 1000; i++)
        values[i] = (float)i;
    CHECK(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS);
    for (int i = 0; i < 1000; i++)
        CHECK(values[2048 + i] == 2.0f * (float)i);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* A row of 96 values has padding elsewhere; here is what stands behind it. */
static void
leave_what_is_behind(ggml_backend_buffer_t buffer)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 2 * ggml_tensor_overhead(), .no_alloc = true });
    struct ggml_tensor *w = ggml_new_tensor_1d(ctx, GGML_TYPE_Q8_0, 96);

    memset(memory, 0x5a, MEMORY_SIZE);
    CHECK(ggml_backend_tensor_alloc(buffer, w, memory) ==
          GGML_STATUS_SUCCESS);
    ggml_backend_tensor_memset(w, 1, 0, ggml_nbytes(w));
    for (size_t i = 0; i < MEMORY_SIZE; i++)
        CHECK(memory[i] == (i < ggml_nbytes(w) ? 1 : 0x5a));
    ggml_free(ctx);
}

static uint64_t n_registered;

static void
use_the_clients_memory(void)
{
    struct ggml_backend_dev_props props;
    ggml_backend_buffer_t buffer;

    CHECK(cuda_load() != NULL);
    ggml_backend_dev_get_props(cuda_device("CUDA0"), &props);
    CHECK(props.caps.buffer_from_host_ptr);
    buffer = ggml_backend_dev_buffer_from_host_ptr(
        cuda_device("CUDA0"), memory, MEMORY_SIZE, MEMORY_SIZE);
    CHECK(buffer != NULL);
    CHECK(ggml_backend_buffer_get_base(buffer) == memory);
    CHECK(emulator.calls("cuMemHostRegister_v2") == n_registered);
    CHECK(emulator.count(EMU_ALLOCATIONS) == 0);
    leave_what_is_behind(buffer);
    add_in(buffer);
    ggml_backend_buffer_free(buffer);
    nothing_is_left();
}

static void
a_card_that_reads_the_hosts_memory_has_buffers_of_it(void **state)
{
    (void)state;
    n_registered = 1;
    cuda_case(use_the_clients_memory, "EMU_INTEGRATED=1", NULL);
    n_registered = 0;
    cuda_case(use_the_clients_memory, "EMU_PAGEABLE=2", NULL);
}

static void
refuse_the_clients_memory(void)
{
    ggml_backend_dev_t dev;

    CHECK(cuda_load() != NULL);
    dev = cuda_device("CUDA0");
    emulator.fail_call("cuMemHostRegister_v2", 1, 2);
    CHECK(ggml_backend_dev_buffer_from_host_ptr(dev, memory, MEMORY_SIZE,
                                                MEMORY_SIZE) == NULL);
    CHECK(strstr(ggmlbackend_last_failure(),
                 ON_HIP("cuMemHostRegister", "hipHostRegister")) != NULL);
    nothing_is_left();
    emulator.fail_call("cuMemHostGetDevicePointer_v2", 1, 2);
    CHECK(ggml_backend_dev_buffer_from_host_ptr(dev, memory, MEMORY_SIZE,
                                                MEMORY_SIZE) == NULL);
    nothing_is_left();
}

static void
make_no_such_buffers(void)
{
    struct ggml_backend_dev_props props;

    CHECK(cuda_load() != NULL);
    ggml_backend_dev_get_props(cuda_device("CUDA0"), &props);
    CHECK(!props.caps.buffer_from_host_ptr);
    CHECK(ggml_backend_dev_buffer_from_host_ptr(
              cuda_device("CUDA0"), memory, MEMORY_SIZE, MEMORY_SIZE) == NULL);
    nothing_is_left();
}

static void
other_memory_is_refused(void **state)
{
    (void)state;
    cuda_case(refuse_the_clients_memory, "EMU_INTEGRATED=1", NULL);
    cuda_case(make_no_such_buffers, "EMU_INTEGRATED=0", NULL);
    cuda_case(make_no_such_buffers, "EMU_PAGEABLE=1", NULL);
}

/* ---- managed memory ---- */

static ggml_backend_buffer_t
buffer_of(size_t size)
{
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(cuda_device("CUDA0")), size);
}

static void
take_more_than_allowed(void)
{
    ggml_backend_dev_t dev;
    ggml_backend_t backend;
    struct sums sums;
    ggml_backend_buffer_t buffer;

    CHECK(cuda_load() != NULL);
    dev = cuda_device("CUDA0");
    buffer = buffer_of(2 << 20);
    CHECK(buffer != NULL);
    CHECK(emulator.calls("cuMemAllocManaged") == 1);
    CHECK(emulator.calls("cuMemAlloc_v2") == 0);
    ggml_backend_buffer_free(buffer);
    backend = ggml_backend_dev_init(dev, NULL);
    sums = sums_make(ggml_backend_dev_buffer_type(dev), 3);
    sums_set(&sums, 1);
    CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(sums_are_right(&sums, 3, 1));
    sums_free(&sums);
    ggml_backend_free(backend);
    nothing_is_left();
    emulator.fail_call("cuMemAllocManaged", 1, 2);
    CHECK(buffer_of(1 << 16) == NULL);
    CHECK(strstr(ggmlbackend_last_failure(), "65536 bytes") != NULL);
    nothing_is_left();
}

static void
take_no_more_than_allowed(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(buffer_of(2 << 20) == NULL);
    CHECK(emulator.calls("cuMemAllocManaged") == 0);
    nothing_is_left();
}

static void
managed_memory_may_be_more_than_the_card_has(void **state)
{
    (void)state;
    cuda_case(take_more_than_allowed,
              "GGML_CUDA_ENABLE_UNIFIED_MEMORY=1 GGMLBACKEND_GPU_MEMORY=1M",
              NULL);
    cuda_case(take_no_more_than_allowed,
              "GGML_CUDA_ENABLE_UNIFIED_MEMORY=0 GGMLBACKEND_GPU_MEMORY=1M",
              NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_is_ordinary_memory_to_the_host),
        cmocka_unit_test(
            without_pinned_memory_there_is_ordinary_memory_told_once),
        cmocka_unit_test(the_environment_may_refuse_pinned_memory),
        cmocka_unit_test(
            the_clients_memory_is_pinned_where_the_environment_lets_it),
        cmocka_unit_test(a_card_that_reads_the_hosts_memory_has_buffers_of_it),
        cmocka_unit_test(other_memory_is_refused),
        cmocka_unit_test(managed_memory_may_be_more_than_the_card_has),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
