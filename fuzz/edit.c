/* SPDX-License-Identifier: MIT */
/*
 * fuzz/edit.c - nodes as only another program could have made them.
 *
 * Functions that a node calls are never edited: nobody can tell a wrong one.
 * Data stay where some tensor's are, or a little behind, and in a buffer: nobody
 * can tell where other memory ends.
 */
#include "fuzz/edit.h"

#include "fuzz/guard.h"

#include <stdbool.h>
#include <string.h>

static bool
calls_back(enum ggml_op op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

static int64_t
odd_count(struct fuzz_bytes *bytes)
{
    static const int64_t counts[] = {
        0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 256, -1, 1000,
        (int64_t)1 << 31, (int64_t)1 << 32, (int64_t)1 << 61, INT64_MAX,
        INT64_MIN, -32, 12, 6,
    };

    return FUZZ_PICK(bytes, counts);
}

static size_t
odd_stride(struct fuzz_bytes *bytes, size_t now)
{
    switch (fuzz_byte(bytes) % 10) {
    case 0:
        return 0;
    case 1:
        return now + 1;
    case 2:
        return now * 2;
    case 3:
        return now / 2;
    case 4:
        return SIZE_MAX;
    case 5:
        return SIZE_MAX / 4 + 1;
    case 6:
        return 0 - now;
    case 7:
        return now + 4;
    case 8:
        return 1;
    default:
        return (size_t)odd_count(bytes);
    }
}

static int32_t
odd_word(struct fuzz_bytes *bytes)
{
    static const int32_t words[] = {
        0, 1, -1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 255, 256, -2, -5, -100,
        1 << 16, 1 << 28, 1 << 30, INT32_MAX, INT32_MIN, INT32_MIN + 1,
        0x3F800000 /* 1 */, 0x7F800000 /* infinity */, 0x7FC00000 /* NaN */,
        0x00000001 /* denormal */, 0x3F000000 /* 0.5 */, 24, 40,
    };

    return FUZZ_PICK(bytes, words);
}

static void
edit_place(struct fuzz_bytes *bytes, struct ggml_tensor *t,
           struct ggml_tensor *other)
{
    switch (fuzz_byte(bytes) % 7) {
    case 0:
        t->data = NULL;
        break;
    case 1:
        if (t->buffer != NULL)
            t->data = other->data;
        break;
    case 2:
        if (t->data != NULL)
            t->data = (char *)t->data + 8 * (fuzz_byte(bytes) & 15);
        break;
    case 3:
        t->view_src = NULL;
        break;
    case 4:
        t->view_src = other;
        break;
    case 5:
        t->view_offs = odd_stride(bytes, t->view_offs);
        break;
    default:
        t->buffer = guard_buffer(fuzz_byte(bytes));
        break;
    }
}

static void
edit_tensor(struct fuzz_bytes *bytes, struct ggml_tensor *t,
            struct ggml_tensor *other)
{
    const unsigned which = fuzz_byte(bytes);
    int number;

    switch (fuzz_byte(bytes) % 8) {
    case 0:
        t->src[which % 4] = NULL;
        break;
    case 1:
        t->src[which % (which < 200 ? 3 : GGML_MAX_SRC)] = other;
        break;
    case 2:
        t->ne[which % GGML_MAX_DIMS] = odd_count(bytes);
        break;
    case 3:
        t->nb[which % GGML_MAX_DIMS] =
            odd_stride(bytes, t->nb[which % GGML_MAX_DIMS]);
        break;
    case 4:
        if (!calls_back(t->op))
            t->op_params[which % (GGML_MAX_OP_PARAMS / 4)] = odd_word(bytes);
        break;
    case 5:
        number = fuzz_byte(bytes) % (GGML_TYPE_COUNT + 4) - 2;
        memcpy(&t->type, &number, sizeof(number));
        break;
    case 6:
        number = fuzz_byte(bytes) % (GGML_OP_COUNT + 4) - 2;
        if (!calls_back(t->op) && !calls_back((enum ggml_op)number))
            memcpy(&t->op, &number, sizeof(number));
        break;
    default:
        edit_place(bytes, t, other);
        break;
    }
}

void
edit_something(struct fuzz_bytes *bytes, struct ggml_tensor **tensors, int n,
               struct ggml_cgraph *graph)
{
    const unsigned first = fuzz_byte(bytes);
    /* Mostly the last one, which is the last node, or one of its sources. */
    struct ggml_tensor *t = tensors[n - 1 - (int)(first % 4) % n];
    struct ggml_tensor *other = tensors[fuzz_byte(bytes) % n];

    if (first < 192)
        edit_tensor(bytes, t, other);
    else if (first < 240)
        edit_tensor(bytes, tensors[fuzz_byte(bytes) % n], other);
    else if (graph != NULL && ggml_graph_n_nodes(graph) > 0)
        ggml_graph_nodes(graph)[first % ggml_graph_n_nodes(graph)] =
            (first & 1) != 0 ? NULL : other;
}
