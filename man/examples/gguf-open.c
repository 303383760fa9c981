/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <ggmlbackend.h>
#include <gguf.h>

#include <stdio.h>

static const char path[] = "example-open.gguf";

/* A file with one key and one tensor of two values. */
static bool
write_file(void)
{
    struct gguf_context *gguf = gguf_init_empty();
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead(), .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    const float data[2] = { 0.5f, 0.25f };
    bool is_written = false;

    if (gguf != NULL && ctx != NULL) {
        struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);

        ggml_set_name(t, "bias");
        gguf_set_val_str(gguf, "general.architecture", "example");
        gguf_add_tensor(gguf, t);
        gguf_set_tensor_data(gguf, "bias", data);
        is_written = gguf_write_to_file(gguf, path, false);
    }
    ggml_free(ctx);
    gguf_free(gguf);
    return is_written;
}

int
main(void)
{
    struct ggml_context *tensors = NULL;
    const struct gguf_init_params params = {
        .no_alloc = false, .ctx = &tensors,
    };
    struct gguf_context *gguf = NULL;
    struct ggml_tensor *bias;
    float second = 0;

    if (write_file())
        gguf = gguf_init_from_file(path, params);
    if (gguf == NULL) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        return 1;
    }
    bias = ggml_get_tensor(tensors, "bias");
    if (bias != NULL)
        second = ggml_get_data_f32(bias)[1];
    printf("version %u, alignment %zu, bias[1] = %g\n",
           gguf_get_version(gguf), gguf_get_alignment(gguf), second);
    gguf_free(gguf);
    ggml_free(tensors);
    remove(path);
    return second == 0.25f ? 0 : 1;
}
