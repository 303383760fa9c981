/* SPDX-License-Identifier: MIT */
/*
 * tests/op/edits.c - what a client may write into a node after it was built.
 */
#include "tests/op/edits.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const int no_types[] = { -1, GGML_TYPE_COUNT, 1000, INT32_MIN };
static const int no_ops[] = { -1, GGML_OP_COUNT, 1000, INT32_MIN };

static const ptrdiff_t data_offsets[] = {
    1, 2, 3, 4, 5, 8, 12, 18, 32, 64, 4096, 1 << 20,
    -1, -2, -4, -32, -64, -4096,
};
static const size_t view_offsets[] = { 0, 1, 5, SIZE_MAX };

static const int32_t words[] = {
    INT32_MIN, -1, 0, 1, 2, 3, 8, 24, 25, 1 << 16, 1 << 28, INT32_MAX,
    0x7fc00000, /* NaN */ 0x7f800000, /* infinity */
};

enum {
    N_SIZES = 16,
    N_STRIDES = 20,
    N_WORDS = GGML_MAX_OP_PARAMS / (int)sizeof(int32_t),
};

int
edits_ways(const struct edited *edited, enum edit edit)
{
    const int ways[EDIT_COUNT] = {
        [EDIT_TYPE] = GGML_TYPE_COUNT + N_OF(no_types),
        [EDIT_SIZE] = N_SIZES * GGML_MAX_DIMS,
        [EDIT_STRIDE] = N_STRIDES * GGML_MAX_DIMS,
        [EDIT_OP] = GGML_OP_COUNT + N_OF(no_ops),
        [EDIT_PARAM] = N_OF(words) * N_WORDS,
        [EDIT_SOURCE] = (edited->n + 1) * GGML_MAX_SRC,
        [EDIT_VIEW] = edited->n + 1 + N_OF(view_offsets),
        [EDIT_DATA] = N_OF(data_offsets) + 1,
        [EDIT_BUFFER] = edited->n + 1,
        [EDIT_OTHERS] = 2,
    };

    return ways[edit];
}

static int64_t
size_of(int64_t old, int way)
{
    const uint64_t n = (uint64_t)old; /* an edit before may have left any */
    const int64_t values[N_SIZES] = {
        INT64_MIN, -1, 0, 1, 2, (int64_t)(n - 1), (int64_t)(n + 1),
        (int64_t)(2 * n), (int64_t)(64 * n), 1 << 20, INT64_C(1) << 31,
        INT64_C(1) << 32, INT64_C(1) << 40, INT64_C(1) << 61,
        INT64_C(1) << 62, INT64_MAX,
    };

    return values[way];
}

static size_t
stride_of(size_t old, int way)
{
    const size_t values[N_STRIDES] = {
        0, 1, 2, 3, 4, 5, 18, 34, old - 1, old + 1, old + 2, old + 4, old + 8,
        2 * old, old / 2, (size_t)1 << 20, SIZE_MAX / 2 + 1,
        (size_t)1 << 5 * sizeof(size_t), SIZE_MAX - 3, SIZE_MAX,
    };

    return values[way];
}

static bool
is_of_client(int op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

/* A client's function, which is in the first words, becomes none. */
static void
set_word(struct ggml_tensor *t, int word, int32_t value)
{
    if (is_of_client(t->op) && word < 2)
        memset(t->op_params, 0, sizeof(void *));
    else
        t->op_params[word] = value;
}

static void
set_view(struct edited *edited, struct ggml_tensor *t, int way)
{
    if (way <= edited->n)
        t->view_src = way == 0 ? NULL : edited->tensor[way - 1];
    else
        t->view_offs = view_offsets[way - edited->n - 1];
}

static void
set_data(struct ggml_tensor *t, int way)
{
    t->data = way == N_OF(data_offsets)
                  ? NULL
                  : (void *)((uintptr_t)t->data + (uintptr_t)data_offsets[way]);
}

void
edits_apply(struct edited *edited, enum edit edit, int t, int way, char *what,
            size_t size)
{
    static const char *const names[EDIT_COUNT] = {
        "type", "ne", "nb", "op", "op_params", "src", "view", "data", "buffer",
        "name",
    };
    struct ggml_tensor *tensor = edited->tensor[t];
    const int dim = way % GGML_MAX_DIMS;
    const size_t used = strlen(what);
    int op;

    switch (edit) {
    case EDIT_TYPE:
        tensor->type = (enum ggml_type)(way < GGML_TYPE_COUNT
                                            ? way
                                            : no_types[way - GGML_TYPE_COUNT]);
        break;
    case EDIT_SIZE:
        tensor->ne[dim] = size_of(tensor->ne[dim], way / GGML_MAX_DIMS);
        break;
    case EDIT_STRIDE:
        tensor->nb[dim] = stride_of(tensor->nb[dim], way / GGML_MAX_DIMS);
        break;
    case EDIT_OP:
        op = way < GGML_OP_COUNT ? way : no_ops[way - GGML_OP_COUNT];
        if (!is_of_client(op))
            tensor->op = (enum ggml_op)op;
        break;
    case EDIT_PARAM:
        set_word(tensor, way % N_WORDS, words[way / N_WORDS]);
        break;
    case EDIT_SOURCE:
        tensor->src[way % GGML_MAX_SRC] =
            way < GGML_MAX_SRC ? NULL : edited->tensor[way / GGML_MAX_SRC - 1];
        break;
    case EDIT_VIEW:
        set_view(edited, tensor, way);
        break;
    case EDIT_DATA:
        set_data(tensor, way);
        break;
    case EDIT_BUFFER:
        tensor->buffer = way == 0 ? NULL : edited->buffer[way - 1];
        break;
    case EDIT_OTHERS:
        memset(tensor->name, 'x', sizeof(tensor->name));
        tensor->flags = way == 0 ? -1 : INT32_MAX;
        break;
    case EDIT_COUNT:
        break;
    }
    snprintf(what + used, size - used, " [%d].%s way %d", t, names[edit], way);
}
