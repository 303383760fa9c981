/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

enum { N_PIECES = 8, N_VALUES = 256 };

int
main(void)
{
    static float stage[2][N_VALUES], back[N_PIECES * N_VALUES];
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_backend_dev_t device = ggml_backend_get_device(backend);
    /* NULL on a device without events. */
    ggml_backend_event_t read[2] = {
        ggml_backend_event_new(device), ggml_backend_event_new(device)
    };
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *t;
    int n_right = 0;

    if (ctx == NULL || backend == NULL)
        goto done;
    t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_PIECES * N_VALUES);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;

    for (int i = 0; i < N_PIECES; i++) {
        const int half = i % 2;

        /* Not to be written before the copy two rounds ago has read it. */
        if (read[half] != NULL)
            ggml_backend_event_synchronize(read[half]);
        else
            ggml_backend_synchronize(backend);
        for (int k = 0; k < N_VALUES; k++)
            stage[half][k] = (float)(i * N_VALUES + k);
        ggml_backend_tensor_set_async(backend, t, stage[half],
                                      (size_t)i * sizeof(stage[half]),
                                      sizeof(stage[half]));
        if (read[half] != NULL)
            ggml_backend_event_record(read[half], backend);
    }
    ggml_backend_synchronize(backend);
    ggml_backend_tensor_get(t, back, 0, sizeof(back));
    for (int i = 0; i < N_PIECES * N_VALUES; i++)
        n_right += back[i] == (float)i;
    printf("%d of %d values arrived\n", n_right, N_PIECES * N_VALUES);
done:
    ggml_backend_event_free(read[0]);
    ggml_backend_event_free(read[1]);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return n_right == N_PIECES * N_VALUES ? 0 : 1;
}
