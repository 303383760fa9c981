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
    const float matrix[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    float row[3] = { 0 }, again[3] = { 0 };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *a;
    bool is_right = false;

    if (ctx == NULL || backend == NULL)
        goto done;
    a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    ggml_set_name(a, "a");
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;

    /* Blocking: matrix may be changed at once, row is there at once. */
    ggml_backend_tensor_set(a, matrix, 0, sizeof(matrix));
    ggml_backend_tensor_get(a, row, a->nb[1], sizeof(row));

    /* Queued: again is there when the backend is done. */
    ggml_backend_tensor_get_async(backend, a, again, a->nb[1],
                                  sizeof(again));
    ggml_backend_synchronize(backend);
    printf("%g %g %g, %g %g %g\n", row[0], row[1], row[2], again[0],
           again[1], again[2]);

    /* One row more than there is: nothing is written. */
    ggmlbackend_clear_failure();
    ggml_backend_tensor_set(a, matrix, a->nb[1], sizeof(matrix));
    printf("refused: %s\n", ggmlbackend_last_failure());
    is_right = row[0] == 4 && again[2] == 6 &&
               ggmlbackend_last_failure()[0] != '\0';
done:
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
