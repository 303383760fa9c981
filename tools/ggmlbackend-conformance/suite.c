/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/suite.c - making a case, running it on a device, and
 * comparing the result with the reference.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#include "tools/common/hash.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-conformance/reference.h"
#include "tools/ggmlbackend-conformance/values.h"

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Floats in front of and behind each case's tensors, which nobody may touch. */
enum { GUARD = 64 };

/* splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
 * Generators", 2014). */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double
random_real(struct suite *s, double low, double high)
{
    return low + (high - low) * (double)(next_random(&s->random) >> 11) / 0x1p53;
}

int64_t
suite_random(struct suite *s, int64_t n)
{
    return n > 0 ? (int64_t)(next_random(&s->random) % (uint64_t)n) : 0;
}

static void
new_guard(struct suite *s, const char *name)
{
    struct ggml_tensor *guard = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, GUARD);

    ggml_set_name(guard, name);
}

static bool
is_wanted(const struct suite *s, const char *name)
{
    return !s->is_counting &&
           (s->only == NULL || strcmp(s->only, name) == 0);
}

/* The next case has its number, whoever wants it. */
static void
count(struct suite *s)
{
    s->n_cases++;
    progress_update(&s->bar, s->n_cases);
}

static void
begin(struct suite *s)
{
    const struct ggml_init_params params = { 64 * 1024, NULL, true };

    s->ctx = ggml_init(params);
    if (s->ctx == NULL) {
        tool_error("no memory");
        exit(TOOL_FAILED);
    }
    s->n_leafs = 0;
    s->n_beside = 0;
    s->random = s->seed + s->n_cases * UINT64_C(0xda942042e4dd58b5);
    new_guard(s, "guard in front");
}

/* Cases have the same numbers, values and parts whichever are wanted. */

bool
suite_begin(struct suite *s, enum ggml_op op)
{
    count(s);
    if (!is_wanted(s, ggml_op_name(op)))
        return false;
    begin(s);
    return true;
}

bool
suite_begin_unary(struct suite *s, enum ggml_unary_op op)
{
    count(s);
    if (!is_wanted(s, ggml_op_name(GGML_OP_UNARY)) &&
        !is_wanted(s, ggml_unary_op_name(op)))
        return false;
    begin(s);
    return true;
}

/* A stride that nobody can have meant for each dimension of one element, which
 * is contiguous with any. */
static void
loosen(struct ggml_tensor *t)
{
    for (int d = ggml_is_quantized(t->type) ? 1 : 0; d < GGML_MAX_DIMS; d++) {
        if (t->ne[d] == 1)
            t->nb[d] = ((size_t)1 << 5 * sizeof(size_t)) + 13;
    }
}

struct ggml_tensor *
leaf_filled(struct suite *s, enum ggml_type type, const int64_t ne[4],
            enum fill fill, double low, double high)
{
    struct ggml_tensor *t = ggml_new_tensor(s->ctx, type, 4, ne);

    if (s->loose)
        loosen(t);
    if (s->n_leafs < MAX_LEAFS)
        s->leafs[s->n_leafs++] = (struct leaf){ t, fill, low, high };
    return t;
}

struct ggml_tensor *
leaf_range(struct suite *s, enum ggml_type type, const int64_t ne[4], double low,
           double high)
{
    return leaf_filled(s, type, ne, FILL_UNIFORM, low, high);
}

struct ggml_tensor *
leaf_4d(struct suite *s, enum ggml_type type, int64_t n0, int64_t n1, int64_t n2,
        int64_t n3)
{
    return leaf_range(s, type, (const int64_t[]){ n0, n1, n2, n3 }, -1, 1);
}

/* Bytes from which on a tensor is not touched as a whole. */
#define FAR UINT64_C(0x40000000)

struct ggml_tensor *
leaf_far_rows(struct suite *s, enum ggml_type type, int64_t n0, int64_t n1,
              double low, double high)
{
    const uint64_t apart = 4 * FAR / (uint64_t)(n1 - 1);
    const int64_t n_apart =
        (int64_t)(1 + apart / ggml_type_size(type)) * ggml_blck_size(type);
    struct ggml_tensor *root =
        ggml_new_tensor_1d(s->ctx, type, (n1 - 1) * n_apart + n0);
    struct ggml_tensor *t = ggml_view_2d(s->ctx, root, n0, n1,
                                         ggml_row_size(type, n_apart), 0);

    if (s->n_leafs < MAX_LEAFS)
        s->leafs[s->n_leafs++] =
            (struct leaf){ t, FILL_UNIFORM, low, high };
    return t;
}

