/* SPDX-License-Identifier: MIT */
/*
 * Sizes of 0 that no result has: the length of a product's rows, the keys of an
 * attention, a window, a row that is added up.  Such a node has elements, as
 * many as its other sizes say, and each of them is written, to nothing but its
 * own place.  Sums of nothing are 0.
 */
#include "tests/cpu/ops/nodes.h"
#include "tests/util/sink.h"

#include "backends/cpu/kernels/api/kernels.h"

#include "lib/op/op.h"
#include "lib/tensor/context.h"

#include <stdio.h>
#include <stdlib.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct ggml_context *
open_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });

    assert_non_null(ctx);
    return ctx;
}

/* Compute NODE with work memory that ends where a page does. */
static enum ggml_status
compute(struct ggml_context *ctx, struct ggml_tensor *node, int n_threads)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, false);
    struct rooms rooms = { .n = 0 };
    struct ggml_cplan plan;
    enum ggml_status status;

    ggml_build_forward_expand(graph, node);
    plan = ggml_graph_plan(graph, n_threads, NULL);
    plan.work_data = rooms_add(&rooms, plan.work_size, 1);
    status = ggml_graph_compute(graph, &plan);
    rooms_free(&rooms);
    return status;
}

/* ---- products ---- */

/* dst[rows, cols, n2, n3] of rows without elements. */
struct product {
    enum ggml_type type;
    int64_t rows, cols, n2, n3;
    int64_t a2, a3; /* matrices of weights */
};

typedef struct ggml_tensor *(*product_fn)(struct ggml_context *ctx,
                                          const struct product *p);

static struct ggml_tensor *
mul_mat(struct ggml_context *ctx, const struct product *p)
{
    return ggml_mul_mat(
        ctx, ggml_new_tensor_4d(ctx, p->type, 0, p->rows, p->a2, p->a3),
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 0, p->cols, p->n2, p->n3));
}

/* The first of two experts has all columns. */
static struct ggml_tensor *
mul_mat_id(struct ggml_context *ctx, const struct product *p)
{
    return ggml_mul_mat_id(
        ctx, ggml_new_tensor_3d(ctx, p->type, 0, p->rows, 2),
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 0, 1, p->cols),
        ggml_new_tensor_2d(ctx, GGML_TYPE_I32, p->n2, p->cols));
}

/* Its inner size is dimension 1. */
static struct ggml_tensor *
out_prod(struct ggml_context *ctx, const struct product *p)
{
    const int64_t block = ggml_blck_size(p->type);
    const int64_t rows = (p->rows + block - 1) / block * block;

    return ggml_out_prod(
        ctx, ggml_new_tensor_4d(ctx, p->type, rows, 0, p->a2, p->a3),
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, p->cols, 0, p->n2, p->n3));
}

/* All of it is NaN before, 0 afterwards. */
static void
check_zeros(product_fn build, const struct product *p, int n_threads)
{
    struct ggml_context *ctx = open_context();
    struct ggml_tensor *node = build(ctx, p);
    struct rooms rooms = { .n = 0 };

    assert_false(gb_tensor_is_failed(node));
    for (int i = 0; i < GGML_MAX_SRC && node->src[i] != NULL; i++) {
        const size_t size = ggml_nbytes(node->src[i]);

        node->src[i]->data = rooms_add(&rooms, size, 16);
        memset(node->src[i]->data, 0, size);
    }
    node->data = rooms_add(&rooms, ggml_nbytes(node), 1);
    memset(node->data, 0xFF, ggml_nbytes(node));
    if (compute(ctx, node, n_threads) != GGML_STATUS_SUCCESS)
        fail_msg("%s of %s is not computed", ggml_op_desc(node),
                 ggml_type_name(p->type));
    for (int64_t i = 0; i < ggml_nelements(node); i++)
        if (((const float *)node->data)[i] != 0.0f)
            fail_msg("%s: %s, %d rows, %d columns: element %d is %g",
                     ggml_op_desc(node), ggml_type_name(p->type), (int)p->rows,
                     (int)p->cols, (int)i,
                     (double)((const float *)node->data)[i]);
    rooms_free(&rooms);
    ggml_free(ctx);
}

/* TYPE by up to 1,200 columns, in one matrix and in several; or by 577 only. */
static void
products_of(product_fn build, enum ggml_type type, bool is_short, int *n)
{
    static const int64_t rows[] = { 1, 150 };
    static const int64_t cols[] = { 17, 577, 1200 };
    static const int64_t matrices[][4] = {
        { 1, 1, 1, 1 }, { 6, 2, 2, 1 }, { 1, 40, 1, 20 },
    };

    for (size_t r = 0; r < N_OF(rows); r++)
        for (size_t c = 0; c < N_OF(cols); c++)
            for (size_t m = 0; m < N_OF(matrices); m++) {
                const struct product product = {
                    type, rows[r], cols[c], matrices[m][0], matrices[m][1],
                    matrices[m][2], matrices[m][3],
                };

                if ((m > 0 && cols[c] * rows[r] > 3000) ||
                    (is_short && cols[c] != 577))
                    continue;
                check_zeros(build, &product, *n % 32 == 0 ? 3 : 1);
                ++*n;
            }
}

/* Of every type of weights, on every variant. */
static void
products_of_rows_without_elements_are_zeros(void **state)
{
    static const product_fn build[] = { mul_mat, mul_mat_id, out_prod };
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();
    int n = 0;

    (void)state;
    for (; *variants != NULL; variants++) {
        gb_cpu_kernels_use(*variants);
        for (int type = 0; type < GGML_TYPE_COUNT; type++)
            for (size_t b = 0; b < N_OF(build); b++)
                if ((*variants)->format((enum ggml_type)type) != NULL)
                    products_of(build[b], (enum ggml_type)type,
                                variants != gb_cpu_kernels_all(), &n);
    }
    gb_cpu_kernels_use(NULL);
    printf("# %d products\n", n);
}

