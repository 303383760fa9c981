/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/derivative.c - gradients against finite differences.
 *
 * Each case builds a tensor from up to three parameters.  The loss is the sum
 * of its elements with weights of their own; its gradient by each element of
 * each parameter must be what the loss changes by, when that element is moved a
 * little to both sides.
 *
 * Besides the cases below, each sample of an operation that has a derivative by
 * all of its sources is one, where these are F32.
 */
#include "tests/cpu/ops/nodes.h"

#include <math.h>

#define MAX_PARAMS 3
#define STEP 0x1p-7f

/*
 * Values keep away from 0, where some functions have a corner or a pole, and
 * where a maximum is looked for from each other.
 */
enum range { ANY, POSITIVE, APART };

struct test_case {
    const char *name;
    struct ggml_tensor *(*build)(struct ggml_tensor **p);
    int64_t ne[MAX_PARAMS][GGML_MAX_DIMS];
    enum range range;
};

static struct ggml_context *ctx;
static struct gb_random rng;

static void
fill(struct ggml_tensor *t, enum range range)
{
    const int64_t n = ggml_nelements(t);

    for (int64_t i = 0; i < n; i++) {
        const float v = gb_random_float(&rng, 0.25f, 1.5f);
        const bool is_negative =
            range == ANY && gb_random_float(&rng, 0.0f, 1.0f) < 0.5f;

        ((float *)t->data)[i] =
            range == APART ? (float)(i * 17 % n) / 16 : is_negative ? -v : v;
    }
}

static struct ggml_tensor *
indices(const int32_t *values, int64_t n)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);

    for (int64_t i = 0; i < n; i++)
        ((int32_t *)t->data)[i] = values[i];
    return t;
}

static struct ggml_tensor *
constant(int64_t ne0, int64_t ne1, enum range range)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, ne0, ne1);

    fill(t, range);
    return t;
}

/* -- Cases --------------------------------------------------------------- */

#define CASE(name, expr)                  \
    static struct ggml_tensor *           \
    build_##name(struct ggml_tensor **p)  \
    {                                     \
        return expr;                      \
    }

CASE(dup, ggml_dup(ctx, p[0]))
CASE(add, ggml_add(ctx, p[0], p[1]))
CASE(add1, ggml_add1(ctx, p[0], p[1]))
CASE(sub, ggml_sub(ctx, p[0], p[1]))
CASE(mul, ggml_mul(ctx, p[0], p[1]))
CASE(div, ggml_div(ctx, p[0], p[1]))
CASE(sqr, ggml_sqr(ctx, p[0]))
CASE(sqrt, ggml_sqrt(ctx, p[0]))
CASE(log, ggml_log(ctx, p[0]))
CASE(sin, ggml_sin(ctx, p[0]))
CASE(cos, ggml_cos(ctx, p[0]))
CASE(sum, ggml_sum(ctx, p[0]))
CASE(sum_rows, ggml_sum_rows(ctx, p[0]))
CASE(mean, ggml_mean(ctx, p[0]))
CASE(repeat, ggml_repeat(ctx, p[0], constant(6, 4, ANY)))
CASE(repeat_back, ggml_repeat_back(ctx, p[0], constant(3, 2, ANY)))
CASE(scale, ggml_scale(ctx, p[0], -1.75f))
CASE(abs, ggml_abs(ctx, p[0]))
CASE(neg, ggml_neg(ctx, p[0]))
CASE(relu, ggml_relu(ctx, p[0]))
CASE(silu, ggml_silu(ctx, p[0]))
CASE(exp, ggml_exp(ctx, p[0]))
CASE(sgn, ggml_add(ctx, p[0], ggml_sgn(ctx, p[0])))
CASE(step, ggml_add(ctx, p[0], ggml_step(ctx, p[0])))
CASE(acc, ggml_acc(ctx, p[0], p[1], p[0]->nb[1], p[0]->nb[2], p[0]->nb[3],
                   p[0]->nb[1] + p[0]->nb[0]))
