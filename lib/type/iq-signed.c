/* SPDX-License-Identifier: MIT */
/*
 * type/iq-signed.c - quantising magnitudes that are rows of a grid.
 *
 * For each sub-block a number of scales are tried.  One gives the nearest level
 * of each value; groups whose levels are no row of the grid move to one nearby.
 * The scale that fits the levels of the best candidate gives levels again, and
 * is fitted again.  Then the sub-blocks' scales become small multiples of the
 * block's.
 */
#include "config.h"

#include "lib/type/iq-signed.h"

#include "lib/type/grid.h"
#include "lib/type/half.h"
#include "lib/type/search.h"
#include "lib/type/type.h"

#include <math.h>
#include <string.h>

#define MAX_SUB    32
#define MAX_GROUPS 8
#define MAX_LEVELS 8
#define SCALE_TOP  15 /* the largest s */
#define COARSE_TOP 4  /* the highest level of a coarse search */
#define WIDE_STEP  0.3f /* between candidates, where all values are alike */

/* One way to quantise blocks: the format and what follows from it. */
struct coder {
    const struct gb_iq_signed_format *format;
    const struct gb_grid_map *map;
    int n_groups; /* in a sub-block */
    int top;      /* the highest level */
};

/* A sub-block's values without their signs, but where a sign was turned. */
struct sub_block {
    float x[MAX_SUB];
    float w[MAX_SUB];
    float roots[MAX_SUB]; /* of the weights: so much counts a move */
    float largest;
};

struct codes {
    int levels[MAX_SUB];
    uint16_t rows[MAX_GROUPS];
    unsigned moved; /* bit g: group g had to move to a row */
};

/*
 * Signs of eight values, which lose them.  Where their number must be even and
 * is not, the value that matters least is told with the wrong sign.
 */
static uint8_t
take_signs(float *x, const float *w, bool must_be_even)
{
    unsigned signs = 0;
    int n_negative = 0, turned = 0;

    for (int j = 0; j < 8; j++) {
        const bool is_negative = x[j] < 0.0f;

        signs |= (unsigned)is_negative << j;
        n_negative += is_negative;
        x[j] = fabsf(x[j]);
    }
    if (!must_be_even || n_negative % 2 == 0)
        return (uint8_t)signs;
    for (int j = 1; j < 8; j++)
        if (w[j] * x[j] * x[j] < w[turned] * x[turned] * x[turned])
            turned = j;
    x[turned] = -x[turned];
    return (uint8_t)(signs ^ 1u << turned);
}

static void
nearest_levels(int n, const float *restrict x, float inverse, int top,
               int *restrict levels)
{
    for (int i = 0; i < n; i += 8)
        for (int j = i; j < i + 8; j++)
            levels[j] = gb_round(0.5f * (inverse * x[j] - 1.0f), 0, top);
}

static unsigned
levels_to_point(const struct gb_grid_map *map, const int *levels)
{
    unsigned point = 0;

    for (int j = 0; j < map->group; j++)
        point |= (unsigned)levels[j] << map->bits * j;
    return point;
}

static void
point_to_levels(const struct gb_grid_map *map, unsigned point, int *levels)
{
    const unsigned mask = (1u << map->bits) - 1;

    for (int j = 0; j < map->group; j++)
        levels[j] = (int)(point >> map->bits * j & mask);
}

/* Codes of those GROUPS (bit g for group g) at 1 / INVERSE = SCALE; the others
 * keep theirs. */
static void
code_groups(const struct coder *coder, const struct sub_block *sub,
            float inverse, float scale, unsigned groups, struct codes *codes)
{
    const struct gb_grid_map *map = coder->map;
    float value[MAX_LEVELS];
    int levels[MAX_SUB];

    for (int level = 0; level < MAX_LEVELS; level++)
        value[level] = scale * (float)(2 * level + 1);
    nearest_levels(coder->format->sub, sub->x, inverse, coder->top, levels);
    codes->moved = 0;
    for (int g = 0; g < coder->n_groups; g++) {
        const int at = g * map->group;
        const uint16_t *neighbours;
        int row;

        if (!(groups >> g & 1))
            continue;
        memcpy(codes->levels + at, levels + at,
               (size_t)map->group * sizeof(*levels));
        row = gb_grid_find(map, levels_to_point(map, levels + at), &neighbours);
        if (row < 0) {
            row = gb_grid_nearest(map, neighbours, sub->x + at,
                                  sub->roots + at, value);
            point_to_levels(map, map->points[row], codes->levels + at);
            codes->moved |= 1u << g;
        }
        codes->rows[g] = (uint16_t)row;
    }
}

static struct gb_fit
fit_levels(int n, const struct sub_block *sub, const int *levels)
{
    float numbers[MAX_SUB];

    for (int i = 0; i < n; i++)
        numbers[i] = (float)(2 * levels[i] + 1);
    return gb_fit_numbers(n, sub->x, sub->w, numbers);
}

/* Are the values alike but for their signs?  Then there is nothing for a coarse
 * search, and it matters which rows there are. */
static bool
has_one_magnitude(int n, const struct sub_block *sub)
{
    for (int i = 0; i < n; i++)
        if (fabsf(sub->x[i]) != sub->largest)
            return false;
    return true;
}

/* The codes of a sub-block that is not empty, and its scale. */
static float
search_sub(const struct coder *coder, const struct sub_block *sub,
           struct codes *out)
{
    const struct gb_iq_signed_format *format = coder->format;
    const float middle = (float)(2 * coder->top + 1);
    const unsigned all = (1u << coder->n_groups) - 1;
    float largest = sub->largest, step = format->step;
    struct gb_best best = { largest / middle, 0.0f };
    struct codes codes;
    struct gb_fit fit = { 0.0f, 0.0f };
    unsigned again;