/* ---- every operation ---- */

/* Larger tensors take long, and say no more. */
#define MOST_BYTES ((size_t)1 << 20)

struct count {
    int built, computed, refused;
};

/* The node of SAMPLE with sources of other sizes, its bytes set to FILL before
 * it is computed.  NULL, or its bytes afterwards, as many as *SIZE, for the
 * caller to free. */
static void *
result_of(const struct sample *sample, const struct source *sources, int fill,
          size_t *size, struct count *count)
{
    struct ggml_context *ctx = open_context();
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    struct rooms rooms = { .n = 0 };
    struct gb_random random;
    struct ggml_tensor *node;
    void *result = NULL;

    gb_random_init(&random, 7);
    for (int i = 0; i < n_sources(sample); i++) {
        s[i] = ggml_new_tensor(ctx, sources[i].type, GGML_MAX_DIMS,
                               sources[i].ne);
        if (ggml_nbytes(s[i]) > MOST_BYTES) {
            rooms_free(&rooms);
            ggml_free(ctx);
            return NULL;
        }
        s[i]->data = rooms_add(&rooms, ggml_nbytes(s[i]), 16);
        fill_tensor(s[i], &random);
    }
    node = sample->build(ctx, s);
    if (!gb_tensor_is_failed(node) && !ggml_is_empty(node) &&
        ggml_nbytes(node) <= MOST_BYTES) {
        *size = ggml_nbytes(node);
        count->built++;
        if (node->data == NULL) {
            node->data = rooms_add(&rooms, *size, 1);
            memset(node->data, fill, *size);
        }
        if (compute(ctx, node, 1) == GGML_STATUS_SUCCESS) {
            result = malloc(*size);
            assert_non_null(result);
            memcpy(result, node->data, *size);
        }
        count->computed += result != NULL;
        count->refused += result == NULL;
    }
    rooms_free(&rooms);
    ggml_free(ctx);
    return result;
}

/* Elements that are not written stay what they were before. */
static void
try_sizes(const struct sample *sample, const struct source *sources,
          struct count *count)
{
    size_t size[2];
    void *first = result_of(sample, sources, 0xFF, &size[0], count);
    void *second;

    if (first == NULL)
        return;
    second = result_of(sample, sources, 0x00, &size[1], count);
    assert_non_null(second);
    assert_int_equal(size[0], size[1]);
    if (memcmp(first, second, size[0]) != 0)
        fail_msg("%s: some elements are not written", sample->name);
    free(first);
    free(second);
}

/* Every size of the sources that is FROM, or the one at AT alone, becomes TO. */
static void
set_sizes(const struct sample *sample, struct source *sources, int64_t from,
          int64_t to)
{
    for (int i = 0; i < n_sources(sample); i++)
        for (int d = 0; d < GGML_MAX_DIMS; d++)
            if (sample->sources[i].ne[d] == from)
                sources[i].ne[d] = to;
}

/* Sizes that are FROM become 0, and those that are OTHER many: all at once, and
 * those of one source alone. */
static void
try_without(const struct sample *sample, int64_t from, int64_t other,
            int64_t many, struct count *count)
{
    struct source sources[GGML_MAX_SRC];

    memcpy(sources, sample->sources, sizeof(sources));
    if (other > 0)
        set_sizes(sample, sources, other, many);
    set_sizes(sample, sources, from, 0);
    try_sizes(sample, sources, count);
    for (int i = 0; i < n_sources(sample); i++)
        for (int d = 0; d < GGML_MAX_DIMS; d++) {
            if (sample->sources[i].ne[d] != from)
                continue;
            memcpy(sources, sample->sources, sizeof(sources));
            if (other > 0)
                set_sizes(sample, sources, other, many);
            sources[i].ne[d] = 0;
            try_sizes(sample, sources, count);
        }
}

/* The sizes that SAMPLE's sources have, each once; how many. */
static int
sizes_of(const struct sample *sample, int64_t *sizes)
{
    int n = 0;

    for (int i = 0; i < n_sources(sample) * GGML_MAX_DIMS; i++) {
        const int64_t size =
            sample->sources[i / GGML_MAX_DIMS].ne[i % GGML_MAX_DIMS];
        bool is_known = false;

        for (int j = 0; j < n; j++)
            is_known = is_known || sizes[j] == size;
        if (!is_known)
            sizes[n++] = size;
    }
    return n;
}

static void
try_sample(const struct sample *sample, struct count *count)
{
    static const int64_t many[] = { 320 };
    int64_t sizes[GGML_MAX_SRC * GGML_MAX_DIMS];
    const int n = sizes_of(sample, sizes);

    for (int from = 0; from < n; from++) {
        try_without(sample, sizes[from], 0, 0, count);
        for (int other = 0; other < n; other++)
            for (size_t m = 0; m < N_OF(many) && other != from; m++)
                try_without(sample, sizes[from], sizes[other], many[m], count);
    }
}

static void
every_element_is_written(void **state)
{
    struct count count = { 0 };

    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    for (size_t i = 0; i < N_SAMPLES; i++)
        try_sample(&samples[i], &count);
    ggml_log_set(NULL, NULL);
    printf("# %d nodes built, %d computed, %d refused\n", count.built,
           count.computed, count.refused);
    assert_true(count.computed > 0 && count.refused > 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_rows_without_elements_are_zeros),
        cmocka_unit_test(every_element_is_written),
    };

    return cmocka_run_group_tests_name("inner sizes of 0", tests, NULL, NULL);
}
