/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_ROWS = 4, N_PER_ROW = 256 };

/* Quantise a matrix to Q4_K and read it back. */
int
main(void)
{
    const enum ggml_type type = GGML_TYPE_Q4_K;
    const struct ggml_type_traits *traits = ggml_get_type_traits(type);
    const size_t row_size = ggml_row_size(type, N_PER_ROW);
    float weights[N_ROWS * N_PER_ROW], row[N_PER_ROW];
    char *rows = malloc(N_ROWS * row_size);
    float worst = 0;
    size_t size;

    if (rows == NULL)
        return 1;
    for (int i = 0; i < N_ROWS * N_PER_ROW; i++)
        weights[i] = (float)(i * 37 % 101) / 50 - 1; /* -1 to 1 */
    size = ggml_quantize_chunk(
        type, weights, rows, 0, N_ROWS, N_PER_ROW, NULL);
    for (int i = 0; i < N_ROWS && size > 0; i++) {
        traits->to_float(rows + (size_t)i * row_size, row, N_PER_ROW);
        for (int j = 0; j < N_PER_ROW; j++) {
            const float error = fabsf(row[j] -
                                      weights[i * N_PER_ROW + j]);

            worst = error > worst ? error : worst;
        }
    }
    printf("%zu bytes instead of %zu, largest error %.3f\n", size,
           sizeof(weights), (double)worst);
    size = size == N_ROWS * row_size &&
                   ggml_validate_row_data(type, rows, size)
               ? size
               : 0;
    free(rows);
    ggml_quantize_free();
    return size > 0 && worst < 0.1f ? 0 : 1;
}
