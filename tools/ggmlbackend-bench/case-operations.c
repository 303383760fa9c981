/* SPDX-License-Identifier: MIT */
/*
 * bench/case-operations.c - operations that are not products: one node each.
 *
 * Most of them only pass over memory, so what counts is GB/s, read and written
 * together.
 */
#include "tools/ggmlbackend-bench/case.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* The shape of what is passed over, and of heads where there are some. */
#define N_COLUMNS 4096
#define N_ROWS    512
#define N_HEAD    128

/* Attention: heads of queries, and heads of keys that they share. */
#define N_QUERIES 32
#define N_KEYS    8

static struct ggml_tensor *
leaf(struct job *job, enum ggml_type type, int64_t n0, int64_t n1, int64_t n2)
{
    return ggml_new_tensor_3d(job->leafs, type, n0, n1, n2);
}

static struct ggml_tensor *
reals(struct job *job)
{
    return leaf(job, GGML_TYPE_F32, N_COLUMNS, N_ROWS, 1);
}

static struct ggml_tensor *
build_add(struct job *job)
{
    return ggml_add(job->nodes, reals(job), reals(job));
}

static struct ggml_tensor *
build_mul_row(struct job *job)
{
    return ggml_mul(job->nodes, reals(job),
                    leaf(job, GGML_TYPE_F32, N_COLUMNS, 1, 1));
}

static struct ggml_tensor *
build_scale(struct job *job)
{
    return ggml_scale(job->nodes, reals(job), 0.5f);
}

static struct ggml_tensor *
build_norm(struct job *job)
{
    return ggml_norm(job->nodes, reals(job), 1e-6f);
}

static struct ggml_tensor *
build_rms_norm(struct job *job)
{
    return ggml_rms_norm(job->nodes, reals(job), 1e-6f);
}

static struct ggml_tensor *
build_soft_max(struct job *job)
{
    return ggml_soft_max(job->nodes, reals(job));
}

static struct ggml_tensor *
build_soft_max_mask(struct job *job)
{
    return ggml_soft_max_ext(
        job->nodes, reals(job),
        leaf(job, GGML_TYPE_F16, N_COLUMNS, GGML_PAD(N_ROWS, 64), 1), 0.125f,
        0.0f);
}

static struct ggml_tensor *
build_rope(struct job *job)
{
    return ggml_rope(job->nodes,
                     leaf(job, GGML_TYPE_F32, N_HEAD, N_COLUMNS / N_HEAD,
                          N_ROWS),
                     leaf(job, GGML_TYPE_I32, N_ROWS, 1, 1), N_HEAD, 0);
}

static struct ggml_tensor *
build_rope_neox(struct job *job)
{
    return ggml_rope(job->nodes,
                     leaf(job, GGML_TYPE_F32, N_HEAD, N_COLUMNS / N_HEAD,
                          N_ROWS),
                     leaf(job, GGML_TYPE_I32, N_ROWS, 1, 1), N_HEAD,
                     GGML_ROPE_TYPE_NEOX);
}

static struct ggml_tensor *
build_sum_rows(struct job *job)
{
    return ggml_sum_rows(job->nodes, reals(job));
}

static struct ggml_tensor *
build_transpose(struct job *job)
{
    return ggml_cont(job->nodes, ggml_transpose(job->nodes, reals(job)));
}

static const struct {
    const char *name;
    struct ggml_tensor *(*build)(struct job *job);
} passes[] = {
    { "add", build_add },
    { "mul-row", build_mul_row },
    { "scale", build_scale },
    { "norm", build_norm },
    { "rms_norm", build_rms_norm },
    { "soft_max", build_soft_max },
    { "soft_max-mask", build_soft_max_mask },
    { "rope", build_rope },
    { "rope-neox", build_rope_neox },
    { "sum_rows", build_sum_rows },
    { "cont-transposed", build_transpose },
};

/* Types that rows are converted to and from. */
static const enum ggml_type converted[] = {
    GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16, GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
};

/* Types that rows are taken from. */
static const enum ggml_type taken[] = {
    GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16, GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0, GGML_TYPE_Q4_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS,
};

