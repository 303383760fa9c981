/* SPDX-License-Identifier: MIT */
/*
 * tensor/context.c - the arena, its objects, its first failure.
 *
 * The pool is a row of objects: a header, then what it is for.  Nothing in it
 * is freed by itself.  The failed node stands in the context's own struct, so
 * that a full pool can answer with it too.
 */
#include "config.h"

#include "lib/tensor/context.h"

#include "lib/base/checked.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <stdio.h>
#include <string.h>

/* Contexts, and pools of our own, begin at a multiple of a cache line. */
#define LINE 64

_Static_assert(sizeof(struct ggml_object) % GGML_MEM_ALIGN == 0,
               "what follows an object's header must be aligned");
_Static_assert(sizeof(struct ggml_tensor) % GGML_MEM_ALIGN == 0,
               "the data that follows a tensor must be aligned");

const char gb_failed_mark[] = "failed node";

/*
 * A real tensor of one element, that any code can look at, without data.  The
 * place of the reason is kept in its parameters, so that copies know it too.
 */
static void
failed_node_init(struct ggml_context *ctx)
{
    struct ggml_tensor *node = &ctx->failed;
    const char *reason = ctx->reason;

    memset(node, 0, sizeof(*node));
    node->type = GGML_TYPE_F32;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        node->ne[i] = 1;
        node->nb[i] = sizeof(float);
    }
    node->op = GGML_OP_NONE;
    memcpy(node->op_params, &reason, sizeof(reason));
    /* extra is a buffer's to write through; nobody writes through this one. */
    memcpy(&node->extra, &(const char *){ gb_failed_mark }, sizeof(node->extra));
    memcpy(node->name, "failed", sizeof("failed"));
}

const char *
gb_tensor_failure(const struct ggml_tensor *tensor)
{
    const char *reason;

    if (tensor == NULL)
        return "a tensor is NULL";
    if (!gb_tensor_is_failed(tensor))
        return "";
    memcpy(&reason, tensor->op_params, sizeof(reason));
    return reason;
}

static void
keep_first_reason(struct ggml_context *ctx, const char *reason)
{
    if (ctx->reason[0] == '\0')
        snprintf(ctx->reason, sizeof(ctx->reason), "%s", reason);
}

struct ggml_tensor *
gb_context_failed_node(struct ggml_context *ctx)
{
    return ctx != NULL ? &ctx->failed : NULL;
}

struct ggml_tensor *
gb_context_failed(struct ggml_context *ctx, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    gb_precondition_va(fmt, args);
    va_end(args);
    if (ctx != NULL)
        keep_first_reason(ctx, gb_last_failure());
    return gb_context_failed_node(ctx);
}

struct ggml_tensor *
gb_context_pass_failed(struct ggml_context *ctx, const struct ggml_tensor *src)
{
    if (src == NULL)
        return gb_context_failed(ctx, "a source tensor is NULL");
    if (ctx != NULL)
        keep_first_reason(ctx, gb_tensor_failure(src));
    return gb_context_failed_node(ctx);
}

void
ggml_reset(struct ggml_context *ctx)
{
    if (ctx == NULL)
        return;
    ctx->used = 0;
    ctx->leafs = (struct gb_tensor_walk){ { 0, 0 } };
    ctx->reason[0] = '\0';
    failed_node_init(ctx);
}

struct ggml_context *
ggml_init(struct ggml_init_params params)
{
    const bool owns_buffer = params.mem_buffer == NULL;
    size_t mem_size = params.mem_size > 0 ? params.mem_size : GGML_MEM_ALIGN;
    struct ggml_context *ctx;

    GB_NEED_OR(NULL, (uintptr_t)params.mem_buffer % GGML_MEM_ALIGN == 0,
               "init: the memory is not aligned to %d bytes", GGML_MEM_ALIGN);
    if (owns_buffer && !gb_pad_size(mem_size, GGML_MEM_ALIGN, &mem_size)) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "init: no memory is that large");
        return NULL;
    }
    ctx = gb_mem_alloc_aligned(sizeof(*ctx), LINE);
    if (ctx == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "init: no memory for a context");
        return NULL;
    }
    ctx->mem_buffer = owns_buffer ? gb_mem_alloc_aligned(mem_size, LINE)
                                  : params.mem_buffer;
    if (ctx->mem_buffer == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "init: no memory for %zu bytes",
                mem_size);
        gb_mem_free_aligned(ctx);
        return NULL;
    }
    ctx->mem_size = mem_size;
    ctx->owns_buffer = owns_buffer;
    ctx->no_alloc = params.no_alloc;
    ggml_reset(ctx);
    return ctx;
}

void
ggml_free(struct ggml_context *ctx)
{
    if (ctx == NULL)
        return;
    if (ctx->owns_buffer)
        gb_mem_free_aligned(ctx->mem_buffer);
    gb_mem_free_aligned(ctx);
}

