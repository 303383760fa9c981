/* SPDX-License-Identifier: MIT */
/*
 * type/q8k.c - activations for products with the formats of 256.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/search.h"

#include <string.h>

void
gb_q8_k_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_k *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float largest = gb_search_largest(GB_QK_K, x);
        float inverse;
        int16_t sums[GB_QK_K / 16] = { 0 };

        memset(block, 0, sizeof(*block));
        if (largest == 0.0f)
            continue;
        inverse = -127.0f / largest;
        block->d = 1.0f / inverse;
        gb_le_bytes(&block->d, sizeof(block->d), sizeof(block->d));
        for (int e = 0; e < GB_QK_K; e++) {
            const int code = gb_round(inverse * x[e], -127, 127);

            block->qs[e] = (int8_t)code;
            sums[e / 16] = (int16_t)(sums[e / 16] + code);
        }
        gb_le_bytes(sums, sizeof(sums[0]), sizeof(sums));
        memcpy(block->bsums, sums, sizeof(sums));
    }
}
