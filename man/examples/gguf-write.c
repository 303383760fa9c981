/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <ggmlbackend.h>
#include <gguf.h>

#include <stdio.h>

static const char path[] = "example-write.gguf";

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = ggml_tensor_overhead() + 1024, /* data included */
    };
    const struct gguf_init_params keys_only = { .no_alloc = true };
    struct ggml_context *ctx = ggml_init(params);
    struct gguf_context *gguf = gguf_init_empty(), *again = NULL;
    struct ggml_tensor *t;
    size_t size = 0;

    if (ctx == NULL || gguf == NULL)
        goto done;
    t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 16, 4);
    ggml_set_name(t, "blk.0.weight");
    ggml_set_zero(t);

    gguf_set_val_str(gguf, "general.architecture", "example");
    gguf_add_tensor(gguf, t);
    if (!gguf_write_to_file(gguf, path, false))
        goto done;

    again = gguf_init_from_file(path, keys_only);
    if (again == NULL)
        goto done;
    size = gguf_get_tensor_size(
        again, gguf_find_tensor(again, "blk.0.weight"));
    printf("%zu bytes of keys and descriptions, %zu of data\n",
           gguf_get_meta_size(again), size);
done:
    if (size == 0)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    remove(path);
    gguf_free(again);
    gguf_free(gguf);
    ggml_free(ctx);
    return size == 16 * 4 * sizeof(float) ? 0 : 1;
}