CASE(set, ggml_set(ctx, p[0], p[1], p[0]->nb[1], p[0]->nb[2], p[0]->nb[3],
                   p[0]->nb[1] + p[0]->nb[0]))
CASE(cpy, ggml_cpy(ctx, p[0], constant(3, 4, ANY)))
CASE(cast, ggml_cast(ctx, p[0], GGML_TYPE_F32))
CASE(cont, ggml_cont(ctx, ggml_transpose(ctx, p[0])))
CASE(cont_2d, ggml_cont_2d(ctx, ggml_permute(ctx, p[0], 1, 0, 2, 3), 6, 4))
CASE(reshape, ggml_reshape_2d(ctx, p[0], 4, 3))
CASE(reshape_of_transposed,
     ggml_reshape_2d(ctx, ggml_cont(ctx, ggml_transpose(ctx, p[0])), 6, 2))
CASE(view, ggml_view_2d(ctx, p[0], 3, 2, p[0]->nb[1], 2 * sizeof(float)))
CASE(view_1d, ggml_view_1d(ctx, p[0], 5, 3 * sizeof(float)))
CASE(permute, ggml_permute(ctx, p[0], 2, 0, 3, 1))
CASE(transpose, ggml_transpose(ctx, p[0]))
CASE(get_rows, ggml_get_rows(ctx, p[0],
                             indices((const int32_t[]){ 2, 0, 2, 2 }, 4)))
CASE(diag_mask_inf,
     ggml_soft_max(ctx, ggml_diag_mask_inf(ctx, p[0], 1)))
CASE(diag_mask_zero, ggml_diag_mask_zero(ctx, p[0], 1))
CASE(soft_max, ggml_soft_max(ctx, p[0]))
CASE(soft_max_ext, ggml_soft_max_ext(ctx, p[0], constant(5, 4, ANY), 0.7f, 0.0f))
CASE(rms_norm, ggml_rms_norm(ctx, p[0], 1e-5f))
CASE(mul_mat, ggml_mul_mat(ctx, p[0], p[1]))
CASE(mul_mat_permuted,
     ggml_mul_mat(ctx, p[0], ggml_permute(ctx, p[1], 0, 2, 1, 3)))
CASE(cross_entropy_loss,
     ggml_cross_entropy_loss(ctx, p[0],
                             ggml_soft_max(ctx, constant(5, 3, ANY))))
CASE(pool_avg,
     ggml_pool_2d(ctx, p[0], GGML_OP_POOL_AVG, 2, 2, 2, 2, 0, 0))
CASE(pool_max,
     ggml_pool_2d(ctx, p[0], GGML_OP_POOL_MAX, 3, 2, 2, 2, 0, 0))
CASE(im2col, ggml_im2col(ctx, constant(3, 2, ANY), p[0], 2, 1, 1, 0, 1, 1, false,
                         GGML_TYPE_F32))
CASE(rope, ggml_rope(ctx, p[0], indices((const int32_t[]){ 0, 3, 11 }, 3), 6,
                     0))
CASE(rope_neox,
     ggml_rope_ext(ctx, p[0], indices((const int32_t[]){ 5, 2, 1 }, 3),
                   constant(4, 1, POSITIVE), 8, GGML_ROPE_TYPE_NEOX, 64,
                   10000.0f, 0.5f, 0.25f, 1.1f, 32.0f, 1.0f))

static struct ggml_tensor *
build_rope_multi(struct ggml_tensor **p)
{
    int sections[] = { 1, 2, 1, 0 };
    const int32_t at[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0 };

    return ggml_rope_multi(ctx, p[0], indices(at, 12), NULL, 8, sections,
                           GGML_ROPE_TYPE_MROPE, 64, 10000.0f, 1.0f, 0.0f, 1.0f,
                           32.0f, 1.0f);
}

