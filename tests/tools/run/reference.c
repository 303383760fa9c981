/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/reference.c - a language model in double precision, plainly.
 *
 * Each token is computed from all before it with loops that follow the papers:
 * "LLaMA" (arXiv 2302.13971), section 2.2, with grouped queries (arXiv
 * 2305.13245); rotary embeddings (arXiv 2104.09864), section 3.4, and YaRN
 * (arXiv 2309.00071), section 3; "Gemma 3" (arXiv 2503.19786), section 2.
 */
#include "tests/tools/run/reference.h"

#include "ggml.h"
#include "gguf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LAYERS = 8, MOST_WIDE = 512 };

struct sizes {
    int n_ff, n_head, n_head_kv, n_head_k, n_head_v, is_local;
};

struct ref {
    struct gguf_context *gguf;
    struct ggml_context *ctx;
    char arch[16];
    int n_layer, n_embd;
    struct sizes at[MOST_LAYERS];
    int is_gemma, is_neox;
    int window, n_ctx_orig;
    double eps, base, factor;
    int is_yarn;
    double *keys, *values; /* [layer][token][MOST_WIDE] */
    size_t n;              /* tokens in all */
};

/* Of layer IL, where the key has a number for each. */
static double
key_of(const struct ref *r, int il, const char *name, double otherwise)
{
    char full[96];
    int64_t id;

    snprintf(full, sizeof(full), "%s.%s", r->arch, name);
    id = gguf_find_key(r->gguf, full);
    if (id < 0)
        return otherwise;
    if (gguf_get_kv_type(r->gguf, id) == GGUF_TYPE_ARRAY) {
        const void *data = gguf_get_arr_data(r->gguf, id);

        if (gguf_get_arr_type(r->gguf, id) == GGUF_TYPE_BOOL)
            return ((const int8_t *)data)[il];
        assert_int_equal(gguf_get_arr_type(r->gguf, id), GGUF_TYPE_INT32);
        return ((const int32_t *)data)[il];
    }
    if (gguf_get_kv_type(r->gguf, id) == GGUF_TYPE_UINT32)
        return gguf_get_val_u32(r->gguf, id);
    return (double)gguf_get_val_f32(r->gguf, id);
}

static double
key(const struct ref *r, const char *name, double otherwise)
{
    return key_of(r, 0, name, otherwise);
}

/* The tensor NAME of layer IL (-1: of none) as floats, NULL when not there. */
static float *
weight(const struct ref *r, int il, const char *name)
{
    char full[96];
    const struct ggml_tensor *t;
    float *values;

    if (il < 0)
        snprintf(full, sizeof(full), "%s", name);
    else
        snprintf(full, sizeof(full), "blk.%d.%s", il, name);
    t = ggml_get_tensor(r->ctx, full);
    if (t == NULL)
        return NULL;
    values = malloc((size_t)ggml_nelements(t) * sizeof(*values));
    assert_non_null(values);
    if (t->type == GGML_TYPE_F32)
        memcpy(values, t->data, ggml_nbytes(t));
    else
        ggml_get_type_traits(t->type)->to_float(t->data, values,
                                                ggml_nelements(t));
    return values;
}

/* y = W x + bias, W being N_OUT rows of N_IN. */
static void
linear(const struct ref *r, int il, const char *name, const char *bias_name,
       const double *x, int n_in, double *y, int n_out)
{
    float *w = weight(r, il, name);
    float *bias = bias_name == NULL ? NULL : weight(r, il, bias_name);

    assert_non_null(w);
    for (int i = 0; i < n_out; i++) {
        y[i] = bias == NULL ? 0.0 : (double)bias[i];
        for (int j = 0; j < n_in; j++)
            y[i] += (double)w[i * n_in + j] * x[j];
    }
    free(w);
    free(bias);
}

static void
norm(const struct ref *r, int il, const char *name, const double *x, double *y,
     int n)
{
    float *w = weight(r, il, name);
    double sum = 0.0;

    assert_non_null(w);
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (int i = 0; i < n; i++)
        y[i] = x[i] / sqrt(sum / n + r->eps) * (double)w[i];
    free(w);
}

/* The angle of pair J of N elements at position P, and the factor on the rotated
 * pair. */
static double
angle(const struct ref *r, double n, int j, size_t p, int is_local,
      double *stretch)
{
    const double base = is_local ? 10000.0 : r->base;
    double own = (double)p * pow(base, -2.0 * j / n), low, high, ramp;
    float *freqs = is_local ? NULL : weight(r, -1, "rope_freqs.weight");

    *stretch = 1.0;
    if (freqs != NULL)
        own /= (double)freqs[j];
    free(freqs);
    if (is_local)
        return own;
    if (!r->is_yarn)
        return own / r->factor;
    low = floor(n * log(r->n_ctx_orig / (32.0 * 2.0 * M_PI)) / (2 * log(base)));
    high = ceil(n * log(r->n_ctx_orig / (2.0 * M_PI)) / (2 * log(base)));
    low = fmax(0.0, low);
    high = fmin(n - 1, high);
    ramp = 1.0 - fmin(1.0, fmax(0.0, (j - low) / fmax(0.001, high - low)));
    *stretch = 1.0 + 0.1 * log(r->factor);
    return own / r->factor * (1.0 - ramp) + own * ramp;
}

