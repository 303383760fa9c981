/* SPDX-License-Identifier: MIT */
/*
 * ggml/tensor.h - part of ggml.h: contexts, the tensor struct, making and
 * asking tensors.
 *
 * What asks a tensor may be called by any thread while none changes it.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_TENSOR_H
#define GGML_TENSOR_H

#ifdef __cplusplus
extern "C" {
#endif

/* What an object of a context's pool is. */
enum ggml_object_type {
    GGML_OBJECT_TYPE_TENSOR      = 0,
    GGML_OBJECT_TYPE_GRAPH       = 1,
    GGML_OBJECT_TYPE_WORK_BUFFER = 2
};

struct ggml_object;
struct ggml_context;
struct ggml_backend_buffer;
struct ggml_tensor;

/* -- Contexts ------------------------------------------------------------ */

/* How a context is made. */
struct ggml_init_params {
    size_t mem_size;  /* bytes of the pool */
    void *mem_buffer; /* the pool, the caller's, or NULL */
    bool no_alloc;    /* no room for data */
};

/*
 * A new context, which holds tensors and graphs in a pool.
 *
 *   mem_size    bytes of the pool; 0 is taken as GGML_MEM_ALIGN
 *   mem_buffer  the pool, at a multiple of GGML_MEM_ALIGN; it stays the
 *               caller's and must outlive the context; NULL to have one made
 *   no_alloc    tensors get no room for data in the pool; their data is NULL
 *
 * NULL when there is no memory or the caller's is not aligned.  Any thread; a
 * context and what is in it is used by one thread at a time.
 */
GGML_API struct ggml_context *ggml_init(struct ggml_init_params params);

/* Forget all tensors and graphs and keep the pool, empty.  Nothing for NULL. */
GGML_API void ggml_reset(struct ggml_context *ctx);

/* Free the context with all its tensors and graphs.  Nothing for NULL. */
GGML_API void ggml_free(struct ggml_context *ctx);

/* Bytes of the pool in use; 0 for NULL. */
GGML_API size_t ggml_used_mem(const struct ggml_context *ctx);

/*
 * Do new tensors come without room for data?  False for NULL.  The setter acts
 * on tensors that are made afterwards; nothing for NULL.
 */
GGML_API bool ggml_get_no_alloc(struct ggml_context *ctx);
GGML_API void ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc);

/* The pool, be it the context's or the caller's, and its bytes; NULL and 0 for
 * NULL. */
GGML_API void *ggml_get_mem_buffer(const struct ggml_context *ctx);
GGML_API size_t ggml_get_mem_size(const struct ggml_context *ctx);

/* ggml_nbytes of the largest tensor; 0 when there is none, and for NULL. */
GGML_API size_t ggml_get_max_tensor_size(const struct ggml_context *ctx);

/*
 * NBYTES bytes of the pool, aligned to GGML_MEM_ALIGN and not cleared; the
 * context's, and gone with it.  NULL when there is no room, and for NULL.
 */
GGML_API void *ggml_new_buffer(struct ggml_context *ctx, size_t nbytes);

/*
 * Bytes of a pool that a tensor takes besides its data.  With data it takes
 * ggml_nbytes_pad more.  Any thread.
 */
GGML_API size_t ggml_tensor_overhead(void);

/* -- Operations ---------------------------------------------------------- */

