/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/attention/prefill.c - prefill: attention of up to 256 queries to
 * a block of 64 keys, with an online softmax (arXiv 1805.02867, 2205.14135).
 *
 * Each lane of a vector is a query.  So a key's element is the same for all
 * lanes: keys and values are read as they are stored, without a transpose, and
 * the largest score and the sum of the exponentials need nothing from other
 * lanes.  VF_LEN queries, transposed, are a panel.
 *
 *     scores[key][lane]    = sum over i of query[i][lane] * key[i]
 *     weights              = 2^(scores - running maximum), in place
 *     sums[element][lane]  = sums * 2^(old maximum - new) + sum over keys of
 *                            weights[key][lane] * value[element]
 *
 * Both products have a register tile of VECTORS panels by COLS keys or
 * elements: one load of each panel and one value spread over all lanes for
 * VECTORS fused multiply-adds.
 *
 *     for each block of 64 keys                       (ops/attention-prefill.c)
 *         for each VECTORS panels of queries          prefill_keys
 *             scores of up to 64 keys                 d FMA a score
 *             softmax_step, panel by panel            one 2^x a score
 *             sums += weights * values                d FMA a score
 *
 * So a block's scores, 64 x VECTORS vectors, stay in the L1 cache, and its keys
 * and values in the L2 cache for all queries.  With VF_LEN 16 a step over k has
 * 2 loads and 8 broadcasts for 16 FMA.
 *
 * Scores are to the base of 2, since 2^x takes fewer instructions than e^x: the
 * operation multiplies the factor of the queries, or the cap, and the slopes
 * with log2(e) before.  The running maximum is to that base, too.
 *
 * Masks     block masks say up to which key of a block anything is seen, so
 *           that keys behind it cost nothing (half of a causal mask), and
 *           whether the mask is all zero up to there, so that it need not be
 *           read.
 * Layout    a panel has d vectors (rounded up to 16), element i of VF_LEN
 *           queries in vector i.  Lanes without a query repeat the last one,
 *           and are not written.
 * Accuracy  floats: sums in the order of elements and keys.
 */
#include "backends/cpu/kernels/api/attention.h"
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "backends/cpu/simd/math.h"

#include <math.h>

_Static_assert(GB_PREFILL_KEYS <= GB_BLOCK_MASK_END,
               "a block's keys are counted");

/* Panels of queries that are taken together. */
#define VECTORS 2

/* Keys, or elements of values, that meet VECTORS panels at a time: VECTORS *
 * COLS sums are half of the registers at most. */
#define COLS (VF_LEN == 16 ? 8 : 4)

/* Floats of a panel that has N floats of each query; N is rounded up so that a
 * transpose can write whole squares, of 16 x 16 at most. */
static int64_t
panel_floats(int64_t n)
{
    return (n + 15) / 16 * 16 * VF_LEN;
}

/* VF_LEN rows of N values, multiplied by FACTOR, become the lanes of a panel,
 * by squares of VF_LEN x VF_LEN; what is behind the end of the rows becomes
 * 0. */
GB_INLINE void
transpose_rows(const struct gb_float_type *t, int64_t n,
               const void *const *rows, float factor, float *panel)
{
    const vf by = vf_set1(factor);
    float square[VF_LEN * VF_LEN];

    for (int64_t i = 0; i < n; i += VF_LEN) {
        const int64_t len = gb_cpu_min(n - i, VF_LEN);

        for (int r = 0; r < VF_LEN; r++) {
            const char *at = (const char *)rows[r] + (size_t)i * t->bytes;

            vf_store(square + r * VF_LEN,
                     vf_mul(len < VF_LEN ? t->load_n(at, len) : t->load(at),
                            by));
        }
        vq_transpose(panel + i * VF_LEN, square, sizeof(vf));
    }
}

/* Queries become panels, sums are 0, and the largest score is -inf: the state
 * of an online softmax that has seen nothing. */
