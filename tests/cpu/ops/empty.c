/* SPDX-License-Identifier: MIT */
/*
 * Sources that have no elements, of every operation: what can be built from
 * them is computed or refused, and what lies outside of tensors is not touched.
 */
#include "tests/cpu/ops/nodes.h"
#include "tests/util/sink.h"

#include "lib/op/op.h"
#include "lib/tensor/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct count {
    int built, computed, refused;
};

/* A tensor of SOURCE in memory of its own. */
static struct ggml_tensor *
tensor_of(struct ggml_context *ctx, const struct source *source,
          struct rooms *rooms, struct gb_random *random)
{
    struct ggml_tensor *t =
        ggml_new_tensor(ctx, source->type, GGML_MAX_DIMS, source->ne);

    assert_non_null(t);
    t->data = rooms_add(rooms, ggml_nbytes(t), 1);
    fill_tensor(t, random);
    return t;
}

static void
compute(ggml_backend_t backend, const struct sample *sample,
        struct ggml_context *ctx, struct ggml_tensor *node,
        struct count *count)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, false);
    const bool can_run = ggml_backend_supports_op(backend, node);
    enum ggml_status status;

    ggml_build_forward_expand(graph, node);
    status = ggml_backend_graph_compute(backend, graph);
    if (status != GGML_STATUS_SUCCESS && status != GGML_STATUS_FAILED)
        fail_msg("%s: status %d", sample->name, (int)status);
    if (!can_run && status == GGML_STATUS_SUCCESS && !ggml_is_empty(node))
        fail_msg("%s: computed, although it cannot be", sample->name);
    count->computed += status == GGML_STATUS_SUCCESS;
    count->refused += status == GGML_STATUS_FAILED;
}

/* The sample with those dimensions of its sources empty whose bits are set in
 * WHICH, counted through all of them. */
static void
try_empty(ggml_backend_t backend, const struct sample *sample, uint64_t which,
          struct count *count)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    struct rooms rooms = { .n = 0 };
    struct gb_random random;
    struct ggml_tensor *node;

    gb_random_init(&random, 7);
    for (int i = 0; i < n_sources(sample); i++) {
        struct source source = sample->sources[i];

        for (int d = 0; d < GGML_MAX_DIMS; d++)
            if ((which >> (i * GGML_MAX_DIMS + d) & 1) != 0)
                source.ne[d] = 0;
        s[i] = tensor_of(ctx, &source, &rooms, &random);
    }
    node = sample->build(ctx, s);
    if (!gb_tensor_is_failed(node)) {
        if (node->data == NULL)
            node->data = rooms_add(&rooms, ggml_nbytes(node), 1);
        count->built++;
        compute(backend, sample, ctx, node, count);
    } else if (which == 0) {
        fail_msg("%s: the sample itself is not built", sample->name);
    }
    rooms_free(&rooms);
    ggml_free(ctx);
}

static void
every_sample_is_computed(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct count count = { 0 };

    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++)
        try_empty(backend, &samples[i], 0, &count);
    assert_int_equal(count.computed, N_SAMPLES);
    ggml_backend_free(backend);
}

static void
every_operation_has_a_sample(void **state)
{
    bool has[GGML_OP_COUNT] = { false };

    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++)
        has[samples[i].op] = true;
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        const bool is_computed = gb_op_has_work((enum ggml_op)op) &&
                                 op != GGML_OP_FLASH_ATTN_BACK;

        if (has[op] != is_computed)
            fail_msg("%s", ggml_op_name((enum ggml_op)op));
    }
}

/* The dimensions of SAMPLE's sources that are as long as dimension AT is. */
static uint64_t
as_long_as(const struct sample *sample, int at)
{
    const int64_t n =
        sample->sources[at / GGML_MAX_DIMS].ne[at % GGML_MAX_DIMS];
    uint64_t which = 0;

    for (int i = 0; i < n_sources(sample) * GGML_MAX_DIMS; i++)
        if (sample->sources[i / GGML_MAX_DIMS].ne[i % GGML_MAX_DIMS] == n)
            which |= UINT64_C(1) << i;
    return which;
}

