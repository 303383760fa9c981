/* SPDX-License-Identifier: MIT */
/*
 * gguf/read.c - a context from a file, believing nothing.
 *
 * The file says how long its parts are; each length is compared with what the
 * file can still hold before memory is asked for.
 */
#include "config.h"

#include "lib/gguf/context.h"

#include "lib/base/byte-order.h"
#include "lib/base/checked.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/gguf/source.h"
#include "lib/tensor/context.h"
#include "lib/tensor/shape.h"
#include "lib/type/type.h"

#include <errno.h>
#include <string.h>

enum {
    /* The shortest possible pair: a key of one byte, a type, one byte. */
    MIN_PAIR = 8 + 1 + 4 + 1,
    /* The shortest possible tensor: an empty name, no dimension, type, offset. */
    MIN_TENSOR = 8 + 4 + 4 + 8,
};

/* Longest string and most elements of an array that are believed. */
#define MAX_LENGTH (UINT64_C(1) << 30)

struct reader {
    struct gb_gguf_source source;
    struct gguf_context *ctx;
    char *text; /* the name or key that was read last */
    size_t text_room;
    size_t text_size;
    char quoted[GB_GGUF_QUOTE]; /* the same, for messages */
};

static enum ggml_status
ends_in(const char *part)
{
    return gb_fail(GGML_STATUS_FAILED, "gguf: the file ends in %s", part);
}

static enum ggml_status
no_memory(const char *what)
{
    return gb_fail(GGML_STATUS_ALLOC_FAILED, "gguf: no memory for %s", what);
}

/* Reads SIZE bytes that belong to PART. */
static enum ggml_status
take(struct reader *r, void *out, size_t size, const char *part)
{
    if (!gb_gguf_source_read(&r->source, out, size))
        return ends_in(part);
    return GGML_STATUS_SUCCESS;
}

