/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* Name the tensors of a small model, find one, and list them all. */
int
main(void)
{
    enum { N_LAYERS = 2 };
    struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *ctx = ggml_init(params);
    int64_t n_weights = 0;
    bool is_found;

    ggml_set_name(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 64, 1000),
                  "token_embd.weight");
    for (int i = 0; i < N_LAYERS; i++)
        ggml_format_name(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 64, 64),
                         "blk.%d.attn_q.weight", i);
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t)) {
        printf("%-20s %lld x %lld\n", ggml_get_name(t),
               (long long)t->ne[0], (long long)t->ne[1]);
        n_weights += ggml_nelements(t);
    }
    is_found = ggml_get_tensor(ctx, "blk.1.attn_q.weight") != NULL &&
               ggml_get_tensor(ctx, "blk.2.attn_q.weight") == NULL;
    ggml_free(ctx);
    return is_found && n_weights == 64 * (1000 + N_LAYERS * 64) ? 0 : 1;
}