struct ggml_tensor *
leaf_far(struct suite *s, enum ggml_type type, int64_t n0, double low,
         double high)
{
    return leaf_far_rows(s, type, n0, FAR_ROWS, low, high);
}

/* Too large to be touched as a whole. */
static bool
is_far(const struct ggml_tensor *t)
{
    const struct ggml_tensor *root = t->view_src != NULL ? t->view_src : t;

    return ggml_nbytes(root) > FAR;
}

/* N numbers of a mask: runs of up to 150, every other one hidden. */
static void
make_mask(struct suite *s, const struct leaf *leaf, double *row, int64_t n)
{
    const bool is_hidden = suite_random(s, 4) == 0;
    bool is_seen = suite_random(s, 2) == 0;
    int64_t left = 0;

    for (int64_t i = 0; i < n; i++, left--) {
        if (left == 0) {
            left = 1 + suite_random(s, 150);
            is_seen = !is_seen;
        }
        row[i] = is_seen && !is_hidden
                     ? random_real(s, leaf->low, leaf->high)
                     : -INFINITY;
    }
}

/* One row of numbers as FILL says. */
static void
make_row(struct suite *s, const struct leaf *leaf, double *row)
{
    const int64_t n = leaf->tensor->ne[0];

    if (leaf->fill == FILL_HIDING)
        make_mask(s, leaf, row, n);
    for (int64_t i = 0; i < n; i++) {
        switch (leaf->fill) {
        case FILL_UNIFORM:
            row[i] = random_real(s, leaf->low, leaf->high);
            break;
        case FILL_INTEGERS:
            row[i] = floor(random_real(s, leaf->low, leaf->high));
            break;
        case FILL_DISTINCT:
            row[i] = (double)i - (double)n / 2;
            break;
        default:
            break;
        }
    }
    for (int64_t i = n - 1; leaf->fill == FILL_DISTINCT && i > 0; i--) {
        const int64_t j = suite_random(s, i + 1);
        const double x = row[i];

        row[i] = row[j];
        row[j] = x;
    }
}

static void
put_one(enum ggml_type type, uint8_t *at, double value)
{
    union {
        float f32;
        double f64;
        ggml_fp16_t f16;
        ggml_bf16_t bf16;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } x;

    switch ((int)type) {
    case GGML_TYPE_F32:
        x.f32 = (float)value;
        break;
    case GGML_TYPE_F64:
        x.f64 = value;
        break;
    case GGML_TYPE_F16:
        x.f16 = ggml_fp32_to_fp16((float)value);
        break;
    case GGML_TYPE_BF16:
        x.bf16 = ggml_fp32_to_bf16((float)value);
        break;
    case GGML_TYPE_I8:
        x.i8 = (int8_t)value;
        break;
    case GGML_TYPE_I16:
        x.i16 = (int16_t)value;
        break;
    case GGML_TYPE_I32:
        x.i32 = (int32_t)value;
        break;
    default:
        x.i64 = (int64_t)value;
        break;
    }
    memcpy(at, &x, ggml_type_size(type));
}

/* A row of numbers as blocks: some quantisers want weights, all the same here. */
static void
quantize_row(const struct ggml_tensor *t, uint8_t *at, const double *row)
{
    const int64_t n = t->ne[0];
    float *floats = must_alloc((size_t)n, sizeof(*floats));
    float *weights = must_alloc((size_t)n, sizeof(*weights));

    for (int64_t i = 0; i < n; i++) {
        floats[i] = (float)row[i];
        weights[i] = 1;
    }
    if (t->type == GGML_TYPE_Q8_1 || t->type == GGML_TYPE_Q8_K)
        ggml_get_type_traits_cpu(t->type)->from_float(floats, at, n);
    else
        ggml_quantize_chunk(t->type, floats, at, 0, 1, n, weights);
    free(floats);
    free(weights);
}

