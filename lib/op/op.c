/* SPDX-License-Identifier: MIT */
/*
 * op/op.c - what operations there are.
 */
#include "config.h"

#include "lib/op/op.h"

#include "lib/base/status.h"

const struct gb_op gb_ops[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = { #op, #word, text, sources },
#include "lib/op/ops.def"
#undef GB_OP
};

const unsigned char gb_op_kinds[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = GB_OP_##kind,
#include "lib/op/ops.def"
#undef GB_OP
};

const unsigned char gb_op_in_place_sources[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = in_place,
#include "lib/op/ops.def"
#undef GB_OP
};

const unsigned char gb_op_written_sources[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = (unsigned char)(written),
#include "lib/op/ops.def"
#undef GB_OP
};

static const char *const unary_names[GGML_UNARY_OP_COUNT] = {
#define GB_UNARY(unary) [GGML_UNARY_OP_##unary] = #unary,
#include "lib/op/unary.def"
#undef GB_UNARY
};

bool
gb_op_is_unary(enum ggml_unary_op unary)
{
    return (unsigned)unary < GGML_UNARY_OP_COUNT;
}

const char *
ggml_op_name(enum ggml_op op)
{
    const struct gb_op *row = gb_op_get(op);

    GB_NEED_OR("unknown", row != NULL, "op_name: no operation %d", (int)op);
    return row->name;
}

const char *
ggml_op_symbol(enum ggml_op op)
{
    const struct gb_op *row = gb_op_get(op);

    GB_NEED_OR("unknown", row != NULL, "op_symbol: no operation %d", (int)op);
    return row->symbol;
}

const char *
ggml_unary_op_name(enum ggml_unary_op op)
{
    GB_NEED_OR("unknown", gb_op_is_unary(op),
               "unary_op_name: no unary function %d", (int)op);
    return unary_names[op];
}

enum ggml_unary_op
ggml_get_unary_op(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(GGML_UNARY_OP_COUNT,
               tensor != NULL && tensor->op == GGML_OP_UNARY,
               "get_unary_op: the tensor is no unary operation");
    return (enum ggml_unary_op)tensor->op_params[0];
}

const char *
ggml_op_desc(const struct ggml_tensor *t)
{
    GB_NEED_OR("unknown", t != NULL, "op_desc: the tensor is NULL");
    if (t->op == GGML_OP_UNARY)
        return ggml_unary_op_name(ggml_get_unary_op(t));
    return ggml_op_name(t->op);
}
