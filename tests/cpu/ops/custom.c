/* SPDX-License-Identifier: MIT */
/*
 * Operations that the client computes: who is called, how often, with what.
 */
#include "tests/cpu/ops/driver.h"

static void
negate(const int n, float *dst, const float *a)
{
    for (int i = 0; i < n; i++)
        dst[i] = -a[i];
}

static void
subtract(const int n, float *dst, const float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        dst[i] = a[i] - b[i];
}

static double
map_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
              int64_t i2, int64_t i3)
{
    const double a = at(node->src[0], i0, i1, i2, i3);

    return node->op == GGML_OP_MAP_UNARY
               ? -a
               : a - at(node->src[1], i0, i1, i2, i3);
}

/* The deprecated builders are part of the interface. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void
functions_of_rows(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 7, 5, 3, 2);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_F32, DENSE, 7, 5, 3, 2);
    struct ggml_tensor *half = tensor(&bench, GGML_TYPE_F16, DENSE, 7, 5, 1, 1);

    (void)state;
    check(&bench, ggml_map_unary_f32(bench.ctx, a, negate), map_reference,
          0.0);
    check(&bench, ggml_map_unary_inplace_f32(bench.ctx, a, negate),
          map_reference, 0.0);
    check(&bench, ggml_map_binary_f32(bench.ctx, a, b, subtract),
          map_reference, 1e-13);
    assert_false(can_run(ggml_map_unary_f32(bench.ctx, half, negate)));
    bench_close(&bench);
}

static void
write_1(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    ((float *)dst->data)[0] = ((const float *)a->data)[0];
}

static void
write_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b)
{
    ((float *)dst->data)[0] = ((const float *)a->data)[0] +
                              10 * ((const float *)b->data)[0];
}

static void
write_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c)
{
    write_2(dst, a, b);
    ((float *)dst->data)[0] += 100 * ((const float *)c->data)[0];
}

static void
functions_of_tensors_get_all_operands(void **state)
{
    struct bench bench = bench_open();
    struct ggml_context *ctx = bench.ctx;
    struct ggml_tensor *operands[3];
    struct ggml_tensor *nodes[3];
    static const float want[] = { 1, 21, 321 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        operands[i] = tensor(&bench, GGML_TYPE_F32, DENSE, 1, 1, 1, 1);
        put(operands[i], 0, 0, 0, 0, i + 1);
    }
    nodes[0] = ggml_map_custom1_f32(ctx, operands[0], write_1);
    nodes[1] =
        ggml_map_custom2_f32(ctx, operands[0], operands[1], write_2);
    nodes[2] = ggml_map_custom3_f32(ctx, operands[0], operands[1],
                                    operands[2], write_3);
    for (int i = 0; i < 3; i++) {
        assert_true(can_run(nodes[i]));
        assert_int_equal(
            compute(nodes[i], gb_cpu_kernels_all()[0], false),
            GGML_STATUS_SUCCESS);
        assert_true(*(float *)nodes[i]->data == want[i]);
    }
    bench_close(&bench);
}

#pragma GCC diagnostic pop

/* What the functions below were called with. */
struct calls {
    int count;
    int nth;
    unsigned seen; /* a bit for each ith */
};

static void
note(struct calls *calls, int ith, int nth)
{
    calls->count++;
    calls->nth = nth;
    calls->seen |= 1u << ith;
}

static void
note_1(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
       void *userdata)
{
    assert_ptr_equal(dst->src[0], a);
    note(userdata, ith, nth);
}

static void
note_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
       const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    assert_ptr_equal(dst->src[1], b);
    note_1(dst, a, ith, nth, userdata);
}

static void
note_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
       const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
       int nth, void *userdata)
{
    assert_ptr_equal(dst->src[2], c);
    note_2(dst, a, b, ith, nth, userdata);
}

/* The driver says that the graph has three threads. */
static void
every_task_is_called_once(void **state)
{
    static const struct {
        int n_tasks, nth;
        unsigned seen;
    } cases[] = {
        { GGML_N_TASKS_MAX, 3, 7 }, { 1, 1, 1 }, { 2, 2, 3 },
        { 3, 3, 7 },                { 50, 3, 7 },
    };

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int n = 1; n <= 3; n++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F16, DENSE, 3, 1, 1, 1);
            struct ggml_tensor *b =
                tensor(&bench, GGML_TYPE_I32, DENSE, 2, 1, 1, 1);
            const int tasks = cases[i].n_tasks;
            struct calls calls = { 0 };
            struct ggml_tensor *node =
                n == 1 ? ggml_map_custom1(bench.ctx, a, note_1, tasks, &calls)
                : n == 2
                    ? ggml_map_custom2(bench.ctx, a, b, note_2, tasks, &calls)
                    : ggml_map_custom3(bench.ctx, a, b, a, note_3, tasks,
                                       &calls);

            assert_true(can_run(node));
            assert_int_equal(compute(node, gb_cpu_kernels_all()[0], false),
                             GGML_STATUS_SUCCESS);
            assert_int_equal(calls.count, cases[i].nth);
            assert_int_equal(calls.nth, cases[i].nth);
            assert_int_equal(calls.seen, cases[i].seen);
            bench_close(&bench);
        }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_rows),
        cmocka_unit_test(functions_of_tensors_get_all_operands),
        cmocka_unit_test(every_task_is_called_once),
    };

    return cmocka_run_group_tests_name("custom", tests, NULL, NULL);
}