/* One row of LEAF as its type has it. */
static void
encode_row(struct suite *s, const struct leaf *leaf, uint8_t *to, double *row)
{
    const struct ggml_tensor *t = leaf->tensor;

    make_row(s, leaf, row);
    if (ggml_is_quantized(t->type)) {
        quantize_row(t, to, row);
        return;
    }
    for (int64_t j = 0; j < t->ne[0]; j++)
        put_one(t->type, to + (size_t)j * ggml_type_size(t->type), row[j]);
}

/* Fills a leaf on the device, in one go if its rows lie side by side. */
static void
fill_leaf(struct suite *s, const struct leaf *leaf)
{
    struct ggml_tensor *t = leaf->tensor;
    const size_t row_size = ggml_row_size(t->type, t->ne[0]);
    const size_t size = row_size * (size_t)ggml_nrows(t);
    uint8_t *image = must_alloc(size, 1);
    double *row = must_alloc((size_t)t->ne[0], sizeof(*row));

    for (int64_t i = 0; size > 0 && i < ggml_nrows(t); i++)
        encode_row(s, leaf, image + (size_t)i * row_size, row);
    if (is_far(t)) {
        for (int64_t i = 0; i < t->ne[1]; i++)
            ggml_backend_tensor_set(t, image + (size_t)i * row_size,
                                    (size_t)i * t->nb[1], row_size);
    } else {
        ggml_backend_tensor_set(t, image, 0, size);
    }
    free(row);
    free(image);
}

/* The bytes of T's root, on the host. */
static uint8_t *
read_root(const struct ggml_tensor *t)
{
    const struct ggml_tensor *root = t->view_src != NULL ? t->view_src : t;
    const size_t size = ggml_nbytes(root);
    uint8_t *bytes = must_alloc(size, 1);

    ggml_backend_tensor_get(root, bytes, 0, size);
    return bytes;
}

/* The rows of T, which lie far apart, side by side in a tensor DENSE. */
static uint8_t *
read_far(const struct ggml_tensor *t, struct ggml_tensor *dense)
{
    const size_t row_size = ggml_row_size(t->type, t->ne[0]);
    uint8_t *bytes = must_alloc((size_t)t->ne[1], row_size);

    *dense = *t;
    dense->nb[1] = row_size;
    dense->view_offs = 0;
    for (int64_t i = 0; i < t->ne[1]; i++)
        ggml_backend_tensor_get(t, bytes + (size_t)i * row_size,
                                (size_t)i * t->nb[1], row_size);
    return bytes;
}

static struct values
read_values(const struct ggml_tensor *t)
{
    struct ggml_tensor dense = *t;
    uint8_t *bytes = is_far(t) ? read_far(t, &dense) : read_root(t);
    const struct values x = values_read(&dense, bytes);

    free(bytes);
    return x;
}

double
limit_of_type(enum ggml_type type)
{
    /* Scales and minima take about half a bit a value. */
    const double bits = floor(8.0 * (double)ggml_type_size(type) /
                                  (double)ggml_blck_size(type) -
                              0.5);

    switch ((int)type) {
    case GGML_TYPE_F16:
        return 1e-6; /* 11 bits: (2^-11)^2 / 3 at most */
    case GGML_TYPE_BF16:
        return 1.6e-5; /* 8 bits: (2^-8)^2 at most, for a single value */
    case GGML_TYPE_TQ1_0:
    case GGML_TYPE_TQ2_0:
        return 0.3; /* -1, 0, 1 for a uniform row: 1/12 of 1/3 */
    default:
        /* A step of 2^-bits of the range [-1, 1], whose variance is 1/3. */
        return ggml_is_quantized(type) ? 3 * pow(4, -bits) : 1e-7;
    }
}

/* Why VALUES and EXPECTED differ, or NULL. */
static const char *
compare(enum ggml_type type, const struct values *actual,
        const struct values *expected, double limit, double *error)
{
    static char text[160];
    /* What is below the smallest values of the type counts as zero. */
    const double floor_of_type = type == GGML_TYPE_F16 ? 1e-8 : 1e-30;
    double difference = 0, total = 0;

    for (int64_t i = 0; i < values_count(expected); i++) {
        const double a = actual->v[i], e = expected->v[i];

        if (isnan(e) && isnan(a))
            continue;
        /* The largest float stands for infinity on some devices. */
        if (isinf(e) && fabs(a) >= 3.4028234e38 && (a > 0) == (e > 0))
            continue;
        if (isnan(a) || isinf(a) || isnan(e) || isinf(e)) {
            snprintf(text, sizeof(text), "element %lld is %g, not %g",
                     (long long)i, a, e);
            return text;
        }
        difference += (a - e) * (a - e);
        total += e * e + floor_of_type;
    }
    /* A sum that cancels is as far off as its terms are large. */
    total = fmax(total, expected->terms);
    *error = difference == 0 ? 0 : difference / total;
    if (*error <= limit)
        return NULL;
    snprintf(text, sizeof(text), "error %.3g, %.3g is allowed", *error, limit);
    return text;
}

