/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/convert.c - a model with its weights in another type.
 *
 * Matrices are converted; vectors (norms, biases) stay as they are, and so does what
 * has no whole blocks of the new type.  Data is written piece by piece behind the
 * keys and descriptions, so that no more than some rows are in memory.
 */
#include "tools/common/file-order.h"
#include "tools/common/output.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Floats converted at a time. */
enum { PIECE = 1 << 20 };

struct conversion {
    struct model *from;
    struct gguf_context *out;
    enum ggml_type type;
    bool pure; /* the output and embedding matrices too */
    struct output output;
    float *floats;
    uint8_t *blocks;
    struct progress bar;
    uint64_t done;
};

/* Can the library make real numbers of TYPE? */
static bool
has_floats(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || ggml_get_type_traits(type)->to_float != NULL;
}

static bool
find_type(const char *name, enum ggml_type *out)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        if (traits->blck_size == 0 || strcasecmp(name, traits->type_name) != 0)
            continue;
        if (!has_floats(type))
            return tool_error("models have no weights of type %s", name);
        if (ggml_quantize_requires_imatrix(type))
            return tool_error("type %s needs an importance matrix", name);
        *out = type;
        return true;
    }
    return tool_error("there is no type '%s'", name);
}

/* The type that tensor T gets. */
static enum ggml_type
new_type(const struct conversion *c, const struct ggml_tensor *t)
{
    const bool is_head = strcmp(t->name, "token_embd.weight") == 0 ||
                         strcmp(t->name, "output.weight") == 0;

    /* Only real numbers can be converted, and only matrices are worth it. */
    if (!has_floats(t->type) || ggml_n_dims(t) < 2 ||
        t->ne[0] % ggml_blck_size(c->type) != 0)
        return t->type;
    /* Coarse types lose most in the first and last matrix: those get 8 bits. */
    if (is_head && !c->pure && ggml_is_quantized(c->type) &&
        t->ne[0] % ggml_blck_size(GGML_TYPE_Q8_0) == 0)
        return GGML_TYPE_Q8_0;
    return c->type;
}

/* The interface's number for a file whose weights have mostly this type. */
static uint32_t
file_type(enum ggml_type type)
{
    for (int ftype = 0; ftype <= GGML_FTYPE_MOSTLY_BF16; ftype++) {
        if (ftype != GGML_FTYPE_MOSTLY_Q4_1_SOME_F16 && ftype != 5 &&
            ftype != 6 &&
            ggml_ftype_to_ggml_type((enum ggml_ftype)ftype) == type)
            return (uint32_t)ftype;
    }
    return (uint32_t)GGML_FTYPE_ALL_F32;
}

static void
read_floats(enum ggml_type type, const uint8_t *data, float *out, int64_t n)
{
    if (type == GGML_TYPE_F32)
        memcpy(out, data, (size_t)n * sizeof(*out));
    else
        ggml_get_type_traits(type)->to_float(data, out, n);
}

static bool
write_bytes(struct conversion *c, const void *data, size_t size)
{
    if (fwrite(data, 1, size, c->output.file) == size)
        return true;
    return tool_error("%s: %s", c->output.path, strerror(errno));
}

/* Whole numbers or blocks of TYPE, by way of c->blocks where they are not as in
 * the file. */
static bool
write_data(struct conversion *c, enum ggml_type type, const uint8_t *data,
           size_t size)
{
    const size_t room = PIECE * sizeof(*c->floats);

    if (FILE_ORDER_IS_MEMORY)
        return write_bytes(c, data, size);
    for (size_t at = 0; at < size; at += room) {
        const size_t n = size - at < room ? size - at : room;

        memcpy(c->blocks, data + at, n);
        file_order_swap(type, c->blocks, n);
        if (!write_bytes(c, c->blocks, n))
            return false;
    }
    return true;
}

/* Rows of T, N_ROWS at a time. */
static bool
convert_rows(struct conversion *c, const struct ggml_tensor *t,
             enum ggml_type type, const uint8_t *data)
{
    const int64_t n = t->ne[0], rows = ggml_nrows(t);
    const int64_t at_once = n < PIECE ? PIECE / n : 1;

    for (int64_t row = 0; row < rows; row += at_once) {
        const int64_t count = rows - row < at_once ? rows - row : at_once;
        size_t size = ggml_row_size(type, n) * (size_t)count;

        for (int64_t i = 0; i < count; i++)
            read_floats(t->type, data + (size_t)(row + i) * t->nb[1],
                        c->floats + i * n, n);
        if (type == GGML_TYPE_F32)
            memcpy(c->blocks, c->floats, size);
        else
            size = ggml_quantize_chunk(type, c->floats, c->blocks, 0, count, n,
                                       NULL);
        if (size == 0)
            return tool_error("tensor '%s': %s", t->name, tool_reason());
        file_order_swap(type, c->blocks, size);
        if (!write_bytes(c, c->blocks, size))
            return false;
        c->done += (uint64_t)(n * count);
        progress_update(&c->bar, c->done);
    }
    return true;
}

