/* SPDX-License-Identifier: MIT */
/*
 * bench/job.c - one case, ready to run again and again.
 */
#include "tools/ggmlbackend-bench/job.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/card.h"

#include <stdlib.h>
#include <string.h>

/* Most leafs of a graph. */
#define MAX_LEAFS 64

/* Rows that are made; quantising all of a matrix would take minutes. */
#define N_ROWS 16

/* Of positions and rows there are at least so many, of experts so many. */
#define N_INTS    64
#define N_EXPERTS 8

bool
job_begin(struct job *job, const struct device *device, size_t n_nodes)
{
    /* A graph has as much room for leafs as for nodes. */
    const size_t room = n_nodes + MAX_LEAFS;
    const struct ggml_init_params leafs = {
        .mem_size = MAX_LEAFS * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    const struct ggml_init_params nodes = {
        .mem_size = n_nodes * ggml_tensor_overhead() +
            ggml_graph_overhead_custom(room, false),
        .no_alloc = true,
    };

    job->device = device;
    job->leafs = ggml_init(leafs);
    job->nodes = ggml_init(nodes);
    if (job->leafs != NULL && job->nodes != NULL)
        job->graph = ggml_new_graph_custom(job->nodes, room, false);
    return job->graph != NULL || tool_error("no memory for a graph");
}

/* Numbers in [-1, 1), the same on every machine. */
static void
fill_reals(float *x, size_t n)
{
    uint64_t state = 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        x[i] = (float)(state >> 40) / (float)(1 << 23) - 1.0f;
    }
}

/* N_ROWS rows of T's length in T's type; NULL without memory. */
static void *
make_rows(const struct ggml_tensor *t, size_t row_size)
{
    const size_t n = (size_t)t->ne[0];
    float *reals = malloc((n * N_ROWS + n) * sizeof(*reals));
    float *weights = reals + n * N_ROWS;
    char *rows = malloc(row_size * N_ROWS);

    if (reals != NULL && rows != NULL) {
        fill_reals(reals, n * N_ROWS);
        for (size_t i = 0; i < n; i++)
            weights[i] = 1.0f;
        ggml_quantize_chunk(t->type, reals, rows, 0, N_ROWS, t->ne[0],
                            weights);
    } else {
        free(rows);
        rows = NULL;
    }
    free(reals);
    return rows;
}

static bool
fill_rows(struct ggml_tensor *t)
{
    const size_t row_size = ggml_row_size(t->type, t->ne[0]);
    const size_t size = ggml_nbytes(t);
    char *rows = make_rows(t, row_size);

    for (size_t at = 0; rows != NULL && at < size; at += row_size * N_ROWS) {
        const size_t left = size - at;

        ggml_backend_tensor_set(
            t, rows, at, left < row_size * N_ROWS ? left : row_size * N_ROWS);
    }
    free(rows);
    return rows != NULL || tool_error("no memory for values");
}

static bool
fill_ints(struct ggml_tensor *t)
{
    const size_t n = (size_t)ggml_nelements(t);
    const bool is_experts = strcmp(ggml_get_name(t), JOB_EXPERTS) == 0;
    int32_t *ints = malloc(n * sizeof(*ints));

    if (ints == NULL)
        return tool_error("no memory for values");
    for (size_t i = 0; i < n; i++)
        ints[i] = (int32_t)(i * 29 % (is_experts ? N_EXPERTS : N_INTS));
    ggml_backend_tensor_set(t, ints, 0, n * sizeof(*ints));
    free(ints);
    return true;
}

bool
job_fill(struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_I32 ? fill_ints(t) : fill_rows(t);
}

static bool
has_all_operations(const struct job *job)
{
    for (int i = 0; i < ggml_graph_n_nodes(job->graph); i++)
        if (!ggml_backend_supports_op(job->device->backend,
                                      ggml_graph_node(job->graph, i)))
            return false;
    return true;
}

bool
job_place(struct job *job, struct ggml_tensor *result, size_t n_nodes,
          bool *is_supported)
{
    struct ggml_tensor *t;

    tool_forget_reason();
    ggml_build_forward_expand(job->graph, result);
    if (ggml_graph_n_nodes(job->graph) > (int)n_nodes)
        return tool_error("a graph is larger than expected");
    *is_supported = has_all_operations(job);
    if (!*is_supported)
        return true;
    job->buffer = ggml_backend_alloc_ctx_tensors_from_buft(job->leafs,
                                                           job->device->buft);
    if (job->buffer == NULL)
        return tool_error("no memory for tensors: %s", tool_reason());
    for (t = ggml_get_first_tensor(job->leafs); t != NULL;
         t = ggml_get_next_tensor(job->leafs, t))
        if (!job_fill(t))
            return false;
    job->alloc = ggml_gallocr_new(job->device->buft);
    return (job->alloc != NULL &&
            ggml_gallocr_alloc_graph(job->alloc, job->graph)) ||
        tool_error("no memory for a graph: %s", tool_reason());
}

enum peak
job_peak(const struct job *job, enum ggml_type type)
{
    if (ggml_is_quantized(type))
        return PEAK_INT8;
    if (type == GGML_TYPE_F16 && card_is(job->device->dev))
        return PEAK_F16;
    return type == GGML_TYPE_BF16 ? PEAK_BF16 : PEAK_FP32;
}

bool
job_compute(struct job *job)
{
    return ggml_backend_graph_compute(job->device->backend, job->graph) ==
        GGML_STATUS_SUCCESS ||
        tool_error("a graph was not computed: %s", tool_reason());
}

bool
job_queue(struct job *job)
{
    return ggml_backend_graph_compute_async(job->device->backend,
                                            job->graph) ==
        GGML_STATUS_SUCCESS ||
        tool_error("a graph was not computed: %s", tool_reason());
}

void
job_end(struct job *job)
{
    if (job->engine.model != NULL)
        engine_close(&job->engine);
    ggml_gallocr_free(job->alloc);
    ggml_backend_buffer_free(job->buffer);
    ggml_free(job->nodes);
    ggml_free(job->leafs);
    free(job->bytes);
    free(job->ids);
    free(job->logits);
    memset(job, 0, sizeof(*job));
}
