/* SPDX-License-Identifier: MIT */
#include <gguf.h>

#include <stdio.h>
#include <string.h>

int
main(void)
{
    const int32_t dims[3] = { 64, 64, 32 };
    const char *tags[2] = { "text-generation", "en" };
    struct gguf_context *model = gguf_init_empty();
    struct gguf_context *copy = gguf_init_empty();
    bool is_right = false;

    if (model == NULL || copy == NULL)
        goto done;
    /* In place of a file's keys. */
    gguf_set_val_str(model, "general.name", "a model");
    gguf_set_val_u32(model, "example.context_length", 2048);
    gguf_set_arr_data(model, "example.dims", GGUF_TYPE_INT32, dims, 3);
    gguf_set_arr_str(model, "general.tags", tags, 2);

    gguf_set_kv(copy, model);
    gguf_set_val_str(copy, "general.name", "another model");
    gguf_remove_key(copy, "example.dims");

    for (int64_t id = 0; id < gguf_get_n_kv(copy); id++)
        printf("%s\n", gguf_get_key(copy, id));
    /* What is set again comes last. */
    is_right = gguf_get_n_kv(copy) == 3 &&
               gguf_find_key(copy, "general.name") == 2 &&
               gguf_find_key(copy, "example.dims") == -1 &&
               strcmp(gguf_get_val_str(copy, 2), "another model") == 0;
done:
    gguf_free(copy);
    gguf_free(model);
    return is_right ? 0 : 1;
}
