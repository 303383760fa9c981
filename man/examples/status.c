/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggmlbackend.h>
#include <stdio.h>

int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 2);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    enum ggml_status status;

    GGML_ASSERT(graph != NULL); /* this program's own check */

    /* Rows of 3 and rows of 4 do not multiply: mul_mat gives a failed
     * node, which the others hand on; one look at the end is enough. */
    ggml_build_forward_expand(graph,
                              ggml_sqr(ctx, ggml_mul_mat(ctx, a, b)));
    status = ggml_graph_compute_with_ctx(ctx, graph, 1);
    if (status != GGML_STATUS_SUCCESS)
        printf("%s: %s\n", ggml_status_to_string(status),
               ggmlbackend_last_failure());
    ggml_free(ctx);
    return status == GGML_STATUS_FAILED ? 0 : 1;
}
