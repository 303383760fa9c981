/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggml.h>

#include <stdio.h>

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *w;
    int n_bad = 0;

    if (ctx == NULL)
        return 1;
    w = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_K, 4096, 4096);

    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_buffer_type_t buft =
            ggml_backend_dev_buffer_type(ggml_backend_dev_get(i));
        size_t bytes;

        if (buft == NULL)
            continue;
        bytes = ggml_backend_buft_get_alloc_size(buft, w);
        printf("%s: %s, alignment %zu, the tensor takes %zu bytes\n",
               ggml_backend_buft_name(buft),
               ggml_backend_buft_is_host(buft) ? "host" : "device",
               ggml_backend_buft_get_alignment(buft), bytes);
        if (bytes > ggml_backend_buft_get_max_size(buft))
            printf("  which no buffer there can hold\n");
        n_bad += bytes < ggml_nbytes(w);
    }
    ggml_free(ctx);
    return n_bad == 0 ? 0 : 1;
}
