/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* Edges of an image: each pixel less the one to its left. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *kernel = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F16, 3, 3, 1, 1); /* KW, KH, channels in and out */
    struct ggml_tensor *image = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F32, 6, 4, 1, 1);
    /* Strides 1, a border of 1, so that the result is as large. */
    struct ggml_tensor *edges = ggml_conv_2d(
        ctx, kernel, image, 1, 1, 1, 1, 1, 1);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, edges);
    ggml_set_f32(kernel, 0);
    ggml_set_f32_nd(kernel, 0, 1, 0, 0, -1);
    ggml_set_f32_nd(kernel, 1, 1, 0, 0, 1);
    for (int y = 0; y < 4; y++) /* dark, and bright from x = 3 on */
        for (int x = 0; x < 6; x++)
            ggml_set_f32_nd(image, x, y, 0, 0, x < 3 ? 0 : 1);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
                   GGML_STATUS_SUCCESS &&
               ggml_are_same_shape(edges, image);
    for (int y = 0; y < 4 && is_right; y++)
        for (int x = 0; x < 6; x++) {
            const float e = ggml_get_f32_nd(edges, x, y, 0, 0);

            printf("%g%c", e, x == 5 ? '\n' : ' ');
            is_right = is_right && e == (x == 3 ? 1 : 0);
        }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
