/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <gguf.h>
#include <stdio.h>
#include <string.h>

static const unsigned char expected[] = {
    'G', 'G', 'U', 'F',     3, 0, 0, 0,             /* magic, version */
    1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, /* tensors, keys */
    6, 0, 0, 0, 0, 0, 0, 0, 'a', 'n', 's', 'w', 'e', 'r',
    4, 0, 0, 0,             42, 0, 0, 0,            /* a uint32, 42 */
    1, 0, 0, 0, 0, 0, 0, 0, 'x',                    /* a tensor's name */
    1, 0, 0, 0,             2, 0, 0, 0, 0, 0, 0, 0, /* one size, 2 */
    0, 0, 0, 0,             0, 0, 0, 0, 0, 0, 0, 0, /* type f32, offset */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 /* up to 96 bytes */
};

int
main(void)
{
    struct ggml_init_params params = { .mem_size = 4096 };
    struct ggml_context *ctx = ggml_init(params);
    struct gguf_context *file = gguf_init_empty();
    unsigned char bytes[sizeof(expected)];
    int status = 1;

    if (ctx != NULL && file != NULL) {
        struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);

        ggml_set_name(x, "x");
        gguf_set_val_u32(file, "answer", 42);
        gguf_add_tensor(file, x);
        if (gguf_get_meta_size(file) == sizeof(bytes)) {
            gguf_get_meta_data(file, bytes);
            if (memcmp(bytes, expected, sizeof(bytes)) == 0)
                status = 0;
        }
    }
    puts(status == 0 ? "the bytes are as expected" : "other bytes");
    gguf_free(file);
    ggml_free(ctx);
    return status;
}