void
GB_K(prefill_begin)(struct gb_prefill *a, const float *const *rows, float factor)
{
    const int64_t size = panel_floats(a->d);

    for (int64_t c = 0; c < a->n; c += VF_LEN) {
        const void *lanes[VF_LEN];

        for (int64_t i = 0; i < VF_LEN; i++)
            lanes[i] = rows[gb_cpu_min(c + i, a->n - 1)];
        transpose_rows(&gb_f32, a->d, lanes, factor,
                       a->queries + c / VF_LEN * size);
        for (int64_t i = 0; i < size; i += VF_LEN)
            vf_store(a->sums + c / VF_LEN * size + i, vf_zero());
        vf_store(a->max + c, vf_set1(-INFINITY));
        vf_store(a->sum + c, vf_zero());
    }
}

/* Products of panels with columns: sums over k of x[k][lane] * y[k][column].
 * How far apart two k of y are, and two columns, comes beside it, since one of
 * the two is a constant. */
struct product {
    int64_t k;
    const float *x; /* successive k are VF_LEN floats apart */
    int64_t x_panel;
    const float *y;
    float *dst; /* successive columns are VF_LEN floats apart */
    int64_t dst_panel;
    const vf *factor; /* on what is there, for each panel; NULL for nothing */
};

/* The register tile: VECTORS panels times COLS columns from FROM on.  Y_STEP
 * and Y_COLUMN are the floats between two k of y, and between two columns: 1
 * and the distance of keys for scores, the distance of values and 1 for their
 * sums. */
