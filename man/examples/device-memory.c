/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>
#include <string.h>

/* As if it were a mapped file. */
static _Alignas(64) float weights[16] = { 3, 1, 4, 1, 5, 9, 2, 6 };

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    ggml_backend_dev_t device = ggml_backend_dev_get(0);
    struct ggml_backend_dev_props props;
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_buffer_t buffer = NULL;
    float back[16] = { 0 };
    struct ggml_tensor *w;
    bool is_right = false;

    if (ctx == NULL)
        return 1;
    w = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    ggml_backend_dev_get_props(device, &props);
    if (props.caps.buffer_from_host_ptr)
        buffer = ggml_backend_dev_buffer_from_host_ptr(
            device, weights, sizeof(weights), sizeof(weights));
    if (buffer != NULL) {
        if (ggml_backend_tensor_alloc(buffer, w, weights) !=
            GGML_STATUS_SUCCESS)
            goto done;
        printf("%s uses the weights where they are\n", props.name);
    } else {
        buffer = ggml_backend_alloc_ctx_tensors_from_buft(
            ctx, ggml_backend_dev_buffer_type(device));
        if (buffer == NULL)
            goto done;
        ggml_backend_tensor_set(w, weights, 0, sizeof(weights));
        printf("%s has a copy of the weights\n", props.name);
    }
    ggml_backend_buffer_set_usage(buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_tensor_get(w, back, 0, sizeof(back));
    is_right = memcmp(back, weights, sizeof(back)) == 0;
done:
    if (!is_right)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
