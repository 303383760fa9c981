/* SPDX-License-Identifier: MIT */
/*
 * gguf/context.c - the context: its keys and its tensors' entries.
 */
#include "config.h"

#include "lib/gguf/context.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/tensor/shape.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[GGUF_TYPE_COUNT] = {
    [GGUF_TYPE_UINT8] = { "u8", 1 },    [GGUF_TYPE_INT8] = { "i8", 1 },
    [GGUF_TYPE_UINT16] = { "u16", 2 },  [GGUF_TYPE_INT16] = { "i16", 2 },
    [GGUF_TYPE_UINT32] = { "u32", 4 },  [GGUF_TYPE_INT32] = { "i32", 4 },
    [GGUF_TYPE_FLOAT32] = { "f32", 4 }, [GGUF_TYPE_BOOL] = { "bool", 1 },
    [GGUF_TYPE_STRING] = { "str", 0 },  [GGUF_TYPE_ARRAY] = { "arr", 0 },
    [GGUF_TYPE_UINT64] = { "u64", 8 },  [GGUF_TYPE_INT64] = { "i64", 8 },
    [GGUF_TYPE_FLOAT64] = { "f64", 8 },
};

size_t
gb_gguf_type_size(enum gguf_type type)
{
    return (unsigned)type < GGUF_TYPE_COUNT ? types[type].size : 0;
}

const char *
gb_gguf_quote(char out[GB_GGUF_QUOTE], const char *text, size_t n)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool plain = c >= 0x20 && c < 0x7f && c != '\\';

        if (used + 8 > GB_GGUF_QUOTE) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        used += (size_t)snprintf(out + used, GB_GGUF_QUOTE - used,
                                 plain ? "%c" : "\\x%02x", c);
    }
    out[used] = '\0';
    return out;
}

void
gb_gguf_pair_clear(struct gb_gguf_pair *pair)
{
    gb_mem_free(pair->key);
    gb_mem_free(pair->data);
    gb_mem_free(pair->strings);
    memset(pair, 0, sizeof(*pair));
}

static const char *
key_of(const void *owner, size_t i)
{
    return ((const struct gguf_context *)owner)->pairs[i].key;
}

static const char *
name_of(const void *owner, size_t i)
{
    return ((const struct gguf_context *)owner)->tensors[i].tensor.name;
}

