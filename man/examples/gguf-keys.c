/* SPDX-License-Identifier: MIT */
#include <gguf.h>

#include <stdio.h>

/* The u32 called KEY, or OTHERWISE if there is no such one. */
static uint32_t
get_u32(const struct gguf_context *gguf, const char *key,
        uint32_t otherwise)
{
    const int64_t id = gguf_find_key(gguf, key);

    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_UINT32)
        return otherwise;
    return gguf_get_val_u32(gguf, id);
}

static void
print_key(const struct gguf_context *gguf, int64_t id)
{
    const enum gguf_type type = gguf_get_kv_type(gguf, id);

    printf("%s (%s)", gguf_get_key(gguf, id), gguf_type_name(type));
    if (type == GGUF_TYPE_STRING)
        printf(" = %s", gguf_get_val_str(gguf, id));
    else if (type == GGUF_TYPE_UINT32)
        printf(" = %u", gguf_get_val_u32(gguf, id));
    else if (type == GGUF_TYPE_FLOAT32)
        printf(" = %g", gguf_get_val_f32(gguf, id));
    printf("\n");
}

int
main(void)
{
    /* Stands for the context of a file. */
    struct gguf_context *gguf = gguf_init_empty();
    uint32_t n_layers, n_experts;

    if (gguf == NULL)
        return 1;
    gguf_set_val_str(gguf, "general.architecture", "llama");
    gguf_set_val_u32(gguf, "llama.block_count", 32);
    gguf_set_val_f32(gguf, "llama.rope.freq_base", 10000.0f);

    for (int64_t id = 0; id < gguf_get_n_kv(gguf); id++)
        print_key(gguf, id);
    n_layers = get_u32(gguf, "llama.block_count", 0);
    n_experts = get_u32(gguf, "llama.expert_count", 1);
    printf("%u layers, %u experts\n", n_layers, n_experts);
    gguf_free(gguf);
    return n_layers == 32 && n_experts == 1 ? 0 : 1;
}
