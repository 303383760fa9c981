/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* Where in a matrix is the largest element? */
int
main(void)
{
    struct ggml_init_params params = { 1 << 16, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 3);
    float *x = ggml_get_data_f32(ggml_set_zero(a));
    int64_t column = -1, row = -1, best = 0;

    if (x != NULL) {
        x[1 * 4 + 2] = 5; /* row 1, column 2 */
        for (int64_t i = 1; i < ggml_nelements(a); i++)
            best = x[i] > x[best] ? i : best;
        ggml_unravel_index(a, best, &column, &row, NULL, NULL);
        printf("%g in column %lld, row %lld\n", (double)x[best],
               (long long)column, (long long)row);
    }
    ggml_free(ctx);
    return column == 2 && row == 1 ? 0 : 1;
}
