/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>

#include <stdio.h>

int
main(void)
{
    const struct ggml_init_params params = { .mem_size = 4096 };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a, *t;
    float by_number, by_indices;

    if (ctx == NULL)
        return 1;
    a = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 3, 2); /* 2 rows of 3 */
    ggml_set_f32(a, 1);
    ggml_set_f32_nd(a, 2, 1, 0, 0, 0.5f);
    t = ggml_transpose(ctx, a); /* the same data, with other strides */

    by_number = ggml_get_f32_1d(a, 5);
    by_indices = ggml_get_f32_nd(t, 1, 2, 0, 0);
    printf("%g and %g, as integer %d\n", by_number, by_indices,
           (int)ggml_get_i32_1d(a, 5));
    ggml_free(ctx);
    return by_number == 0.5f && by_indices == 0.5f ? 0 : 1;
}
