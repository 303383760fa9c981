/* SPDX-License-Identifier: MIT */
/*
 * type/iq-signed.h - what the formats of iq2 and iq3 have in common: signs, and
 * magnitudes that are rows of a grid.
 *
 * A magnitude's level L stands for 2 L + 1 times the scale of its sub-block,
 * and that is 2 s + 1 times the scale of the block, 0 <= s < 16.
 */
#ifndef GB_TYPE_IQ_SIGNED_H
#define GB_TYPE_IQ_SIGNED_H

#include "lib/type/blocks.h"

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/* A block of 256 values before its bits are put where its format has them. */
struct gb_iq_signed {
    uint16_t d;         /* half */
    uint8_t scales[16]; /* s of each sub-block */
    uint16_t rows[64];  /* of each group of four or eight values */
    uint8_t signs[32];  /* of eight values each, bit set for negative */
};

/* Which groups are coded again with the scale that was found. */
enum gb_iq_again {
    GB_IQ_AGAIN_MOVED,    /* those whose levels were no row */
    GB_IQ_AGAIN_IF_MOVED, /* all, if there were such */
    GB_IQ_AGAIN_ALWAYS,   /* all */
};

struct gb_iq_signed_format {
    enum ggml_type type;
    int sub;              /* values in a sub-block: 16 or 32 */
    bool has_even_signs;  /* of eight; the last one is not stored */
    bool is_coarse_first; /* a coarse search says what to try */
    enum gb_iq_again again;
    float step;         /* candidates: (2 top + 1 + step * k) / largest value */
    int last;           /* k = -last … last */
    float energy;       /* how many times the mean square joins the weights */
    float plain_energy; /* and those without importance */
    float least;        /* a sub-block below it is empty */
    float factor;       /* on the block's scale when it is stored */
    void (*pack)(const struct gb_iq_signed *found, void *block);
};

/* As in format.h; without memory for the grid's map all values are zero. */
void gb_iq_signed_quantize(const struct gb_iq_signed_format *format,
                           const float *x, void *y, int64_t n,
                           const float *importance);

#endif
