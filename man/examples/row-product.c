/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>

#include <stdint.h>
#include <stdio.h>

enum { N = 64 };

int
main(void)
{
    const struct ggml_type_traits_cpu *weights =
        ggml_get_type_traits_cpu(GGML_TYPE_Q8_0);
    const struct ggml_type_traits_cpu *partner =
        ggml_get_type_traits_cpu(weights->vec_dot_type);
    float w[N], x[N], product = 0, exact = 0;
    /* Room for a row of either type, which is never larger than floats. */
    _Alignas(16) uint8_t w_row[N * sizeof(float)];
    _Alignas(16) uint8_t x_row[N * sizeof(float)];

    for (int i = 0; i < N; i++) {
        w[i] = (float)(i % 13 - 6) / 6;
        x[i] = (float)(i % 7) / 3;
        exact += w[i] * x[i];
    }
    if (weights->from_float == NULL || weights->vec_dot == NULL ||
        ggml_row_size(GGML_TYPE_Q8_0, N) > sizeof(w_row) ||
        ggml_row_size(weights->vec_dot_type, N) > sizeof(x_row))
        return 1;
    weights->from_float(w, w_row, N);
    partner->from_float(x, x_row, N);
    weights->vec_dot(N, &product, 0, w_row, 0, x_row, 0, 1);
    printf("%g, without rounding %g\n", product, exact);
    /* Of values up to 1 and 2, each rounded to steps of 1/127. */
    return product - exact < 0.5f && exact - product < 0.5f ? 0 : 1;
}
