/* SPDX-License-Identifier: MIT */
/*
 * tensor/tensor.c - new tensors, duplicates, flags, data.
 */
#include "config.h"

#include "lib/tensor/tensor.h"

#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/tensor/context.h"
#include "lib/tensor/shape.h"

struct ggml_tensor *
gb_tensor_new(struct ggml_context *ctx, enum ggml_type type,
              const int64_t ne[GGML_MAX_DIMS])
{
    struct ggml_tensor *tensor;
    size_t nb[GGML_MAX_DIMS], bytes, size = sizeof(*tensor);

    if (!gb_tensor_sizes(type, GGML_MAX_DIMS, ne, nb, &bytes))
        return NULL;
    /* A sum that does not fit asks for what no context has. */
    if (!ctx->no_alloc && !gb_add_size(size, bytes, &size))
        size = SIZE_MAX;
    tensor = gb_context_alloc(ctx, GGML_OBJECT_TYPE_TENSOR, size);
    if (tensor == NULL)
        return gb_context_failed_node(ctx);
    gb_tensor_describe(tensor, type, ne, nb);
    if (!ctx->no_alloc)
        tensor->data = tensor + 1;
    return tensor;
}

/* The same for a client, who is told what is wrong with the shape. */
static struct ggml_tensor *
new_tensor(struct ggml_context *ctx, enum ggml_type type,
           const int64_t ne[GGML_MAX_DIMS])
{
    struct ggml_tensor *tensor;

    if (GB_UNLIKELY(ctx == NULL))
        return gb_context_failed(NULL, "new_tensor: the context is NULL");
    tensor = gb_tensor_new(ctx, type, ne);
    if (GB_LIKELY(tensor != NULL))
        return tensor;
    if (!gb_type_has_values(type))
        return gb_context_failed(ctx, "new_tensor: no values have type %d",
                                 (int)type);
    return gb_context_failed(
        ctx, "new_tensor: type %s cannot have the shape %lld x %lld x %lld x "
             "%lld",
        ggml_type_name(type), (long long)ne[0], (long long)ne[1],
        (long long)ne[2], (long long)ne[3]);
}

struct ggml_tensor *
ggml_new_tensor(struct ggml_context *ctx, enum ggml_type type, int n_dims,
                const int64_t *ne)
{
    int64_t whole[GGML_MAX_DIMS] = { 1, 1, 1, 1 };

    if (n_dims < 1 || n_dims > GGML_MAX_DIMS || ne == NULL)
        return gb_context_failed(ctx, "new_tensor: %d dimensions", n_dims);
    for (int i = 0; i < n_dims; i++)
        whole[i] = ne[i];
    return new_tensor(ctx, type, whole);
}

struct ggml_tensor *
ggml_new_tensor_1d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0)
{
    return new_tensor(ctx, type, (const int64_t[]){ ne0, 1, 1, 1 });
}

struct ggml_tensor *
ggml_new_tensor_2d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1)
{
    return new_tensor(ctx, type, (const int64_t[]){ ne0, ne1, 1, 1 });
}

struct ggml_tensor *
ggml_new_tensor_3d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2)
{
    return new_tensor(ctx, type, (const int64_t[]){ ne0, ne1, ne2, 1 });
}

struct ggml_tensor *
ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2, int64_t ne3)
{
    return new_tensor(ctx, type, (const int64_t[]){ ne0, ne1, ne2, ne3 });
}

struct ggml_tensor *
ggml_dup_tensor(struct ggml_context *ctx, const struct ggml_tensor *src)
{
    if (gb_tensor_is_failed(src))
        return gb_context_pass_failed(ctx, src);
    return new_tensor(ctx, src->type, src->ne);
}

void *
ggml_get_data(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(NULL, tensor != NULL, "get_data: the tensor is NULL");
    return tensor->data;
}

float *
ggml_get_data_f32(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(NULL, tensor != NULL, "get_data_f32: the tensor is NULL");
    GB_NEED_OR(NULL, tensor->type == GGML_TYPE_F32, "get_data_f32: '%s' is %s",
               tensor->name, ggml_type_name(tensor->type));
    return tensor->data;
}

static void
set_flag(struct ggml_tensor *tensor, enum ggml_tensor_flag flag)
{
    GB_NEED_VOID(tensor != NULL, "set_flag: the tensor is NULL");
    tensor->flags |= (int32_t)flag;
}

void
ggml_set_input(struct ggml_tensor *tensor)
{
    set_flag(tensor, GGML_TENSOR_FLAG_INPUT);
}

void
ggml_set_output(struct ggml_tensor *tensor)
{
    set_flag(tensor, GGML_TENSOR_FLAG_OUTPUT);
}

void
ggml_set_param(struct ggml_context *ctx, struct ggml_tensor *tensor)
{
    (void)ctx;
    set_flag(tensor, GGML_TENSOR_FLAG_PARAM);
}

void
ggml_set_loss(struct ggml_tensor *tensor)
{
    GB_NEED_VOID(tensor != NULL, "set_loss: the tensor is NULL");
    GB_NEED_VOID(ggml_is_scalar(tensor) && tensor->type == GGML_TYPE_F32,
                 "set_loss: '%s' is no single f32 value", tensor->name);
    set_flag(tensor, GGML_TENSOR_FLAG_LOSS);
}