    if (format->is_coarse_first && has_one_magnitude(format->sub, sub)) {
        step = WIDE_STEP;
    } else if (format->is_coarse_first) {
        uint8_t unused[MAX_SUB];

        best.scale =
            gb_search_pos(format->sub, COARSE_TOP, sub->x, sub->w, unused);
        largest = best.scale * (float)(COARSE_TOP - 1);
    }
    memset(out, 0, sizeof(*out));
    for (int k = -format->last; k <= format->last; k++) {
        const float inverse = (middle + step * (float)k) / largest;

        code_groups(coder, sub, inverse, 1.0f / inverse, all, &codes);
        fit = fit_levels(format->sub, sub, codes.levels);
        if (gb_fit_beats(fit, best)) {
            best = gb_fit_best(fit);
            *out = codes;
        }
    }
    /* Only zeros have weights: the least scale is the best. */
    if (best.score == 0.0f && fit.qq > 0.0f)
        return 0.0f;

    again = format->again == GB_IQ_AGAIN_MOVED ? out->moved : all;
    if (format->again != GB_IQ_AGAIN_ALWAYS && out->moved == 0)
        again = 0;
    if (best.scale > 0.0f && again != 0) {
        code_groups(coder, sub, 1.0f / best.scale, best.scale, again, out);
        best.scale = gb_fit_scale(fit_levels(format->sub, sub, out->levels));
    }
    return best.scale;
}

/* The Bth sub-block's rows and signs; its scale. */
static float
quantize_sub(const struct coder *coder, int b, const float *x,
             const float *importance, float energy, struct gb_iq_signed *out)
{
    const int n = coder->format->sub;
    uint16_t *rows = out->rows + b * coder->n_groups;
    uint8_t *signs = out->signs + b * n / 8;
    struct sub_block sub;
    struct codes codes;
    float scale;

    memcpy(sub.x, x, (size_t)n * sizeof(*x));
    gb_weights(n, x, importance, energy, sub.w);
    for (int i = 0; i < n; i += 8)
        signs[i / 8] = take_signs(sub.x + i, sub.w + i,
                                  coder->format->has_even_signs);
    sub.largest = 0.0f;
    for (int i = 0; i < n; i++) {
        sub.roots[i] = sqrtf(sub.w[i]);
        if (sub.x[i] > sub.largest)
            sub.largest = sub.x[i];
    }

    if (sub.largest < coder->format->least) {
        memset(signs, 0, (size_t)n / 8);
        return 0.0f;
    }
    scale = search_sub(coder, &sub, &codes);
    memcpy(rows, codes.rows, (size_t)coder->n_groups * sizeof(*rows));
    if (scale < 0.0f) {
        for (int i = 0; i < n / 8; i++)
            signs[i] = (uint8_t)~signs[i];
        return -scale;
    }
    return scale;
}

static void
quantize_block(const struct coder *coder, const float *x,
               const float *importance, struct gb_iq_signed *out)
{
    const struct gb_iq_signed_format *format = coder->format;
    const int n_subs = GB_QK_K / format->sub;
    const float energy = gb_energy(
        GB_QK_K, x, importance != NULL ? format->energy : format->plain_energy);
    float scales[GB_QK_K / 16], largest = 0.0f, d;

    memset(out, 0, sizeof(*out));
    for (int b = 0; b < n_subs; b++) {
        const int at = b * format->sub;

        scales[b] = quantize_sub(coder, b, x + at,
                                 importance != NULL ? importance + at : NULL,
                                 energy, out);
        if (scales[b] > largest)
            largest = scales[b];
    }
    if (!(largest > 0.0f)) {
        memset(out, 0, sizeof(*out));
        return;
    }
    d = largest / (2 * SCALE_TOP + 1);
    out->d = gb_f32_to_finite_f16(d * format->factor);
    for (int b = 0; b < n_subs; b++)
        out->scales[b] = (uint8_t)gb_round(0.5f * (scales[b] / d - 1.0f), 0,
                                           SCALE_TOP);
}

/* Lowers the scale of a packed block that is farther from X than zeros are. */
static void
damp_block(const struct gb_iq_signed_format *format, const float *x,
           const float *importance, struct gb_iq_signed *found, void *block)
{
    float y[GB_QK_K], damping;

    gb_type_get(format->type)->to_float(block, y, GB_QK_K);
    damping = gb_search_damping(GB_QK_K, x, importance, y);
    if (damping == 1.0f)
        return;
    found->d = gb_f32_to_finite_f16(damping * gb_f16_to_f32(found->d));
    format->pack(found, block);
}

void
gb_iq_signed_quantize(const struct gb_iq_signed_format *format, const float *x,
                      void *y, int64_t n, const float *importance)
{
    const size_t bytes = gb_type_get(format->type)->bytes;
    struct coder coder = { .format = format,
                           .map = gb_grid_map(format->type) };
    char *block = y;

    if (coder.map == NULL) {
        memset(y, 0, (size_t)(n / GB_QK_K) * bytes);
        return;
    }
    coder.n_groups = format->sub / coder.map->group;
    coder.top = coder.map->n_levels - 1;
    for (int64_t i = 0; i < n; i += GB_QK_K, block += bytes) {
        const float *w = importance != NULL ? importance + i : NULL;
        struct gb_iq_signed found;

        quantize_block(&coder, x + i, w, &found);
        format->pack(&found, block);
        damp_block(format, x + i, w, &found, block);
    }
}
