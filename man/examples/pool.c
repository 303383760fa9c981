/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* The largest of each 2 x 2 pixels: an image of half the size. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *image = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 4,
                                                   4, 1);
    struct ggml_tensor *small = ggml_pool_2d(ctx, image, GGML_OP_POOL_MAX,
                                             2, 2, 2, 2, 0, 0);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, small);
    for (int i = 0; i < 16; i++)
        ggml_set_f32_1d(image, i, i);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
                   GGML_STATUS_SUCCESS &&
               ggml_nelements(small) == 4 &&
               ggml_get_f32_1d(small, 0) == 5 &&
               ggml_get_f32_1d(small, 1) == 7 &&
               ggml_get_f32_1d(small, 2) == 13 &&
               ggml_get_f32_1d(small, 3) == 15;
    for (int i = 0; i < 4; i++)
        printf("%g\n", ggml_get_f32_1d(small, i));
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