static const char *
check_guards(const struct suite *s)
{
    static const char *const names[] = { "guard in front", "guard behind" };

    for (int i = 0; i < 2; i++) {
        struct ggml_tensor *guard = ggml_get_tensor(s->ctx, names[i]);
        uint8_t bytes[GUARD * sizeof(float)];

        ggml_backend_tensor_get(guard, bytes, 0, sizeof(bytes));
        for (size_t j = 0; j < sizeof(bytes); j++) {
            if (bytes[j] != 0xA5)
                return "memory beside the tensors was written";
        }
    }
    return NULL;
}

/* 0xA5 in all of T, which is not large. */
static void
spoil(struct ggml_tensor *t)
{
    const size_t size = ggml_nbytes(t);
    uint8_t *bytes = must_alloc(size, 1);

    memset(bytes, 0xA5, size);
    ggml_backend_tensor_set(t, bytes, 0, size);
    free(bytes);
}

/* Everything on the device: guards and results are 0xA5, leafs are filled. */
static ggml_backend_buffer_t
place(struct suite *s)
{
    bool has_far = false;

    ggml_backend_buffer_t buffer;

    new_guard(s, "guard behind");
    buffer = ggml_backend_alloc_ctx_tensors(s->ctx, s->backend);
    if (buffer == NULL)
        return NULL;
    for (struct ggml_tensor *t = ggml_get_first_tensor(s->ctx); t != NULL;
         t = ggml_get_next_tensor(s->ctx, t))
        has_far = has_far || is_far(t);
    if (!has_far)
        ggml_backend_buffer_clear(buffer, 0xA5);
    for (struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);
         has_far && t != NULL; t = ggml_get_next_tensor(s->ctx, t)) {
        if (!is_far(t))
            spoil(t);
    }
    for (int i = 0; i < s->n_leafs; i++)
        fill_leaf(s, &s->leafs[i]);
    return buffer;
}

/* What a case gave. */
struct result {
    double error;
    uint64_t checksum; /* of the values, to tell whether two runs gave the same */
};

/* Nodes of a case and what they should give, each behind those that it reads. */
enum { MAX_NODES = 10 };

struct chain {
    struct ggml_tensor *nodes[MAX_NODES];
    struct values expected[MAX_NODES];
    int n;
};

static bool
is_computed(const struct ggml_tensor *t)
{
    switch (t->op) {
    case GGML_OP_NONE:
    case GGML_OP_VIEW:
    case GGML_OP_RESHAPE:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
        return false;
    default:
        return true;
    }
}

/* What is computed when T is, or what it is a view of; else NULL. */
static struct ggml_tensor *
computed_for(struct ggml_tensor *t)
{
    if (is_computed(t))
        return t;
    return t->view_src != NULL && is_computed(t->view_src) ? t->view_src : NULL;
}

/* NODE behind all that it reads, itself or by views; a case has no more than there is
 * room for. */
static void
list_nodes(struct chain *chain, struct ggml_tensor *node)
{
    for (int i = 0; i < chain->n; i++) {
        if (chain->nodes[i] == node)
            return;
    }
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (node->src[i] != NULL && node->src[i] != node &&
            computed_for(node->src[i]) != NULL)
            list_nodes(chain, computed_for(node->src[i]));
    }
    chain->nodes[chain->n++] = node;
}

