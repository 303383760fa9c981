/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

enum { N_HEAD = 2, HEAD = 3, N_TOKENS = 4 };

/* Rows of all heads of a token, sorted by head, as attention wants. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *q = ggml_new_tensor_2d(ctx, GGML_TYPE_F32,
                                               HEAD * N_HEAD, N_TOKENS);
    /* Two views, [HEAD, N_HEAD, N_TOKENS] and [HEAD, N_TOKENS, N_HEAD] */
    struct ggml_tensor *split = ggml_reshape_3d(
        ctx, q, HEAD, N_HEAD, N_TOKENS);
    struct ggml_tensor *heads = ggml_permute(ctx, split, 0, 2, 1, 3);
    /* The second head of all tokens, straight from q. */
    struct ggml_tensor *second = ggml_view_2d(
        ctx, q, HEAD, N_TOKENS, q->nb[1], HEAD * ggml_element_size(q));
    bool is_right = true;

    for (int i = 0; i < HEAD * N_HEAD * N_TOKENS; i++)
        ggml_set_f32_1d(q, i, i);
    for (int t = 0; t < N_TOKENS; t++) {
        const float x = ggml_get_f32_nd(heads, 0, t, 1, 0);

        printf("token %d, head 1, element 0: %g\n", t, x);
        is_right = is_right && x == t * HEAD * N_HEAD + HEAD &&
                   x == ggml_get_f32_nd(second, 0, t, 0, 0);
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
