/* SPDX-License-Identifier: MIT */
/*
 * tensor/view.c - views and what they share.
 */
#include "config.h"

#include "lib/tensor/view.h"

#include "lib/base/checked.h"
#include "lib/tensor/context.h"
#include "lib/tensor/shape.h"
#include "lib/tensor/tensor.h"

#include <string.h>

struct ggml_tensor *
gb_tensor_view(struct ggml_context *ctx, struct ggml_tensor *src, int n_dims,
               const int64_t *ne, size_t offset)
{
    struct ggml_tensor *root, *view;
    size_t nb[GGML_MAX_DIMS];
    size_t bytes, end;

    if (gb_tensor_is_failed(src))
        return gb_context_pass_failed(ctx, src);
    if (!gb_tensor_sizes(src->type, n_dims, ne, nb, &bytes))
        return gb_context_failed(ctx, "view of '%s': impossible shape",
                                 src->name);
    root = src->view_src != NULL ? src->view_src : src;
    if (!gb_add_size(offset, src->view_offs, &offset) ||
        !gb_add_size(offset, bytes, &end) ||
        (bytes > 0 && end > ggml_nbytes(root)))
        return gb_context_failed(
            ctx, "view of '%s': wants %zu bytes from %zu on, there are %zu",
            src->name, bytes, offset, ggml_nbytes(root));
    view = gb_tensor_new(ctx, src->type, n_dims, ne, nb, 0);
    if (gb_tensor_is_failed(view))
        return view;
    view->view_src = root;
    view->view_offs = offset;
    if (root->data != NULL)
        view->data = (char *)root->data + offset;
    return view;
}

struct ggml_tensor *
ggml_view_tensor(struct ggml_context *ctx, struct ggml_tensor *src)
{
    struct ggml_tensor *view;

    if (gb_tensor_is_failed(src))
        return gb_context_pass_failed(ctx, src);
    view = gb_tensor_view(ctx, src, GGML_MAX_DIMS, src->ne, 0);
    if (gb_tensor_is_failed(view))
        return view;
    memcpy(view->nb, src->nb, sizeof(view->nb));
    return ggml_format_name(view, "%s (view)", src->name);
}