/* The values of VIEW of a contiguous node that should have ALL. */
static struct values
values_of_view(const struct ggml_tensor *view, const struct values *all)
{
    struct values x = values_new(view->ne);
    int64_t n = 0;

    for (int64_t i3 = 0; i3 < x.ne[3]; i3++)
        for (int64_t i2 = 0; i2 < x.ne[2]; i2++)
            for (int64_t i1 = 0; i1 < x.ne[1]; i1++)
                for (int64_t i0 = 0; i0 < x.ne[0]; i0++) {
                    const size_t offset =
                        view->view_offs + (size_t)i0 * view->nb[0] +
                        (size_t)i1 * view->nb[1] + (size_t)i2 * view->nb[2] +
                        (size_t)i3 * view->nb[3];

                    x.v[n++] = all->v[offset / ggml_type_size(view->type)];
                }
    return x;
}

/* The values that NODE is to be computed from: of a node before it, or a view of
 * one, those that it should have, of others those that they have. */
static struct values
source_values(const struct chain *chain, const struct ggml_tensor *source)
{
    for (int i = 0; i < chain->n; i++) {
        if (chain->expected[i].v == NULL)
            continue;
        if (chain->nodes[i] == source)
            return values_copy(&chain->expected[i]);
        if (chain->nodes[i] == source->view_src && !is_computed(source))
            return values_of_view(source, &chain->expected[i]);
    }
    return read_values(source);
}

static void
expect(struct chain *chain, int i)
{
    const struct ggml_tensor *node = chain->nodes[i];
    struct values sources[GGML_MAX_SRC], expected;

    memset(sources, 0, sizeof(sources));
    for (int j = 0; j < GGML_MAX_SRC; j++) {
        if (node->src[j] != NULL)
            sources[j] = source_values(chain, node->src[j]);
    }
    expected = values_new(node->ne);
    if (values_count(&expected) > 0)
        reference_for(node)(node, sources, &expected);
    chain->expected[i] = expected;
    for (int j = 0; j < GGML_MAX_SRC; j++)
        values_free(&sources[j]);
}

static const char *
compare_node(const struct chain *chain, int i, double limit,
             struct result *result)
{
    struct values actual = read_values(chain->nodes[i]);
    double error = 0;
    const char *why = compare(chain->nodes[i]->type, &actual,
                              &chain->expected[i], limit, &error);

    result->error = fmax(result->error, error);
    result->checksum =
        hash_bytes(actual.v, (size_t)values_count(&actual) * sizeof(*actual.v));
    values_free(&actual);
    return why;
}

/* Does a later node of CHAIN, computed in place, take the memory of node I? */
static bool
is_overwritten(const struct chain *chain, int i)
{
    for (int j = i + 1; j < chain->n; j++) {
        if (chain->nodes[j]->view_src == chain->nodes[i])
            return true;
    }
    return false;
}

/* Computes and compares; NULL when all is as it should be. */
static const char *
run_chain(struct suite *s, struct chain *chain, double limit,
          struct result *result)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(s->ctx, 64, false);
    const char *why = NULL;

    for (int i = 0; i < chain->n; i++) {
        if (reference_for(chain->nodes[i]) == NULL)
            return "there is no reference for it";
    }
    for (int i = 0; i < chain->n; i++)
        expect(chain, i);
    for (int i = 0; i < chain->n; i++)
        ggml_build_forward_expand(graph, chain->nodes[i]);
    if (ggml_backend_graph_compute(s->backend, graph) != GGML_STATUS_SUCCESS)
        return "it could not be computed";
    for (int i = 0; i < chain->n && why == NULL; i++) {
        if (!is_overwritten(chain, i))
            why = compare_node(chain, i, limit, result);
    }
    return why != NULL ? why : check_guards(s);
}

static const char *
run(struct suite *s, struct chain *chain, double limit, struct result *result)
{
    const char *why = run_chain(s, chain, limit, result);

    for (int i = 0; i < chain->n; i++)
        values_free(&chain->expected[i]);
    return why;
}

static bool
is_supported(const struct suite *s, const struct chain *chain)
{
    for (int i = 0; i < chain->n; i++) {
        if (!ggml_backend_supports_op(s->backend, chain->nodes[i]))
            return false;
    }
    return true;
}

/* Has a card as much memory as a case with rows that lie far apart takes?  The
 * host's is taken as it is touched. */
