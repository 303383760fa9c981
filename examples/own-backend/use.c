/* SPDX-License-Identifier: MIT */
/*
 * own-backend/use.c - load the module that is named, and compute with it what
 * the CPU computes as well: y = W x + b.
 */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <math.h>
#include <stdio.h>

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

static bool
compute(ggml_backend_dev_t device, float *result)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *w, *x, *b, *y;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    bool is_done = false;

    w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_IN, N_OUT);
    x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_IN, N_COLUMNS);
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_OUT);
    y = ggml_add(ctx, ggml_mul_mat(ctx, w, x), b);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);

    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer != NULL) {
        fill(w, 1);
        fill(x, 2);
        fill(b, 3);
        is_done = ggml_backend_graph_compute(backend, graph) ==
                  GGML_STATUS_SUCCESS;
        ggml_backend_tensor_get(y, result, 0, ggml_nbytes(y));
    }
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    ggml_backend_free(backend);
    return is_done;
}

int
main(int argc, char **argv)
{
    float ours[N_OUT * N_COLUMNS], cpu[N_OUT * N_COLUMNS];
    ggml_backend_reg_t reg = argc == 2 ? ggml_backend_load(argv[1]) : NULL;

    if (reg == NULL) {
        fprintf(stderr, "usage: use ./MODULE.so: %s\n",
                ggmlbackend_last_failure());
        return 2;
    }
    if (!compute(ggml_backend_reg_dev_get(reg, 0), ours) ||
        !compute(ggml_backend_dev_by_name("CPU"), cpu)) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        return 1;
    }
    for (int i = 0; i < N_OUT * N_COLUMNS; i++) {
        printf("%9.6f  %9.6f\n", ours[i], cpu[i]);
        /* Sums of 65 terms of at most 1, each rounded. */
        if (fabsf(ours[i] - cpu[i]) > 65 * 65 * 6e-8f)
            return 1;
    }
    printf("%s and the CPU agree\n", ggml_backend_reg_name(reg));
    return 0;
}
