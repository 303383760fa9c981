/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/convert.c - a model with its weights in another type.
 *
 * Matrices are converted; vectors (norms, biases) stay as they are.  Rows that are
 * not whole blocks of the new type get one with smaller blocks.  Data is written
 * piece by piece after the keys and descriptions, so that no more than some rows
 * are in memory.  A value that the written type cannot hold ends the conversion.
 */
#include "tools/common/file-order.h"
#include "tools/common/output.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/held.h"
#include "tools/ggmlbackend-gguf/model.h"
#include "tools/ggmlbackend-gguf/types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Floats converted at a time. */
enum { PIECE = 1 << 20 };

struct conversion {
    struct model *from;
    struct gguf_context *out;
    enum ggml_type type;
    bool pure; /* no other type than TYPE is written */
    struct output output;
    float *floats;
    uint8_t *blocks;
    struct progress bar;
    uint64_t done;
};

/* True if rows of T are whole blocks of TYPE. */
static bool
fits(const struct ggml_tensor *t, enum ggml_type type)
{
    return t->ne[0] % ggml_blck_size(type) == 0;
}

/* True if tensor T is to get a new type: only real numbers can be converted, and
 * only matrices are worth it. */
static bool
is_converted(const struct ggml_tensor *t)
{
    return type_has_floats(t->type) && ggml_nelements(t) > 0 &&
        ggml_n_dims(t) >= 2;
}

/* The type for rows of T, which do not fit C->type: one that fits and makes T
 * smaller than it is, or else its own. */
static enum ggml_type
type_that_fits(const struct conversion *c, const struct ggml_tensor *t)
{
    const enum ggml_type types[] = { type_with_smaller_blocks(c->type),
                                     GGML_TYPE_F16 };

    for (size_t i = 0; !c->pure && i < sizeof(types) / sizeof(types[0]); i++)
        if (fits(t, types[i]) &&
            ggml_row_size(types[i], t->ne[0]) < ggml_row_size(t->type, t->ne[0]))
            return types[i];
    return t->type;
}

/* The type that tensor T gets. */
static enum ggml_type
new_type(const struct conversion *c, const struct ggml_tensor *t)
{
    const bool is_head = strcmp(t->name, "token_embd.weight") == 0 ||
                         strcmp(t->name, "output.weight") == 0;

    if (!is_converted(t))
        return t->type;
    /* Coarse types lose most in the first and last matrix: those get 8 bits. */
    if (is_head && !c->pure && ggml_is_quantized(c->type) &&
        fits(t, GGML_TYPE_Q8_0))
        return GGML_TYPE_Q8_0;
    return fits(t, c->type) ? c->type : type_that_fits(c, t);
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
convert_rows(struct conversion *c, const char *path, const struct ggml_tensor *t,
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
        if (!held_check(path, t, type, row, count, c->floats, c->blocks))
            return false;
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
    static const uint8_t zero;
    const struct ggml_tensor *t = model_tensor(c->from, i);
    const char *path = model_path(c->from, i);
    const enum ggml_type type = gguf_get_tensor_type(c->out, i);
    const uint8_t *data;
    size_t size = gguf_get_tensor_size(c->out, i);
    bool ok;
    const size_t align = gguf_get_alignment(c->out);

    if (model_is_cut(c->from, i))
        return tool_error("%s: tensor '%s': the file ends before its data does",
                          path, t->name);
    data = model_data(c->from, i);
    if (data == NULL)
        return false;
    if (type != t->type)
        ok = convert_rows(c, path, t, type, data);
    else
        ok = held_check_copy(path, t, data) && write_data(c, type, data, size);
    for (; ok && size % align != 0; size++)
        ok = write_bytes(c, &zero, 1);
    return ok;
}

/* Room for PIECE floats, or the longest row that is converted. */
static bool
make_room(struct conversion *c)
{
    int64_t longest = PIECE;

    for (int64_t i = 0; i < c->from->n_tensors; i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);

        if (gguf_get_tensor_type(c->out, i) != t->type && t->ne[0] > longest)
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

/* The type that most weights of the new file have. */
static enum ggml_type
main_type(const struct conversion *c)
{
    int64_t n[GGML_TYPE_COUNT] = { 0 };
    enum ggml_type most = c->type;

    for (int64_t i = 0; i < c->from->n_tensors; i++)
        n[gguf_get_tensor_type(c->out, i)] +=
            ggml_nelements(model_tensor(c->from, i));
    for (int t = 0; t < GGML_TYPE_COUNT; t++)
        if (n[t] > n[most])
            most = (enum ggml_type)t;
    return most;
}

static bool
describe(struct conversion *c)
{
    int number;

    gguf_set_kv(c->out, c->from->gguf);
    for (int64_t i = 0; i < c->from->n_tensors; i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);
        const enum ggml_type type = new_type(c, t);

        gguf_add_tensor(c->out, t);
        if (type != t->type)
            gguf_set_tensor_type(c->out, t->name, type);
    }
    number = type_file_number(main_type(c));
    gguf_remove_key(c->out, "general.file_type");
    if (number >= 0)
        gguf_set_val_u32(c->out, "general.file_type", (uint32_t)number);
    gguf_set_val_u32(c->out, "general.quantization_version", GGML_QNT_VERSION);
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

    for (int64_t i = 0; i < c->from->n_tensors; i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);

        if (gguf_get_tensor_type(c->out, i) != t->type)
            total += (uint64_t)ggml_nelements(t);
    }
    progress_begin(&c->bar, "converting", total);
    ok = write_meta(c);
    for (int64_t i = 0; ok && i < c->from->n_tensors; i++)
        ok = write_tensor(c, i);
    progress_end(&c->bar);
    return ok;
}