static bool
write_tensor(struct conversion *c, int64_t i)
{
    static const uint8_t zeros[4096];
    const struct ggml_tensor *t = model_tensor(c->from, i);
    const enum ggml_type type = gguf_get_tensor_type(c->out, i);
    const uint8_t *data;
    size_t size = gguf_get_tensor_size(c->out, i);
    const size_t align = gguf_get_alignment(c->out);

    if (model_is_cut(c->from, i))
        return tool_error("tensor '%s': the file ends before its data does",
                          t->name);
    data = model_data(c->from, i);
    if (data == NULL)
        return false;
    if (type == t->type ? !write_data(c, type, data, size)
                        : !convert_rows(c, t, type, data))
        return false;
    for (; size % align != 0; size++) {
        if (!write_bytes(c, zeros, 1))
            return false;
    }
    return true;
}

/* Room for PIECE floats, or the longest row. */
static bool
make_room(struct conversion *c)
{
    int64_t longest = PIECE;

    for (int64_t i = 0; i < gguf_get_n_tensors(c->out); i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);

        if (t->ne[0] > longest)
            longest = t->ne[0];
    }
    if ((uint64_t)longest > SIZE_MAX / 8)
        return tool_error("a row is too long");
    c->floats = malloc((size_t)longest * sizeof(*c->floats));
    c->blocks = malloc((size_t)longest * sizeof(*c->floats));
    if (c->floats == NULL || c->blocks == NULL)
        return tool_error("no memory");
    return true;
}

static bool
describe(struct conversion *c)
{
    gguf_set_kv(c->out, c->from->gguf);
    gguf_set_val_u32(c->out, "general.file_type", file_type(c->type));
    gguf_set_val_u32(c->out, "general.quantization_version", GGML_QNT_VERSION);
    for (int64_t i = 0; i < gguf_get_n_tensors(c->from->gguf); i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);

        gguf_add_tensor(c->out, t);
        gguf_set_tensor_type(c->out, t->name, new_type(c, t));
    }
    if (tool_has_reason())
        return tool_error("%s", tool_reason());
    return true;
}

/* The keys and descriptions, with which a file begins. */
static bool
write_meta(struct conversion *c)
{
    const size_t size = gguf_get_meta_size(c->out);
    char *bytes = malloc(size);
    bool is_written;

    if (bytes == NULL)
        return tool_error("no memory");
    gguf_get_meta_data(c->out, bytes);
    is_written = write_bytes(c, bytes, size);
    free(bytes);
    return is_written;
}

static bool
write_all(struct conversion *c)
{
    uint64_t total = 0;
    bool ok;

    for (int64_t i = 0; i < gguf_get_n_tensors(c->out); i++) {
        if (gguf_get_tensor_type(c->out, i) !=
            gguf_get_tensor_type(c->from->gguf, i))
            total += (uint64_t)ggml_nelements(model_tensor(c->from, i));
    }
    progress_begin(&c->bar, "converting", total);
    ok = write_meta(c);
    for (int64_t i = 0; ok && i < gguf_get_n_tensors(c->out); i++)
        ok = write_tensor(c, i);
    progress_end(&c->bar);
    return ok;
}

int
command_convert(const char *from, const char *to, const char *type_name,
                bool pure, bool may_map)
{
    struct conversion c;
    struct model model;
    bool ok;

    memset(&c, 0, sizeof(c));
    if (!find_type(type_name, &c.type) || !model_open(&model, from, may_map))
        return TOOL_FAILED;
    c.from = &model;
    c.pure = pure;
    tool_forget_reason();
    c.out = gguf_init_empty();
    ok = c.out != NULL ? describe(&c) && make_room(&c)
                       : tool_error("%s", tool_reason());
    ok = ok && output_open(&c.output, to, &model.input.info);
    if (ok)
        ok = output_close(&c.output, write_all(&c));
    gguf_free(c.out);
    free(c.floats);
    free(c.blocks);
    model_close(&model);
    return ok ? TOOL_OK : TOOL_FAILED;
}

int
command_types(void)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;

        if (ggml_get_type_traits(type)->blck_size != 0 && has_floats(type) &&
            !ggml_quantize_requires_imatrix(type))
            puts(ggml_type_name(type));
    }
    return TOOL_OK;
}
