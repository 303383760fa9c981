/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>
#include <gguf.h>

#include <stdio.h>
#include <stdlib.h>

static const char path[] = "example-weights.gguf";

/* A file with one tensor, in place of a model. */
static bool
write_file(void)
{
    static const float data[4] = { 1, 2, 3, 4 };
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    struct gguf_context *gguf = gguf_init_empty();
    struct ggml_context *ctx = ggml_init(params);
    bool is_written = false;

    if (gguf != NULL && ctx != NULL) {
        gguf_add_tensor(gguf, ggml_set_name(ggml_new_tensor_1d(
                                  ctx, GGML_TYPE_F32, 4), "w"));
        gguf_set_tensor_data(gguf, "w", data);
        is_written = gguf_write_to_file(gguf, path, false);
    }
    ggml_free(ctx);
    gguf_free(gguf);
    return is_written;
}

/* Copy tensor number ID of the file into T. */
static bool
load_tensor(FILE *file, const struct gguf_context *gguf, int64_t id,
            struct ggml_tensor *t)
{
    const size_t size = gguf_get_tensor_size(gguf, id);
    const size_t at =
        gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, id);
    void *data = malloc(size > 0 ? size : 1);
    bool is_read;

    /* A file of more than 2 GiB takes fseeko(3) where long is 32 bits. */
    is_read = data != NULL && fseek(file, (long)at, SEEK_SET) == 0 &&
              fread(data, 1, size, file) == size;
    if (is_read)
        ggml_backend_tensor_set(t, data, 0, size);
    free(data);
    return is_read;
}

int
main(void)
{
    struct ggml_context *ctx = NULL;
    const struct gguf_init_params params = {
        .no_alloc = true, .ctx = &ctx,
    };
    ggml_backend_t backend = ggml_backend_init_best();
    struct gguf_context *gguf =
        write_file() ? gguf_init_from_file(path, params) : NULL;
    FILE *file = fopen(path, "rb");
    ggml_backend_buffer_t weights = NULL;
    float last = 0;

    if (backend == NULL || gguf == NULL || file == NULL)
        goto done;
    weights = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (weights == NULL)
        goto done;
    ggml_backend_buffer_set_usage(weights,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    for (int64_t id = 0; id < gguf_get_n_tensors(gguf); id++) {
        const char *name = gguf_get_tensor_name(gguf, id);

        printf("%s: %s, %zu bytes\n", name,
               ggml_type_name(gguf_get_tensor_type(gguf, id)),
               gguf_get_tensor_size(gguf, id));
        if (!load_tensor(file, gguf, id, ggml_get_tensor(ctx, name)))
            goto done;
    }
    ggml_backend_tensor_get(ggml_get_tensor(ctx, "w"), &last,
                            3 * sizeof(float), sizeof(last));
done:
    if (last != 4)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    if (file != NULL)
        fclose(file);
    remove(path);
    gguf_free(gguf);
    ggml_backend_buffer_free(weights);
    ggml_free(ctx);
    ggml_backend_free(backend);
    return last == 4 ? 0 : 1;
}