/* One dimension of one source, any two, and all that are as long as one. */
static void
sources_without_elements(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct count count = { 0 };

    (void)state;
    ggml_backend_cpu_set_n_threads(backend, 1);
    ggml_log_set(gb_sink_ignore, NULL);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const int n = n_sources(&samples[i]) * GGML_MAX_DIMS;

        for (int a = 0; a < n; a++) {
            for (int b = a; b < n; b++)
                try_empty(backend, &samples[i],
                          UINT64_C(1) << a | UINT64_C(1) << b, &count);
            try_empty(backend, &samples[i], as_long_as(&samples[i], a),
                      &count);
        }
    }
    ggml_log_set(NULL, NULL);
    printf("# %d nodes built, %d computed, %d refused\n", count.built,
           count.computed, count.refused);
    assert_true(count.computed > 0 && count.refused > 0);
    ggml_backend_free(backend);
}

/* ---- many rows without elements ---- */

#define MANY (INT64_C(1) << 29)

static struct ggml_tensor *
empty_of(struct ggml_context *ctx, int64_t n0, int64_t n1, int64_t n2,
         int64_t n3)
{
    return ggml_new_tensor_4d(ctx, GGML_TYPE_F32, n0, n1, n2, n3);
}

static struct ggml_tensor *
many_logits(struct ggml_context *ctx)
{
    return ggml_cross_entropy_loss(ctx, empty_of(ctx, 0, MANY, MANY, 1),
                                   empty_of(ctx, 0, MANY, MANY, 1));
}

static struct ggml_tensor *
many_repeated(struct ggml_context *ctx)
{
    return ggml_repeat_back(ctx, empty_of(ctx, 0, MANY, MANY, 1),
                            empty_of(ctx, 3, 1, 1, 1));
}

static struct ggml_tensor *
many_windows(struct ggml_context *ctx)
{
    return ggml_pool_2d_back(ctx, empty_of(ctx, 0, MANY, 1, 1),
                             empty_of(ctx, 2, 2, 1, 1), GGML_OP_POOL_AVG, 3,
                             3, 1, 1, 0.0f, (float)(MANY / 2));
}

/* They are not walked: that would take hours, and the test's time is up after
 * a few seconds.  Sums of nothing are 0. */
static void
many_rows_without_elements(void **state)
{
    struct ggml_tensor *(*const build[])(struct ggml_context *) = {
        many_logits, many_repeated, many_windows,
    };
    ggml_backend_t backend = ggml_backend_cpu_init();

    (void)state;
    ggml_backend_cpu_set_n_threads(backend, 1);
    for (size_t i = 0; i < sizeof(build) / sizeof(build[0]); i++) {
        struct ggml_context *ctx = ggml_init((struct ggml_init_params){
            .mem_size = (size_t)64 << 10, .no_alloc = true });
        struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);
        struct ggml_tensor *node = build[i](ctx);
        float values[16] = { 7.0f };
        float pooled[16] = { 7.0f };

        assert_false(gb_tensor_is_failed(node));
        assert_in_range(ggml_nelements(node), 1, 16);
        node->data = values;
        if (node->src[1] != NULL)
            node->src[1]->data = pooled;
        ggml_build_forward_expand(graph, node);
        alarm(20);
        assert_int_equal(ggml_backend_graph_compute(backend, graph),
                         GGML_STATUS_SUCCESS);
        alarm(0);
        for (int64_t j = 0; j < ggml_nelements(node); j++)
            assert_true(values[j] == 0.0f);
        ggml_free(ctx);
    }
    ggml_backend_free(backend);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_sample),
        cmocka_unit_test(every_sample_is_computed),
        cmocka_unit_test(sources_without_elements),
        cmocka_unit_test(many_rows_without_elements),
    };

    return cmocka_run_group_tests_name("empty", tests, NULL, NULL);
}
