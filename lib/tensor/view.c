/* SPDX-License-Identifier: MIT */
/*
 * tensor/view.c - views and what they share.
 */
#include "config.h"

#include "lib/tensor/view.h"

#include "lib/base/checked.h"
#include "lib/tensor/context.h"
#include "lib/tensor/name.h"
#include "lib/tensor/shape.h"
#include "lib/tensor/tensor.h"

struct ggml_tensor *
gb_tensor_view_sized(struct ggml_context *ctx, struct ggml_tensor *src,
                     const int64_t ne[GGML_MAX_DIMS],
                     const size_t nb[GGML_MAX_DIMS], size_t bytes,
                     size_t offset)
{
    struct ggml_tensor *root = src->view_src != NULL ? src->view_src : src;
    struct ggml_tensor *view;
    size_t end;

    if (!gb_add_size(offset, src->view_offs, &offset) ||
        !gb_add_size(offset, bytes, &end) ||
        (bytes > 0 && end > ggml_nbytes(root)))
        return gb_context_failed(
            ctx, "view of '%s': wants %zu bytes from %zu on, there are %zu",
            src->name, bytes, offset, ggml_nbytes(root));
    view = gb_context_alloc(ctx, GGML_OBJECT_TYPE_TENSOR, sizeof(*view));
    if (view == NULL)
        return gb_context_failed_node(ctx);
    gb_tensor_describe(view, src->type, ne, nb);
    if (src->op == GGML_OP_NONE)
        gb_tensor_walk(&ctx->leafs, src);
    view->view_src = root;
    view->view_offs = offset;
    if (root->data != NULL)
        view->data = gb_tensor_view_data(root, offset);
    return view;
}

struct ggml_tensor *
gb_tensor_view(struct ggml_context *ctx, struct ggml_tensor *src,
               const int64_t ne[GGML_MAX_DIMS], size_t offset)
{
    size_t nb[GGML_MAX_DIMS], bytes;

    if (gb_tensor_is_failed(src))
        return gb_context_pass_failed(ctx, src);
    if (!gb_tensor_sizes(src->type, GGML_MAX_DIMS, ne, nb, &bytes))
        return gb_context_failed(ctx, "view of '%s': impossible shape",
                                 src->name);
    return gb_tensor_view_sized(ctx, src, ne, nb, bytes, offset);
}

struct ggml_tensor *
gb_tensor_view_whole(struct ggml_context *ctx, struct ggml_tensor *src)
{
    size_t nb[GGML_MAX_DIMS], bytes;

    if (gb_tensor_is_failed(src))
        return gb_context_pass_failed(ctx, src);
    if (!gb_tensor_sizes(src->type, GGML_MAX_DIMS, src->ne, nb, &bytes))
        return gb_context_failed(ctx, "view of '%s': impossible shape",
                                 src->name);
    return gb_tensor_view_sized(ctx, src, src->ne, src->nb, bytes, 0);
}

struct ggml_tensor *
ggml_view_tensor(struct ggml_context *ctx, struct ggml_tensor *src)
{
    static const char suffix[] = " (view)";
    struct ggml_tensor *view = gb_tensor_view_whole(ctx, src);

    if (!gb_tensor_is_failed(view))
        gb_name_add(view, gb_name_add_name(view, 0, src), suffix,
                    sizeof(suffix) - 1);
    return view;
}
