/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* Sums along each row of contiguous F32; NTH threads share the rows. */
static void
cumulate(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
         int nth, void *userdata)
{
    const float start = *(const float *)userdata;

    for (int64_t row = ith; row < ggml_nrows(a); row += nth) {
        const float *x = (const float *)a->data + row * a->ne[0];
        float *y = (float *)dst->data + row * a->ne[0];
        float sum = start;

        for (int64_t i = 0; i < a->ne[0]; i++)
            y[i] = sum += x[i];
    }
}

int
main(void)
{
    float start = 100;
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 3);
    struct ggml_tensor *y = ggml_map_custom1(ctx, a, cumulate,
                                             GGML_N_TASKS_MAX, &start);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    ggml_set_f32(a, 1);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 2) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 12; i++) {
        printf("%g%c", ggml_get_f32_1d(y, i), i % 4 == 3 ? '\n' : ' ');
        is_right = is_right && ggml_get_f32_1d(y, i) == 101 + i % 4;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
