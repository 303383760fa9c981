/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

static void
show(const char *what, const struct ggml_tensor *t)
{
    printf("%-8s", what);
    for (int i = 0; i < ggml_nelements(t); i++)
        printf(" %g", ggml_get_f32_1d(t, i));
    printf("\n");
}

int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x = ggml_arange(ctx, 1, 5, 1);
    struct ggml_tensor *zeros = ggml_pad(ctx, x, 2, 0, 0, 0);
    struct ggml_tensor *mirror = ggml_pad_reflect_1d(ctx, x, 2, 2);
    struct ggml_tensor *wide = ggml_upscale_ext(ctx, x, 8, 1, 1, 1);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, zeros);
    ggml_build_forward_expand(graph, mirror);
    ggml_build_forward_expand(graph, wide);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    show("zeros", zeros);   /* 1 2 3 4 0 0 */
    show("mirror", mirror); /* 3 2 1 2 3 4 3 2 */
    show("wide", wide);     /* 1 1 2 2 3 3 4 4 */
    is_right = is_right && ggml_get_f32_1d(zeros, 4) == 0 &&
               ggml_get_f32_1d(mirror, 0) == 3 &&
               ggml_get_f32_1d(mirror, 7) == 2 &&
               ggml_get_f32_1d(wide, 7) == 4;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
