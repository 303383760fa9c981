/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

/* True, and with that the end, from the second question on. */
static bool
is_enough(void *data)
{
    int *n_asked = (int *)data;

    return ++*n_asked >= 2;
}

int
main(void)
{
    const struct ggml_init_params params = { .mem_size = 1 << 20 };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x, *y;
    struct ggml_cgraph *graph;
    struct ggml_cplan plan;
    enum ggml_status status;
    int n_asked = 0;

    if (ctx == NULL)
        return 1;
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    y = ggml_sqrt(ctx, ggml_sum(ctx, ggml_sqr(ctx, x))); /* the length */
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);
    ggml_set_f32(x, 3);

    plan = ggml_graph_plan(graph, 2, NULL);
    status = ggml_graph_compute(graph, &plan);
    if (status != GGML_STATUS_SUCCESS || ggml_get_f32_1d(y, 0) != 6) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        ggml_free(ctx);
        return 1;
    }
    printf("%g\n", ggml_get_f32_1d(y, 0));

    plan.abort_callback = is_enough;
    plan.abort_callback_data = &n_asked;
    status = ggml_graph_compute(graph, &plan);
    printf("after %d questions: %s\n", n_asked,
           ggml_status_to_string(status));
    ggml_free(ctx);
    return status == GGML_STATUS_ABORTED ? 0 : 1;
}
