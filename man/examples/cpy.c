/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>
#include <stdio.h>

int
main(void)
{
    /* The pool has room for the data of all tensors too. */
    struct ggml_init_params params = { .mem_size = 1 << 20 };
    struct ggml_context *ctx = ggml_init(params);
    int status = 1;

    if (ctx == NULL)
        return 1;
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    for (int i = 0; i < 6; i++)
        ggml_set_f32_1d(a, i, (float)i);

    /* Columns become rows, in a dense copy, which is then rounded. */
    struct ggml_tensor *rows = ggml_cont(ctx, ggml_transpose(ctx, a));
    struct ggml_tensor *half = ggml_cast(ctx, rows, GGML_TYPE_F16);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    enum ggml_status computed;

    ggml_build_forward_expand(graph, half);
    computed = ggml_graph_compute_with_ctx(ctx, graph, 1);
    if (computed != GGML_STATUS_SUCCESS) {
        fprintf(stderr, "not computed: %s\n", ggmlbackend_last_failure());
    } else {
        const ggml_fp16_t *h = ggml_get_data(half);
        float second = ggml_fp16_to_fp32(h[1]);

        printf("%s %d x %d: the second value is %g\n",
               ggml_type_name(half->type), (int)half->ne[0],
               (int)half->ne[1], second);
        if (half->ne[0] == 2 && half->ne[1] == 3 && second == 3)
            status = 0;
    }
    ggml_free(ctx);
    return status;
}