static struct ggml_tensor *
build_im2col_2d(struct ggml_tensor **p)
{
    struct ggml_tensor *kernel =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 2, 3, 2, 1);

    return ggml_im2col(ctx, kernel, p[0], 1, 2, 1, 0, 1, 1, true,
                       GGML_TYPE_F32);
}

/* The other way: columns of that shape become an image. */
static struct ggml_tensor *
build_im2col_back(struct ggml_tensor **p)
{
    struct ggml_tensor *kernel =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 2, 3, 2, 1);

    return ggml_im2col_back(ctx, p[0], kernel, (int64_t[]){ 5, 6, 2, 2 }, 1, 2,
                            1, 0, 1, 1, true);
}

/* Each kind of contribution as a later one: x has a gradient before. */
CASE(later_sub, ggml_sub(ctx, ggml_sqr(ctx, p[0]), p[0]))
CASE(later_neg, ggml_add(ctx, ggml_neg(ctx, p[0]), ggml_exp(ctx, p[0])))
CASE(later_sum, ggml_add1(ctx, ggml_sqr(ctx, p[0]), ggml_sum(ctx, p[0])))
CASE(later_mean, ggml_mul(ctx, p[0], ggml_mean(ctx, p[0])))
CASE(later_view,
     ggml_mul(ctx, ggml_view_2d(ctx, p[0], 3, 2, p[0]->nb[1], sizeof(float)),
              ggml_view_2d(ctx, p[0], 3, 2, p[0]->nb[1], 2 * sizeof(float))))
CASE(later_view_of_transposed,
     ggml_mul(ctx, ggml_view_2d(ctx, p[0], 3, 3, p[0]->nb[1], 0),
              ggml_cont(ctx, ggml_transpose(ctx, p[0]))))
CASE(square_by_itself, ggml_mul(ctx, p[0], p[0]))
CASE(sum_with_itself, ggml_add(ctx, p[0], p[0]))

/* A layer, its activation, another one that shares a bias, a loss. */
static struct ggml_tensor *
build_network(struct ggml_tensor **p)
{
    struct ggml_tensor *x = constant(4, 3, ANY), *h;

    h = ggml_add(ctx, ggml_mul_mat(ctx, p[0], x), p[2]);
    h = ggml_rms_norm(ctx, ggml_silu(ctx, h), 1e-5f);
    h = ggml_add(ctx, ggml_mul_mat(ctx, p[1], h), p[2]);
    return ggml_cross_entropy_loss(ctx, h,
                                   ggml_soft_max(ctx, constant(5, 3, ANY)));
}

#define ONE(a, b, c, d) { { a, b, c, d } }
#define TWO(...) { __VA_ARGS__ }
#define V(a, b, c, d) { a, b, c, d }