/* Rotate a head of layer IL to position P: pairs are neighbours, or halves
 * apart. */
static void
rotate(const struct ref *r, int il, double *head, size_t p)
{
    const struct sizes *s = &r->at[il];
    const int half = s->n_head_k / 2;

    for (int j = 0; j < half; j++) {
        double stretch;
        const double a = angle(r, s->n_head_k, j, p, s->is_local, &stretch);
        double *x = &head[r->is_neox ? j : 2 * j];
        double *y = &head[r->is_neox ? j + half : 2 * j + 1];
        const double u = *x, v = *y;

        *x = (u * cos(a) - v * sin(a)) * stretch;
        *y = (u * sin(a) + v * cos(a)) * stretch;
    }
}

/* Normalise and rotate HEADS heads. */
static void
place_heads(const struct ref *r, int il, const char *norm_name, double *heads,
            int n_heads, size_t p)
{
    const int n = r->at[il].n_head_k;

    for (int h = 0; h < n_heads; h++) {
        double *head = heads + h * n;

        if (r->is_gemma)
            norm(r, il, norm_name, head, head, n);
        rotate(r, il, head, p);
    }
}

static double
as_half(double x)
{
    return (double)ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)x));
}

/* Head H of the query at position P over all positions that it sees. */
static void
attend(const struct ref *r, int il, const double *q, int h, size_t p,
       double *out)
{
    const struct sizes *s = &r->at[il];
    const int n = s->n_head_k, n_v = s->n_head_v;
    const int kv = h / (s->n_head / s->n_head_kv);
    const size_t first =
        s->is_local && p + 1 > (size_t)r->window ? p + 1 - (size_t)r->window : 0;
    double *scores = calloc(p + 1, sizeof(*scores)), sum = 0.0, best = -1e300;

    assert_non_null(scores);
    for (size_t i = first; i <= p; i++) {
        const double *k =
            r->keys + ((size_t)il * r->n + i) * MOST_WIDE + kv * n;

        for (int j = 0; j < n; j++)
            scores[i] += q[j] * k[j];
        scores[i] /= sqrt(n);
        best = fmax(best, scores[i]);
    }
    for (int j = 0; j < n_v; j++)
        out[j] = 0.0;
    for (size_t i = first; i <= p; i++) {
        const double *v =
            r->values + ((size_t)il * r->n + i) * MOST_WIDE + kv * n_v;
        const double e = exp(scores[i] - best);

        sum += e;
        for (int j = 0; j < n_v; j++)
            out[j] += e * v[j];
    }
    for (int j = 0; j < n_v; j++)
        out[j] /= sum;
    free(scores);
}

static void
attention(const struct ref *r, int il, double *x, size_t p)
{
    const struct sizes *s = &r->at[il];
    const int n_q = s->n_head * s->n_head_k;
    const int n_k = s->n_head_kv * s->n_head_k;
    const int n_v = s->n_head_kv * s->n_head_v;
    const size_t at = ((size_t)il * r->n + p) * MOST_WIDE;
    double y[MOST_WIDE], q[MOST_WIDE], k[MOST_WIDE], v[MOST_WIDE];
    double heads[MOST_WIDE];

    norm(r, il, "attn_norm.weight", x, y, r->n_embd);
    linear(r, il, "attn_q.weight", "attn_q.bias", y, r->n_embd, q, n_q);
    linear(r, il, "attn_k.weight", "attn_k.bias", y, r->n_embd, k, n_k);
    linear(r, il, "attn_v.weight", "attn_v.bias", y, r->n_embd, v, n_v);
    place_heads(r, il, "attn_q_norm.weight", q, s->n_head, p);
    place_heads(r, il, "attn_k_norm.weight", k, s->n_head_kv, p);
    for (int i = 0; i < n_k; i++)
        r->keys[at + (size_t)i] = as_half(k[i]);
    for (int i = 0; i < n_v; i++)
        r->values[at + (size_t)i] = as_half(v[i]);
    for (int h = 0; h < s->n_head; h++)
        attend(r, il, q + h * s->n_head_k, h, p, heads + h * s->n_head_v);
    linear(r, il, "attn_output.weight", NULL, heads, s->n_head * s->n_head_v, y,
           r->n_embd);
    if (r->is_gemma)
        norm(r, il, "post_attention_norm.weight", y, y, r->n_embd);
    for (int i = 0; i < r->n_embd; i++)
        x[i] += y[i];
}

