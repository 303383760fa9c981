/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-networks.c - norms, softmax, rotary positions,
 * attention and losses.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <math.h>
#include <stdlib.h>

/* N values with stride 1: (x - mean) / sqrt(variance + eps). */
static void
normalize(const double *x, double *y, int64_t n, double eps)
{
    double mean = 0, variance = 0;

    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrt(variance + eps);
}

static int64_t
rows_of(const struct values *x)
{
    return x->ne[1] * x->ne[2] * x->ne[3];
}

static void
norm(const struct ggml_tensor *node, const struct values *src,
     struct values *out)
{
    const int64_t n = out->ne[0];

    for (int64_t row = 0; row < rows_of(out); row++)
        normalize(&src[0].v[row * n], &out->v[row * n], n, param_f(node, 0));
}

static void
rms_norm(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    const int64_t n = out->ne[0];

    for (int64_t row = 0; row < rows_of(out); row++) {
        const double *x = &src[0].v[row * n];
        double squares = 0;

        for (int64_t i = 0; i < n; i++)
            squares += x[i] * x[i];
        for (int64_t i = 0; i < n; i++)
            out->v[row * n + i] =
                x[i] / sqrt(squares / (double)n + param_f(node, 0));
    }
}

static void
rms_norm_back(const struct ggml_tensor *node, const struct values *src,
              struct values *out)
{
    const int64_t n = out->ne[0];
    const double eps = param_f(node, 0);

    for (int64_t row = 0; row < rows_of(out); row++) {
        const double *dz = &src[0].v[row * n], *x = &src[1].v[row * n];
        double squares = 0, dot = 0;

        for (int64_t i = 0; i < n; i++) {
            squares += x[i] * x[i];
            dot += x[i] * dz[i];
        }
        for (int64_t i = 0; i < n; i++)
            out->v[row * n + i] =
                (dz[i] - x[i] * dot / (squares + (double)n * eps)) /
                sqrt(squares / (double)n + eps);
    }
}

static void
group_norm(const struct ggml_tensor *node, const struct values *src,
           struct values *out)
{
    const int64_t groups = param_i(node, 0);
    const int64_t per_group = (out->ne[2] + groups - 1) / groups;

    for (int64_t i3 = 0; i3 < out->ne[3]; i3++)
        for (int64_t first = 0; first < out->ne[2]; first += per_group) {
            const int64_t left = out->ne[2] - first;
            const int64_t channels = left < per_group ? left : per_group;

            normalize(at(&src[0], 0, 0, first, i3), at(out, 0, 0, first, i3),
                      out->ne[0] * out->ne[1] * channels, param_f(node, 1));
        }
}

/* Softmax of N scores in place; zeros where all of them are -inf. */
static void
softmax(double *x, int64_t n)
{
    double max = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i++)
        max = fmax(max, x[i]);
    for (int64_t i = 0; i < n; i++) {
        x[i] = max == -INFINITY ? 0 : exp(x[i] - max);
        sum += x[i];
    }
    for (int64_t i = 0; i < n && sum > 0; i++)
        x[i] /= sum;
}

static void
soft_max(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    const struct values *mask = &src[1];

    for (int64_t i3 = 0; i3 < out->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < out->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < out->ne[1]; i1++) {
                const double slope =
                    reference_slope(param_f(node, 1), i2, out->ne[2]);
                double *y = at(out, 0, i1, i2, i3);

                for (int64_t i = 0; i < out->ne[0]; i++)
                    y[i] = *at(&src[0], i, i1, i2, i3) * param_f(node, 0) +
                           (mask->v != NULL ? slope * *at(mask, i, i1, 0, 0)
                                            : 0);
                softmax(y, out->ne[0]);
            }
}

static void
soft_max_back(const struct ggml_tensor *node, const struct values *src,
              struct values *out)
{
    const int64_t n = out->ne[0];

