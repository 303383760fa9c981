/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>
#include <string.h>

/* What a graph computes, a line for each node. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, true };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    struct ggml_tensor *y = ggml_add(ctx, ggml_gelu(ctx, a), a);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(graph, i);

        printf("%-8s %s\n", ggml_op_desc(node), ggml_op_symbol(node->op));
    }
    is_right = strcmp(ggml_op_name(y->op), "ADD") == 0 &&
               ggml_get_unary_op(y->src[0]) == GGML_UNARY_OP_GELU;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
