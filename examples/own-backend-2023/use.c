/* SPDX-License-Identifier: MIT */
/*
 * own-backend-2023/use.c - bring in the backend of 2023, and let a scheduler
 * compute on it and the CPU: y = softmax(W x + b).
 */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend-2023.h>
#include <ggmlbackend.h>

#include <math.h>
#include <stdio.h>

/* plain23.c: the only thing that it has to offer. */
struct ggml_backend *plain23_init(void);

enum { N_IN = 64, N_OUT = 5, N_COLUMNS = 3 };

/* Numbers that look random, the same every time. */
static void
fill(struct ggml_tensor *tensor, unsigned seed)
{
    float values[N_IN * N_OUT];
    const int64_t n = ggml_nelements(tensor);

    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / (1 << 23) - 1.0f;
    }
    ggml_backend_tensor_set(tensor, values, 0, ggml_nbytes(tensor));
}

/* On N backends, of which the last is the CPU's; *SPLITS parts were made. */
static bool
compute(ggml_backend_t *backends, int n, float *result, int *splits)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, n, 16, false);
    struct ggml_tensor *w, *x, *b, *sum, *y;
    struct ggml_cgraph *graph;
    bool is_done = false;

    w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_IN, N_OUT);
    x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_IN, N_COLUMNS);
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_OUT);
    ggml_set_input(w);
    ggml_set_input(x);
    ggml_set_input(b);
    sum = ggml_add(ctx, ggml_mul_mat(ctx, w, x), b);
    y = ggml_soft_max(ctx, sum);
    ggml_set_output(y);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);

    ggml_backend_sched_set_tensor_backend(sched, sum->src[0], backends[0]);
    ggml_backend_sched_set_tensor_backend(sched, sum, backends[0]);
    if (ggml_backend_sched_alloc_graph(sched, graph)) {
        fill(w, 1);
        fill(x, 2);
        fill(b, 3);
        is_done = ggml_backend_sched_graph_compute(sched, graph) ==
                  GGML_STATUS_SUCCESS;
        ggml_backend_tensor_get(y, result, 0, ggml_nbytes(y));
        *splits = ggml_backend_sched_get_n_splits(sched);
    }
    ggml_backend_sched_free(sched);
    ggml_free(ctx);
    return is_done;
}

int
main(void)
{
    const struct ggmlbackend_2023 plain23 = {
        .init = plain23_init,
        .description = "a backend as it was written in 2023",
    };
    float both[N_OUT * N_COLUMNS], cpu[N_OUT * N_COLUMNS];
    ggml_backend_t backends[2];
    int splits = 0, one = 0;

    if (ggmlbackend_register_2023(&plain23) == NULL) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        return 1;
    }
    backends[0] = ggml_backend_init_by_name("Plain23", NULL);
    backends[1] = ggml_backend_init_by_name("CPU", NULL);
    if (!compute(backends, 2, both, &splits) ||
        !compute(backends + 1, 1, cpu, &one)) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        return 1;
    }
    for (int i = 0; i < N_OUT * N_COLUMNS; i++) {
        printf("%9.6f  %9.6f\n", both[i], cpu[i]);
        /* Sums of 65 terms of at most 1, each rounded; softmax adds little. */
        if (!(fabsf(both[i] - cpu[i]) <= 65 * 65 * 6e-8f))
            return 1;
    }
    printf("%s and the CPU, in %d parts, agree with the CPU alone\n",
           ggml_backend_name(backends[0]), splits);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    return splits > one ? 0 : 1;
}