static const struct test_case cases[] = {
    { "dup", build_dup, ONE(3, 2, 2, 1), ANY },
    { "add", build_add, TWO(V(3, 2, 2, 1), V(3, 2, 2, 1)), ANY },
    { "add, broadcast", build_add, TWO(V(6, 2, 2, 2), V(3, 1, 2, 1)), ANY },
    { "add1", build_add1, TWO(V(3, 2, 2, 1), V(1, 1, 1, 1)), ANY },
    { "sub", build_sub, TWO(V(3, 2, 2, 1), V(3, 2, 2, 1)), ANY },
    { "sub, broadcast", build_sub, TWO(V(3, 2, 2, 2), V(3, 1, 2, 1)), ANY },
    { "mul", build_mul, TWO(V(3, 2, 2, 1), V(3, 2, 2, 1)), ANY },
    { "mul, broadcast", build_mul, TWO(V(6, 2, 2, 2), V(3, 1, 2, 1)), ANY },
    { "div", build_div, TWO(V(3, 2, 2, 1), V(3, 2, 2, 1)), ANY },
    { "div, broadcast", build_div, TWO(V(3, 2, 2, 2), V(3, 1, 2, 1)), ANY },
    { "sqr", build_sqr, ONE(3, 2, 2, 1), ANY },
    { "sqrt", build_sqrt, ONE(3, 2, 2, 1), POSITIVE },
    { "log", build_log, ONE(3, 2, 2, 1), POSITIVE },
    { "sin", build_sin, ONE(3, 2, 2, 1), ANY },
    { "cos", build_cos, ONE(3, 2, 2, 1), ANY },
    { "sum", build_sum, ONE(3, 2, 2, 1), ANY },
    { "sum_rows", build_sum_rows, ONE(3, 2, 2, 2), ANY },
    { "mean", build_mean, ONE(3, 2, 2, 2), ANY },
    { "repeat", build_repeat, ONE(3, 2, 1, 1), ANY },
    { "repeat_back", build_repeat_back, ONE(6, 4, 1, 1), ANY },
    { "scale", build_scale, ONE(3, 2, 2, 1), ANY },
    { "abs", build_abs, ONE(3, 2, 2, 1), ANY },
    { "neg", build_neg, ONE(3, 2, 2, 1), ANY },
    { "relu", build_relu, ONE(3, 2, 2, 1), ANY },
    { "silu", build_silu, ONE(3, 2, 2, 1), ANY },
    { "exp", build_exp, ONE(3, 2, 2, 1), ANY },
    { "sgn", build_sgn, ONE(3, 2, 2, 1), ANY },
    { "step", build_step, ONE(3, 2, 2, 1), ANY },
    { "acc", build_acc, TWO(V(5, 4, 2, 1), V(3, 2, 2, 1)), ANY },
    { "set", build_set, TWO(V(5, 4, 2, 1), V(3, 2, 2, 1)), ANY },
    { "cpy", build_cpy, ONE(3, 4, 1, 1), ANY },
    { "cpy to another shape", build_cpy, ONE(2, 6, 1, 1), ANY },
    { "cast", build_cast, ONE(3, 2, 2, 1), ANY },
    { "cont", build_cont, ONE(3, 4, 2, 1), ANY },
    { "cont_2d", build_cont_2d, ONE(3, 4, 2, 1), ANY },
    { "reshape", build_reshape, ONE(6, 2, 1, 1), ANY },
    { "reshape of transposed", build_reshape_of_transposed, ONE(3, 4, 1, 1),
      ANY },
    { "view", build_view, ONE(6, 4, 1, 1), ANY },
    { "view_1d", build_view_1d, ONE(6, 4, 1, 1), ANY },
    { "permute", build_permute, ONE(2, 3, 4, 2), ANY },
    { "transpose", build_transpose, ONE(3, 4, 2, 1), ANY },
    { "get_rows", build_get_rows, ONE(4, 3, 1, 1), ANY },
    { "diag_mask_inf", build_diag_mask_inf, ONE(4, 3, 2, 1), ANY },
    { "diag_mask_zero", build_diag_mask_zero, ONE(4, 3, 2, 1), ANY },
    { "soft_max", build_soft_max, ONE(5, 3, 2, 1), ANY },
    { "soft_max_ext", build_soft_max_ext, ONE(5, 4, 2, 2), ANY },
    { "rms_norm", build_rms_norm, ONE(7, 2, 2, 1), ANY },
    { "mul_mat", build_mul_mat, TWO(V(4, 3, 1, 1), V(4, 2, 1, 1)), ANY },
    { "mul_mat, stacks", build_mul_mat, TWO(V(4, 3, 2, 2), V(4, 2, 2, 2)),
      ANY },
    { "mul_mat, broadcast", build_mul_mat, TWO(V(4, 3, 2, 1), V(4, 2, 6, 1)),
      ANY },
    { "mul_mat, broadcast both", build_mul_mat,
      TWO(V(4, 3, 2, 2), V(4, 2, 4, 6)), ANY },
    { "mul_mat, permuted", build_mul_mat_permuted,
      TWO(V(4, 3, 2, 1), V(4, 2, 3, 1)), ANY },
    { "cross_entropy_loss", build_cross_entropy_loss, ONE(5, 3, 1, 1), ANY },
    { "pool_2d, average", build_pool_avg, ONE(6, 4, 2, 1), ANY },
    { "pool_2d, maximum", build_pool_max, ONE(7, 4, 2, 1), APART },
    { "im2col", build_im2col, ONE(8, 2, 1, 1), ANY },
    { "im2col, 2d", build_im2col_2d, ONE(5, 6, 2, 2), ANY },
    { "im2col_back", build_im2col_back, ONE(12, 6, 2, 2), ANY },
    { "rope", build_rope, ONE(8, 2, 3, 1), ANY },
    { "rope, neox", build_rope_neox, ONE(8, 2, 3, 1), ANY },
    { "rope, multi", build_rope_multi, ONE(8, 2, 3, 1), ANY },
    { "later: sub", build_later_sub, ONE(3, 2, 2, 1), ANY },
    { "later: neg", build_later_neg, ONE(3, 2, 2, 1), ANY },
    { "later: sum", build_later_sum, ONE(3, 2, 2, 1), ANY },
    { "later: mean", build_later_mean, ONE(3, 2, 2, 1), ANY },
    { "later: view", build_later_view, ONE(6, 2, 1, 1), ANY },
    { "later: view of transposed", build_later_view_of_transposed,
      ONE(3, 3, 1, 1), ANY },
    { "square by itself", build_square_by_itself, ONE(3, 2, 2, 1), ANY },
    { "sum with itself", build_sum_with_itself, ONE(3, 2, 2, 1), ANY },
    { "network", build_network,
      TWO(V(4, 5, 1, 1), V(5, 5, 1, 1), V(5, 1, 1, 1)), ANY },
};

