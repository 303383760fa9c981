/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

static bool
observe(struct ggml_tensor *t, bool ask, void *user)
{
    float value, *seen = (float *)user;

    if (ask)
        return t->op == GGML_OP_MUL;
    ggml_backend_tensor_get(t, &value, 0, sizeof(value));
    printf("%s begins with %g\n", t->name, value);
    *seen += value;
    return true; /* go on */
}

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    const float data[4] = { 2, 3, 4, 5 };
    struct ggml_context *ctx = ggml_init(params);
    /* The same device twice here; a GPU and the CPU in real life. */
    ggml_backend_t backends[2] = {
        ggml_backend_init_by_name("CPU", NULL),
        ggml_backend_init_by_name("CPU", NULL),
    };
    ggml_backend_sched_t sched = NULL;
    struct ggml_tensor *x, *square, *cube;
    struct ggml_cgraph *graph;
    float seen = 0;

    if (ctx == NULL || backends[0] == NULL || backends[1] == NULL)
        goto done;
    sched = ggml_backend_sched_new(backends, NULL, 2,
                                   GGML_DEFAULT_GRAPH_SIZE, false);
    if (sched == NULL)
        goto done;
    ggml_backend_sched_set_eval_callback(sched, observe, &seen);

    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    ggml_set_input(x);
    square = ggml_mul(ctx, x, x);
    cube = ggml_mul(ctx, square, x);
    ggml_set_output(cube);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, cube);

    ggml_backend_sched_set_tensor_backend(sched, cube, backends[0]);
    if (!ggml_backend_sched_alloc_graph(sched, graph))
        goto done;
    ggml_backend_tensor_set(x, data, 0, sizeof(data));
    if (ggml_backend_sched_graph_compute(sched, graph) !=
        GGML_STATUS_SUCCESS)
        goto done;
    printf("%d splits; %s has %zu bytes\n",
           ggml_backend_sched_get_n_splits(sched),
           ggml_backend_name(ggml_backend_sched_get_backend(sched, 0)),
           ggml_backend_sched_get_buffer_size(sched, backends[0]));
    if (ggml_backend_sched_get_tensor_backend(sched, cube) != backends[0])
        seen = 0;
done:
    if (seen != 4 + 8)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(ctx);
    return seen == 4 + 8 ? 0 : 1;
}