/* The same for numbers, which are little-endian in the file. */
static enum ggml_status
take_u32(struct reader *r, uint32_t *out, const char *part)
{
    GB_TRY(take(r, out, sizeof(*out), part));
    *out = gb_le32(*out);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
take_u64(struct reader *r, uint64_t *out, const char *part)
{
    GB_TRY(take(r, out, sizeof(*out), part));
    *out = gb_le64(*out);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
too_long(const char *part, uint64_t length)
{
    return gb_fail(GGML_STATUS_FAILED,
                   "gguf: %s of %llu bytes is longer than the file", part,
                   (unsigned long long)length);
}

/* A key or a tensor's name into r->text. */
static enum ggml_status
take_name(struct reader *r, const char *part)
{
    uint64_t bytes = 0;
    size_t length;

    GB_TRY(take_u64(r, &bytes, part));
    if (bytes > MAX_LENGTH || !gb_gguf_source_has(&r->source, bytes))
        return too_long(part, bytes);
    length = (size_t)bytes;
    if (!gb_gguf_source_append(&r->source, &r->text, &r->text_room, 0,
                               length) ||
        !gb_gguf_source_append(&r->source, &r->text, &r->text_room, length + 1,
                               0))
        return ends_in(part);
    r->text[length] = '\0';
    r->text_size = length;
    gb_gguf_quote(r->quoted, r->text, length);
    if (memchr(r->text, '\0', length) != NULL)
        return gb_fail(GGML_STATUS_FAILED, "gguf: %s '%s' has a zero byte",
                       part, r->quoted);
    return GGML_STATUS_SUCCESS;
}

/*
 * Strings as they stand in the file, each behind its length.  What is read
 * certainly belongs to them: the rest of the string at hand, and a length for
 * each string that follows.
 */
struct strings {
    char *block;
    size_t room, used; /* bytes of the block; the used ones were read */
    size_t at;         /* where the next length begins, perhaps behind used */
    size_t *starts;
    size_t n, n_met;   /* strings; those whose length was seen */
};

_Static_assert(GB_GGUF_GAP == sizeof(uint64_t), "a length fills the gap");

/* The next string's length is in the block; the whole file must have it. */
static enum ggml_status
meet_string(struct reader *r, struct strings *s)
{
    const size_t behind = s->used - s->at - 8;
    uint64_t length;

    memcpy(&length, s->block + s->at, sizeof(length));
    length = gb_le64(length);
    if (length > MAX_LENGTH ||
        (length > behind && !gb_gguf_source_has(&r->source, length - behind)))
        return too_long("a string", length);
    /* The string before ends where the length was. */
    s->block[s->at] = '\0';
    s->starts[s->n_met++] = s->at + 8;
    s->at += 8 + (size_t)length;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
meet_strings(struct reader *r, struct strings *s)
{
    size_t end;

    for (;;) {
        while (s->n_met < s->n && s->at <= s->used && s->used - s->at >= 8)
            GB_TRY(meet_string(r, s));
        end = s->at + 8 * (s->n - s->n_met);
        if (end == s->used)
            break;
        if (!gb_gguf_source_append(&r->source, &s->block, &s->room, s->used,
                                   end - s->used))
            return ends_in("a string");
        s->used = end;
        /* Only now it is sure that there may be as many. */
        if (s->starts == NULL)
            s->starts = gb_mem_alloc((s->n + 1) * sizeof(*s->starts));
        if (s->starts == NULL)
            return no_memory("strings");
    }
    /* Room for the gap after the last one. */
    if (!gb_gguf_source_append(&r->source, &s->block, &s->room,
                               end + GB_GGUF_GAP, 0))
        return no_memory("strings");
    s->block[end] = '\0';
    if (s->n > 0)
        s->starts[s->n] = end + GB_GGUF_GAP;
    return GGML_STATUS_SUCCESS;
}

/* N strings into PAIR.  The block moves while it grows, so pointers come last. */
static enum ggml_status
take_strings(struct reader *r, struct gb_gguf_pair *pair, size_t n)
{
    struct strings s = { .n = n };
    const enum ggml_status status = meet_strings(r, &s);

    _Static_assert(sizeof(*s.starts) == sizeof(*pair->strings),
                   "pointers take the place of the offsets");
    pair->data = s.block;
    pair->strings = (char **)(void *)s.starts;
    if (status == GGML_STATUS_SUCCESS)
        for (size_t i = 0; n > 0 && i <= n; i++)
            pair->strings[i] = s.block + s.starts[i];
    return status;
}

/* N numbers into PAIR. */
static enum ggml_status
take_numbers(struct reader *r, struct gb_gguf_pair *pair, size_t n)
{
    const size_t size = gb_gguf_type_size(pair->type);
    char *block = NULL;
    size_t room = 0;
    bool fits;

    /* N is at most 2^30 and SIZE at most 8. */
    fits = gb_gguf_source_append(&r->source, &block, &room, 0, n * size);
    pair->data = block;
    if (!fits)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: the file ends in the value of '%s'", pair->key);
    gb_le_bytes(block, size, n * size);
    if (pair->type == GGUF_TYPE_BOOL) {
        for (size_t i = 0; i < n; i++)
            block[i] = block[i] != 0;
    }
    return GGML_STATUS_SUCCESS;
}

/* The type of PAIR's value, and of its elements and their number. */
static enum ggml_status
take_type(struct reader *r, struct gb_gguf_pair *pair)
{
    uint32_t type;
    uint64_t n = 1;

    GB_TRY(take_u32(r, &type, "a value's type"));
    pair->is_array = type == GGUF_TYPE_ARRAY;
    if (pair->is_array) {
        GB_TRY(take_u32(r, &type, "an array's type"));
        GB_TRY(take_u64(r, &n, "an array's length"));
    }
    if (type >= GGUF_TYPE_COUNT || type == GGUF_TYPE_ARRAY)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: key '%s' has a value of unknown type %lu",
                       r->quoted, (unsigned long)type);
    pair->type = (enum gguf_type)type;
    pair->n = (size_t)n;
    if (n > MAX_LENGTH ||
        !gb_gguf_source_has(&r->source,
                            n * (type == GGUF_TYPE_STRING
                                     ? 8
                                     : gb_gguf_type_size(pair->type))))
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: key '%s' has %llu elements, more than the file",
                       r->quoted, (unsigned long long)n);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
take_value(struct reader *r, struct gb_gguf_pair *pair)
{
    GB_TRY(take_type(r, pair));
    return pair->type == GGUF_TYPE_STRING ? take_strings(r, pair, pair->n)
                                          : take_numbers(r, pair, pair->n);
}

static enum ggml_status
take_pair(struct reader *r)
{
    struct gb_gguf_pair pair = { .key = NULL };
    enum ggml_status status;

    GB_TRY(take_name(r, "a key"));
    if (r->text_size == 0)
        return gb_fail(GGML_STATUS_FAILED, "gguf: a key is empty");
    if (gguf_find_key(r->ctx, r->text) >= 0)
        return gb_fail(GGML_STATUS_FAILED, "gguf: key '%s' is there twice",
                       r->quoted);
    pair.key = gb_mem_strdup(r->text);
    if (pair.key == NULL)
        return no_memory("a key");

    status = take_value(r, &pair);
    if (status != GGML_STATUS_SUCCESS)
        goto clear;
    if (strcmp(pair.key, GGUF_KEY_GENERAL_ALIGNMENT) == 0 &&
        !gb_gguf_is_alignment(&pair, &r->ctx->alignment)) {
        status = gb_fail(GGML_STATUS_FAILED,
                         "gguf: %s is not one u32, a power of two", pair.key);
        goto clear;
    }
    if (!gb_gguf_pair_add(r->ctx, &pair)) {
        status = no_memory("a key");
        goto clear;
    }
    return GGML_STATUS_SUCCESS;

clear:
    gb_gguf_pair_clear(&pair);
    return status;
}

/* Dimensions whose product is refused where the interface refuses it. */
static bool
product_fits(const int64_t ne[GGML_MAX_DIMS])
{
    int64_t product = ne[0];

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (ne[i] == 0)
            return true;
    }
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (INT64_MAX / ne[i] <= product)
            return false;
        product *= ne[i];
    }
    return true;
}

