/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/device.c - what a device says of itself: what it can do, which work
 * it is worth being given, how much memory there is.
 */
#include "config.h"

#include "tests/cuda/scene.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- features ---- */

static const char *
feature(ggml_backend_reg_t reg, const char *name)
{
    ggml_backend_get_features_t get;
    const struct ggml_backend_feature *f;

    *(void **)&get =
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_get_features");
    CHECK(get != NULL);
    for (f = get(reg); f->name != NULL; f++)
        if (strcmp(f->name, name) == 0)
            return f->value;
    return "";
}

static const char *expected_graphs;

static void
look_at_features(void)
{
    ggml_backend_reg_t reg = cuda_load();

    CHECK(strstr(feature(reg, "ARCHS"), "75") != NULL);
    CHECK(strcmp(feature(reg, "VARIANTS"), "wgmma,mma") == 0);
    CHECK(strcmp(feature(reg, "USE_GRAPHS"), expected_graphs) == 0);
    CHECK(strcmp(feature(reg, "PEER_MAX_BATCH_SIZE"), "128") == 0);
    CHECK(strcmp(ggml_backend_dev_description(cuda_device("CUDA1")), "B") ==
          0);
}

static void
features_tell_archs_variants_and_graphs(void **state)
{
    (void)state;
    expected_graphs = "1";
    cuda_case(look_at_features, "EMU_DEVICES=2 EMU_ARCH=90,75 EMU_NAME=A,B",
              NULL);
    expected_graphs = "";
    cuda_case(look_at_features,
              "EMU_DEVICES=2 EMU_ARCH=90,75 EMU_NAME=A,B "
              "GGML_CUDA_DISABLE_GRAPHS=1",
              NULL);
}

/* ---- work of other devices ---- */

static void
offer_work(void)
{
    struct scene scene = scene_begin();
    ggml_backend_dev_t dev = cuda_device("CUDA0");
    struct ggml_tensor *w =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, 8, 64, 2);
    struct ggml_tensor *x =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, 8, 32, 2);
    struct ggml_tensor *ids =
        ggml_new_tensor_1d(scene.ctx, GGML_TYPE_I32, 64);
    struct ggml_tensor *node = ggml_mul_mat(scene.ctx, w, x);

    /* The products of 32 columns with each matrix; then of 31. */
    CHECK(ggml_backend_dev_offload_op(dev, node));
    node->ne[1] = 31;
    CHECK(!ggml_backend_dev_offload_op(dev, node));
    /* 32 rows of all matrices together. */
    node = ggml_add(scene.ctx, x, x);
    CHECK(ggml_backend_dev_offload_op(dev, node));
    node->ne[1] = 15;
    CHECK(!ggml_backend_dev_offload_op(dev, node));
    /* Rows that are got are copied alone wherever the weights are. */
    node = ggml_get_rows(scene.ctx, x, ggml_view_2d(scene.ctx, ids, 32, 2,
                                                    128, 0));
    CHECK(!ggml_backend_dev_offload_op(dev, node));
    ggml_backend_free(scene.backend);
    ggml_free(scene.ctx);
}

static void
work_for_32_rows_is_worth_a_copy_of_the_weights(void **state)
{
    (void)state;
    cuda_case(offer_work, "", NULL);
}

/* ---- free memory ---- */

enum { MEMORY = 1 << 30, TAKEN = 100 << 20 };

static size_t
free_memory(void)
{
    size_t free = 0, total = 0;

    ggml_backend_dev_memory(cuda_device("CUDA0"), &free, &total);
    CHECK(total == MEMORY && free <= total);
    return free;
}

static ggml_backend_buffer_t
take(size_t size)
{
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(cuda_device("CUDA0")), size);
}

/* By the management library, by the context of the buffers, and again. */
static void
ask_for_free_memory(void)
{
    const char *top = getenv("top_builddir");
    ggml_backend_buffer_t first, second;
    char path[4096];

    snprintf(path, sizeof(path),
             "%s/tests/gpu-emulator/lanes32/.libs/libnvidia-ml.so.1",
             top != NULL ? top : ".");
    CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL);
    CHECK(cuda_load() != NULL);
    CHECK(free_memory() == MEMORY);
    first = take(TAKEN);
    second = take(2 * TAKEN);
    CHECK(first != NULL && second != NULL);
    CHECK(free_memory() == MEMORY - 3 * TAKEN);
    ggml_backend_buffer_free(second);
    CHECK(free_memory() == MEMORY - TAKEN);
    ggml_backend_buffer_free(first);
    CHECK(free_memory() == MEMORY);
}

static void
free_memory_is_known_without_a_context(void **state)
{
    (void)state;
    cuda_case(ask_for_free_memory, "EMU_MEMORY=1073741824", NULL);
}

/* Half of what the process may have is taken, given back, and taken again. */
static void
take_memory_again(void)
{
    ggml_backend_buffer_t little, half;

    CHECK(cuda_load() != NULL);
    little = take(4096);
    CHECK(little != NULL);
    for (int turn = 0; turn < 4; turn++) {
        half = take(TAKEN);
        CHECK(half != NULL && take(TAKEN) == NULL);
        ggml_backend_buffer_free(half);
    }
    ggml_backend_buffer_free(little);
    CHECK(emulator.live() == 0);
}

static void
memory_that_is_given_back_can_be_had_again(void **state)
{
    (void)state;
    cuda_case(take_memory_again,
              "GGMLBACKEND_GPU_MEMORY=150M GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_tell_archs_variants_and_graphs),
        cmocka_unit_test(work_for_32_rows_is_worth_a_copy_of_the_weights),
        cmocka_unit_test(free_memory_is_known_without_a_context),
        cmocka_unit_test(memory_that_is_given_back_can_be_had_again),
    };

    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