GB_INLINE void
product_tile(const struct product *p, int vectors, int cols, int64_t from,
             int64_t y_step, int64_t y_column)
{
    const float *x = p->x;
    const float *y = p->y + from * y_column;
    float *dst = p->dst + from * VF_LEN;
    vf acc[VECTORS][COLS];

#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            acc[v][c] = p->factor == NULL
                            ? vf_zero()
                            : vf_mul(p->factor[v], vf_load(dst +
                                                           v * p->dst_panel +
                                                           c * VF_LEN));
    for (int64_t i = 0; i < p->k; i++) {
        vf lanes[VECTORS];

#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            lanes[v] = vf_load(x + v * p->x_panel);
#pragma GCC unroll 8
        for (int c = 0; c < cols; c++) {
            const vf value = vf_set1(y[c * y_column]);

#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                acc[v][c] = vf_fma(lanes[v], value, acc[v][c]);
        }
        x += VF_LEN;
        y += y_step;
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            vf_store(dst + v * p->dst_panel + c * VF_LEN, acc[v][c]);
}

/* All N columns; those left over come one by one. */
GB_INLINE void
product_columns(const struct product *p, int vectors, int64_t n,
                int64_t y_step, int64_t y_column)
{
    int64_t c = 0;

    for (; c + COLS <= n; c += COLS)
        product_tile(p, vectors, COLS, c, y_step, y_column);
    for (; c < n; c++)
        product_tile(p, vectors, 1, c, y_step, y_column);
}

/* A step of the online softmax: the scores of a panel become 2^(s - max), with
 * the largest s and the sum brought up to date.  Gives the factor of the sums
 * so far, 2^(old maximum - new one), at most 1.
 *
 * First pass: cap, mask and maximum.  Second pass: exponentials and their sum.
 * The queries of a panel are its lanes, so none of it crosses lanes. */
static vf
softmax_step(struct gb_prefill *a, int64_t first, int64_t n, float *scores,
             const float *mask)
{
    const vf before = vf_load(a->max + first);
    const vf slope = vf_load(a->slope + first);
    const vf nothing = vf_set1(-INFINITY);
    const vf cap = vf_set1(a->cap);
    vf max = before;
    vf sum = vf_zero();
    vf shift;
    vf factor;

    for (int64_t j = 0; j < n; j++) {
        float *const at = scores + j * VF_LEN;
        vf s = vf_load(at);

        if (a->cap != 0.0f)
            s = vf_mul(cap, vf_tanh(s));
        if (mask != NULL)
            s = vf_fma(slope, vf_load(mask + j * VF_LEN), s);
        if (a->cap != 0.0f || mask != NULL)
            vf_store(at, s);
        max = vf_max(s, max);
    }
    /* Without any key so far any shift gives zeros, but -inf itself. */
    shift = vf_select(vf_gt(max, nothing), max, vf_zero());
    for (int64_t j = 0; j < n; j++) {
        const vf w = vf_exp2(vf_sub(vf_load(scores + j * VF_LEN), shift));

        vf_store(scores + j * VF_LEN, w);
        sum = vf_add(sum, w);
    }
    factor = vf_exp2(vf_sub(before, shift));
    vf_store(a->sum + first, vf_fma(vf_load(a->sum + first), factor, sum));
    vf_store(a->max + first, max);
    return factor;
}

/* The block masks of the queries from FIRST to LAST as one: the last key that
 * any of them sees, and zero only where all are.  Without a mask all N are
 * seen. */
static uint8_t
join_masks(const struct gb_prefill *a, const struct gb_block_mask *masks,
           int64_t first, int64_t last, int64_t n)
{
    uint8_t end = 0;
    uint8_t zero = GB_BLOCK_MASK_ZERO;

    if (masks == NULL)
        return (uint8_t)(n | GB_BLOCK_MASK_ZERO);
    for (int64_t i = first / a->per_mask; i <= last / a->per_mask; i++) {
        const uint8_t keys = masks[i].summary & GB_BLOCK_MASK_END;

        end = keys > end ? keys : end;
        zero &= masks[i].summary;
    }
    return end | zero;
}

/* The masks of a panel of queries for N keys, as lanes like the scores.  Heads
 * of a token share a mask, so some lanes read the same row. */
static void
transpose_masks(const struct gb_prefill *a, const struct gb_block_mask *masks,
                int64_t first, int64_t n, float *panel)
{
    const void *lanes[VF_LEN];

    for (int64_t i = 0; i < VF_LEN; i++)
        lanes[i] = masks[gb_cpu_min(first + i, a->n - 1) / a->per_mask].values;
    transpose_rows(&gb_f16, n, lanes, 1.0f, panel);
}

/* What a block of keys does to the queries of VECTORS panels (or one) from
 * FIRST on: scores, softmax, sums of values.  What the mask hides from all of
 * these queries is left out. */
GB_INLINE void
attend_panels(struct gb_prefill *a, int vectors, int64_t first, int64_t n,
              const float *k, int64_t k_step, const float *v, int64_t v_step,
              const struct gb_block_mask *masks)
{
    const int64_t size = panel_floats(a->d);
    const int64_t panel = GB_PREFILL_KEYS * VF_LEN;
    const int64_t last = gb_cpu_min(first + vectors * VF_LEN, a->n) - 1;
    const uint8_t mask = join_masks(a, masks, first, last, n);
    const int64_t end = mask & GB_BLOCK_MASK_END;
    const bool is_zero = (mask & GB_BLOCK_MASK_ZERO) != 0;
    const struct product scores = {
        .k = a->d,
        .x = a->queries + first / VF_LEN * size,
        .x_panel = size,
        .y = k,
        .dst = a->scores,
        .dst_panel = panel,
    };
    vf factor[VECTORS];
    const struct product sums = {
        .k = end,
        .x = a->scores,
        .x_panel = panel,
        .y = v,
        .dst = a->sums + first / VF_LEN * size,
        .dst_panel = size,
        .factor = factor,
    };

    if (end == 0)
        return;
    product_columns(&scores, vectors, end, 1, k_step);
    for (int i = 0; i < vectors; i++) {
        const int64_t at = first + i * VF_LEN;

        if (!is_zero)
            transpose_masks(a, masks, at, end, a->masks);
        factor[i] = softmax_step(a, at, end, a->scores + i * panel,
                                 is_zero ? NULL : a->masks);
    }
    product_columns(&sums, vectors, a->d, v_step, 1);
}

/* A block of N keys and values for all queries; K_STEP and V_STEP are in
 * floats. */
void
GB_K(prefill_keys)(struct gb_prefill *a, int64_t n, const float *k,
                  int64_t k_step, const float *v, int64_t v_step,
                  const struct gb_block_mask *masks)
{
    int64_t c = 0;

    for (; c + VF_LEN < a->n; c += VECTORS * VF_LEN)
        attend_panels(a, VECTORS, c, n, k, k_step, v, v_step, masks);
    if (c < a->n)
        attend_panels(a, 1, c, n, k, k_step, v, v_step, masks);
}

/* What the sums of a panel's queries are multiplied with: one divided by the
 * sum of the exponentials, or one where results of several parts of the keys
 * will be joined later.  Queries that have seen no key get zeros, not NaN. */
static vf
factor_of(const struct gb_prefill *a, int64_t first, bool divide)
{
    const vf sum = vf_load(a->sum + first);
    const vf one = vf_set1(1.0f);

    if (!divide)
        return one;
    return vf_select(vf_gt(sum, vf_zero()), vf_div(one, sum), vf_zero());
}

/* Panels of sums back to rows, one for each query: the transpose of their
 * squares. */
void
GB_K(prefill_sums)(const struct gb_prefill *a, float *const *rows, bool divide)
{
    const int64_t size = panel_floats(a->d);
    float square[VF_LEN * VF_LEN];
    float factors[VF_LEN];

    for (int64_t c = 0; c < a->n; c += VF_LEN) {
        const float *panel = a->sums + c / VF_LEN * size;
        const int64_t queries = gb_cpu_min(a->n - c, VF_LEN);

        vf_store(factors, factor_of(a, c, divide));
        for (int64_t i = 0; i < a->d; i += VF_LEN) {
            const int64_t len = gb_cpu_min(a->d - i, VF_LEN);

            vq_transpose(square, panel + i * VF_LEN, sizeof(vf));
            for (int64_t r = 0; r < queries; r++) {
                const vf row = vf_mul(vf_load(square + r * VF_LEN),
                                      vf_set1(factors[r]));

                if (len < VF_LEN)
                    vf_store_n(rows[c + r] + i, row, len);
                else
                    vf_store(rows[c + r] + i, row);
            }
        }
    }
}

/* -infinity as a half float. */
#define HIDDEN 0xfc00

/* The block mask of N values: the number of keys up to the last one that is not
 * hidden, rounded up to a multiple of COLS, and whether all values are 0 (-0 is,
 * NaN is not). */
static uint8_t
summary_of(int64_t n, const uint16_t *mask)
{
    int64_t end = 0;
    vm is_other = vf_lt(vf_zero(), vf_zero());

    for (int64_t i = 0; i < n; i += VF_LEN) {
        const int64_t len = gb_cpu_min(n - i, VF_LEN);
        const vf m = len < VF_LEN ? vf_load_f16_n(mask + i, len)
                                  : vf_load_f16(mask + i);

        if (vm_any(vf_gt(m, vf_set1(-INFINITY))))
            end = i + len;
        is_other = vm_or(is_other, vm_not(vf_eq(m, vf_zero())));
    }
    while (end > 0 && mask[end - 1] == HIDDEN)
        end--;
    end = gb_cpu_min((end + COLS - 1) / COLS * COLS, n);
    return (uint8_t)(end | (vm_any(is_other) ? 0 : GB_BLOCK_MASK_ZERO));
}

void
GB_K(mask_blocks)(int64_t n, const uint16_t *mask, uint8_t *summaries)
{
    for (int64_t i = 0; i < n; i += GB_PREFILL_KEYS)
        *summaries++ =
            summary_of(gb_cpu_min(n - i, GB_PREFILL_KEYS), mask + i);
}