static enum ggml_status
take_shape(struct reader *r, struct ggml_tensor *tensor, size_t *bytes)
{
    uint32_t n_dims, type;

    GB_TRY(take_u32(r, &n_dims, "a tensor's shape"));
    if (n_dims > GGML_MAX_DIMS)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: tensor '%s' has %lu dimensions", r->quoted,
                       (unsigned long)n_dims);
    for (uint32_t i = 0; i < GGML_MAX_DIMS; i++) {
        uint64_t n = 1;

        if (i < n_dims)
            GB_TRY(take_u64(r, &n, "a tensor's shape"));
        tensor->ne[i] = (int64_t)n;
        if (tensor->ne[i] < 0)
            return gb_fail(GGML_STATUS_FAILED,
                           "gguf: tensor '%s' has a dimension of %lld",
                           r->quoted, (long long)tensor->ne[i]);
    }
    GB_TRY(take_u32(r, &type, "a tensor's type"));
    if (type >= GGML_TYPE_COUNT || ggml_blck_size((enum ggml_type)type) == 0)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: tensor '%s' has type %ld, %s", r->quoted,
                       (long)(int32_t)type,
                       type < GGML_TYPE_COUNT
                           ? ggml_type_name((enum ggml_type)type)
                           : "which is not known");
    tensor->type = (enum ggml_type)type;
    if (!product_fits(tensor->ne) ||
        !gb_tensor_sizes(tensor->type, GGML_MAX_DIMS, tensor->ne, tensor->nb,
                         bytes))
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: tensor '%s' of type %s cannot have shape "
                       "[%lld, %lld, %lld, %lld]",
                       r->quoted, ggml_type_name(tensor->type),
                       (long long)tensor->ne[0], (long long)tensor->ne[1],
                       (long long)tensor->ne[2], (long long)tensor->ne[3]);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
take_tensor(struct reader *r)
{
    struct gguf_context *ctx = r->ctx;
    struct gb_gguf_tensor entry;
    uint64_t offset;
    size_t bytes = 0, padded, end;

    memset(&entry, 0, sizeof(entry));
    GB_TRY(take_name(r, "a tensor's name"));
    if (r->text_size >= GGML_MAX_NAME)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: the tensor's name '%s' has %zu bytes, more than "
                       "%d",
                       r->quoted, r->text_size, GGML_MAX_NAME - 1);
    memcpy(entry.tensor.name, r->text, r->text_size);
    if (gguf_find_tensor(ctx, entry.tensor.name) >= 0)
        return gb_fail(GGML_STATUS_FAILED, "gguf: tensor '%s' is there twice",
                       r->quoted);
    GB_TRY(take_shape(r, &entry.tensor, &bytes));
    GB_TRY(take_u64(r, &offset, "a tensor's offset"));
    if (offset != ctx->data_size)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: tensor '%s' lies at %llu and should at %zu",
                       r->quoted, (unsigned long long)offset, ctx->data_size);
    if (!gb_gguf_pad(ctx, bytes, &padded) ||
        !gb_add_size(ctx->data_size, padded, &end))
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: tensor '%s' ends beyond all addresses",
                       r->quoted);
    entry.offset = (size_t)offset;
    if (!gb_gguf_tensor_add(ctx, &entry))
        return no_memory("a tensor");
    ctx->data_size = end;
    return GGML_STATUS_SUCCESS;
}

