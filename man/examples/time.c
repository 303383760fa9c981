/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

int
main(void)
{
    struct ggml_init_params params = { 4 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, 256, 256);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    enum ggml_status status;
    int64_t wall, cpu;

    ggml_set_f32(a, 1);
    ggml_build_forward_expand(graph, ggml_mul_mat(ctx, a, a));
    wall = ggml_time_us();
    cpu = ggml_cycles();
    status = ggml_graph_compute_with_ctx(ctx, graph, 2);
    wall = ggml_time_us() - wall;
    cpu = ggml_cycles() - cpu;
    printf("%.3f ms, %.3f ms of processors\n", (double)wall / 1000,
           (double)cpu / (double)ggml_cycles_per_ms());
    ggml_free(ctx);
    return status == GGML_STATUS_SUCCESS && wall >= 0 && cpu >= 0 ? 0 : 1;
}
