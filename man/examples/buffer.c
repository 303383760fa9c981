/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_cpu_buffer_type(), 1024);
    float values[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct ggml_tensor *w;
    struct ggml_tallocr talloc;
    int n_zeros = 0;

    if (ctx == NULL || buffer == NULL)
        goto done;
    ggml_backend_buffer_set_usage(buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_clear(buffer, 0);

    w = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    talloc = ggml_tallocr_new(buffer);
    if (ggml_tallocr_alloc(&talloc, w) != GGML_STATUS_SUCCESS)
        goto done;
    ggml_backend_tensor_get(w, values, 0, sizeof(values));
    for (int i = 0; i < 8; i++)
        n_zeros += values[i] == 0.0f;
    printf("%d zeros at %p, in %zu bytes of %s\n", n_zeros, w->data,
           ggml_backend_buffer_get_size(buffer),
           ggml_backend_buffer_name(buffer));
done:
    if (n_zeros != 8)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    return n_zeros == 8 ? 0 : 1;
}