static uint32_t
swap32(uint32_t x)
{
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

/* Magic and version. */
static enum ggml_status
take_head(struct reader *r)
{
    char magic[4];
    char quoted[GB_GGUF_QUOTE];
    uint32_t version;

    GB_TRY(take(r, magic, sizeof(magic), "its magic"));
    if (memcmp(magic, GGUF_MAGIC, sizeof(magic)) != 0)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: the file begins with '%s', not '%s'",
                       gb_gguf_quote(quoted, magic, sizeof(magic)), GGUF_MAGIC);
    GB_TRY(take_u32(r, &version, "its version"));
    if ((version & 0xffff) == 0 && version != 0 && swap32(version) <= 3)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: the file's byte order is big-endian, which is "
                       "not read");
    if (version < 2 || version > GGUF_VERSION)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: v%lu of the format is not read, v2 and v3 are",
                       (unsigned long)version);
    r->ctx->version = version;
    return GGML_STATUS_SUCCESS;
}

/* A count of things of at least SMALLEST bytes each. */
static enum ggml_status
take_count(struct reader *r, const char *what, size_t smallest, uint64_t *out)
{
    GB_TRY(take_u64(r, out, "its counts"));
    if (*out > SIZE_MAX / 512 ||
        !gb_gguf_source_has(&r->source, *out * smallest))
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: %lld %s are more than the file can hold",
                       (long long)*out, what);
    return GGML_STATUS_SUCCESS;
}

/* Everything in front of the data section. */
static enum ggml_status
take_meta(struct reader *r)
{
    struct gguf_context *ctx = r->ctx;
    uint64_t n_tensors, n_pairs;

    GB_TRY(take_head(r));
    GB_TRY(take_count(r, "tensors", MIN_TENSOR, &n_tensors));
    GB_TRY(take_count(r, "keys", MIN_PAIR, &n_pairs));
    for (uint64_t i = 0; i < n_pairs; i++)
        GB_TRY(take_pair(r));
    for (uint64_t i = 0; i < n_tensors; i++)
        GB_TRY(take_tensor(r));
    if (r->source.position > SIZE_MAX ||
        !gb_gguf_pad(ctx, (size_t)r->source.position, &ctx->data_offset))
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: the data begins beyond all addresses");
    return GGML_STATUS_SUCCESS;
}

/* The data section into *BLOCK, which has room for it where that is known. */
static enum ggml_status
take_data(struct reader *r, char **block, size_t *room)
{
    const struct gguf_context *ctx = r->ctx;
    const uint64_t gap = ctx->data_offset - r->source.position;

    if (ctx->data_size == 0)
        return GGML_STATUS_SUCCESS;
    if (!gb_gguf_source_skip(&r->source, gap) ||
        !gb_gguf_source_append(&r->source, block, room, 0, ctx->data_size))
        return ends_in("the tensors' data");
    return GGML_STATUS_SUCCESS;
}

/* A context with room for every tensor, and for DATA_SIZE bytes more. */
static struct ggml_context *
new_context(const struct gguf_context *ctx, size_t data_size)
{
    struct ggml_init_params params = { .no_alloc = true };

    if (!gb_mul_size(ctx->n_tensors + 1, ggml_tensor_overhead(),
                     &params.mem_size) ||
        !gb_add_size(params.mem_size, data_size + GGML_MEM_ALIGN,
                     &params.mem_size)) {
        gb_fail(GGML_STATUS_FAILED, "gguf: the tensors' sizes overflow");
        return NULL;
    }
    return ggml_init(params);
}

/* One tensor for each entry; their data lies at DATA, as in the file, or
 * nowhere. */
static enum ggml_status
make_tensors(const struct gguf_context *ctx, struct ggml_context *tensors,
             char *data)
{
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct gb_gguf_tensor *entry = &ctx->tensors[i];
        struct ggml_tensor *tensor = ggml_new_tensor(
            tensors, entry->tensor.type, GGML_MAX_DIMS, entry->tensor.ne);

        if (gb_node_has_failed(tensor))
            return GGML_STATUS_FAILED;
        ggml_set_name(tensor, entry->tensor.name);
        if (data == NULL)
            continue;
        tensor->data = data + entry->offset;
        gb_le_bytes(tensor->data, gb_type_number_bytes(tensor->type),
                    ggml_nbytes(tensor));
    }
    return GGML_STATUS_SUCCESS;
}