/* Operations.  What each computes stands at its builder. */
enum ggml_op {
    GGML_OP_NONE                    = 0,
    GGML_OP_DUP                     = 1,
    GGML_OP_ADD                     = 2,
    GGML_OP_ADD1                    = 3,
    GGML_OP_ACC                     = 4,
    GGML_OP_SUB                     = 5,
    GGML_OP_MUL                     = 6,
    GGML_OP_DIV                     = 7,
    GGML_OP_SQR                     = 8,
    GGML_OP_SQRT                    = 9,
    GGML_OP_LOG                     = 10,
    GGML_OP_SIN                     = 11,
    GGML_OP_COS                     = 12,
    GGML_OP_SUM                     = 13,
    GGML_OP_SUM_ROWS                = 14,
    GGML_OP_MEAN                    = 15,
    GGML_OP_ARGMAX                  = 16,
    GGML_OP_COUNT_EQUAL             = 17,
    GGML_OP_REPEAT                  = 18,
    GGML_OP_REPEAT_BACK             = 19,
    GGML_OP_CONCAT                  = 20,
    GGML_OP_SILU_BACK               = 21,
    GGML_OP_NORM                    = 22,
    GGML_OP_RMS_NORM                = 23,
    GGML_OP_RMS_NORM_BACK           = 24,
    GGML_OP_GROUP_NORM              = 25,
    GGML_OP_MUL_MAT                 = 26,
    GGML_OP_MUL_MAT_ID              = 27,
    GGML_OP_OUT_PROD                = 28,
    GGML_OP_SCALE                   = 29,
    GGML_OP_SET                     = 30,
    GGML_OP_CPY                     = 31,
    GGML_OP_CONT                    = 32,
    GGML_OP_RESHAPE                 = 33,
    GGML_OP_VIEW                    = 34,
    GGML_OP_PERMUTE                 = 35,
    GGML_OP_TRANSPOSE               = 36,
    GGML_OP_GET_ROWS                = 37,
    GGML_OP_GET_ROWS_BACK           = 38,
    GGML_OP_DIAG                    = 39,
    GGML_OP_DIAG_MASK_INF           = 40,
    GGML_OP_DIAG_MASK_ZERO          = 41,
    GGML_OP_SOFT_MAX                = 42,
    GGML_OP_SOFT_MAX_BACK           = 43,
    GGML_OP_ROPE                    = 44,
    GGML_OP_ROPE_BACK               = 45,
    GGML_OP_CLAMP                   = 46,
    GGML_OP_CONV_TRANSPOSE_1D       = 47,
    GGML_OP_IM2COL                  = 48,
    GGML_OP_IM2COL_BACK             = 49,
    GGML_OP_CONV_TRANSPOSE_2D       = 50,
    GGML_OP_POOL_1D                 = 51,
    GGML_OP_POOL_2D                 = 52,
    GGML_OP_POOL_2D_BACK            = 53,
    GGML_OP_UPSCALE                 = 54,
    GGML_OP_PAD                     = 55,
    GGML_OP_PAD_REFLECT_1D          = 56,
    GGML_OP_ARANGE                  = 57,
    GGML_OP_TIMESTEP_EMBEDDING      = 58,
    GGML_OP_ARGSORT                 = 59,
    GGML_OP_LEAKY_RELU              = 60,
    GGML_OP_FLASH_ATTN_EXT          = 61,
    GGML_OP_FLASH_ATTN_BACK         = 62,
    GGML_OP_SSM_CONV                = 63,
    GGML_OP_SSM_SCAN                = 64,
    GGML_OP_WIN_PART                = 65,
    GGML_OP_WIN_UNPART              = 66,
    GGML_OP_GET_REL_POS             = 67,
    GGML_OP_ADD_REL_POS             = 68,
    GGML_OP_RWKV_WKV6               = 69,
    GGML_OP_GATED_LINEAR_ATTN       = 70,
    GGML_OP_UNARY                   = 71,
    GGML_OP_MAP_UNARY               = 72,
    GGML_OP_MAP_BINARY              = 73,
    GGML_OP_MAP_CUSTOM1_F32         = 74,
    GGML_OP_MAP_CUSTOM2_F32         = 75,
    GGML_OP_MAP_CUSTOM3_F32         = 76,
    GGML_OP_MAP_CUSTOM1             = 77,
    GGML_OP_MAP_CUSTOM2             = 78,
    GGML_OP_MAP_CUSTOM3             = 79,
    GGML_OP_CROSS_ENTROPY_LOSS      = 80,
    GGML_OP_CROSS_ENTROPY_LOSS_BACK = 81,
    GGML_OP_OPT_STEP_ADAMW          = 82,
    GGML_OP_COUNT                   = 83 GGML_LEVEL_OPS
};

/* Functions of one value: parameter 0 of a node of GGML_OP_UNARY. */
enum ggml_unary_op {
    GGML_UNARY_OP_ABS         = 0,
    GGML_UNARY_OP_SGN         = 1,
    GGML_UNARY_OP_NEG         = 2,
    GGML_UNARY_OP_STEP        = 3,
    GGML_UNARY_OP_TANH        = 4,
    GGML_UNARY_OP_ELU         = 5,
    GGML_UNARY_OP_RELU        = 6,
    GGML_UNARY_OP_SIGMOID     = 7,
    GGML_UNARY_OP_GELU        = 8,
    GGML_UNARY_OP_GELU_QUICK  = 9,
    GGML_UNARY_OP_SILU        = 10,
    GGML_UNARY_OP_HARDSWISH   = 11,
    GGML_UNARY_OP_HARDSIGMOID = 12,
    GGML_UNARY_OP_EXP         = 13,
    GGML_UNARY_OP_COUNT       = 14 GGML_LEVEL_UNARY_OPS
};

