/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* T as a vector; a copy is made only where the elements do not lie in order. */
static struct ggml_tensor *flatten(
    struct ggml_context *ctx, struct ggml_tensor *t)
{
    if (!ggml_is_contiguous(t))
        t = ggml_cont(ctx, t);
    return ggml_reshape_1d(ctx, t, ggml_nelements(t));
}

int main(void)
{
    struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *bias = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *turned = ggml_transpose(ctx, a);
    bool is_right;

    printf("transposed: %d, contiguous: %d\n", ggml_is_transposed(turned),
           ggml_is_contiguous(turned));
    printf("bias fits rows of 3: %d, of 2: %d\n", ggml_can_repeat(bias, a),
           ggml_can_repeat(bias, turned));
    is_right = ggml_is_vector(flatten(ctx, turned)) &&
               flatten(ctx, a)->view_src == a &&
               flatten(ctx, turned)->view_src != a &&
               ggml_can_repeat(bias, a) && !ggml_can_repeat(bias, turned);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
