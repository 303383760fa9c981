/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <ggmlbackend.h>

/* Draws a layer to a file; then: dot -Tsvg -O layer.dot */
int
main(int argc, char **argv)
{
    struct ggml_init_params params = { 1 << 20, NULL, true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *w = ggml_new_tensor_2d(
        ctx, GGML_TYPE_Q8_0, 64, 64);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 8);
    struct ggml_tensor *norm = ggml_rms_norm(ctx, x, 1e-6f);
    struct ggml_tensor *y = ggml_silu(ctx, ggml_mul_mat(ctx, w, norm));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    ggml_set_name(w, "weights");
    ggml_set_name(x, "input");
    ggml_build_forward_expand(graph, y);
    ggmlbackend_clear_failure();
    ggml_graph_dump_dot(graph, NULL, argc > 1 ? argv[1] : "layer.dot");
    ggml_free(ctx);
    return ggmlbackend_last_failure()[0] == '\0' ? 0 : 1;
}
