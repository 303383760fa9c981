/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/device.c - what a device says of itself: what it can do, and which
 * work it is worth being given.
 */
#include "config.h"

#include "tests/cuda/scene.h"

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

#define TWO_CARDS                         \
    "EMU_DEVICES=2 EMU_NAME=A,B EMU_ARCH=" \
    ON_HIP("90,75", "gfx1030,gfx906")

static const char *expected_graphs;

static void
look_at_features(void)
{
    ggml_backend_reg_t reg = cuda_load();

    CHECK(strstr(feature(reg, "ARCHS"), ON_HIP("75", "gfx906")) != NULL);
    CHECK(strcmp(feature(reg, "VARIANTS"),
                 ON_HIP("wgmma,mma", "dot4,dot4")) == 0);
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
    cuda_case(look_at_features, TWO_CARDS, NULL);
    expected_graphs = "";
    cuda_case(look_at_features, TWO_CARDS " GGML_CUDA_DISABLE_GRAPHS=1", NULL);
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

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_tell_archs_variants_and_graphs),
        cmocka_unit_test(work_for_32_rows_is_worth_a_copy_of_the_weights),
    };

    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
