/* SPDX-License-Identifier: MIT */
/*
 * type/iq1.c - iq1_s and iq1_m: rows of a grid of -1, 0 and 1, all shifted by
 * an eighth up or down.
 *
 * ggml finds the same splits by sums in another order.  So one block of thirty
 * has other bytes and, in the mean, the same error; blocks with many equal
 * values have a smaller one.
 */
#include "config.h"

#include "lib/type/iq.h"

#include "lib/type/blocks.h"
#include "lib/type/grid.h"
#include "lib/type/half.h"
#include "lib/type/search.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SHIFT      0.125f
#define MAX_SUB    32
#define MAX_GROUPS 4 /* in a sub-block */
#define MAX_SHIFTS 4 /* ways to shift a sub-block's groups */
#define SCALE_TOP  7 /* the largest s of a sub-block */
#define N_LEVELS   3

/*
 * Scores that differ by no more are equal but for the rounding of sums.  The
 * first of equal splits has the least scale, and sub-blocks of a block do well
 * to have alike ones.
 */
#define ALIKE 0x1.00004p0f

static void
read_group(float scale, unsigned row, bool is_down, float *x)
{
    const float shift = is_down ? -SHIFT : SHIFT;

    for (int j = 0; j < 8; j++)
        x[j] = scale * ((float)gb_grid_iq1[row][j] + shift);
}

void
gb_iq1_s_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq1_s *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GB_QK_K / 8; g++) {
            const unsigned head = gb_le16(block->qh[g / 4]);
            const unsigned row = block->qs[g] | (head >> 3 * (g % 4) & 7) << 8;
            const float scale = d * (float)(2 * (head >> 12 & 7) + 1);

            read_group(scale, row, head >> 15 != 0, x + 8 * g);
        }
    }
}

void
gb_iq1_m_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq1_m *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        uint16_t scales[4];
        unsigned half = 0;
        float d;

        memcpy(scales, block->scales, sizeof(scales));
        for (int i = 0; i < 4; i++) {
            scales[i] = gb_le16(scales[i]);
            half |= (unsigned)(scales[i] >> 12) << 4 * i;
        }
        d = gb_f16_to_f32((uint16_t)half);

        for (int g = 0; g < GB_QK_K / 8; g++) {
            const unsigned head = block->qh[g / 2] >> 4 * (g % 2) & 15;
            const unsigned row = block->qs[g] | (head & 7) << 8;
            const unsigned s = scales[g / 8] >> 3 * (g / 2 % 4) & 7;

            read_group(d * (float)(2 * s + 1), row, head >> 3 != 0, x + 8 * g);
        }
    }
}

/* How a format is quantised. */
struct coder {
    const struct gb_grid_map *map;
    int sub;                    /* values in a sub-block: 16 or 32 */
    int n_shifts;               /* of these; tried in this order */
    uint8_t shifts[MAX_SHIFTS]; /* bit g: group g is shifted down */
    float least;                /* a sub-block below it is empty */
    uint16_t zeros;             /* the row for it */
};

struct sub_block {
    float x[MAX_SUB];
    float w[MAX_SUB];
    uint8_t order[MAX_SUB]; /* which value is the lowest, and so on */
};

/* A sub-block's codes. */
struct codes {
    float scale; /* 0 for one that is empty */
    uint16_t rows[MAX_GROUPS];
    unsigned shifts;   /* as in the coder's */
    struct gb_fit fit; /* q = level + shift */
};

/* The sub-blocks of a block, and its scale if theirs are exact. */
struct block {
    struct codes subs[GB_QK_K / 16];
    unsigned scales[GB_QK_K / 16]; /* s of each */
    float d;
};

/*
 * What is known before the search about sub-blocks whose A lowest values have
 * level -1, and those from the Bth on level 1.  With q = level + shift, the
 * sums of w x q and w q^2 are low[A] + high[B], in a pair for each way to shift.
 */
struct sums {
    struct gb_fit low[MAX_SHIFTS][MAX_SUB + 1];
    struct gb_fit high[MAX_SHIFTS][MAX_SUB + 1];
};