/* Room for one more element of SIZE bytes behind N. */
static bool
make_room(void **array, size_t n, size_t *room, size_t size)
{
    const size_t wanted = *room < 16 ? 16 : *room + *room / 2;
    void *grown;

    if (n < *room)
        return true;
    grown = gb_mem_realloc(*array, wanted, size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

bool
gb_gguf_pair_add(struct gguf_context *ctx, const struct gb_gguf_pair *pair)
{
    void *array = ctx->pairs;

    if (!make_room(&array, ctx->n_pairs, &ctx->pairs_room, sizeof(*pair)))
        return false;
    ctx->pairs = array;
    ctx->pairs[ctx->n_pairs] = *pair;
    if (!gb_gguf_index_add(&ctx->keys, key_of, ctx, ctx->n_pairs))
        return false;
    ctx->n_pairs++;
    return true;
}

void
gb_gguf_pair_remove(struct gguf_context *ctx, size_t id)
{
    gb_gguf_pair_clear(&ctx->pairs[id]);
    ctx->n_pairs--;
    memmove(ctx->pairs + id, ctx->pairs + id + 1,
            (ctx->n_pairs - id) * sizeof(*ctx->pairs));
    gb_gguf_index_rebuild(&ctx->keys, key_of, ctx, ctx->n_pairs);
}

bool
gb_gguf_tensor_add(struct gguf_context *ctx, const struct gb_gguf_tensor *tensor)
{
    void *array = ctx->tensors;

    if (!make_room(&array, ctx->n_tensors, &ctx->tensors_room, sizeof(*tensor)))
        return false;
    ctx->tensors = array;
    ctx->tensors[ctx->n_tensors] = *tensor;
    if (!gb_gguf_index_add(&ctx->names, name_of, ctx, ctx->n_tensors))
        return false;
    ctx->n_tensors++;
    return true;
}

bool
gb_gguf_pad(const struct gguf_context *ctx, size_t size, size_t *out)
{
    return gb_pad_size(size, ctx->alignment, out);
}

bool
gb_gguf_place(struct gguf_context *ctx, size_t first)
{
    size_t end = 0;

    /* Twice the same walk: first to see that it fits, then to write it down. */
    for (int pass = 0; pass < 2; pass++) {
        end = first > 0 ? ctx->tensors[first - 1].offset : 0;
        for (size_t i = first > 0 ? first - 1 : 0; i < ctx->n_tensors; i++) {
            size_t padded;

            if (pass == 1)
                ctx->tensors[i].offset = end;
            if (!gb_gguf_pad(ctx, ggml_nbytes(&ctx->tensors[i].tensor),
                             &padded) ||
                !gb_add_size(end, padded, &end))
                return false;
        }
    }
    ctx->data_size = end;
    return true;
}

bool
gb_gguf_align(struct gguf_context *ctx, size_t alignment)
{
    const size_t before = ctx->alignment;

    ctx->alignment = alignment;
    if (gb_gguf_place(ctx, 0))
        return true;
    ctx->alignment = before;
    return false;
}

bool
gb_gguf_is_alignment(const struct gb_gguf_pair *pair, size_t *out)
{
    uint32_t value;

    if (pair->type != GGUF_TYPE_UINT32 || pair->is_array)
        return false;
    memcpy(&value, pair->data, sizeof(value));
    if (value == 0 || (value & (value - 1)) != 0)
        return false;
    *out = value;
    return true;
}

const struct gb_gguf_pair *
gb_gguf_pair_at(const struct gguf_context *ctx, int64_t id)
{
    GB_NEED_OR(NULL, ctx != NULL, "gguf: no context");
    GB_NEED_OR(NULL, id >= 0 && (uint64_t)id < ctx->n_pairs,
               "gguf: key %lld of %zu", (long long)id, ctx->n_pairs);
    return &ctx->pairs[id];
}

const struct gb_gguf_tensor *
gb_gguf_tensor_at(const struct gguf_context *ctx, int64_t id)
{
    GB_NEED_OR(NULL, ctx != NULL, "gguf: no context");
    GB_NEED_OR(NULL, id >= 0 && (uint64_t)id < ctx->n_tensors,
               "gguf: tensor %lld of %zu", (long long)id, ctx->n_tensors);
    return &ctx->tensors[id];
}

struct gguf_context *
gguf_init_empty(void)
{
    struct gguf_context *ctx = gb_mem_zalloc(1, sizeof(*ctx));

    if (ctx == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "gguf: no memory for a context");
        return NULL;
    }
    ctx->version = GGUF_VERSION;
    ctx->alignment = GGUF_DEFAULT_ALIGNMENT;
    return ctx;
}

void
gguf_free(struct gguf_context *ctx)
{
    if (ctx == NULL)
        return;
    for (size_t i = 0; i < ctx->n_pairs; i++)
        gb_gguf_pair_clear(&ctx->pairs[i]);
    gb_mem_free(ctx->pairs);
    gb_mem_free(ctx->tensors);
    gb_gguf_index_clear(&ctx->keys);
    gb_gguf_index_clear(&ctx->names);
    gb_mem_free(ctx);
}

const char *
gguf_type_name(enum gguf_type type)
{
    return (unsigned)type < GGUF_TYPE_COUNT ? types[type].name : NULL;
}

uint32_t
gguf_get_version(const struct gguf_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    return ctx->version;
}

size_t
gguf_get_alignment(const struct gguf_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    return ctx->alignment;
}

size_t
gguf_get_data_offset(const struct gguf_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    return ctx->data_offset;
}

int64_t
gguf_get_n_kv(const struct gguf_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    return (int64_t)ctx->n_pairs;
}

int64_t
gguf_find_key(const struct gguf_context *ctx, const char *key)
{
    GB_NEED_OR(-1, ctx != NULL && key != NULL, "gguf: no context or no key");
    return gb_gguf_index_find(&ctx->keys, key_of, ctx, key);
}

int64_t
gguf_remove_key(struct gguf_context *ctx, const char *key)
{
    const int64_t id = gguf_find_key(ctx, key);
    bool is_alignment;

    if (id < 0)
        return -1;
    /* KEY may be the pair's own. */
    is_alignment = strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) == 0;
    gb_gguf_pair_remove(ctx, (size_t)id);
    if (is_alignment && !gb_gguf_align(ctx, GGUF_DEFAULT_ALIGNMENT)) {
        ctx->alignment = GGUF_DEFAULT_ALIGNMENT;
        gb_fail(GGML_STATUS_FAILED, "gguf: the tensors' sizes overflow");
        ctx->is_incomplete = true;
    }
    return id;
}

