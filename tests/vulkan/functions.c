/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/functions.c - functions of a float on Vulkan0, over all floats
 * and at their ends, are as near to libm's in double as common/math.glsl says,
 * and so are rotations of positions far away.
 *
 * functions.sh runs it where Vulkan0 is lavapipe.
 */
#include "config.h"

#include "tests/util/random.h"

#include "ggml-backend.h"
#include "ggml.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N_VALUES = 1 << 16, N_DIMS = 128, N_TOKENS = 64 };

static ggml_backend_dev_t device;
static float x[N_VALUES], y[N_VALUES];

typedef struct ggml_tensor *(*make_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a);

static double
sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

static double
elu(double a)
{
    return a > 0 ? a : expm1(a);
}

/* ULP and PER times |x| are how far a result may be off; the latter is what the
 * Vulkan specification allows exp(). */
static const struct {
    const char *name;
    make_fn make;
    double (*reference)(double a);
    double ulp, per;
} functions[] = {
    { "sin", ggml_sin, sin, 3, 0 },
    { "cos", ggml_cos, cos, 3, 0 },
    { "log", ggml_log, log, 2, 0 },
    { "tanh", ggml_tanh, tanh, 6.5, 0 },
    { "elu", ggml_elu, elu, 4, 0 },
    { "exp", ggml_exp, exp, 3.5, 2 },
    { "sigmoid", ggml_sigmoid, sigmoid, 7, 2 },
};

/* All floats, numbers of moderate size, and numbers near 1, in turn; before
 * them what is special. */
static void
fill_arguments(void)
{
    static const float special[] = {
        0,     -0.0f, INFINITY, -INFINITY, NAN,  8192, 8192.5f,    -8193,
        3e38f, 1e30f, 88.7f,    89,        -104, 1,    5.3720e7f, -1e-38f,
    };
    struct gb_random r;

    gb_random_init(&r, gb_test_seed(11));
    for (int i = 0; i < N_VALUES; i++) {
        const float u = gb_random_float(&r, -1.0f, 1.0f);

        x[i] = i % 3 == 1 ? 10 * u : 1 + u / 100;
        if (i % 3 == 0)
            x[i] = ldexpf(u, (int)gb_random_float(&r, -126.0f, 128.0f));
    }
    memcpy(x, special, sizeof(special));
}

/* y = NODE, on the device, of FROM, which is x, and of POSITIONS where it has
 * some. */
static void
compute(ggml_backend_t backend, struct ggml_context *ctx,
        struct ggml_tensor *from, const int32_t *positions,
        struct ggml_tensor *node)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;

    ggml_build_forward_expand(graph, node);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    assert_true(ggml_backend_supports_op(backend, node));
    ggml_backend_tensor_set(from, x, 0, ggml_nbytes(from));
    if (positions != NULL)
        ggml_backend_tensor_set(
            node->src[1], positions, 0, ggml_nbytes(node->src[1]));
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(node, y, 0, ggml_nbytes(node));
    ggml_backend_buffer_free(buffer);
}

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    assert_non_null(ctx);
    return ctx;
}

/* Is GOT near WANTED, up to ULPS?  Subnormal numbers may have become 0. */
static bool
is_near(float got, double wanted, double ulps)
{
    const float rounded = (float)wanted;
    const float size = fmaxf(fabsf(rounded), 1.17549435e-38f);
    const double ulp = (double)nextafterf(size, INFINITY) - size;

    if (isnan(rounded) || isnan(got))
        return isnan(rounded) && isnan(got);
    if (isinf(rounded) || isinf(got))
        return rounded == got;
    if (size == 1.17549435e-38f)
        return fabs(got - wanted) <= size * 1.01;
    return fabs(got - wanted) <= ulps * ulp;
}

static void
functions_are_as_near_as_they_say(void **state)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    (void)state;
    assert_non_null(backend);
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        struct ggml_context *ctx = new_context();
        struct ggml_tensor *a =
            ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_VALUES);

        fill_arguments();
        compute(backend, ctx, a, NULL, functions[f].make(ctx, a));
        for (int i = 0; i < N_VALUES; i++) {
            const double wanted = functions[f].reference(x[i]);
            const double size = isfinite(x[i]) ? fabs(x[i]) : 0;
            const double ulps = functions[f].ulp + functions[f].per * size;

            /* So may arguments. */
            if (fpclassify(x[i]) == FP_SUBNORMAL &&
                is_near(y[i], functions[f].reference(copysign(0.0, x[i])), 1))
                continue;
            if (!is_near(y[i], wanted, ulps))
                fail_msg("%s of %.9g is %.9g, not %.9g", functions[f].name,
                         (double)x[i], (double)y[i], wanted);
        }
        ggml_free(ctx);
    }
    ggml_backend_free(backend);
}

/* A float has no thousandths left of an angle of 1,000,000. */
static void
rotations_of_far_positions_keep_their_angles(void **state)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a = ggml_new_tensor_3d(
        ctx, GGML_TYPE_F32, N_DIMS, 1, N_TOKENS);
    struct ggml_tensor *at = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, N_TOKENS);
    int32_t positions[N_TOKENS];

    (void)state;
    assert_non_null(backend);
    for (int i = 0; i < N_TOKENS; i++)
        positions[i] = 1000003 - 15013 * i;
    for (int i = 0; i < N_DIMS * N_TOKENS; i++)
        x[i] = i % 2 == 0; /* the first of a pair becomes the cosine */
    compute(backend, ctx, a, positions,
            ggml_rope(ctx, a, at, N_DIMS, 0));
    for (int i = 0; i < N_TOKENS; i++)
        for (int j = 0; j < N_DIMS / 2; j++) {
            const double angle =
                positions[i] * pow(10000, -2.0 * j / N_DIMS);
            const float *pair = &y[i * N_DIMS + 2 * j];

            if (fabs(pair[0] - cos(angle)) > 1e-6 ||
                fabs(pair[1] - sin(angle)) > 1e-6)
                fail_msg("position %d, pair %d", positions[i], j);
        }
    ggml_free(ctx);
    ggml_backend_free(backend);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_as_near_as_they_say),
        cmocka_unit_test(rotations_of_far_positions_keep_their_angles),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; functions.sh brings "
             "one");
        return 0;
    }
    return cmocka_run_group_tests_name("functions on Vulkan", tests, NULL,
                                       NULL);
}
