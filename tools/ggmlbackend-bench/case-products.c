/* SPDX-License-Identifier: MIT */
/*
 * bench/case-products.c - matrix products of every type of weights.
 */
#include "tools/ggmlbackend-bench/case.h"

static const enum ggml_type types[] = {
    GGML_TYPE_F32,     GGML_TYPE_F16,    GGML_TYPE_BF16,    GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0,    GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,    GGML_TYPE_Q5_1,
    GGML_TYPE_Q2_K,    GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,    GGML_TYPE_Q5_K,
    GGML_TYPE_Q6_K,    GGML_TYPE_IQ1_S,  GGML_TYPE_IQ1_M,   GGML_TYPE_IQ2_XXS,
    GGML_TYPE_IQ2_XS,  GGML_TYPE_IQ2_S,  GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,
    GGML_TYPE_IQ4_NL,  GGML_TYPE_IQ4_XS, GGML_TYPE_TQ1_0,   GGML_TYPE_TQ2_0,
};

static const int64_t columns[] = { 1, 2, 4, 8, 16, 64, 512, 2048 };

/* Experts of products by expert, and how many a column is sent to. */
#define N_EXPERTS 8
#define N_USED    2

/* Most matrices of one graph. */
#define MAX_MATRICES 48

/*
 * How many matrices of SIZE bytes have as many together as the options want: what
 * one of them leaves in a cache is gone when its turn comes again.
 */
static int64_t
count_matrices(const struct options *o, size_t size)
{
    const int64_t n = (o->beyond << 20) / (int64_t)size + 1;

    return o->beyond == 0 ? 1 : n > MAX_MATRICES ? MAX_MATRICES : n;
}

static bool
open_product(struct job *job, const struct bench *bench,
             const struct bench_case *c, bool *is_supported)
{
    const int64_t k = c->size[0], rows = c->size[1], n = c->size[2];
    const size_t size = ggml_row_size(c->type, k) * (size_t)rows;
    const int64_t n_matrices = count_matrices(bench->options, size);
    struct ggml_tensor *x, *result = NULL;

    if (!job_begin(job, bench->device, (size_t)n_matrices))
        return false;
    x = ggml_new_tensor_2d(job->leafs, GGML_TYPE_F32, k, n);
    for (int64_t i = 0; i < n_matrices; i++) {
        result = ggml_mul_mat(
            job->nodes, ggml_new_tensor_2d(job->leafs, c->type, k, rows), x);
        ggml_build_forward_expand(job->graph, result);
    }
    job->work = 2.0 * (double)k * (double)rows * (double)(n * n_matrices);
    job->demand.ops[job_peak(job, c->type)] = job->work;
    job->demand.bytes = (double)size * (double)n_matrices;
    return job_place(job, result, (size_t)n_matrices, is_supported);
}

/* N columns, each to N_USED of the experts. */
static bool
open_experts(struct job *job, const struct bench *bench,
             const struct bench_case *c, bool *is_supported)
{
    const int64_t k = c->size[0], rows = c->size[1], n = c->size[2];
    const int64_t n_read = n * N_USED < N_EXPERTS ? n * N_USED : N_EXPERTS;
    struct ggml_tensor *weights, *x, *ids;

    if (!job_begin(job, bench->device, 1))
        return false;
    weights = ggml_new_tensor_3d(job->leafs, c->type, k, rows, N_EXPERTS);
    x = ggml_new_tensor_3d(job->leafs, GGML_TYPE_F32, k, 1, n);
    ids = ggml_new_tensor_2d(job->leafs, GGML_TYPE_I32, N_USED, n);
    ggml_set_name(ids, JOB_EXPERTS);
    job->work = 2.0 * (double)k * (double)rows * (double)(n * N_USED);
    job->demand.ops[job_peak(job, c->type)] = job->work;
    job->demand.bytes =
        (double)ggml_nbytes(weights) / N_EXPERTS * (double)n_read;
    return job_place(job, ggml_mul_mat_id(job->nodes, weights, x, ids), 1,
                     is_supported);
}

static const struct case_kind product = { UNIT_OPS, open_product, job_compute,
                                          job_queue };
static const struct case_kind experts = { UNIT_OPS, open_experts, job_compute,
                                          job_queue };

static void
add_type(struct case_list *list, enum ggml_type type, int64_t k, int64_t rows)
{
    const char *name = ggml_type_name(type);

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const int64_t n = columns[i];
        struct bench_case c = { .type = type, .size = { k, rows, n } };

        c.kind = &product;
        case_add(list, c, "mul_mat/%s/%lldx%lld/n=%lld", name, (long long)k,
                 (long long)rows, (long long)n);
        c.kind = &experts;
        c.size[1] = rows / N_EXPERTS > 0 ? rows / N_EXPERTS : 1;
        case_add(list, c, "mul_mat_id/%s/%lldx%lldx%d/n=%lld", name,
                 (long long)k, (long long)c.size[1], N_EXPERTS, (long long)n);
    }
}

/* Types whose blocks make up rows of the length that was asked for. */
void
cases_products(struct case_list *list, const struct options *o)
{
    const int64_t k = o->size.at[0];

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (k % ggml_blck_size(types[i]) == 0)
            add_type(list, types[i], k, o->size.at[1]);
    }
}
