/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

enum { N = 2 };

/* y = w x for N_COLUMNS columns; *in and *out are its input and output. */
static struct ggml_cgraph *
build(struct ggml_context *ctx, struct ggml_tensor *w, int n_columns,
      struct ggml_tensor **in, struct ggml_tensor **out)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    *in = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N, n_columns);
    ggml_set_input(*in);
    *out = ggml_mul_mat(ctx, w, *in);
    ggml_set_output(*out);
    ggml_build_forward_expand(graph, *out);
    return graph;
}

/* The sum of all results for N_COLUMNS columns of ones; -1: it failed. */
static float
compute(ggml_backend_sched_t sched, struct ggml_tensor *w, int n_columns)
{
    const struct ggml_init_params params = {
        .mem_size = 4 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    const float one = 1;
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *in, *out;
    struct ggml_cgraph *graph;
    float sum = -1, value;

    if (ctx == NULL)
        return -1;
    ggml_backend_sched_reset(sched);
    graph = build(ctx, w, n_columns, &in, &out);
    if (ggml_backend_sched_alloc_graph(sched, graph)) {
        for (size_t i = 0; i < ggml_nbytes(in); i += sizeof(one))
            ggml_backend_tensor_set(in, &one, i, sizeof(one));
        if (ggml_backend_sched_graph_compute(sched, graph) ==
            GGML_STATUS_SUCCESS) {
            sum = 0;
            for (size_t i = 0; i < ggml_nbytes(out); i += sizeof(value)) {
                ggml_backend_tensor_get(out, &value, i, sizeof(value));
                sum += value;
            }
        }
    }
    ggml_free(ctx);
    return sum;
}

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    const float data[N][N] = { { 1, 2 }, { 3, 4 } };
    struct ggml_context *weights = ggml_init(params);
    struct ggml_context *largest = ggml_init(params);
    ggml_backend_t backends[2] = { NULL, NULL };
    ggml_backend_buffer_t buffer = NULL;
    ggml_backend_sched_t sched = NULL;
    struct ggml_tensor *w, *in, *out;
    int n_backends = 1;
    float few = -1, many = -1;

    ggml_backend_load_all();
    backends[0] = ggml_backend_init_best();
    if (weights == NULL || largest == NULL || backends[0] == NULL)
        goto done;
    /* The last one must be a CPU. */
    if (ggml_backend_dev_type(ggml_backend_get_device(backends[0])) !=
        GGML_BACKEND_DEVICE_TYPE_CPU)
        backends[n_backends++] =
            ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);

    w = ggml_new_tensor_2d(weights, GGML_TYPE_F32, N, N);
    buffer = ggml_backend_alloc_ctx_tensors(weights, backends[0]);
    if (buffer == NULL)
        goto done;
    ggml_backend_buffer_set_usage(buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_tensor_set(w, data, 0, sizeof(data));

    sched = ggml_backend_sched_new(backends, NULL, n_backends,
                                   GGML_DEFAULT_GRAPH_SIZE, false);
    if (sched == NULL ||
        !ggml_backend_sched_reserve(sched,
                                    build(largest, w, 8, &in, &out)))
        goto done;
    few = compute(sched, w, 1);
    many = compute(sched, w, 8);
    printf("1 column: %g, 8 columns: %g, %d splits\n", few, many,
           ggml_backend_sched_get_n_splits(sched));
done:
    if (many != 80)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_sched_free(sched);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(largest);
    ggml_free(weights);
    return few == 10 && many == 80 ? 0 : 1;
}
