/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* T as a vector; a copy is made where the elements are not in order. */
static struct ggml_tensor *
flatten(struct ggml_context *ctx, struct ggml_tensor *t)
{
    if (!ggml_is_contiguous(t))
        t = ggml_cont(ctx, t);
    return ggml_reshape_1d(ctx, t, ggml_nelements(t));
}

int
main(void)
{
    struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *bias = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *transposed = ggml_transpose(ctx, a);
    bool is_right;

    printf("transposed: %d, contiguous: %d\n",
           ggml_is_transposed(transposed),
           ggml_is_contiguous(transposed));
    printf("bias fits rows of 3: %d, of 2: %d\n",
           ggml_can_repeat(bias, a), ggml_can_repeat(bias, transposed));
    is_right = ggml_is_vector(flatten(ctx, transposed)) &&
               flatten(ctx, a)->view_src == a &&
               flatten(ctx, transposed)->view_src != a &&
               ggml_can_repeat(bias, a) &&
               !ggml_can_repeat(bias, transposed);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