static const enum ggml_type cached[] = {
    GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0,
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* RESULT reads all leafs, and what it writes is not one of them. */
static bool
place_pass(struct job *job, struct ggml_tensor *result, bool *is_supported)
{
    struct ggml_tensor *t;

    for (t = ggml_get_first_tensor(job->leafs); t != NULL;
         t = ggml_get_next_tensor(job->leafs, t))
        job->demand.bytes += (double)ggml_nbytes(t);
    if (result->view_src == NULL)
        job->demand.bytes += (double)ggml_nbytes(result);
    job->work = job->demand.bytes;
    return job_place(job, result, 2, is_supported);
}

static bool
open_pass(struct job *job, const struct bench *bench,
          const struct bench_case *c, bool *is_supported)
{
    return job_begin(job, bench->device, 2) &&
        place_pass(job, passes[c->row].build(job), is_supported);
}

static bool
open_unary(struct job *job, const struct bench *bench,
           const struct bench_case *c, bool *is_supported)
{
    return job_begin(job, bench->device, 2) &&
        place_pass(job,
                   ggml_unary(job->nodes, reals(job),
                              (enum ggml_unary_op)c->row),
                   is_supported);
}

static bool
open_convert(struct job *job, const struct bench *bench,
             const struct bench_case *c, bool *is_supported)
{
    struct ggml_tensor *from, *to;

    if (!job_begin(job, bench->device, 2))
        return false;
    from = leaf(job, (enum ggml_type)c->size[0], N_COLUMNS, N_ROWS, 1);
    to = leaf(job, (enum ggml_type)c->size[1], N_COLUMNS, N_ROWS, 1);
    return place_pass(job, ggml_cpy(job->nodes, from, to), is_supported);
}

static bool
open_get_rows(struct job *job, const struct bench *bench,
              const struct bench_case *c, bool *is_supported)
{
    struct ggml_tensor *rows, *ids, *result;

    if (!job_begin(job, bench->device, 1))
        return false;
    rows = leaf(job, c->type, N_COLUMNS, N_ROWS, 1);
    ids = leaf(job, GGML_TYPE_I32, N_ROWS, 1, 1);
    result = ggml_get_rows(job->nodes, rows, ids);
    job->work = (double)(ggml_nbytes(rows) + ggml_nbytes(result));
    job->demand.bytes = job->work;
    return job_place(job, result, 1, is_supported);
}

/* Products with reals on either side of the soft-max, whatever K and V are. */
static bool
open_attention(struct job *job, const struct bench *bench,
               const struct bench_case *c, bool *is_supported)
{
    const int64_t n_kv = c->size[0], n = c->size[1];
    struct ggml_tensor *q, *k, *v, *mask;

    if (!job_begin(job, bench->device, 1))
        return false;
    q = leaf(job, GGML_TYPE_F32, N_HEAD, n, N_QUERIES);
    k = leaf(job, c->type, N_HEAD, n_kv, N_KEYS);
    v = leaf(job, c->type, N_HEAD, n_kv, N_KEYS);
    mask = leaf(job, GGML_TYPE_F16, n_kv, GGML_PAD(n, GGML_KQ_MASK_PAD), 1);
    job->work = 4.0 * N_HEAD * (double)n_kv * (double)n * N_QUERIES;
    job->demand.ops[job_peak(job, GGML_TYPE_F16)] = job->work;
    job->demand.bytes = (double)(ggml_nbytes(k) + ggml_nbytes(v));
    return job_place(job,
                     ggml_flash_attn_ext(job->nodes, q, k, v, mask,
                                         1.0f / sqrtf(N_HEAD), 0.0f, 0.0f),
                     1, is_supported);
}

static const struct case_kind pass = { UNIT_BYTES, open_pass, job_compute,
                                       job_queue };
static const struct case_kind unary = { UNIT_BYTES, open_unary, job_compute,
                                        job_queue };
static const struct case_kind convert = { UNIT_BYTES, open_convert,
                                          job_compute, job_queue };
static const struct case_kind get_rows = { UNIT_BYTES, open_get_rows,
                                           job_compute, job_queue };
static const struct case_kind attention = { UNIT_OPS, open_attention,
                                            job_compute, job_queue };

static void
add_attention(struct case_list *list)
{
    static const int64_t lengths[] = { 512, 4096, 32768 },
                         columns[] = { 1, 512 };

    for (size_t i = 0; i < COUNT(cached); i++)
        for (size_t j = 0; j < COUNT(lengths); j++)
            for (size_t k = 0; k < COUNT(columns); k++)
                case_add(list,
                         (struct bench_case){
                             .kind = &attention,
                             .type = cached[i],
                             .size = { lengths[j], columns[k] } },
                         "attention/%s/kv=%lld/n=%lld",
                         ggml_type_name(cached[i]), (long long)lengths[j],
                         (long long)columns[k]);
}

static void
add_convert(struct case_list *list, enum ggml_type from, enum ggml_type to)
{
    case_add(list,
             (struct bench_case){ .kind = &convert, .size = { from, to } },
             "convert/%s/%s", ggml_type_name(from), ggml_type_name(to));
}

static void
add_unary(struct case_list *list, enum ggml_unary_op op)
{
    char name[32];
    size_t n = 0;

    for (const char *p = ggml_unary_op_name(op);
         *p != '\0' && n < sizeof(name) - 1; p++)
        name[n++] = (char)tolower((unsigned char)*p);
    name[n] = '\0';
    case_add(list, (struct bench_case){ .kind = &unary, .row = op },
             "unary/%s", name);
}

void
cases_operations(struct case_list *list, const struct options *o)
{
    (void)o;
    add_attention(list);
    for (size_t i = 0; i < COUNT(passes); i++)
        case_add(list, (struct bench_case){ .kind = &pass, .row = i }, "op/%s",
                 passes[i].name);
    for (int i = 0; i < GGML_UNARY_OP_COUNT; i++)
        add_unary(list, (enum ggml_unary_op)i);
    for (size_t i = 0; i < COUNT(converted); i++)
        add_convert(list, GGML_TYPE_F32, converted[i]);
    for (size_t i = 1; i < COUNT(converted); i++)
        add_convert(list, converted[i], GGML_TYPE_F32);
    for (size_t i = 0; i < COUNT(taken); i++)
        case_add(list,
                 (struct bench_case){ .kind = &get_rows, .type = taken[i] },
                 "get_rows/%s", ggml_type_name(taken[i]));
}
