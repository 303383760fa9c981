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
        .mem_size = 4 * ggml_tensor_overhead(), .no_alloc = true,
    };
    const float row[4] = { 5, 6, 7, 8 };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_cpu_buffer_type(), 64);
    struct ggml_tensor *a, *b, *second, *c;
    struct ggml_tallocr talloc;
    float value = 0;
    bool is_right = false;

    if (ctx == NULL || buffer == NULL)
        goto done;
    a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 2); /* 32 bytes */
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);    /* 16, made 32 */
    second = ggml_view_1d(ctx, a, 4, 4 * sizeof(float));
    c = ggml_set_name(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1), "c");

    talloc = ggml_tallocr_new(buffer);
    if (ggml_tallocr_alloc(&talloc, a) != GGML_STATUS_SUCCESS ||
        ggml_tallocr_alloc(&talloc, b) != GGML_STATUS_SUCCESS ||
        ggml_backend_view_init(second) != GGML_STATUS_SUCCESS)
        goto done;
    if (ggml_tallocr_alloc(&talloc, c) != GGML_STATUS_ALLOC_FAILED)
        goto done;
    printf("%s\n", ggmlbackend_last_failure());

    /* What is written through the view is in the tensor. */
    ggml_backend_tensor_set(second, row, 0, sizeof(row));
    ggml_backend_tensor_get(a, &value, 7 * sizeof(float), sizeof(value));
    is_right = value == 8;
    printf("the last element of a is %g\n", value);
done:
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