/* A and B of the best levels, and their shift. */
struct split {
    int low;
    int high;
    int shift;
};

static float
shift_of(unsigned shifts, int group)
{
    return shifts >> group & 1 ? -SHIFT : SHIFT;
}

static void
sort(int n, const float *x, uint8_t *order)
{
    for (int i = 0; i < n; i++) {
        int at = i;

        for (; at > 0 && x[order[at - 1]] > x[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
}

static void
sum_up(const struct coder *coder, const struct sub_block *sub,
       struct sums *sums)
{
    const int n = coder->sub;

    for (int c = 0; c < coder->n_shifts; c++) {
        struct gb_fit *low = sums->low[c], *high = sums->high[c];

        low[0] = high[n] = (struct gb_fit){ 0.0f, 0.0f };
        for (int k = 0; k < n; k++) {
            const int i = sub->order[k];
            const float shift = shift_of(coder->shifts[c], i / 8);
            const float wx = sub->w[i] * sub->x[i];

            /* The middle level's terms are in high[n]; where the other two
             * levels are, they bring the difference. */
            high[n].xq += wx * shift;
            high[n].qq += sub->w[i] * (shift * shift);
            low[k + 1].xq = low[k].xq - wx;
            low[k + 1].qq = low[k].qq + sub->w[i] * (1.0f - 2.0f * shift);
        }
        for (int k = n - 1; k >= 0; k--) {
            const int i = sub->order[k];
            const float shift = shift_of(coder->shifts[c], i / 8);

            high[k].xq = high[k + 1].xq + sub->w[i] * sub->x[i];
            high[k].qq = high[k + 1].qq + sub->w[i] * (1.0f + 2.0f * shift);
        }
    }
}

/* The best split; its scale, 0 if there is none. */
static float
search_split(const struct coder *coder, const struct sums *sums,
             struct split *out)
{
    struct gb_best best = { 0.0f, 0.0f };

    for (int a = 0; a <= coder->sub; a++) {
        for (int b = a; b <= coder->sub; b++) {
            for (int c = 0; c < coder->n_shifts; c++) {
                const struct gb_fit fit = {
                    sums->low[c][a].xq + sums->high[c][b].xq,
                    sums->low[c][a].qq + sums->high[c][b].qq,
                };

                if (gb_fit_beats(fit, best)) {
                    best = gb_fit_best(fit);
                    best.score *= ALIKE;
                    *out = (struct split){ a, b, c };
                }
            }
        }
    }
    return best.scale;
}

static struct gb_fit
fit_rows(const struct coder *coder, const struct sub_block *sub,
         const struct codes *codes)
{
    float numbers[MAX_SUB];

    for (int g = 0; g < coder->sub / 8; g++)
        read_group(1.0f, codes->rows[g], codes->shifts >> g & 1,
                   numbers + 8 * g);
    return gb_fit_numbers(coder->sub, sub->x, sub->w, numbers);
}

/* The rows that the levels (0, 1, 2) are, or about them; has any moved? */
static bool
find_rows(const struct coder *coder, const struct sub_block *sub,
          const unsigned *levels, struct codes *codes)
{
    bool has_moved = false;

    for (int g = 0; g < coder->sub / 8; g++) {
        const uint16_t *neighbours;
        unsigned point = 0;
        int row;

        for (int j = 0; j < 8; j++)
            point |= levels[8 * g + j] << coder->map->bits * j;
        row = gb_grid_find(coder->map, point, &neighbours);
        if (row < 0) {
            float value[N_LEVELS];

            for (int level = 0; level < N_LEVELS; level++)
                value[level] =
                    codes->scale *
                    ((float)(level - 1) + shift_of(codes->shifts, g));
            row = gb_grid_nearest(coder->map, neighbours, sub->x + 8 * g,
                                  sub->w + 8 * g, value);
            has_moved = true;
        }
        codes->rows[g] = (uint16_t)row;
    }
    return has_moved;
}

/* Levels, scale and shifts of a split; a negative scale mirrors all. */
static void
code_split(const struct coder *coder, const struct sub_block *sub,
           const struct split *split, float scale, struct codes *codes)
{
    const bool is_mirrored = scale < 0.0f;
    unsigned levels[MAX_SUB];

    for (int k = 0; k < coder->sub; k++) {
        const unsigned level =
            (unsigned)(k >= split->low) + (unsigned)(k >= split->high);

        levels[sub->order[k]] = is_mirrored ? N_LEVELS - 1 - level : level;
    }
    codes->scale = fabsf(scale);
    codes->shifts = coder->shifts[split->shift] ^ (is_mirrored ? 0xFu : 0u);
    if (find_rows(coder, sub, levels, codes)) {
        const struct gb_fit fit = fit_rows(coder, sub, codes);

        if (fit.xq > 0.0f && fit.qq > 0.0f)
            codes->scale = gb_fit_scale(fit);
    }
}

static void
quantize_sub(const struct coder *coder, struct sub_block *sub,
             struct codes *codes)
{
    float scale = 0.0f;
    struct split split = { 0, 0, 0 };

    if (!(fabsf(gb_search_largest(coder->sub, sub->x)) < coder->least)) {
        struct sums sums;

        sort(coder->sub, sub->x, sub->order);
        sum_up(coder, sub, &sums);
        scale = search_split(coder, &sums, &split);
    }
    *codes = (struct codes){ .scale = 0.0f };
    if (scale != 0.0f) {
        code_split(coder, sub, &split, scale, codes);
    } else {
        for (int g = 0; g < coder->sub / 8; g++)
            codes->rows[g] = coder->zeros;
    }
    codes->fit = fit_rows(coder, sub, codes);
}

/* True if CODES are no farther from SUB than zeros are, by sub->w. */
static bool
beats_zeros(const struct coder *coder, const struct sub_block *sub,
            const struct codes *codes)
{
    const struct gb_fit fit = fit_rows(coder, sub, codes);

    return !(codes->scale * fit.qq > 2.0f * fit.xq);
}

/*
 * Weights of x^2 let a value that is far larger than the others choose rows which
 * make all as large as itself.  Such a sub-block is quantised again without them.
 */
static void
quantize_sub_again(const struct coder *coder, struct sub_block *sub,
                   const float *importance, struct codes *codes)
{
    for (int i = 0; i < coder->sub; i++)
        sub->w[i] = importance != NULL ? importance[i] : 1.0f;
    if (codes->scale > 0.0f && !beats_zeros(coder, sub, codes))
        quantize_sub(coder, sub, codes);
}

/* False when all values are told as zeros. */
static bool
quantize_block(const struct coder *coder, const float *x,
               const float *importance, struct block *out)
{
    const int n = coder->sub, n_subs = GB_QK_K / n;
    const float energy =
        gb_energy(GB_QK_K, x, importance != NULL ? 2.0f : 0.0f);
    float largest = 0.0f;

    for (int b = 0; b < n_subs; b++) {
        const float *w = importance != NULL ? importance + b * n : NULL;
        struct sub_block sub;

        memcpy(sub.x, x + b * n, (size_t)n * sizeof(*x));
        gb_weights(n, sub.x, w, energy, sub.w);
        quantize_sub(coder, &sub, &out->subs[b]);
        quantize_sub_again(coder, &sub, w, &out->subs[b]);
        if (out->subs[b].scale > largest)
            largest = out->subs[b].scale;
    }
    out->d = largest / (2 * SCALE_TOP + 1);
    for (int b = 0; b < n_subs; b++)
        out->scales[b] = (unsigned)gb_round(
            0.5f * (out->subs[b].scale / out->d - 1.0f), 0, SCALE_TOP);
    return largest > 0.0f;
}

static bool
make_coder(struct coder *coder, enum ggml_type type)
{
    const uint16_t *neighbours;

    coder->map = gb_grid_map(type);
    if (coder->map == NULL)
        return false;
    /* All levels are 1, and that is a row. */
    coder->zeros = (uint16_t)gb_grid_find(coder->map, 0x5555, &neighbours);
    return true;
}

/* The scale D, lowered if a block with it, Y of X, is farther off than zeros. */
static float
damp(float d, const float *x, const float *importance, const float *y)
{
    return d * gb_search_damping(GB_QK_K, x, importance, y);
}

static void
pack_s(const struct block *found, float d, struct gb_block_iq1_s *out)
{
    out->d = gb_le16(gb_f32_to_finite_f16(d));
    for (int b = 0; b < GB_QK_K / 32; b++) {
        const struct codes *codes = &found->subs[b];
        unsigned head = found->scales[b] << 12 | (codes->shifts & 1) << 15;

        for (int g = 0; g < 4; g++) {
            out->qs[4 * b + g] = (uint8_t)codes->rows[g];
            head |= (unsigned)(codes->rows[g] >> 8) << 3 * g;
        }
        out->qh[b] = gb_le16((uint16_t)head);
    }
}

void
gb_iq1_s_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct coder coder = {
        .sub = 32, .n_shifts = 2, .shifts = { 0, 15 }, .least = 1e-12f
    };
    const bool has_map = make_coder(&coder, GGML_TYPE_IQ1_S);
    struct gb_block_iq1_s *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        const float *w = importance != NULL ? importance + i : NULL;
        float told[GB_QK_K], d, damped;
        struct block found;

        memset(block, 0, sizeof(*block));
        if (!has_map || !quantize_block(&coder, x + i, w, &found))
            continue;
        d = 1.125f * found.d;
        pack_s(&found, d, block);
        gb_iq1_s_to_float(block, told, GB_QK_K);
        damped = damp(d, x + i, w, told);
        if (damped < d)
            pack_s(&found, damped, block);
    }
}

/* The scale that is best for the sub-blocks' multiples of it. */
static float
fit_multiples(const struct block *block)
{
    struct gb_fit all = { 0.0f, 0.0f };

    for (int b = 0; b < GB_QK_K / 16; b++) {
        const float multiple = (float)(2 * block->scales[b] + 1);

        all.xq += multiple * block->subs[b].fit.xq;
        all.qq += multiple * multiple * block->subs[b].fit.qq;
    }
    return all.qq > 0.0f ? gb_fit_scale(all) : block->d;
}

static void
pack_m(const struct block *found, float d, struct gb_block_iq1_m *out)
{
    const unsigned half = gb_f32_to_finite_f16(d);
    uint16_t words[4];

    memset(out, 0, sizeof(*out));
    for (int k = 0; k < 4; k++)
        words[k] = (uint16_t)((half >> 4 * k & 15) << 12);
    for (int b = 0; b < GB_QK_K / 16; b++) {
        const struct codes *codes = &found->subs[b];

        words[b / 4] |= (uint16_t)(found->scales[b] << 3 * (b % 4));
        for (int g = 0; g < 2; g++) {
            const unsigned head =
                codes->rows[g] >> 8 | (codes->shifts >> g & 1) << 3;

            out->qs[2 * b + g] = (uint8_t)codes->rows[g];
            out->qh[b] |= (uint8_t)(head << 4 * g);
        }
    }
    gb_le_bytes(words, sizeof(words[0]), sizeof(words));
    memcpy(out->scales, words, sizeof(words));
}

void
gb_iq1_m_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct coder coder = {
        .sub = 16, .n_shifts = 4, .shifts = { 0, 2, 1, 3 }, .least = 1e-7f
    };
    const bool has_map = make_coder(&coder, GGML_TYPE_IQ1_M);
    struct gb_block_iq1_m *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        const float *w = importance != NULL ? importance + i : NULL;
        float told[GB_QK_K], d, damped;
        struct block found;

        memset(block, 0, sizeof(*block));
        if (!has_map || !quantize_block(&coder, x + i, w, &found))
            continue;
        d = 1.1125f * fit_multiples(&found);
        pack_m(&found, d, block);
        gb_iq1_m_to_float(block, told, GB_QK_K);
        damped = damp(d, x + i, w, told);
        if (damped < d)
            pack_m(&found, damped, block);
    }
}