static bool
has_room(const struct suite *s)
{
    ggml_backend_dev_t dev = ggml_backend_get_device(s->backend);
    size_t free, total, size = 0;
    bool has_far = false;

    for (struct ggml_tensor *t = ggml_get_first_tensor(s->ctx); t != NULL;
         t = ggml_get_next_tensor(s->ctx, t)) {
        has_far = has_far || is_far(t);
        size += t->view_src == NULL ? ggml_nbytes(t) : 0;
    }
    if (!has_far ||
        ggml_backend_dev_type(dev) != GGML_BACKEND_DEVICE_TYPE_GPU)
        return true;
    ggml_backend_dev_memory(dev, &free, &total);
    return size <= total;
}

/* Does each tensor go into a buffer of the backend's type?  Larger ones no client can
 * give it. */
static bool
fits_buffers(const struct suite *s)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_get_default_buffer_type(s->backend);
    const size_t most = ggml_backend_buft_get_max_size(buft);

    for (struct ggml_tensor *t = ggml_get_first_tensor(s->ctx); t != NULL;
         t = ggml_get_next_tensor(s->ctx, t)) {
        if (t->view_src == NULL && ggml_backend_buft_get_alloc_size(buft, t) > most)
            return false;
    }
    return true;
}

static void
describe(const struct ggml_tensor *node, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", ggml_op_desc(node));

    for (int i = -1; i < GGML_MAX_SRC && used < size; i++) {
        const struct ggml_tensor *t = i < 0 ? node : node->src[i];

        if (t == NULL || (i >= 0 && t == node))
            continue;
        used += (size_t)snprintf(
            text + used, size - used, " %s%s[%lld,%lld,%lld,%lld]%s",
            i < 0 ? "-> " : "", ggml_type_name(t->type), (long long)t->ne[0],
            (long long)t->ne[1], (long long)t->ne[2], (long long)t->ne[3],
            ggml_is_contiguous(t) ? "" : "/strided");
    }
}

/* Does the case belong to the part and to the pass it is in?  What strides do to
 * large tensors, small ones show as well. */
static bool
is_worth_it(const struct suite *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n_leafs; i++)
        n += ggml_nelements(s->leafs[i].tensor);
    return s->n_cases % s->parts == s->part - 1 && (!s->loose || n <= 20000);
}

static void
end(struct suite *s)
{
    ggml_free(s->ctx);
    s->ctx = NULL;
}

void
suite_beside(struct suite *s, struct ggml_tensor *node)
{
    s->beside[s->n_beside++] = node;
}

/* A line for a failure, and with --verbose for each case, in place of the bar. */
static void
report(struct suite *s, enum outcome outcome, const char *text, const char *why,
       const struct result *result)
{
    if (outcome == FAILED || s->verbose)
        progress_end(&s->bar);
    if (outcome == FAILED)
        fprintf(stderr, "FAILED %s%s: %s\n", text,
                s->loose ? ", odd strides of single elements" : "",
                text_quoted(why));
    else if (s->verbose && outcome == UNSUPPORTED)
        fprintf(stderr, "unsupported %s\n", text);
    else if (s->verbose)
        fprintf(stderr, "passed %s, error %.3g, checksum %016" PRIx64 "\n",
                text, result->error, result->checksum);
}

void
suite_check(struct suite *s, struct ggml_tensor *node, double limit)
{
    const char *why = NULL;
    ggml_backend_buffer_t buffer = NULL;
    enum outcome outcome = UNSUPPORTED;
    struct result result = { 0, 0 };
    struct chain chain = { .n = 0 };
    char text[512];

    if (!is_worth_it(s)) {
        end(s);
        return;
    }
    for (int i = 0; i < s->n_beside; i++)
        list_nodes(&chain, s->beside[i]);
    list_nodes(&chain, node);
    describe(node, text, sizeof(text));
    if (s->cases != NULL && regexec(s->cases, text, 0, NULL, 0) != 0) {
        end(s);
        return;
    }
    if (node->op == GGML_OP_NONE) {
        outcome = FAILED;
        why = ggmlbackend_last_failure();
    } else if (is_supported(s, &chain) && has_room(s) &&
               fits_buffers(s)) {
        buffer = place(s);
        why = buffer == NULL ? "there is no memory for it"
                             : run(s, &chain, limit, &result);
        outcome = why == NULL ? PASSED : FAILED;
    }
    s->counts[node->op == GGML_OP_UNARY
                  ? GGML_OP_COUNT + ggml_get_unary_op(node)
                  : node->op][outcome]++;
    report(s, outcome, text, why, &result);
    ggml_backend_buffer_free(buffer);
    end(s);
}