/* For GGML_OP_ADD "ADD" and "x+y".  Static; "unknown", logged, for what is no
 * operation. */
GGML_API const char *ggml_op_name(enum ggml_op op);
GGML_API const char *ggml_op_symbol(enum ggml_op op);

/* For GGML_UNARY_OP_GELU "GELU".  Static; "unknown", logged, for what is no
 * function. */
GGML_API const char *ggml_unary_op_name(enum ggml_unary_op op);

/* The function's name for a node of GGML_OP_UNARY, else the operation's.
 * Static; "unknown" for NULL. */
GGML_API const char *ggml_op_desc(const struct ggml_tensor *t);

/*
 * The function of a node of GGML_OP_UNARY; GGML_UNARY_OP_COUNT for another
 * node.
 */
GGML_API enum ggml_unary_op ggml_get_unary_op(
    const struct ggml_tensor *tensor);

/* -- Tensors ------------------------------------------------------------- */

/*
 * A tensor of four dimensions, number 0 running fastest, or a node that
 * computes one.
 *
 * Element (i0, i1, i2, i3) of a type with blocks of one element is at
 *     data + i0 * nb[0] + i1 * nb[1] + i2 * nb[2] + i3 * nb[3].
 * In a quantised type nb[0] is the distance of blocks, and a row (dimension 0)
 * has no gaps.
 *
 * A node that could not be built is a "failed node": one F32 element, no data.
 * Builders take it and give one again; allocating or computing it fails with
 * the reason why it was not built.  The context keeps room for it, so that even
 * a full one has it.
 */
struct ggml_tensor {
    enum ggml_type type;
    struct ggml_backend_buffer *buffer; /* that holds the data, or NULL */
    int64_t ne[GGML_MAX_DIMS];          /* elements */
    size_t nb[GGML_MAX_DIMS];           /* strides in bytes */
    enum ggml_op op;
    int32_t op_params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    int32_t flags; /* of enum ggml_tensor_flag */
    struct ggml_tensor *src[GGML_MAX_SRC];
    struct ggml_tensor *view_src; /* whose data a view shares, or NULL */
    size_t view_offs;             /* bytes behind view_src's first */
    void *data;                   /* of the host, or of the buffer's device */
    char name[GGML_MAX_NAME];
    void *extra; /* private to the buffer */
#if GGML_API_LEVEL < 202503
    enum ggml_backend_type backend;
    char padding[4];
#else
    char padding[8];
#endif
};

/* Bytes of the struct. */
static const size_t GGML_TENSOR_SIZE = sizeof(struct ggml_tensor);

/*
 * A new contiguous tensor of NE[0] x ... elements, N_DIMS (1 to 4) dimensions;
 * the others have 1.  NE[0] is a multiple of the type's block.  It has no name
 * and operation NONE; its data, not cleared, lies in the pool unless the
 * context has no_alloc.
 *
 * A failed node when the pool has no room, TYPE has no values, a count is
 * negative or their product does not fit; NULL when CTX is NULL.
 */
GGML_API struct ggml_tensor *ggml_new_tensor(
    struct ggml_context *ctx, enum ggml_type type, int n_dims,
    const int64_t *ne);
GGML_API struct ggml_tensor *ggml_new_tensor_1d(
    struct ggml_context *ctx, enum ggml_type type, int64_t ne0);
GGML_API struct ggml_tensor *ggml_new_tensor_2d(
    struct ggml_context *ctx, enum ggml_type type, int64_t ne0, int64_t ne1);
GGML_API struct ggml_tensor *ggml_new_tensor_3d(
    struct ggml_context *ctx, enum ggml_type type, int64_t ne0, int64_t ne1,
    int64_t ne2);
GGML_API struct ggml_tensor *ggml_new_tensor_4d(
    struct ggml_context *ctx, enum ggml_type type, int64_t ne0, int64_t ne1,
    int64_t ne2, int64_t ne3);

/*
 * A new contiguous tensor of SRC's type and shape, without its name and its
 * data; it fails as ggml_new_tensor does, and when SRC has failed or is NULL.
 */
GGML_API struct ggml_tensor *ggml_dup_tensor(
    struct ggml_context *ctx, const struct ggml_tensor *src);

/*
 * A tensor with SRC's shape and strides that shares its data, named "<SRC>
 * (view)".  The view_src of a view is never itself a view.  It fails as
 * ggml_dup_tensor does.
 */
GGML_API struct ggml_tensor *ggml_view_tensor(
    struct ggml_context *ctx, struct ggml_tensor *src);