size_t
ggml_used_mem(const struct ggml_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "used_mem: the context is NULL");
    return ctx->used;
}

bool
ggml_get_no_alloc(struct ggml_context *ctx)
{
    GB_NEED_OR(false, ctx != NULL, "get_no_alloc: the context is NULL");
    return ctx->no_alloc;
}

void
ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc)
{
    GB_NEED_VOID(ctx != NULL, "set_no_alloc: the context is NULL");
    ctx->no_alloc = no_alloc;
}

void *
ggml_get_mem_buffer(const struct ggml_context *ctx)
{
    GB_NEED_OR(NULL, ctx != NULL, "get_mem_buffer: the context is NULL");
    return ctx->mem_buffer;
}

size_t
ggml_get_mem_size(const struct ggml_context *ctx)
{
    GB_NEED_OR(0, ctx != NULL, "get_mem_size: the context is NULL");
    return ctx->mem_size;
}

size_t
ggml_tensor_overhead(void)
{
    return sizeof(struct ggml_object) + sizeof(struct ggml_tensor);
}

void *
gb_context_no_room(struct ggml_context *ctx, size_t size)
{
    GB_NEED_OR(NULL, ctx != NULL, "the context is NULL");
    gb_context_failed(ctx, "context: %zu bytes are wanted, %zu of %zu left",
                      size, ctx->mem_size - ctx->used, ctx->mem_size);
    return NULL;
}

void *
ggml_new_buffer(struct ggml_context *ctx, size_t nbytes)
{
    return gb_context_alloc(ctx, GGML_OBJECT_TYPE_WORK_BUFFER, nbytes);
}

/* The object at the pool's byte AT, NULL behind the last one. */
static const struct ggml_object *
object_at(const struct ggml_context *ctx, size_t at)
{
    return at < ctx->used ? (const struct ggml_object *)(ctx->mem_buffer + at)
                          : NULL;
}

static const struct ggml_object *
object_behind(const struct ggml_context *ctx, const struct ggml_object *object)
{
    return object_at(ctx, object->offs + object->size);
}

/* The first tensor among OBJECT and those behind it. */
static struct ggml_tensor *
first_tensor_from(const struct ggml_context *ctx,
                  const struct ggml_object *object)
{
    while (object != NULL && object->type != GGML_OBJECT_TYPE_TENSOR)
        object = object_behind(ctx, object);
    if (object == NULL)
        return NULL;
    return (struct ggml_tensor *)(ctx->mem_buffer + object->offs);
}

struct ggml_tensor *
ggml_get_first_tensor(const struct ggml_context *ctx)
{
    GB_NEED_OR(NULL, ctx != NULL, "get_first_tensor: the context is NULL");
    return first_tensor_from(ctx, object_at(ctx, 0));
}

/* A tensor of another context, or a failed node, stands outside of the pool. */
static bool
has_tensor(const struct ggml_context *ctx, const struct ggml_tensor *tensor)
{
    const uintptr_t begin = (uintptr_t)ctx->mem_buffer;
    const uintptr_t at = (uintptr_t)tensor;

    return at >= begin + sizeof(struct ggml_object) &&
           at < begin + ctx->used;
}

struct ggml_tensor *
ggml_get_next_tensor(const struct ggml_context *ctx,
                     struct ggml_tensor *tensor)
{
    const struct ggml_object *object;

    GB_NEED_OR(NULL, ctx != NULL, "get_next_tensor: the context is NULL");
    GB_NEED_OR(NULL, has_tensor(ctx, tensor),
               "get_next_tensor: the tensor is not of this context");
    object = (const struct ggml_object *)tensor - 1;
    return first_tensor_from(ctx, object_behind(ctx, object));
}

size_t
ggml_get_max_tensor_size(const struct ggml_context *ctx)
{
    size_t max = 0;

    GB_NEED_OR(0, ctx != NULL, "get_max_tensor_size: the context is NULL");
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t)) {
        if (ggml_nbytes(t) > max)
            max = ggml_nbytes(t);
    }
    return max;
}

void
ggml_print_object(const struct ggml_object *obj)
{
    static const char *const types[] = {
        [GGML_OBJECT_TYPE_TENSOR] = "tensor",
        [GGML_OBJECT_TYPE_GRAPH] = "graph",
        [GGML_OBJECT_TYPE_WORK_BUFFER] = "buffer",
    };

    GB_NEED_VOID(obj != NULL, "print_object: the object is NULL");
    gb_log_print("%-6s at %zu, %zu bytes\n", types[obj->type], obj->offs,
                 obj->size);
}

void
ggml_print_objects(const struct ggml_context *ctx)
{
    GB_NEED_VOID(ctx != NULL, "print_objects: the context is NULL");
    gb_log_print("objects of a context of %zu bytes:\n", ctx->mem_size);
    for (const struct ggml_object *o = object_at(ctx, 0); o != NULL;
         o = object_behind(ctx, o))
        ggml_print_object(o);
}
