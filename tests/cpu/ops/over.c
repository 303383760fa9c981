/* SPDX-License-Identifier: MIT */
/*
 * What an operation's row in lib/op/ops.def says of its sources: results that are
 * written over one are the same bits as in a place of their own, and no others are
 * written than those that it names.
 */
#include "tests/cpu/ops/nodes.h"

#include "lib/op/op.h"
#include "lib/tensor/context.h"

#include <stdlib.h>

/* Compute SAMPLE's node into RESULT: in its own place, or over source OVER. */
static void
compute(ggml_backend_t backend, const struct sample *sample, int over,
        char *result, size_t size)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, false);
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    struct rooms rooms = { .n = 0 };
    struct gb_random random;
    struct ggml_tensor *node;

    gb_random_init(&random, 7);
    for (int i = 0; i < n_sources(sample); i++) {
        s[i] = ggml_new_tensor(ctx, sample->sources[i].type, GGML_MAX_DIMS,
                               sample->sources[i].ne);
        s[i]->data = rooms_add(&rooms, ggml_nbytes(s[i]), 1);
        fill_tensor(s[i], &random);
    }
    node = sample->build(ctx, s);
    assert_false(gb_tensor_is_failed(node));
    assert_int_equal(ggml_nbytes(node), size);
    node->data = over < 0 ? rooms_add(&rooms, size, 1) : s[over]->data;
    ggml_build_forward_expand(graph, node);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    memcpy(result, node->data, size);
    rooms_free(&rooms);
    ggml_free(ctx);
}

/* May a result of SAMPLE lie where its source I does?  Its bytes then. */
static size_t
room_over(const struct sample *sample, int i)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    const struct ggml_tensor *node;
    size_t size = 0;

    for (int j = 0; j < n_sources(sample); j++)
        s[j] = ggml_new_tensor(ctx, sample->sources[j].type, GGML_MAX_DIMS,
                               sample->sources[j].ne);
    node = sample->build(ctx, s);
    if (node->view_src == NULL && node->type == s[i]->type &&
        ggml_are_same_shape(node, s[i]) && ggml_are_same_stride(node, s[i]))
        size = ggml_nbytes(node);
    ggml_free(ctx);
    return size;
}

static void
results_over_a_source_are_the_same(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    bool is_tried[GGML_OP_COUNT] = { false };

    (void)state;
    ggml_backend_cpu_set_n_threads(backend, 2);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct sample *sample = &samples[i];

        for (int s = 0; s < gb_op_in_place_sources[sample->op]; s++) {
            const size_t size = room_over(sample, s);
            char *own, *over;

            if (size == 0)
                continue;
            own = malloc(size);
            over = malloc(size);
            assert_true(own != NULL && over != NULL);
            compute(backend, sample, -1, own, size);
            compute(backend, sample, s, over, size);
            if (memcmp(own, over, size) != 0)
                fail_msg("%s: not the same over source %d", sample->name, s);
            is_tried[sample->op] = true;
            free(own);
            free(over);
        }
    }
    ggml_backend_free(backend);
    for (int op = 0; op < GGML_OP_COUNT; op++)
        if (gb_op_in_place_sources[op] > 0 && !is_tried[op])
            fail_msg("%s has no sample for it", ggml_op_name((enum ggml_op)op));
}

/* The sources of SAMPLE that its node changes, as bits, but for the one whose view
 * it is. */
static unsigned
sources_changed(ggml_backend_t backend, const struct sample *sample)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, false);
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    char *before[GGML_MAX_SRC] = { NULL };
    struct rooms rooms = { .n = 0 };
    struct gb_random random;
    struct ggml_tensor *node;
    unsigned changed = 0;

    gb_random_init(&random, 7);
    for (int i = 0; i < n_sources(sample); i++) {
        s[i] = ggml_new_tensor(ctx, sample->sources[i].type, GGML_MAX_DIMS,
                               sample->sources[i].ne);
        s[i]->data = rooms_add(&rooms, ggml_nbytes(s[i]), 1);
        fill_tensor(s[i], &random);
        before[i] = malloc(ggml_nbytes(s[i]) + 1);
        assert_non_null(before[i]);
        memcpy(before[i], s[i]->data, ggml_nbytes(s[i]));
    }
    node = sample->build(ctx, s);
    node->data = node->view_src != NULL
                     ? node->view_src->data
                     : rooms_add(&rooms, ggml_nbytes(node), 1);
    ggml_build_forward_expand(graph, node);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    for (int i = 0; i < n_sources(sample); i++) {
        if (s[i] != node->view_src &&
            memcmp(before[i], s[i]->data, ggml_nbytes(s[i])) != 0)
            changed |= 1u << i;
        free(before[i]);
    }
    rooms_free(&rooms);
    ggml_free(ctx);
    return changed;
}

static void
the_sources_of_the_row_are_written_and_no_others(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    unsigned changed[GGML_OP_COUNT] = { 0 };

    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++)
        changed[samples[i].op] |= sources_changed(backend, &samples[i]);
    ggml_backend_free(backend);
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        const unsigned row = gb_op_writes((enum ggml_op)op);

        if (changed[op] != (row == GB_OP_WRITES_ANYTHING ? 0 : row))
            fail_msg("%s writes sources %#x, and its row says %#x",
                     ggml_op_name((enum ggml_op)op), changed[op], row);
    }
    assert_int_equal(changed[GGML_OP_OPT_STEP_ADAMW], 1u << 2 | 1u << 3);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sources_of_the_row_are_written_and_no_others),
        cmocka_unit_test(results_over_a_source_are_the_same),
    };

    return cmocka_run_group_tests_name("over a source", tests, NULL, NULL);
}