/* -- Names and flags ----------------------------------------------------- */

/* The name, "" for none and for NULL; it is the tensor's. */
GGML_API const char *ggml_get_name(const struct ggml_tensor *tensor);

/*
 * Give TENSOR a name, of which at most GGML_MAX_NAME - 1 bytes are kept; the
 * second forms it as printf does.  Gives TENSOR back.  With a NULL nothing is
 * changed, which is logged.
 */
GGML_API struct ggml_tensor *ggml_set_name(
    struct ggml_tensor *tensor, const char *name);
GGML_API struct ggml_tensor *ggml_format_name(
    struct ggml_tensor *tensor, const char *fmt, ...);

/*
 * INPUT and OUTPUT keep the graph allocator from using a tensor's place for
 * others before, or after, the graph has run; PARAM and LOSS are for training.
 */
enum ggml_tensor_flag {
    GGML_TENSOR_FLAG_INPUT  = 1,
    GGML_TENSOR_FLAG_OUTPUT = 2,
    GGML_TENSOR_FLAG_PARAM  = 4,
    GGML_TENSOR_FLAG_LOSS   = 8
};

/*
 * Add a flag; see enum ggml_tensor_flag.  A loss is a single F32 element,
 * nothing else gets the flag, which is logged.  CTX is not used, and may be
 * NULL.
 */
GGML_API void ggml_set_input(struct ggml_tensor *tensor);
GGML_API void ggml_set_output(struct ggml_tensor *tensor);
GGML_API void ggml_set_param(
    struct ggml_context *ctx, struct ggml_tensor *tensor);
GGML_API void ggml_set_loss(struct ggml_tensor *tensor);

/* -- Sizes --------------------------------------------------------------- */

/* The product of all counts.  0 for NULL. */
GGML_API int64_t ggml_nelements(const struct ggml_tensor *tensor);

/* The product of the counts of dimensions 1 to 3.  0 for NULL. */
GGML_API int64_t ggml_nrows(const struct ggml_tensor *tensor);

/*
 * Bytes from the first to behind the last element, the gaps of strides
 * included; 0 when the tensor is empty or NULL.
 */
GGML_API size_t ggml_nbytes(const struct ggml_tensor *tensor);

/* ggml_nbytes rounded up to a multiple of GGML_MEM_ALIGN; 0 for NULL. */
GGML_API size_t ggml_nbytes_pad(const struct ggml_tensor *tensor);

/* Bytes of an element, or of a block in quantised types.  0 for NULL. */
GGML_API size_t ggml_element_size(const struct ggml_tensor *tensor);

/*
 * The dimensions up to the last whose count is above 1; at least 1, 0 for NULL.
 */
GGML_API int ggml_n_dims(const struct ggml_tensor *tensor);

/* -- Shapes and strides -------------------------------------------------- */

/* Is dimension 0 more distant than dimension 1?  False for NULL. */
GGML_API bool ggml_is_transposed(const struct ggml_tensor *tensor);

/* Is some dimension more distant than the next?  False for NULL. */
GGML_API bool ggml_is_permuted(const struct ggml_tensor *tensor);

/* Is some count 0?  False for NULL. */
GGML_API bool ggml_is_empty(const struct ggml_tensor *tensor);

/*
 * Are the counts of all dimensions 1; of all from 1 on; from 2 on; from 3 on?
 * False for NULL.
 */
