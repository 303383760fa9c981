/* SPDX-License-Identifier: MIT */
/* gguf.h - reading and writing GGUF files.  A file has keys with typed
 * values, descriptions of tensors, and the tensors' data, each padded to
 * the file's alignment.  A context holds the first two, and knows where the
 * data lies.  Versions 2 and 3 of the format are read.  Files are
 * little-endian on every machine.  In memory values are as the machine has
 * them, and so is loaded data of tensors but for quantised blocks, whose bytes
 * are those of the file.  A program that reads or writes data by itself on a
 * big-endian machine swaps the bytes of each number of types with a block size
 * of 1.  Keys and tensors are numbered from 0 in the order of the
 * file.  A number that does not exist, or a value of another type, is
 * answered with 0, NULL or false, and the reason is logged.  A context may
 * be read by several threads at once and changed by one; different contexts
 * are independent. */
#ifndef GGUF_H
#define GGUF_H

#include "ggml.h"

#define GGUF_MAGIC   "GGUF"
#define GGUF_VERSION 3

#define GGUF_KEY_GENERAL_ALIGNMENT "general.alignment"
#define GGUF_DEFAULT_ALIGNMENT     32

#ifdef __cplusplus
extern "C" {
#endif

struct gguf_context;

/* ---- files ---- */

/*
 * How much of a file is loaded.
 *
 *   ctx        NULL: the keys and descriptions alone.  Else *ctx becomes a new
 *              context, for the caller to free, with one tensor for each in the
 *              file
 *   no_alloc   with ctx: the tensors have no data.  Without it the data is
 *              loaded, into an I8 tensor named "GGUF tensor data binary blob",
 *              to whose data all others point; it is the context's first, so a
 *              walk with ggml_get_first_tensor meets it before the file's own
 */
struct gguf_init_params {
    bool no_alloc;
    struct ggml_context **ctx;
};

/* A context without keys and tensors, of version 3 and alignment 32; NULL
 * without memory.  Freed with gguf_free. */
GGML_API struct gguf_context *gguf_init_empty(void);

/*
 * Read the file FNAME.
 *
 * What is read is checked before it is believed: lengths against the file's,
 * counts, types, shapes and offsets.  NULL, and a *ctx of NULL, when something
 * does not hold or cannot be read or there is no memory.  The data section is
 * read, and its length checked, only where the data is loaded: with no ctx and
 * with no_alloc the file may end before its tensors do.
 */
GGML_API struct gguf_context *gguf_init_from_file(
    const char *fname, struct gguf_init_params params);

/* Free the context; NULL is allowed.  The ggml context that was made with
 * it lives on. */
GGML_API void gguf_free(struct gguf_context *ctx);

/* The version of the format: that of the file read, or 3. */
GGML_API uint32_t gguf_get_version(const struct gguf_context *ctx);

/* Bytes to which each tensor's data is aligned: a power of two. */
GGML_API size_t gguf_get_alignment(const struct gguf_context *ctx);

/* Where the data section begins in the file that was read, in bytes; 0
 * without one. */
GGML_API size_t gguf_get_data_offset(const struct gguf_context *ctx);

/* ---- keys ---- */

/* Types of values; the numbers are those in the file. */
enum gguf_type {
    GGUF_TYPE_UINT8   = 0,
    GGUF_TYPE_INT8    = 1,
    GGUF_TYPE_UINT16  = 2,
    GGUF_TYPE_INT16   = 3,
    GGUF_TYPE_UINT32  = 4,
    GGUF_TYPE_INT32   = 5,
    GGUF_TYPE_FLOAT32 = 6,
    GGUF_TYPE_BOOL    = 7,
    GGUF_TYPE_STRING  = 8,
    GGUF_TYPE_ARRAY   = 9,
    GGUF_TYPE_UINT64  = 10,
    GGUF_TYPE_INT64   = 11,
    GGUF_TYPE_FLOAT64 = 12,
    GGUF_TYPE_COUNT   = 13
};

/* "u8", "str", "arr" …; NULL for what is no type. */
GGML_API const char *gguf_type_name(enum gguf_type type);

/* How many keys there are. */
GGML_API int64_t gguf_get_n_kv(const struct gguf_context *ctx);

/* The number of KEY, or -1. */
GGML_API int64_t gguf_find_key(
    const struct gguf_context *ctx, const char *key);

/* The key's text; the context owns it. */
GGML_API const char *gguf_get_key(
    const struct gguf_context *ctx, int64_t key_id);

/* The value's type: GGUF_TYPE_ARRAY for an array, GGUF_TYPE_COUNT without
 * such a key. */
GGML_API enum gguf_type gguf_get_kv_type(
    const struct gguf_context *ctx, int64_t key_id);

/* ---- single values ---- */

/* The single value of a key, which must have exactly this type. */
GGML_API uint8_t gguf_get_val_u8(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API int8_t gguf_get_val_i8(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API uint16_t gguf_get_val_u16(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API int16_t gguf_get_val_i16(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API uint32_t gguf_get_val_u32(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API int32_t gguf_get_val_i32(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API float gguf_get_val_f32(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API uint64_t gguf_get_val_u64(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API int64_t gguf_get_val_i64(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API double gguf_get_val_f64(
    const struct gguf_context *ctx, int64_t key_id);
GGML_API bool gguf_get_val_bool(
    const struct gguf_context *ctx, int64_t key_id);

/* The single string of a key; the context owns it.  A string of a file may
 * have zero bytes before the one at its end: ggmlbackend_gguf_string_size. */
GGML_API const char *gguf_get_val_str(
    const struct gguf_context *ctx, int64_t key_id);

/* The bytes of a single number; not for strings.  The context owns them. */
GGML_API const void *gguf_get_val_data(
    const struct gguf_context *ctx, int64_t key_id);

/* ---- arrays ---- */

/* The type of an array's elements; GGUF_TYPE_COUNT for what is no array. */
GGML_API enum gguf_type gguf_get_arr_type(
    const struct gguf_context *ctx, int64_t key_id);

/* Elements of an array; 1 for a single value. */
GGML_API size_t gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id);

/* The elements of an array of numbers, one behind the other; bools are
 * bytes of 0 or 1. The context owns them. */
GGML_API const void *gguf_get_arr_data(
    const struct gguf_context *ctx, int64_t key_id);

/* The I-th string of an array of strings; the context owns it.  It may have
 * zero bytes, as a single string may. */
GGML_API const char *gguf_get_arr_str(
    const struct gguf_context *ctx, int64_t key_id, size_t i);

/* ---- tensors ---- */

/* How many tensors there are. */
GGML_API int64_t gguf_get_n_tensors(const struct gguf_context *ctx);

/* The number of the tensor called NAME, or -1. */
GGML_API int64_t gguf_find_tensor(
    const struct gguf_context *ctx, const char *name);

/* Where the tensor's data begins, in bytes behind the begin of the data
 * section: in the file, further on by what gguf_get_data_offset tells. */
GGML_API size_t gguf_get_tensor_offset(
    const struct gguf_context *ctx, int64_t tensor_id);

/* The tensor's name; the context owns it. */
GGML_API const char *gguf_get_tensor_name(
    const struct gguf_context *ctx, int64_t tensor_id);

/* The tensor's type; GGML_TYPE_COUNT without such a tensor. */
GGML_API enum ggml_type gguf_get_tensor_type(
    const struct gguf_context *ctx, int64_t tensor_id);

/* Bytes of the tensor's data, padding not counted. */
GGML_API size_t gguf_get_tensor_size(
    const struct gguf_context *ctx, int64_t tensor_id);

/* ---- setting keys ---- */

/* Take KEY out; the number that it had, or -1 where it was not there.  Keys
 * behind it move up by one. */
GGML_API int64_t gguf_remove_key(struct gguf_context *ctx, const char *key);

/* Set KEY to a single value, copied.  A key that is there already is taken
 * out first, so the new one is the last.  Refused, with nothing changed: an
 * empty key, a string of NULL, and for general.alignment everything but a u32
 * that is a power of two (which moves the tensors' offsets). */
GGML_API void gguf_set_val_u8(
    struct gguf_context *ctx, const char *key, uint8_t val);
GGML_API void gguf_set_val_i8(
    struct gguf_context *ctx, const char *key, int8_t val);
GGML_API void gguf_set_val_u16(
    struct gguf_context *ctx, const char *key, uint16_t val);
GGML_API void gguf_set_val_i16(
    struct gguf_context *ctx, const char *key, int16_t val);
GGML_API void gguf_set_val_u32(
    struct gguf_context *ctx, const char *key, uint32_t val);
GGML_API void gguf_set_val_i32(
    struct gguf_context *ctx, const char *key, int32_t val);
GGML_API void gguf_set_val_f32(
    struct gguf_context *ctx, const char *key, float val);
GGML_API void gguf_set_val_u64(
    struct gguf_context *ctx, const char *key, uint64_t val);
GGML_API void gguf_set_val_i64(
    struct gguf_context *ctx, const char *key, int64_t val);
GGML_API void gguf_set_val_f64(
    struct gguf_context *ctx, const char *key, double val);
GGML_API void gguf_set_val_bool(
    struct gguf_context *ctx, const char *key, bool val);
GGML_API void gguf_set_val_str(
    struct gguf_context *ctx, const char *key, const char *val);

/* Set KEY to an array of N numbers of TYPE, copied from DATA; bools are
 * bytes.  Otherwise as the functions for a single value do. */
GGML_API void gguf_set_arr_data(
    struct gguf_context *ctx, const char *key, enum gguf_type type,
    const void *data, size_t n);

/* Set KEY to an array of N strings, copied.  Otherwise as the functions for a
 * single value do. */
GGML_API void gguf_set_arr_str(
    struct gguf_context *ctx, const char *key, const char **data, size_t n);

/* Set every key of SRC, in its order.  Nothing happens where SRC is CTX. */
GGML_API void gguf_set_kv(
    struct gguf_context *ctx, const struct gguf_context *src);

/* ---- setting tensors ---- */

/* Add a copy of TENSOR's description behind all others.  TENSOR itself is not
 * needed afterwards, but a view's source is; its data, and its buffer if it
 * has one, are read when the file is written and stay where they are until
 * then.  Refused where the name is there already. */
GGML_API void gguf_add_tensor(
    struct gguf_context *ctx, const struct ggml_tensor *tensor);

/* Give the tensor called NAME another type: its size, and the offsets
 * behind it, follow.  Its data stays what it was: gguf_set_tensor_data gives
 * the converted one.  Refused where its rows are not whole blocks of TYPE. */
GGML_API void gguf_set_tensor_type(
    struct gguf_context *ctx, const char *name, enum ggml_type type);

/* Say where the data of the tensor called NAME is, in host memory, where it
 * stays until the file is written; what the tensor had before is not needed
 * any more. */
GGML_API void gguf_set_tensor_data(
    struct gguf_context *ctx, const char *name, const void *data);

/* ---- writing ---- */

/* Write the context to the file FNAME: keys and descriptions, and unless
 * ONLY_META is set the tensors' data, from their buffers where they have
 * one.  False, and nothing is written, where a tensor has no data or is not
 * contiguous, or where a key or tensor could not be put into the context
 * before for want of memory; false too where the file cannot be written or a
 * device's data not be read, with what was written left behind. */
GGML_API bool gguf_write_to_file(
    const struct gguf_context *ctx, const char *fname, bool only_meta);

/* Bytes in front of the data section, padding included. */
GGML_API size_t gguf_get_meta_size(const struct gguf_context *ctx);

/* The bytes in front of the data section, into DATA, which has room for
 * as many as gguf_get_meta_size tells. */
GGML_API void gguf_get_meta_data(const struct gguf_context *ctx, void *data);

#ifdef __cplusplus
}
#endif

#endif
