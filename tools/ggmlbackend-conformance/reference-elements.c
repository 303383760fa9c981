/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-elements.c - element by element: arithmetic and
 * functions of one value.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <math.h>

/* B's value under element (i0, i1, i2, i3) of what B is repeated into. */
static double
repeated(const struct values *b, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return *at(b, i0 % b->ne[0], i1 % b->ne[1], i2 % b->ne[2], i3 % b->ne[3]);
}

typedef double (*binary_fn)(double a, double b);

static void
binary(const struct values *src, struct values *out, binary_fn f)
{
    for (int64_t i3 = 0; i3 < out->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < out->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < out->ne[1]; i1++)
                for (int64_t i0 = 0; i0 < out->ne[0]; i0++)
                    *at(out, i0, i1, i2, i3) =
                        f(*at(&src[0], i0, i1, i2, i3),
                          repeated(&src[1], i0, i1, i2, i3));
}

static double
add2(double a, double b)
{
    return a + b;
}

static double
sub2(double a, double b)
{
    return a - b;
}

static double
mul2(double a, double b)
{
    return a * b;
}

static double
div2(double a, double b)
{
    return a / b;
}

static void
add(const struct ggml_tensor *node, const struct values *src, struct values *out)
{
    (void)node;
    binary(src, out, add2);
}

static void
sub(const struct ggml_tensor *node, const struct values *src, struct values *out)
{
    (void)node;
    binary(src, out, sub2);
}

static void
mul(const struct ggml_tensor *node, const struct values *src, struct values *out)
{
    (void)node;
    binary(src, out, mul2);
}

static void
divide(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    (void)node;
    binary(src, out, div2);
}

typedef double (*unary_fn)(double x);

static double
square(double x)
{
    return x * x;
}

static double
sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static double
negative(double x)
{
    return -x;
}

static double
step(double x)
{
    return x > 0 ? 1 : 0;
}

static double
elu(double x)
{
    return x > 0 ? x : expm1(x);
}

static double
relu(double x)
{
    return x > 0 ? x : 0;
}

static double
sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double
gelu(double x)
{
    return 0.5 * x *
           (1 + tanh(0.79788456080286535588 * x * (1 + 0.044715 * x * x)));
}

static double
gelu_quick(double x)
{
    return x / (1 + exp(-1.702 * x));
}

static double
silu(double x)
{
    return x / (1 + exp(-x));
}

static double
hard_sigmoid(double x)
{
    return fmin(1, fmax(0, (x + 3) / 6));
}

static double
hard_swish(double x)
{
    return x * hard_sigmoid(x);
}

static const unary_fn unary_functions[GGML_UNARY_OP_COUNT] = {
    [GGML_UNARY_OP_ABS] = fabs,
    [GGML_UNARY_OP_SGN] = sign,
    [GGML_UNARY_OP_NEG] = negative,
    [GGML_UNARY_OP_STEP] = step,
    [GGML_UNARY_OP_TANH] = tanh,
    [GGML_UNARY_OP_ELU] = elu,
    [GGML_UNARY_OP_RELU] = relu,
    [GGML_UNARY_OP_SIGMOID] = sigmoid,
    [GGML_UNARY_OP_GELU] = gelu,
    [GGML_UNARY_OP_GELU_QUICK] = gelu_quick,
    [GGML_UNARY_OP_SILU] = silu,
    [GGML_UNARY_OP_HARDSWISH] = hard_swish,
    [GGML_UNARY_OP_HARDSIGMOID] = hard_sigmoid,
    [GGML_UNARY_OP_EXP] = exp,
};

static void
map(const struct values *x, struct values *out, unary_fn f)
{
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = f(x->v[i]);
}

static void
unary(const struct ggml_tensor *node, const struct values *src,
      struct values *out)
{
    map(&src[0], out, unary_functions[param_i(node, 0)]);
    if (param_i(node, 0) != GGML_UNARY_OP_GELU)
        return;
    /* x / 2 and x / 2 * tanh, which cancel each other far below 0. */
    for (int64_t i = 0; i < values_count(out); i++)
        out->terms += src[0].v[i] * src[0].v[i] / 4;
}