    for (int64_t row = 0; row < rows_of(out); row++) {
        const double *dy = &src[0].v[row * n], *y = &src[1].v[row * n];
        double dot = 0;

        for (int64_t i = 0; i < n; i++)
            dot += y[i] * dy[i];
        for (int64_t i = 0; i < n; i++)
            out->v[row * n + i] = param_f(node, 0) * y[i] * (dy[i] - dot);
    }
}

/* The angle and the magnitude of pair J at position P. */
struct rotation {
    double angle, magnitude;
};

static double
corr_dim(const struct ggml_tensor *node, double beta)
{
    const double n_dims = param_i(node, 1);

    return n_dims *
           log((double)param_i(node, 4) / (beta * 2 * 3.14159265358979323846)) /
           (2 * log(param_f(node, 5)));
}

/* "YaRN: Efficient Context Window Extension" (arXiv 2309.00071). */
static struct rotation
rotation(const struct ggml_tensor *node, double angle, double factor, int64_t j)
{
    const double scale = param_f(node, 6), ext = param_f(node, 7);
    const double attn = param_f(node, 8);
    const double extrapolated = angle / factor;
    const double low = fmax(0, floor(corr_dim(node, param_f(node, 9))));
    const double high =
        fmin(param_i(node, 1) - 1, ceil(corr_dim(node, param_f(node, 10))));
    struct rotation r = { scale * extrapolated, attn };
    double ramp;

    if (ext != 0) {
        ramp = 1 - fmin(1, fmax(0, ((double)j - low) /
                                       fmax(0.001, high - low)));
        ramp *= ext;
        r.angle = r.angle * (1 - ramp) + extrapolated * ramp;
        r.magnitude = attn * (1 + 0.1 * log(1 / scale));
    }
    return r;
}

/* Which of the four position streams pair J follows, and from which index on the
 * stream's exponent counts. */
static int
stream_of(const struct ggml_tensor *node, int64_t j, int64_t *exponent)
{
    const bool is_vision = param_i(node, 2) == GGML_ROPE_TYPE_VISION;
    int64_t total = 0, s, start = 0;

    for (int i = 0; i < 4; i++)
        total += param_i(node, 11 + i);
    s = j % total;
    *exponent = j;
    for (int i = 0; i < 4; i++) {
        if (s < start + param_i(node, 11 + i) || i == 3) {
            if (is_vision)
                *exponent = s - start;
            return i;
        }
        start += param_i(node, 11 + i);
    }
    return 3;
}

static void
rope(const struct ggml_tensor *node, const struct values *src,
     struct values *out)
{
    const int64_t n_dims = param_i(node, 1);
    const int mode = param_i(node, 2);
    const bool is_multi = (mode & GGML_ROPE_TYPE_MROPE) != 0;
    const bool is_vision = mode == GGML_ROPE_TYPE_VISION;
    const bool is_neox = (mode & GGML_ROPE_TYPE_NEOX) != 0 || is_multi;
    const int64_t n_pairs = is_vision ? n_dims : n_dims / 2;
    const double w = pow(param_f(node, 5), -2.0 / (double)n_dims);
    const double direction = node->op == GGML_OP_ROPE_BACK ? -1 : 1;

    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = src[0].v[i];
    for (int64_t i3 = 0; i3 < out->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < out->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < out->ne[1]; i1++)
                for (int64_t j = 0; j < n_pairs; j++) {
                    int64_t exponent = j;
                    const int stream =
                        is_multi ? stream_of(node, j, &exponent) : 0;
                    const double p = src[1].v[i2 + stream * out->ne[2]];
                    const struct rotation r = rotation(
                        node, p * pow(w, (double)exponent),
                        src[2].v != NULL ? src[2].v[j] : 1, j);
                    const int64_t first = is_neox ? j : 2 * j;
                    const int64_t second =
                        is_neox ? j + n_pairs : 2 * j + 1;
                    const double x = *at(&src[0], first, i1, i2, i3);
                    const double y = *at(&src[0], second, i1, i2, i3);
                    const double c = cos(r.angle) * r.magnitude;
                    const double s = direction * sin(r.angle) * r.magnitude;

                    *at(out, first, i1, i2, i3) = x * c - y * s;
                    *at(out, second, i1, i2, i3) = x * s + y * c;
                }
}

