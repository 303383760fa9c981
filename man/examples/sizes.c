/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

static void
show(const char *what, const struct ggml_tensor *t)
{
    printf(
        "%-14s %d dimensions, %5lld elements in %3lld rows, %5zu bytes\n",
        what, ggml_n_dims(t), (long long)ggml_nelements(t),
        (long long)ggml_nrows(t), ggml_nbytes(t));
}

int
main(void)
{
    struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *a = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, 64, 10);
    struct ggml_tensor *q = ggml_new_tensor_2d(
        ctx, GGML_TYPE_Q8_0, 64, 10);
    /* The first 16 columns: gaps lie between the rows. */
    struct ggml_tensor *left = ggml_view_2d(ctx, a, 16, 10, a->nb[1], 0);
    bool is_right;

    show("f32", a);
    show("q8_0", q); /* 34 bytes for a block of 32 */
    show("16 columns", left);
    is_right = ggml_nbytes(a) == 64 * 10 * 4 &&
               ggml_nbytes(q) == 64 / 32 * 34 * 10 &&
               ggml_nbytes(left) == 9 * a->nb[1] + 16 * sizeof(float);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
