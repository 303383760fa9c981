/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

/* Both results are F32 and have 4 elements in this graph. */
static bool
compare(int node, struct ggml_tensor *t1, struct ggml_tensor *t2,
        void *user)
{
    float a[4], b[4], *largest = (float *)user;

    ggml_backend_tensor_get(t1, a, 0, sizeof(a));
    ggml_backend_tensor_get(t2, b, 0, sizeof(b));
    for (int i = 0; i < 4; i++) {
        const float d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];

        if (d > *largest)
            *largest = d;
    }
    printf("node %d, %s: largest difference so far %g\n", node, t1->name,
           *largest);
    return true;
}

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    const float data[4] = { 0.5f, -1, 2, 0 };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t first = ggml_backend_init_best();
    ggml_backend_t second = ggml_backend_init_by_name("CPU", NULL);
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *x, *y;
    struct ggml_cgraph *graph;
    float largest = 0;
    bool is_compared = false;

    if (ctx == NULL || first == NULL || second == NULL)
        goto done;
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    y = ggml_soft_max(ctx, ggml_silu(ctx, x));
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, first);
    if (buffer == NULL)
        goto done;
    ggml_backend_tensor_set(x, data, 0, sizeof(data));
    is_compared = ggml_backend_compare_graph_backend(first, second, graph,
                                                     compare, &largest);
done:
    if (!is_compared)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(second);
    ggml_backend_free(first);
    ggml_free(ctx);
    return is_compared && largest < 1e-5f ? 0 : 1;
}
