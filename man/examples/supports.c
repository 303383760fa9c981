/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggml.h>

#include <stdio.h>

/* Can DEVICE multiply by such a weight in memory of type BUFT? */
static bool
can_multiply(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft,
             enum ggml_type type)
{
    const struct ggml_init_params params = {
        .mem_size = 3 * ggml_tensor_overhead(), .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    /* Without memory: it stands for the place that w would get. */
    ggml_backend_buffer_t place = ggml_backend_buft_alloc_buffer(buft, 0);
    bool can = false;

    if (ctx != NULL && place != NULL) {
        struct ggml_tensor *w = ggml_new_tensor_2d(ctx, type, 4096, 4096);
        struct ggml_tensor *x =
            ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4096, 8);
        struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);

        w->buffer = place;
        can = ggml_backend_dev_supports_op(device, y) &&
              ggml_backend_dev_supports_buft(device, buft);
    }
    ggml_backend_buffer_free(place);
    ggml_free(ctx);
    return can;
}

int
main(void)
{
    ggml_backend_load_all();
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);

        if (can_multiply(device, ggml_backend_dev_buffer_type(device),
                         GGML_TYPE_Q4_K)) {
            printf("weights of type %s go to %s\n",
                   ggml_type_name(GGML_TYPE_Q4_K),
                   ggml_backend_dev_name(device));
            return 0;
        }
    }
    return 1;
}