static void
one_function(const struct ggml_tensor *node, const struct values *src,
             struct values *out)
{
    static const struct {
        enum ggml_op op;
        unary_fn fn;
    } functions[] = {
        { GGML_OP_SQR, square }, { GGML_OP_SQRT, sqrt }, { GGML_OP_LOG, log },
        { GGML_OP_SIN, sin },    { GGML_OP_COS, cos },
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (functions[i].op == node->op)
            map(&src[0], out, functions[i].fn);
    }
}

static void
scale(const struct ggml_tensor *node, const struct values *src,
      struct values *out)
{
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = src[0].v[i] * param_f(node, 0);
}

static void
clamp(const struct ggml_tensor *node, const struct values *src,
      struct values *out)
{
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] =
            fmax(fmin(src[0].v[i], param_f(node, 1)), param_f(node, 0));
}

static void
leaky_relu(const struct ggml_tensor *node, const struct values *src,
           struct values *out)
{
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = fmax(src[0].v[i], 0) +
                    param_f(node, 0) * fmin(src[0].v[i], 0);
}

static void
silu_back(const struct ggml_tensor *node, const struct values *src,
          struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < values_count(out); i++) {
        const double x = src[1].v[i];
        const double s = sigmoid(x);

        out->v[i] = src[0].v[i] * s * (1 + x * (1 - s));
    }
}

/* Source 1's element number I of index order, as (i0, i1, i2, i3). */
static void
indices(const struct values *x, int64_t i, int64_t out[4])
{
    for (int d = 0; d < 4; d++) {
        out[d] = i % x->ne[d];
        i /= x->ne[d];
    }
}

/* ACC and SET: source 1 goes to where the parameters say, in F32 or I32. */
static void
into_subview(const struct ggml_tensor *node, const struct values *src,
             struct values *out)
{
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = src[0].v[i];
    for (int64_t i = 0; i < values_count(&src[1]); i++) {
        int64_t ix[4], to;

        indices(&src[1], i, ix);
        to = (ix[0] * 4 + ix[1] * param_i(node, 0) + ix[2] * param_i(node, 1) +
              ix[3] * param_i(node, 2) + param_i(node, 3)) /
             4;
        out->v[to] = node->op == GGML_OP_ACC ? out->v[to] + src[1].v[i]
                                             : src[1].v[i];
    }
}

static void
adamw(const struct ggml_tensor *node, const struct values *src,
      struct values *out)
{
    const double *p = src[4].v;

    (void)node;
    for (int64_t i = 0; i < values_count(out); i++) {
        const double g = src[1].v[i];
        const double m = p[1] * src[2].v[i] + (1 - p[1]) * g;
        const double v = p[2] * src[3].v[i] + (1 - p[2]) * g * g;

        out->v[i] = src[0].v[i] * (1 - p[0] * p[4]) -
                    p[0] * (m * p[5]) / (sqrt(v * p[6]) + p[3]);
    }
}

const struct reference_row reference_elements[] = {
    { GGML_OP_ADD, add, NULL },
    { GGML_OP_ADD1, add, NULL },
    { GGML_OP_SUB, sub, NULL },
    { GGML_OP_MUL, mul, NULL },
    { GGML_OP_DIV, divide, NULL },
    { GGML_OP_ACC, into_subview, NULL },
    { GGML_OP_SET, into_subview, NULL },
    { GGML_OP_SQR, one_function, NULL },
    { GGML_OP_SQRT, one_function, NULL },
    { GGML_OP_LOG, one_function, NULL },
    { GGML_OP_SIN, one_function, NULL },
    { GGML_OP_COS, one_function, NULL },
    { GGML_OP_SCALE, scale, NULL },
    { GGML_OP_CLAMP, clamp, NULL },
    { GGML_OP_LEAKY_RELU, leaky_relu, NULL },
    { GGML_OP_SILU_BACK, silu_back, NULL },
    { GGML_OP_UNARY, unary, NULL },
    { GGML_OP_OPT_STEP_ADAMW, adamw, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
