/* SPDX-License-Identifier: MIT */
/*
 * bench/case-tiny.c - graphs of a thousand operations that have next to nothing
 * to do: what a node costs by itself.
 */
#include "tools/ggmlbackend-bench/case.h"

#define N_NODES 1000
#define N       64

static struct ggml_tensor *
row(struct job *job)
{
    return ggml_new_tensor_1d(job->leafs, GGML_TYPE_F32, N);
}

static struct ggml_tensor *
build_adds(struct job *job)
{
    struct ggml_tensor *x = row(job), *y = row(job);

    for (int i = 0; i < N_NODES; i++)
        x = ggml_add(job->nodes, x, y);
    return x;
}

/* What a layer of a network is made of: five nodes, one of them a view. */
static struct ggml_tensor *
build_mixed(struct job *job)
{
    struct ggml_tensor *x = row(job), *scale = row(job);
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(job->leafs, GGML_TYPE_F32, N, N);

    for (int i = 0; i < N_NODES / 5; i++) {
        struct ggml_tensor *y = ggml_rms_norm(job->nodes, x, 1e-6f);

        y = ggml_mul(job->nodes, y, scale);
        y = ggml_mul_mat(job->nodes, weights, y);
        y = ggml_reshape_1d(job->nodes, y, N);
        x = ggml_add(job->nodes, y, x);
    }
    return x;
}

/* Views of views, and one operation, so that there is something to compute. */
static struct ggml_tensor *
build_views(struct job *job)
{
    struct ggml_tensor *x = row(job), *y = x;

    for (int i = 0; i < N_NODES - 1; i++)
        y = ggml_view_1d(job->nodes, y, N, 0);
    return ggml_add(job->nodes, y, x);
}

static const struct {
    const char *name;
    struct ggml_tensor *(*build)(struct job *job);
} graphs[] = {
    { "adds", build_adds },
    { "mixed", build_mixed },
    { "views", build_views },
};

static bool
open_graph(struct job *job, const struct bench *bench,
           const struct bench_case *c, bool *is_supported)
{
    job->work = N_NODES;
    return job_begin(job, bench->device, N_NODES) &&
        job_place(job, graphs[c->row].build(job), N_NODES, is_supported);
}

static const struct case_kind tiny = { UNIT_LATENCY, open_graph, job_compute,
                                       job_queue };

void
cases_tiny(struct case_list *list, const struct options *o)
{
    (void)o;
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++)
        case_add(list, (struct bench_case){ .kind = &tiny, .row = i },
                 "tiny/%s", graphs[i].name);
}