/* The tensor that holds all data, as the interface has it: the first. */
static struct ggml_tensor *
make_blob(struct ggml_context *tensors, size_t size)
{
    struct ggml_tensor *blob;

    ggml_set_no_alloc(tensors, false);
    blob = ggml_new_tensor_1d(tensors, GGML_TYPE_I8, (int64_t)size);
    ggml_set_no_alloc(tensors, true);
    if (blob->data == NULL)
        return NULL;
    return ggml_set_name(blob, "GGUF tensor data binary blob");
}

/* The context's tensors with their data: BLOCK, or what comes next in the file. */
static enum ggml_status
fill_context(struct reader *r, struct ggml_context *tensors, bool no_alloc,
             const char *block)
{
    struct ggml_tensor *blob;
    size_t room = r->ctx->data_size;
    char *data;

    if (no_alloc)
        return make_tensors(r->ctx, tensors, NULL);
    blob = make_blob(tensors, room);
    if (blob == NULL)
        return GGML_STATUS_FAILED;
    data = blob->data;
    if (block != NULL)
        memcpy(data, block, room);
    else
        GB_TRY(take_data(r, &data, &room));
    return make_tensors(r->ctx, tensors, data);
}

static enum ggml_status
make_context(struct reader *r, bool no_alloc, struct ggml_context **out)
{
    const struct gguf_context *ctx = r->ctx;
    struct ggml_context *tensors = NULL;
    char *block = NULL;
    size_t room = 0, end;
    enum ggml_status status = GGML_STATUS_SUCCESS;

    /* A pipe's bytes are collected first: only then is their number true. */
    if (!no_alloc && !r->source.has_size)
        status = take_data(r, &block, &room);
    else if (!no_alloc && ctx->data_size > 0 &&
             (!gb_add_size(ctx->data_offset, ctx->data_size, &end) ||
              end > r->source.size))
        status = ends_in("the tensors' data");
    if (status == GGML_STATUS_SUCCESS) {
        tensors = new_context(ctx, no_alloc ? 0 : ctx->data_size);
        status = tensors == NULL
                     ? GGML_STATUS_ALLOC_FAILED
                     : fill_context(r, tensors, no_alloc, block);
    }
    gb_mem_free(block);
    if (status != GGML_STATUS_SUCCESS) {
        ggml_free(tensors);
        return status;
    }
    ggml_set_no_alloc(tensors, no_alloc);
    *out = tensors;
    return GGML_STATUS_SUCCESS;
}

/* Numbers as the machine does not have them would give results without sense
 * and without a message. */
static void
tell_of_byte_order(const struct gguf_context *ctx)
{
    size_t n = 0;

    if (!GB_IS_BIG_ENDIAN)
        return;
    for (size_t i = 0; i < ctx->n_tensors; i++)
        n += gb_type_number_bytes(ctx->tensors[i].tensor.type) > 1;
    if (n > 0)
        gb_log(GGML_LOG_LEVEL_INFO,
               "gguf: numbers of %zu tensors are little-endian in the file; "
               "a program that reads them by itself swaps their bytes", n);
}

static struct gguf_context *
read_file(FILE *file, struct gguf_init_params params)
{
    struct reader r = { .ctx = NULL };
    enum ggml_status status = GGML_STATUS_FAILED;

    if (!gb_gguf_source_open(&r.source, file)) {
        no_memory("reading");
        return NULL;
    }
    r.ctx = gguf_init_empty();
    if (r.ctx != NULL)
        status = take_meta(&r);
    if (status == GGML_STATUS_SUCCESS && params.ctx != NULL)
        status = make_context(&r, params.no_alloc, params.ctx);
    if (status == GGML_STATUS_SUCCESS && (params.ctx == NULL || params.no_alloc))
        tell_of_byte_order(r.ctx);
    gb_mem_free(r.text);
    gb_gguf_source_close(&r.source);
    if (status != GGML_STATUS_SUCCESS) {
        gguf_free(r.ctx);
        return NULL;
    }
    return r.ctx;
}

struct gguf_context *
gguf_init_from_file(const char *fname, struct gguf_init_params params)
{
    struct gguf_context *ctx;
    FILE *file;

    if (params.ctx != NULL)
        *params.ctx = NULL;
    GB_NEED_OR(NULL, fname != NULL, "gguf: no file name");
    file = ggml_fopen(fname, "rb");
    if (file == NULL) {
        gb_fail(GGML_STATUS_FAILED, "gguf: %s: %s", fname, strerror(errno));
        return NULL;
    }
    /* Our own buffer is the only one. */
    setvbuf(file, NULL, _IONBF, 0);
    ctx = read_file(file, params);
    fclose(file);
    return ctx;
}
