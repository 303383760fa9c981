/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

enum { C = 2, W = 5, H = 3, WINDOW = 2 };

/* Cut an image of C channels into windows, and put it together again. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *image = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, C,
                                                   W, H);
    struct ggml_tensor *windows = ggml_win_part(ctx, image, WINDOW);
    struct ggml_tensor *back = ggml_win_unpart(
        ctx, windows, W, H, WINDOW);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, back);
    for (int i = 0; i < C * W * H; i++)
        ggml_set_f32_1d(image, i, i);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    printf("%lld windows of %lld x %lld\n", (long long)windows->ne[3],
           (long long)windows->ne[1], (long long)windows->ne[2]);
    for (int i = 0; i < C * W * H; i++)
        is_right = is_right && ggml_get_f32_1d(back, i) == i;
    is_right = is_right && windows->ne[3] == 3 * 2;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