static void
attend(const struct ggml_tensor *node, const struct values *src,
       struct values *out, int64_t n, int64_t h, int64_t b)
{
    const struct values *q = &src[0], *k = &src[1], *v = &src[2];
    const struct values *mask = &src[3];
    const int64_t kh = h / (q->ne[2] / k->ne[2]), kb = b / (q->ne[3] / k->ne[3]);
    const int64_t vh = h / (q->ne[2] / v->ne[2]), vb = b / (q->ne[3] / v->ne[3]);
    const int64_t m = k->ne[1];
    const double scale = param_f(node, 0), cap = param_f(node, 2);
    const double slope = reference_slope(param_f(node, 1), h, q->ne[2]);
    double *s = must_alloc((size_t)m, sizeof(*s));

    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = 0; i < q->ne[0]; i++)
            s[j] += *at(q, i, n, h, b) * *at(k, i, j, kh, kb);
        s[j] = cap != 0 ? cap * tanh(scale / cap * s[j]) : scale * s[j];
        if (mask->v != NULL)
            s[j] += slope * *at(mask, j, n, 0, 0);
    }
    softmax(s, m);
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < out->ne[0]; i++)
            *at(out, i, h, n, b) += s[j] * *at(v, i, j, vh, vb);
    free(s);
}

static void
flash_attn(const struct ggml_tensor *node, const struct values *src,
           struct values *out)
{
    for (int64_t b = 0; b < out->ne[3]; b++)
        for (int64_t n = 0; n < out->ne[2]; n++)
            for (int64_t h = 0; h < out->ne[1]; h++)
                attend(node, src, out, n, h, b);
}

static void
cross_entropy(const struct ggml_tensor *node, const struct values *src,
              struct values *out)
{
    const int64_t n = src[0].ne[0];

    (void)node;
    for (int64_t row = 0; row < rows_of(&src[0]); row++) {
        const double *x = &src[0].v[row * n], *label = &src[1].v[row * n];
        double max = -INFINITY, sum = 0;

        for (int64_t i = 0; i < n; i++)
            max = fmax(max, x[i]);
        for (int64_t i = 0; i < n; i++)
            sum += exp(x[i] - max);
        for (int64_t i = 0; i < n; i++)
            out->v[0] -= label[i] * (x[i] - max - log(sum)) /
                         (double)rows_of(&src[0]);
    }
}

static void
cross_entropy_back(const struct ggml_tensor *node, const struct values *src,
                   struct values *out)
{
    const int64_t n = out->ne[0];

    (void)node;
    for (int64_t row = 0; row < rows_of(out); row++) {
        double *y = &out->v[row * n];

        for (int64_t i = 0; i < n; i++)
            y[i] = src[1].v[row * n + i];
        softmax(y, n);
        for (int64_t i = 0; i < n; i++)
            y[i] = (y[i] - src[2].v[row * n + i]) * src[0].v[0] /
                   (double)rows_of(out);
    }
}

const struct reference_row reference_networks[] = {
    { GGML_OP_NORM, norm, NULL },
    { GGML_OP_RMS_NORM, rms_norm, NULL },
    { GGML_OP_RMS_NORM_BACK, rms_norm_back, NULL },
    { GGML_OP_GROUP_NORM, group_norm, NULL },
    { GGML_OP_SOFT_MAX, soft_max, NULL },
    { GGML_OP_SOFT_MAX_BACK, soft_max_back, NULL },
    { GGML_OP_ROPE, rope, NULL },
    { GGML_OP_ROPE_BACK, rope, NULL },
    { GGML_OP_FLASH_ATTN_EXT, flash_attn, NULL },
    { GGML_OP_CROSS_ENTROPY_LOSS, cross_entropy, NULL },
    { GGML_OP_CROSS_ENTROPY_LOSS_BACK, cross_entropy_back, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
