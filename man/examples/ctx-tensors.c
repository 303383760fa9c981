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
        .mem_size = 3 * ggml_tensor_overhead(), /* descriptions alone */
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_backend_buffer_t buffer = NULL;
    bool has_place = false;
    struct ggml_tensor *w, *bias, *last;

    if (ctx == NULL || backend == NULL)
        goto done;
    w = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 64, 10);
    bias = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 10);
    last = ggml_view_1d(ctx, w, 64, 9 * w->nb[1]);

    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;
    ggml_backend_buffer_set_usage(buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_tensor_memset(w, 0, 0, ggml_nbytes(w));
    ggml_backend_tensor_memset(bias, 0, 0, ggml_nbytes(bias));
    has_place = last->buffer == buffer;
    printf("%zu and %zu bytes of data in a buffer of %zu, the view %s\n",
           ggml_nbytes(w), ggml_nbytes(bias),
           ggml_backend_buffer_get_size(buffer),
           has_place ? "too" : "not");
done:
    if (!has_place)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return has_place ? 0 : 1;
}