/* Says how many matrices could not get the type that was asked for. */
static void
warn_of_rows(const struct conversion *c)
{
    int64_t n_matrices = 0, n_unfit = 0;

    for (int64_t i = 0; i < c->from->n_tensors; i++) {
        const struct ggml_tensor *t = model_tensor(c->from, i);

        n_matrices += is_converted(t);
        n_unfit += is_converted(t) && !fits(t, c->type);
    }
    if (n_unfit > 0)
        tool_warning("rows of %lld of %lld matrices are not whole blocks of %s, "
                     "which are %lld values; %s", (long long)n_unfit,
                     (long long)n_matrices, ggml_type_name(c->type),
                     (long long)ggml_blck_size(c->type),
                     c->pure ? "these keep their types, since --pure is given"
                             : "these get a type with smaller blocks, if that "
                               "saves space");
}

/* Prints the types of the new file.  Standard output may be the file itself. */
static void
print_types(const struct conversion *c)
{
    int64_t n[GGML_TYPE_COUNT] = { 0 };
    uint64_t bytes[GGML_TYPE_COUNT] = { 0 }, all = 0;

    for (int64_t i = 0; i < c->from->n_tensors; i++) {
        const enum ggml_type type = gguf_get_tensor_type(c->out, i);

        n[type]++;
        bytes[type] += gguf_get_tensor_size(c->out, i);
        all += gguf_get_tensor_size(c->out, i);
    }
    fprintf(stderr, "%-8s %8s %15s\n", "type", "tensors", "bytes");
    for (int t = 0; t < GGML_TYPE_COUNT; t++)
        if (n[t] > 0)
            fprintf(stderr, "%-8s %8" PRId64 " %15" PRIu64 "\n",
                    ggml_type_name((enum ggml_type)t), n[t], bytes[t]);
    fprintf(stderr, "%-8s %8" PRId64 " %15" PRIu64 "\n", "all",
            c->from->n_tensors, all);
}

static bool
open_output(struct conversion *c, const char *path)
{
    const struct model_part *same = model_files_at(&c->from->files, path);

    return output_open(&c->output, path,
                       same == NULL ? NULL : &same->input.info);
}

int
command_convert(const char *from, const char *to, enum ggml_type type,
                bool pure, bool may_map)
{
    struct conversion c;
    struct model model;
    bool ok;

    memset(&c, 0, sizeof(c));
    if (!model_open(&model, from, may_map))
        return TOOL_FAILED;
    c.from = &model;
    c.type = type;
    c.pure = pure;
    tool_forget_reason();
    c.out = gguf_init_empty();
    ok = c.out != NULL ? describe(&c) && make_room(&c)
                       : tool_error("%s", tool_reason());
    ok = ok && open_output(&c, to);
    if (ok)
        ok = output_close(&c.output, write_all(&c));
    if (ok) {
        warn_of_rows(&c);
        print_types(&c);
    }
    gguf_free(c.out);
    free(c.floats);
    free(c.blocks);
    model_close(&model);
    return ok ? TOOL_OK : TOOL_FAILED;
}