int64_t
gguf_get_n_tensors(const struct gguf_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    return (int64_t)ctx->n_tensors;
}

int64_t
gguf_find_tensor(const struct gguf_context *ctx, const char *name)
{
    GB_NEED_OR(-1, ctx != NULL && name != NULL, "gguf: no context or no name");
    return gb_gguf_index_find(&ctx->names, name_of, ctx, name);
}

size_t
gguf_get_tensor_offset(const struct gguf_context *ctx, int64_t tensor_id)
{
    const struct gb_gguf_tensor *entry = gb_gguf_tensor_at(ctx, tensor_id);

    return entry != NULL ? entry->offset : 0;
}

const char *
gguf_get_tensor_name(const struct gguf_context *ctx, int64_t tensor_id)
{
    const struct gb_gguf_tensor *entry = gb_gguf_tensor_at(ctx, tensor_id);

    return entry != NULL ? entry->tensor.name : NULL;
}

enum ggml_type
gguf_get_tensor_type(const struct gguf_context *ctx, int64_t tensor_id)
{
    const struct gb_gguf_tensor *entry = gb_gguf_tensor_at(ctx, tensor_id);

    return entry != NULL ? entry->tensor.type : GGML_TYPE_COUNT;
}

size_t
gguf_get_tensor_size(const struct gguf_context *ctx, int64_t tensor_id)
{
    const struct gb_gguf_tensor *entry = gb_gguf_tensor_at(ctx, tensor_id);

    return entry != NULL ? ggml_nbytes(&entry->tensor) : 0;
}

void
gguf_add_tensor(struct gguf_context *ctx, const struct ggml_tensor *tensor)
{
    struct gb_gguf_tensor entry;
    char quoted[GB_GGUF_QUOTE];
    size_t end, bytes;

    GB_NEED_VOID(ctx != NULL && tensor != NULL, "gguf: no context or no tensor");
    GB_NEED_VOID(gguf_find_tensor(ctx, tensor->name) < 0,
                 "gguf: tensor '%s' is there already",
                 gb_gguf_quote(quoted, tensor->name, strlen(tensor->name)));
    entry.tensor = *tensor;
    entry.offset = ctx->data_size;
    if (!gb_gguf_pad(ctx, ggml_nbytes(tensor), &bytes) ||
        !gb_add_size(ctx->data_size, bytes, &end)) {
        ctx->is_incomplete = true;
        gb_precondition("gguf: the tensors' sizes overflow");
        return;
    }
    if (!gb_gguf_tensor_add(ctx, &entry)) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "gguf: no memory for a tensor");
        ctx->is_incomplete = true;
        return;
    }
    ctx->data_size = end;
}

void
gguf_set_tensor_type(struct gguf_context *ctx, const char *name,
                     enum ggml_type type)
{
    const int64_t id = gguf_find_tensor(ctx, name);
    struct ggml_tensor *tensor;
    struct ggml_tensor before;
    size_t bytes;

    if (ctx == NULL || name == NULL)
        return;
    GB_NEED_VOID(id >= 0, "gguf: no tensor '%s'", name);
    tensor = &ctx->tensors[id].tensor;
    before = *tensor;
    GB_NEED_VOID(gb_tensor_sizes(type, GGML_MAX_DIMS, tensor->ne, tensor->nb,
                                 &bytes),
                 "gguf: tensor '%s' cannot have type %d", name, (int)type);
    tensor->type = type;
    if (!gb_gguf_place(ctx, (size_t)id)) {
        *tensor = before;
        ctx->is_incomplete = true;
        gb_precondition("gguf: the tensors' sizes overflow");
    }
}

void
gguf_set_tensor_data(struct gguf_context *ctx, const char *name,
                     const void *data)
{
    const int64_t id = gguf_find_tensor(ctx, name);

    if (ctx == NULL || name == NULL)
        return;
    GB_NEED_VOID(id >= 0, "gguf: no tensor '%s'", name);
    /* The interface hands in const data and keeps it in a struct without. */
    ctx->tensors[id].tensor.data = (void *)(uintptr_t)data;
    ctx->tensors[id].tensor.buffer = NULL;
}
