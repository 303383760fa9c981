/* SPDX-License-Identifier: MIT */
/*
 * ggml/type.h - data types, half floats, quantising rows (part of ggml.h).
 *
 * A row of a type is whole blocks, each of which holds the same number of
 * values in the same number of bytes; a block of a type that is not quantised
 * is one value.  All functions here may be called from any thread, but for
 * ggml_quantize_free, and before any ggml_init.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_TYPE_H
#define GGML_TYPE_H

#ifdef __cplusplus
extern "C" {
#endif

/* How a product is to be computed: as the backend does it best, or with sums
 * in F32 at least. */
enum ggml_prec {
    GGML_PREC_DEFAULT = 0,
    GGML_PREC_F32     = 1
};

/* -- Data types ---------------------------------------------------------- */

/* The numbers are those in files.  4, 5, 31 to 33 and 36 to 38 belonged to
 * types that are gone: they have a name, and blocks of no values or bytes. */
enum ggml_type {
    GGML_TYPE_F32     = 0,
    GGML_TYPE_F16     = 1,
    GGML_TYPE_Q4_0    = 2,
    GGML_TYPE_Q4_1    = 3,
    GGML_TYPE_Q5_0    = 6,
    GGML_TYPE_Q5_1    = 7,
    GGML_TYPE_Q8_0    = 8,
    GGML_TYPE_Q8_1    = 9,
    GGML_TYPE_Q2_K    = 10,
    GGML_TYPE_Q3_K    = 11,
    GGML_TYPE_Q4_K    = 12,
    GGML_TYPE_Q5_K    = 13,
    GGML_TYPE_Q6_K    = 14,
    GGML_TYPE_Q8_K    = 15,
    GGML_TYPE_IQ2_XXS = 16,
    GGML_TYPE_IQ2_XS  = 17,
    GGML_TYPE_IQ3_XXS = 18,
    GGML_TYPE_IQ1_S   = 19,
    GGML_TYPE_IQ4_NL  = 20,
    GGML_TYPE_IQ3_S   = 21,
    GGML_TYPE_IQ2_S   = 22,
    GGML_TYPE_IQ4_XS  = 23,
    GGML_TYPE_I8      = 24,
    GGML_TYPE_I16     = 25,
    GGML_TYPE_I32     = 26,
    GGML_TYPE_I64     = 27,
    GGML_TYPE_F64     = 28,
    GGML_TYPE_IQ1_M   = 29,
    GGML_TYPE_BF16    = 30,
    GGML_TYPE_TQ1_0   = 34,
    GGML_TYPE_TQ2_0   = 35,
    GGML_TYPE_COUNT   = 39 GGML_LEVEL_TYPES
};

/* What most weights of a file are; 5 and 6 are not used. */
enum ggml_ftype {
    GGML_FTYPE_UNKNOWN              = -1,
    GGML_FTYPE_ALL_F32              = 0,
    GGML_FTYPE_MOSTLY_F16           = 1,
    GGML_FTYPE_MOSTLY_Q4_0          = 2,
    GGML_FTYPE_MOSTLY_Q4_1          = 3,
    GGML_FTYPE_MOSTLY_Q4_1_SOME_F16 = 4,
    GGML_FTYPE_MOSTLY_Q8_0          = 7,
    GGML_FTYPE_MOSTLY_Q5_0          = 8,
    GGML_FTYPE_MOSTLY_Q5_1          = 9,
    GGML_FTYPE_MOSTLY_Q2_K          = 10,
    GGML_FTYPE_MOSTLY_Q3_K          = 11,
    GGML_FTYPE_MOSTLY_Q4_K          = 12,
    GGML_FTYPE_MOSTLY_Q5_K          = 13,
    GGML_FTYPE_MOSTLY_Q6_K          = 14,
    GGML_FTYPE_MOSTLY_IQ2_XXS       = 15,
    GGML_FTYPE_MOSTLY_IQ2_XS        = 16,
    GGML_FTYPE_MOSTLY_IQ3_XXS       = 17,
    GGML_FTYPE_MOSTLY_IQ1_S         = 18,
    GGML_FTYPE_MOSTLY_IQ4_NL        = 19,
    GGML_FTYPE_MOSTLY_IQ3_S         = 20,
    GGML_FTYPE_MOSTLY_IQ2_S         = 21,
    GGML_FTYPE_MOSTLY_IQ4_XS        = 22,
    GGML_FTYPE_MOSTLY_IQ1_M         = 23,
    GGML_FTYPE_MOSTLY_BF16          = 24
};

/* K values, a multiple of the block, out of blocks and into them. */
typedef void (*ggml_to_float_t)(
    const void *GGML_RESTRICT x, float *GGML_RESTRICT y, int64_t k);
typedef void (*ggml_from_float_t)(
    const float *GGML_RESTRICT x, void *GGML_RESTRICT y, int64_t k);

/* What is known of a type. */
struct ggml_type_traits {
    const char *type_name;
    int64_t blck_size;            /* values in a block, 0 for no type */
    int64_t blck_size_interleave; /* 0: rows are not interleaved */
    size_t type_size;             /* bytes of a block */
    bool is_quantized;
    ggml_to_float_t to_float;         /* NULL: none, and for F32 none needed */
    ggml_from_float_t from_float_ref; /* the same bytes on every machine, or
                                         NULL */
};

