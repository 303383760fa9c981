/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

enum { N_MAX = 8 };

/* The row sums of exp(x)^2 for N_ROWS rows of two values. */
static struct ggml_cgraph *
build(struct ggml_context *ctx, int n_rows, struct ggml_tensor **in,
      struct ggml_tensor **out)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    *in = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 2, n_rows);
    ggml_set_input(*in);
    *out = ggml_sum_rows(ctx, ggml_sqr(ctx, ggml_exp(ctx, *in)));
    ggml_set_output(*out);
    ggml_build_forward_expand(graph, *out);
    return graph;
}

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    const int n_rows[3] = { N_MAX, 1, N_MAX };
    float zeros[2 * N_MAX] = { 0 }, sums[N_MAX];
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_gallocr_t galloc = NULL;
    int n_right = 0;

    if (backend != NULL)
        galloc = ggml_gallocr_new(
            ggml_backend_get_default_buffer_type(backend));
    for (int i = 0; i < 3 && galloc != NULL; i++) {
        struct ggml_context *ctx = ggml_init(params);
        struct ggml_tensor *in, *out;
        struct ggml_cgraph *graph;

        if (ctx == NULL)
            break;
        graph = build(ctx, n_rows[i], &in, &out);
        /* The largest graph comes first here, and its room is enough. */
        if ((i > 0 || ggml_gallocr_reserve(galloc, graph)) &&
            ggml_gallocr_alloc_graph(galloc, graph)) {
            ggml_backend_tensor_set(in, zeros, 0, ggml_nbytes(in));
            if (ggml_backend_graph_compute(backend, graph) ==
                GGML_STATUS_SUCCESS) {
                ggml_backend_tensor_get(out, sums, 0, ggml_nbytes(out));
                n_right += sums[n_rows[i] - 1] == 2; /* exp(0)^2, twice */
            }
        }
        printf("%d rows: in a buffer of %zu bytes\n", n_rows[i],
               ggml_gallocr_get_buffer_size(galloc, 0));
        ggml_free(ctx);
    }
    if (n_right != 3)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_gallocr_free(galloc);
    ggml_backend_free(backend);
    return n_right == 3 ? 0 : 1;
}
