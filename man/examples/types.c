/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* Bytes of a row of 4096 weights in each type that quantises them. */
int
main(void)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;

        if (!ggml_is_quantized(type)) /* numbers without a type are not */
            continue;
        printf("%-8s %6zu bytes, blocks of %3lld in %3zu bytes\n",
               ggml_type_name(type), ggml_row_size(type, 4096),
               (long long)ggml_blck_size(type), ggml_type_size(type));
    }
    return ggml_row_size(GGML_TYPE_Q4_0, 4096) == 4096 / 32 * 18 ? 0 : 1;
}