/* SiLU, or for Gemma GELU in its form with tanh. */
static double
gate(const struct ref *r, double x)
{
    if (r->is_gemma)
        return 0.5 * x *
            (1.0 + tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    return x / (1.0 + exp(-x));
}

static void
feed_forward(const struct ref *r, int il, double *x)
{
    const int n_ff = r->at[il].n_ff;
    double y[MOST_WIDE], a[MOST_WIDE], b[MOST_WIDE];

    norm(r, il, "ffn_norm.weight", x, y, r->n_embd);
    linear(r, il, "ffn_gate.weight", NULL, y, r->n_embd, a, n_ff);
    linear(r, il, "ffn_up.weight", NULL, y, r->n_embd, b, n_ff);
    for (int i = 0; i < n_ff; i++)
        a[i] = gate(r, a[i]) * b[i];
    linear(r, il, "ffn_down.weight", NULL, a, n_ff, y, r->n_embd);
    if (r->is_gemma)
        norm(r, il, "post_ffw_norm.weight", y, y, r->n_embd);
    for (int i = 0; i < r->n_embd; i++)
        x[i] += y[i];
}

/* The window of every layer but each sixth, unless the file says which. */
static int
is_local(const struct ref *r, int il)
{
    return r->is_gemma &&
           key_of(r, il, "attention.sliding_window_pattern",
                  (il + 1) % 6 != 0) != 0.0;
}

static void
read_layer(struct ref *r, int il)
{
    struct sizes *s = &r->at[il];

    s->n_ff = (int)key_of(r, il, "feed_forward_length", 0);
    s->n_head = (int)key_of(r, il, "attention.head_count", 0);
    s->n_head_kv = (int)key_of(r, il, "attention.head_count_kv", 0);
    s->n_head_k = (int)key_of(r, il, "attention.key_length", 0);
    s->n_head_v = (int)key_of(r, il, "attention.value_length", 0);
    s->is_local = is_local(r, il);
}

static void
read_sizes(struct ref *r)
{
    const int64_t arch = gguf_find_key(r->gguf, "general.architecture");
    char name[64];
    int64_t id;

    snprintf(r->arch, sizeof(r->arch), "%s", gguf_get_val_str(r->gguf, arch));
    r->is_gemma = strcmp(r->arch, "gemma3") == 0;
    r->is_neox = strcmp(r->arch, "llama") != 0;
    r->n_layer = (int)key(r, "block_count", 0);
    r->n_embd = (int)key(r, "embedding_length", 0);
    assert_in_range(r->n_layer, 1, MOST_LAYERS);
    for (int il = 0; il < r->n_layer; il++)
        read_layer(r, il);
    r->window = (int)key(r, "attention.sliding_window", 0);
    r->eps = key(r, "attention.layer_norm_rms_epsilon", 0);
    r->base = key(r, "rope.freq_base", 10000.0);
    r->factor = key(r, "rope.scaling.factor", 1.0);
    r->n_ctx_orig = (int)key(r, "rope.scaling.original_context_length", 0);
    snprintf(name, sizeof(name), "%s.rope.scaling.type", r->arch);
    id = gguf_find_key(r->gguf, name);
    r->is_yarn =
        id >= 0 && strcmp(gguf_get_val_str(r->gguf, id), "yarn") == 0;
}

static void
one_token(const struct ref *r, int id, size_t p, double *logits,
          size_t n_vocab)
{
    float *embd = weight(r, -1, "token_embd.weight");
    float *output = weight(r, -1, "output.weight");
    double x[MOST_WIDE];

    for (int i = 0; i < r->n_embd; i++)
        x[i] = (double)embd[id * r->n_embd + i] *
            (r->is_gemma ? sqrt(r->n_embd) : 1.0);
    for (int il = 0; il < r->n_layer; il++) {
        attention(r, il, x, p);
        feed_forward(r, il, x);
    }
    norm(r, -1, "output_norm.weight", x, x, r->n_embd);
    linear(r, -1, output == NULL ? "token_embd.weight" : "output.weight", NULL,
           x, r->n_embd, logits, (int)n_vocab);
    free(embd);
    free(output);
}

double *
reference_logits(const char *path, const int *ids, size_t n, size_t *n_vocab)
{
    struct ref r = { .n = n };
    const struct gguf_init_params params = { .ctx = &r.ctx };
    size_t n_cached;
    double *logits;

    r.gguf = gguf_init_from_file(path, params);
    assert_non_null(r.gguf);
    read_sizes(&r);
    n_cached = (size_t)r.n_layer * n * MOST_WIDE;
    r.keys = calloc(n_cached, sizeof(*r.keys));
    r.values = calloc(n_cached, sizeof(*r.values));
    *n_vocab = (size_t)ggml_get_tensor(r.ctx, "token_embd.weight")->ne[1];
    logits = calloc(n * *n_vocab, sizeof(*logits));
    assert_non_null(logits);
    for (size_t p = 0; p < n; p++)
        one_token(&r, ids[p], p, logits + p * *n_vocab, *n_vocab);
    free(r.keys);
    free(r.values);
    gguf_free(r.gguf);
    ggml_free(r.ctx);
    return logits;
}
