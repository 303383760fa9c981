/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* A context for the descriptions of N_TENSORS tensors, not their data. */
int
main(void)
{
    enum { N_TENSORS = 3 };
    struct ggml_init_params params = {
        .mem_size = N_TENSORS * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    size_t bytes = 0;
    bool is_full;

    if (ctx == NULL)
        return 1;
    for (int i = 0; i < N_TENSORS; i++)
        bytes += ggml_nbytes(
            ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 4096, 4096));
    is_full = ggml_used_mem(ctx) == ggml_get_mem_size(ctx);
    printf(
        "%zu bytes describe tensors of %zu bytes, the largest has %zu\n",
        ggml_used_mem(ctx), bytes, ggml_get_max_tensor_size(ctx));
    ggml_reset(
        ctx); /* all tensors are gone, the pool can be used again */
    is_full = is_full && ggml_used_mem(ctx) == 0;
    ggml_free(ctx);
    return is_full && bytes == (size_t)N_TENSORS * 4096 * 4096 * 2 ? 0
                                                                   : 1;
}