/* Values in a block; bytes of a block.  0 for retired numbers, and for a number
 * out of range, which is logged. */
GGML_API int64_t ggml_blck_size(enum ggml_type type);
GGML_API size_t ggml_type_size(enum ggml_type type);

/* Bytes of a row of NE values.  0, logged, when they are not whole blocks, the
 * type has no rows, or the size does not fit. */
GGML_API size_t ggml_row_size(enum ggml_type type, int64_t ne);

/* Bytes of a value, on average; 0 where there are no values. */
GGML_DEPRECATED(GGML_API double ggml_type_sizef(enum ggml_type type),
    "replaced by ggml_row_size");

/* "q4_K"; a retired number has a text of its own, one out of range "NONE".
 * Static. */
GGML_API const char *ggml_type_name(enum ggml_type type);

/* Do blocks hold more than one value?  False for retired numbers, and for one
 * out of range, which is logged. */
GGML_API bool ggml_is_quantized(enum ggml_type type);

/* The type of most of a file's weights; GGML_TYPE_COUNT, logged, for a file
 * type that does not name one. */
GGML_API enum ggml_type ggml_ftype_to_ggml_type(enum ggml_ftype ftype);

/* What is known of a type.  Never NULL; static.  A number out of range is
 * logged, and answered as if it were a retired one. */
GGML_API const struct ggml_type_traits *ggml_get_type_traits(
    enum ggml_type type);

/* -- Half floats --------------------------------------------------------- */

/* The bits of an IEEE 754 half. */
typedef uint16_t ggml_fp16_t;

/* The upper half of a float. */
typedef struct {
    uint16_t bits;
} ggml_bf16_t;

/*
 * Half floats.  Widening is exact, subnormals included; a NaN becomes a quiet
 * one.  Narrowing goes to the nearest, of two to the one whose last bit is 0:
 * for F16 everything from 65520 on becomes infinite, half of the smallest
 * subnormal and less zero.  A NaN stays one.  The row functions convert N
 * values of X to Y and give what single ones give, whatever number and
 * addresses are; X and Y do not overlap.  ggml_fp32_to_bf16_row_ref is the same
 * as the one without _ref.
 */
GGML_API float ggml_fp16_to_fp32(ggml_fp16_t x);
GGML_API ggml_fp16_t ggml_fp32_to_fp16(float x);
GGML_API void ggml_fp16_to_fp32_row(
    const ggml_fp16_t *x, float *y, int64_t n);
GGML_API void ggml_fp32_to_fp16_row(
    const float *x, ggml_fp16_t *y, int64_t n);
GGML_API ggml_bf16_t ggml_fp32_to_bf16(float x);
GGML_API float ggml_bf16_to_fp32(ggml_bf16_t x);
GGML_API void ggml_bf16_to_fp32_row(
    const ggml_bf16_t *x, float *y, int64_t n);
GGML_API void ggml_fp32_to_bf16_row_ref(
    const float *x, ggml_bf16_t *y, int64_t n);
GGML_API void ggml_fp32_to_bf16_row(
    const float *x, ggml_bf16_t *y, int64_t n);

/* -- Quantising rows ----------------------------------------------------- */

/*
 * Can these be NBYTES bytes of rows of that type?  False, logged, when they are
 * not whole blocks, when a value of a float type or a block's scale is infinite
 * or no number, and for Q8_1 and what is no type.  DATA needs no alignment.
 */
GGML_API bool ggml_validate_row_data(
    enum ggml_type type, const void *data, size_t nbytes);

/*
 * Make the tables that quantising to this type needs; ggml_quantize_chunk and
 * from_float_ref do so themselves.  Nothing happens for types that need none.
 */
GGML_API void ggml_quantize_init(enum ggml_type type);

/* Free these tables, of all types.  Not while anything is quantised; they are
 * made again when they are needed again. */
GGML_API void ggml_quantize_free(void);

/* Can rows of this type be quantised with an importance matrix only?  False for
 * what is no type. */
GGML_API bool ggml_quantize_requires_imatrix(enum ggml_type type);

/*
 * Quantise rows of a matrix for a model, with more effort than from_float_ref
 * where the type allows it.
 *
 *   src      the whole matrix; the rows from value START on are read
 *   dst      the whole result; these rows are written, at their places
 *   start    of the first row: a multiple of n_per_row
 *   imatrix  n_per_row weights, how much an error in each column matters; NULL
 *            for none.  F32, F16, BF16, Q8_0, TQ1_0 and TQ2_0 do not look at it
 *
 * Returns the bytes written; 0, logged, when the arguments do not fit, the type
 * is not one that matrices are quantised to or lacks the imatrix that it needs,
 * or there is no memory for its tables.  NaN and infinities in a row give some
 * blocks or other.  Different rows may be quantised by different threads.
 */
GGML_API size_t ggml_quantize_chunk(
    enum ggml_type type, const float *src, void *dst, int64_t start,
    int64_t nrows, int64_t n_per_row, const float *imatrix);

#ifdef __cplusplus
}
#endif

#endif