/* -- One case ------------------------------------------------------------ */

struct problem {
    struct ggml_tensor *p[MAX_PARAMS]; /* NULL behind the last */
    struct ggml_tensor *loss;
    struct ggml_cgraph *forward, *both;
};

static int
begin(void **state)
{
    const struct ggml_init_params params = { 8 << 20, NULL, false };

    (void)state;
    gb_random_init(&rng, gb_test_seed(11));
    ctx = ggml_init(params);
    return ctx == NULL;
}

static int
end(void **state)
{
    (void)state;
    ggml_free(ctx);
    return 0;
}

static void
pose(const struct test_case *c, bool accumulate, struct problem *out)
{
    struct ggml_tensor *y, *weights;

    *out = (struct problem){ .loss = NULL };
    for (int i = 0; i < MAX_PARAMS && c->ne[i][0] != 0; i++) {
        out->p[i] = ggml_new_tensor(ctx, GGML_TYPE_F32, GGML_MAX_DIMS,
                                    c->ne[i]);
        fill(out->p[i], c->range);
        ggml_set_param(ctx, out->p[i]);
    }
    y = c->build(out->p);
    weights = ggml_new_tensor(ctx, GGML_TYPE_F32, GGML_MAX_DIMS, y->ne);
    fill(weights, ANY);
    /* In this order the factor may have any strides. */
    out->loss = ggml_sum(ctx, ggml_mul(ctx, weights, y));
    ggml_set_loss(out->loss);
    out->forward = ggml_new_graph_custom(ctx, 200, false);
    ggml_build_forward_expand(out->forward, out->loss);
    out->both = ggml_new_graph_custom(ctx, 200, true);
    ggml_build_forward_expand(out->both, out->loss);
    ggml_build_backward_expand(ctx, ctx, out->both, accumulate);
}

static double
loss_at(const struct problem *problem)
{
    assert_int_equal(
        ggml_graph_compute_with_ctx(ctx, problem->forward, 1),
        GGML_STATUS_SUCCESS);
    return ggml_get_f32_1d(problem->loss, 0);
}