GGML_API bool ggml_is_scalar(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_vector(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_matrix(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_3d(const struct ggml_tensor *tensor);

/*
 * Do the elements stand without gaps and in order?  With _1 and _2 the strides
 * of dimensions up to that one may have gaps.  Strides of dimensions with a
 * count of 1 do not matter.  False for NULL.
 */
GGML_API bool ggml_is_contiguous(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_contiguous_0(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_contiguous_1(const struct ggml_tensor *tensor);
GGML_API bool ggml_is_contiguous_2(const struct ggml_tensor *tensor);

/*
 * Are all four counts equal; all four strides?  Types are not compared.  False
 * when one is NULL.
 */
GGML_API bool ggml_are_same_shape(
    const struct ggml_tensor *t0, const struct ggml_tensor *t1);
GGML_API bool ggml_are_same_stride(
    const struct ggml_tensor *t0, const struct ggml_tensor *t1);

/*
 * Is each count of T1 a multiple, 0 times included, of T0's?  Of an empty
 * tensor only an empty one is.  False when one is NULL.
 */
GGML_API bool ggml_can_repeat(
    const struct ggml_tensor *t0, const struct ggml_tensor *t1);

/* -- Data ---------------------------------------------------------------- */

/*
 * The tensor's data: an address of the host, or of its buffer's device; NULL
 * when it has none yet, and for NULL.  With _f32 also NULL, logged, for another
 * type.
 */
GGML_API void *ggml_get_data(const struct ggml_tensor *tensor);
GGML_API float *ggml_get_data_f32(const struct ggml_tensor *tensor);

/*
 * Set the bytes of the tensor's data to 0, in host memory or through its
 * buffer, and give TENSOR back.  Nothing is done to an empty tensor, to one
 * without data, which is logged, and for NULL.
 */
GGML_API struct ggml_tensor *ggml_set_zero(struct ggml_tensor *tensor);

/*
 * The four indices of the I-th element, counted in the order of dimensions.
 * Each output may be NULL; none is written when there is no such element.
 */
GGML_API void ggml_unravel_index(
    const struct ggml_tensor *tensor, int64_t i, int64_t *i0, int64_t *i1,
    int64_t *i2, int64_t *i3);

/* -- Tensors of a context ------------------------------------------------ */

/*
 * The tensors of a context in the order in which they were made; NULL behind
 * the last, and for a tensor of another context.
 */
GGML_API struct ggml_tensor *ggml_get_first_tensor(
    const struct ggml_context *ctx);
GGML_API struct ggml_tensor *ggml_get_next_tensor(
    const struct ggml_context *ctx, struct ggml_tensor *tensor);

/* The context's first tensor with this name; NULL when there is none, and when
 * one of the two is NULL. */
GGML_API struct ggml_tensor *ggml_get_tensor(
    struct ggml_context *ctx, const char *name);

/*
 * Log one line for an object of a pool, or for each of a context's.  Level
 * INFO; the default sink shows it whatever its level.
 */
GGML_API void ggml_print_object(const struct ggml_object *obj);
GGML_API void ggml_print_objects(const struct ggml_context *ctx);

/* -- Shapes as local constants ------------------------------------------- */

/*
 * Declare constants <prefix>0, <prefix>1 ... of TYPE from POINTER's ARRAY; for
 * code that walks strides.  The last declaration ends here: sources of backends
 * write nothing behind these macros, and a semicolon there does no harm.
 */
#define GGML_TENSOR_LOCALS_1(type, prefix, pointer, array) \
    const type prefix##0 = (pointer)->array[0];            \
    GGML_UNUSED(prefix##0);
#define GGML_TENSOR_LOCALS_2(type, prefix, pointer, array) \
    GGML_TENSOR_LOCALS_1(type, prefix, pointer, array)     \
    const type prefix##1 = (pointer)->array[1];            \
    GGML_UNUSED(prefix##1);
#define GGML_TENSOR_LOCALS_3(type, prefix, pointer, array) \
    GGML_TENSOR_LOCALS_2(type, prefix, pointer, array)     \
    const type prefix##2 = (pointer)->array[2];            \
    GGML_UNUSED(prefix##2);
#define GGML_TENSOR_LOCALS(type, prefix, pointer, array)   \
    GGML_TENSOR_LOCALS_3(type, prefix, pointer, array)     \
    const type prefix##3 = (pointer)->array[3];            \
    GGML_UNUSED(prefix##3);

/*
 * The same for tensors named src0, src1 and dst: ne00 ... nb13, and ne0 ...
 * nb3.
 */
#define GGML_TENSOR_BINARY_OP_LOCALS01         \
    GGML_TENSOR_LOCALS(int64_t, ne0, src0, ne) \
    GGML_TENSOR_LOCALS(size_t, nb0, src0, nb)  \
    GGML_TENSOR_LOCALS(int64_t, ne1, src1, ne) \
    GGML_TENSOR_LOCALS(size_t, nb1, src1, nb)
#define GGML_TENSOR_UNARY_OP_LOCALS            \
    GGML_TENSOR_LOCALS(int64_t, ne0, src0, ne) \
    GGML_TENSOR_LOCALS(size_t, nb0, src0, nb)  \
    GGML_TENSOR_LOCALS(int64_t, ne, dst, ne)   \
    GGML_TENSOR_LOCALS(size_t, nb, dst, nb)
#define GGML_TENSOR_BINARY_OP_LOCALS           \
    GGML_TENSOR_BINARY_OP_LOCALS01             \
    GGML_TENSOR_LOCALS(int64_t, ne, dst, ne)   \
    GGML_TENSOR_LOCALS(size_t, nb, dst, nb)

#ifdef __cplusplus
}
#endif

#endif