static double
difference(const struct problem *problem, float *value)
{
    const float before = *value;
    double above, below;

    *value = before + STEP;
    above = loss_at(problem);
    *value = before - STEP;
    below = loss_at(problem);
    *value = before;
    return (above - below) / (2.0 * (double)STEP);
}

/* The gradient, computed N_RUNS times, is FACTOR times the difference. */
static void
check_gradient(const struct test_case *c, const struct problem *problem,
               struct ggml_tensor *p, double factor)
{
    struct ggml_tensor *g = ggml_graph_get_grad(problem->both, p);
    double largest = 1.0;

    assert_non_null(g);
    assert_true(ggml_are_same_shape(g, p));
    for (int64_t i = 0; i < ggml_nelements(p); i++)
        largest = fmax(largest, fabs((double)ggml_get_f32_1d(g, (int)i)));
    for (int64_t i = 0; i < ggml_nelements(p); i++) {
        const double got = (double)ggml_get_f32_1d(g, (int)i);
        const double want =
            factor * difference(problem, (float *)p->data + i);

        if (!(fabs(got - want) <= 1e-3 * largest))
            fail_msg("%s: d loss / d x[%d] is %g, the difference %g", c->name,
                     (int)i, got, want);
    }
}

static void
run_case(void **state)
{
    const struct test_case *c = *state;

    for (int accumulate = 0; accumulate < 2; accumulate++) {
        struct problem problem;

        pose(c, accumulate != 0, &problem);
        ggml_graph_reset(problem.both);
        /* Twice: only accumulators add up what came before. */
        for (int i = 0; i < 2; i++)
            assert_int_equal(
                ggml_graph_compute_with_ctx(ctx, problem.both, 2),
                GGML_STATUS_SUCCESS);
        for (int i = 0; i < MAX_PARAMS && problem.p[i] != NULL; i++)
            check_gradient(c, &problem, problem.p[i], accumulate ? 2.0 : 1.0);
    }
}

/* -- Samples ------------------------------------------------------------- */

static const struct {
    const char *derivative; /* "ANY" where each source counts */
    int n_sources;
} facts[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = { #derivative, sources },
#include "lib/op/ops.def"
#undef GB_OP
};

/*
 * One whose sources all count, are F32 and few enough to be parameters?  Four
 * operations need other values, or fewer of them, and have cases above.
 */
static bool
is_a_case(const struct sample *sample)
{
    const int n = n_sources(sample);

    for (int i = 0; i < n; i++)
        if (sample->sources[i].type != GGML_TYPE_F32)
            return false;
    return strcmp(facts[sample->op].derivative, "ANY") == 0 &&
           n <= facts[sample->op].n_sources && n <= MAX_PARAMS &&
           sample->op != GGML_OP_DIAG_MASK_INF &&
           sample->op != GGML_OP_MUL_MAT &&
           sample->op != GGML_OP_POOL_2D &&
           sample->op != GGML_OP_CROSS_ENTROPY_LOSS;
}

static const struct sample *in_hand;

static struct ggml_tensor *
build_in_hand(struct ggml_tensor **p)
{
    return in_hand->build(ctx, p);
}

static void
run_sample(void **state)
{
    struct test_case c = { "", build_in_hand, { { 0 } }, POSITIVE };
    void *as_state = &c;

    in_hand = *state;
    c.name = in_hand->name;
    for (int i = 0; i < n_sources(in_hand); i++)
        memcpy(c.ne[i], in_hand->sources[i].ne, sizeof(c.ne[i]));
    run_case(&as_state);
}

int
main(void)
{
    enum { N = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[N + N_SAMPLES];
    size_t n = N;

    for (int i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, run_case, begin, end,
                                        (void *)&cases[i] };
    for (size_t i = 0; i < N_SAMPLES; i++)
        if (is_a_case(&samples[i]))
            tests[n++] = (struct CMUnitTest){ samples[i].name, run_sample,
                                              begin, end,
                                              (void *)&samples[i] };
    return _cmocka_run_group_tests("derivatives", tests, n, NULL, NULL);
}
