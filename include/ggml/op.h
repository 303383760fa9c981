/* SPDX-License-Identifier: MIT */
/*
 * ggml/op.h - part of ggml.h: arithmetic, reductions, copies, views.
 *
 * What holds for all builders of nodes:
 *
 * Building    A builder makes a tensor in CTX that says how it will be
 *             computed: its operation, its sources, its parameters.  Nothing is
 *             computed.  The node is CTX's and lives as long.
 * Result      Contiguous and of a's type and shape where nothing else is said.
 *             With _inplace it is a view of a, which computing then overwrites;
 *             it is named "<name of a> (view)".
 * Shapes      [n0, n1, n2, n3]; n0 runs fastest, and a row is the n0 elements
 *             at one (i1, i2, i3).  Dimensions that are not mentioned are
 *             treated one by one.  b "repeats into" a when each size of a is a
 *             multiple of b's; b is then laid over a like tiles.  Sizes of 0
 *             are allowed where the rules hold, and nothing is computed for
 *             them.
 * Types       Builders look at a type where the contract names it as a rule.
 *             Which types and layouts a backend computes,
 *             ggml_backend_supports_op answers.
 * Parameters  For those who write backends: what the node's op_params hold, in
 *             words of 32 bits from number 0 on where nothing else is said.
 * Errors      Arguments that break a rule, a NULL where a tensor is needed, a
 *             result too large to address and a CTX without room give a failed
 *             node: a tensor of one element that no backend computes; a NULL
 *             CTX gives NULL.  The reason is logged, and comes back as
 *             GGML_STATUS_FAILED when a graph with that node is allocated or
 *             computed.  Nothing else has changed.  Builders take failed nodes
 *             and pass them on without a word.
 * Threads     One thread at a time for each context.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_OP_H
#define GGML_OP_H

#ifdef __cplusplus
extern "C" {
#endif

/* -- Arithmetic of two tensors ------------------------------------------- */

/*
 * a + b, a - b, a * b and a / b, element by element.
 *
 *   b  repeats into a
 */
GGML_API struct ggml_tensor *ggml_add(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_add_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_sub(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_sub_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_mul(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_mul_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_div(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_div_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * a + b, stored as another type.
 *
 *   a    of a quantised type, F16 or BF16
 *   b    repeats into a by whole rows: its n0 is a's
 *   dst  TYPE, the shape of a
 */
GGML_API struct ggml_tensor *ggml_add_cast(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    enum ggml_type type);

/*
 * a + b with a single number b.
 *
 *   a  rows at one distance: nb[2] = n1 * nb[1], nb[3] = n2 * nb[2]
 *   b  one element
 */
GGML_API struct ggml_tensor *ggml_add1(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_add1_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/* -- Parts of a tensor --------------------------------------------------- */

/*
 * a, with b added to a part of it.
 *
 *   a       F32, contiguous
 *   b       F32, no more elements than a
 *   nb1, nb2, nb3, offset
 *           the part: b's shape, strides of 4, nb1, nb2 and nb3 bytes, OFFSET
 *           bytes behind a's first element; it ends within a
 *
 * Strides that are used fit an int32_t, the offset is below 2^30.
 * Parameters: nb1, nb2, nb3, offset, 1 for in place.
 */
GGML_API struct ggml_tensor *ggml_acc(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t nb2, size_t nb3, size_t offset);
GGML_API struct ggml_tensor *ggml_acc_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t nb2, size_t nb3, size_t offset);

/*
 * a, with b in place of a part of it.
 *
 *   b  no more elements than a
 *
 * The part, its limits and the parameters are as for ggml_acc, with strides of
 * a where none are given: _1d takes all of them from a, _2d all but nb1.
 */
GGML_API struct ggml_tensor *ggml_set(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t nb2, size_t nb3, size_t offset);
GGML_API struct ggml_tensor *ggml_set_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t nb2, size_t nb3, size_t offset);
GGML_API struct ggml_tensor *ggml_set_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t offset);
GGML_API struct ggml_tensor *ggml_set_1d_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t offset);
GGML_API struct ggml_tensor *ggml_set_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t offset);
GGML_API struct ggml_tensor *ggml_set_2d_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    size_t nb1, size_t offset);

/* -- Elementary functions ------------------------------------------------ */

/*
 * s * a.
 *
 *   a  rows at one distance: nb[2] = n1 * nb[1], nb[3] = n2 * nb[2]
 */
GGML_API struct ggml_tensor *ggml_scale(
    struct ggml_context *ctx, struct ggml_tensor *a, float s);
GGML_API struct ggml_tensor *ggml_scale_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, float s);

/* max(min(a, MAX), MIN).  Always in place: the node is a view of a. */
GGML_API struct ggml_tensor *ggml_clamp(
    struct ggml_context *ctx, struct ggml_tensor *a, float min, float max);

/* The square, the square root, the natural logarithm, sine and cosine. */
GGML_API struct ggml_tensor *ggml_sqr(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sqr_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sqrt(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sqrt_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_log(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_log_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sin(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sin_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_cos(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_cos_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* The absolute value; the sign as -1, 0 or 1; the negative.  a as for
 * ggml_unary. */
GGML_API struct ggml_tensor *ggml_abs(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_abs_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sgn(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sgn_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_neg(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_neg_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* 1 above 0, else 0.  a as for ggml_unary. */
GGML_API struct ggml_tensor *ggml_step(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_step_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* e^x.  a as for ggml_unary. */
GGML_API struct ggml_tensor *ggml_exp(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_exp_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* -- Activation functions ------------------------------------------------ */

/*
 * The function OP of each element.  The builders from ggml_tanh to
 * ggml_hardsigmoid, ggml_leaky_relu and ggml_silu_back excepted, and ggml_exp,
 * ggml_abs, ggml_sgn, ggml_neg and ggml_step are this one, with the function in
 * their name; the same holds for them.
 *
 *   a  contiguous, but for the distance of its rows (ggml_is_contiguous_1)
 *
 * Parameter 0: OP, which ggml_get_unary_op gives back.
 */
GGML_API struct ggml_tensor *ggml_unary(
    struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_unary_op op);
GGML_API struct ggml_tensor *ggml_unary_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_unary_op op);

/* The hyperbolic tangent, and 1 / (1 + e^-x). */
GGML_API struct ggml_tensor *ggml_tanh(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_tanh_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sigmoid(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_sigmoid_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* max(x, 0). */
GGML_API struct ggml_tensor *ggml_relu(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_relu_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* x above 0, else NEGATIVE_SLOPE * x; in place when INPLACE.  Any layout. */
GGML_API struct ggml_tensor *ggml_leaky_relu(
    struct ggml_context *ctx, struct ggml_tensor *a, float negative_slope,
    bool inplace);

/*
 * x above 0, else e^x - 1.
 *
 * Source: "Fast and Accurate Deep Network Learning by Exponential Linear Units"
 * (arXiv 1511.07289).
 */
GGML_API struct ggml_tensor *ggml_elu(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_elu_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/*
 * x times the chance that a normal variable is below x, by two approximations:
 *
 *   gelu        x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
 *   gelu_quick  x / (1 + e^(-1.702 * x))
 *
 * Source: "Gaussian Error Linear Units" (arXiv 1606.08415), section 2.
 */
GGML_API struct ggml_tensor *ggml_gelu(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_gelu_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_gelu_quick(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_gelu_quick_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* x / (1 + e^-x). */
GGML_API struct ggml_tensor *ggml_silu(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_silu_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/*
 * The gradient of ggml_silu: a * s * (1 + b * (1 - s)) with s = 1 / (1 + e^-b).
 *
 *   a  the gradient of the result
 *   b  the operand x, of a's shape
 */
GGML_API struct ggml_tensor *ggml_silu_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * hardsigmoid: x / 6 + 1 / 2, but at least 0 and at most 1; hardswish: that
 * times x.
 *
 * Source: "Searching for MobileNetV3" (arXiv 1905.02244), section 5.2.
 */
GGML_API struct ggml_tensor *ggml_hardswish(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_hardsigmoid(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* -- Reductions and orders ----------------------------------------------- */

enum ggml_sort_order {
    GGML_SORT_ORDER_ASC  = 0,
    GGML_SORT_ORDER_DESC = 1
};

/* The sum of all elements: one element of a's type, 0 when there are none. */
GGML_API struct ggml_tensor *ggml_sum(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* The sum of each row, of a's type, and its mean, F32: [1, n1, n2, n3]. */
GGML_API struct ggml_tensor *ggml_sum_rows(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_mean(
    struct ggml_context *ctx, struct ggml_tensor *a);

/*
 * The column of each row's largest element, of equal ones the last.
 *
 *   a    a matrix of at most 2^31 - 1 columns
 *   dst  I32 [n1]
 */
GGML_API struct ggml_tensor *ggml_argmax(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* How many elements of a and b, of one shape, are equal: one I64. */
GGML_API struct ggml_tensor *ggml_count_equal(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * The order that sorts each row: dst[j] is the column of the j-th element.
 * Equal elements may come in any order.
 *
 *   a    at most 2^31 - 1 columns
 *   dst  I32, the shape of a
 *
 * Parameter 0: ORDER.
 */
GGML_API struct ggml_tensor *ggml_argsort(
    struct ggml_context *ctx, struct ggml_tensor *a,
    enum ggml_sort_order order);

/*
 * The columns of the K largest elements of each row, the largest first: a view
 * of ggml_argsort's result.  0 <= K <= n0.
 */
GGML_API struct ggml_tensor *ggml_top_k(
    struct ggml_context *ctx, struct ggml_tensor *a, int k);

/* -- Copies -------------------------------------------------------------- */

/* A copy of a. */
GGML_API struct ggml_tensor *ggml_dup(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_dup_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);

/*
 * Copy a into b, converting the elements.
 *
 *   b    as many elements as a, in any shape: they are taken in order
 *   dst  a view of b, named "<name of b> (copy of <name of a>)", or
 *        "<name of a> (copy)" when b has no name
 */
GGML_API struct ggml_tensor *ggml_cpy(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * A copy of a as TYPE, named "<name of a> (copy)".  Its operation is that of
 * ggml_cpy; as the copy's target its second source is the node itself.
 */
GGML_API struct ggml_tensor *ggml_cast(
    struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_type type);

/*
 * A contiguous copy of a, named "<name of a> (cont)"; with sizes, in that shape
 * of as many elements.
 */
GGML_API struct ggml_tensor *ggml_cont(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_cont_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0);
GGML_API struct ggml_tensor *ggml_cont_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1);
GGML_API struct ggml_tensor *ggml_cont_3d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2);
GGML_API struct ggml_tensor *ggml_cont_4d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2, int64_t ne3);

/*
 * a, and behind it in dimension DIM b.
 *
 *   a, b  of one type, and of one shape but for dimension DIM, 0 to 3
 *
 * Parameter 0: DIM.
 */
GGML_API struct ggml_tensor *ggml_concat(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int dim);

/* Tiles of a in the shape of b, which a repeats into; b is no source. */
GGML_API struct ggml_tensor *ggml_repeat(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * The gradient of ggml_repeat: the sum of all tiles of a, in the shape of b,
 * which repeats into a; b is no source.
 */
GGML_API struct ggml_tensor *ggml_repeat_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/* -- Other shapes of the same data --------------------------------------- */

/*
 * a in another shape of as many elements (that of b, which is no source): a
 * view, named "<name of a> (reshaped)".  a is contiguous.
 */
GGML_API struct ggml_tensor *ggml_reshape(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_reshape_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0);
GGML_API struct ggml_tensor *ggml_reshape_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1);
GGML_API struct ggml_tensor *ggml_reshape_3d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2);
GGML_API struct ggml_tensor *ggml_reshape_4d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2, int64_t ne3);

/*
 * A part of a's data with its own strides: a view, named "<name of a> (view)".
 *
 *   ne      the shape; ne0 is whole blocks of a's type
 *   nb      strides in bytes; those not given follow from the ones before: nb1
 *           from a dense row, nb2 is nb1 * ne1, nb3 is nb2 * ne2
 *   offset  bytes from a's first element
 *
 * Counted as contiguous and counted with its strides, the view ends within the
 * data of the tensor that a is, or is itself a view of; an empty one may lie
 * anywhere.
 * Parameters: the bytes of OFFSET, as a size_t.
 */
GGML_API struct ggml_tensor *ggml_view_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    size_t offset);
GGML_API struct ggml_tensor *ggml_view_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, size_t nb1, size_t offset);
GGML_API struct ggml_tensor *ggml_view_3d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset);
GGML_API struct ggml_tensor *ggml_view_4d(
    struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
    int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2,
    size_t nb3, size_t offset);

/*
 * a with its dimensions in another order: dimension i of a becomes dimension
 * AXISi, the four being a permutation of 0 to 3.  A view, named "<name of a>
 * (permuted)".
 *
 * Parameters: the four axes.
 */
GGML_API struct ggml_tensor *ggml_permute(
    struct ggml_context *ctx, struct ggml_tensor *a, int axis0, int axis1,
    int axis2, int axis3);

/* a, rows and columns exchanged: a view, named "<name of a> (transposed)". */
GGML_API struct ggml_tensor *ggml_transpose(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* -- Rows and diagonals -------------------------------------------------- */

/*
 * Rows of a by their numbers: dst[:, i, j, k] = a[:, b[i, j, k], j, k].
 *
 *   a    [n0, rows, m1, m2], any type that can be read
 *   b    I32 [m0, m1, m2]; numbers below 0 or beyond a's rows fail at compute
 *   dst  F32, of an I32 a I32 [n0, m0, m1, m2]
 */
GGML_API struct ggml_tensor *ggml_get_rows(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * The gradient of ggml_get_rows: zeros, with each row i of a added to row b[i].
 *
 *   a    a matrix, the gradient of the rows
 *   b    I32 vector, no longer than a has rows
 *   c    a matrix of as many columns as a, for the result's shape; no source
 *   dst  F32, the shape of c
 */
GGML_API struct ggml_tensor *ggml_get_rows_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c);

/*
 * A matrix with a on its diagonal and zeros around it.
 *
 *   a    [n, 1, n2, n3]
 *   dst  [n, n, n2, n3]
 */
GGML_API struct ggml_tensor *ggml_diag(
    struct ggml_context *ctx, struct ggml_tensor *a);

/* -- Other sizes --------------------------------------------------------- */

/*
 * a, stretched by taking the nearest element before: dimension d of size n to
 * size m reads element floor(i / (m / n)), evaluated in F32.
 *
 *   scale_factor  of the first two dimensions
 *   ne0 ... ne3     the new sizes, none smaller than a's
 */
GGML_API struct ggml_tensor *ggml_upscale(
    struct ggml_context *ctx, struct ggml_tensor *a, int scale_factor);
GGML_API struct ggml_tensor *ggml_upscale_ext(
    struct ggml_context *ctx, struct ggml_tensor *a, int ne0, int ne1,
    int ne2, int ne3);

/* a, with P0 to P3 zeros behind the end of dimensions 0 to 3. */
GGML_API struct ggml_tensor *ggml_pad(
    struct ggml_context *ctx, struct ggml_tensor *a, int p0, int p1, int p2,
    int p3);

/*
 * a, with each row mirrored about its first and its last element, P0 elements
 * to the left and P1 to the right; both are below n0.
 *
 *   a    F32, contiguous
 *   dst  [n0 + p0 + p1, n1, n2, n3]
 *
 * Parameters: P0, P1.
 */
GGML_API struct ggml_tensor *ggml_pad_reflect_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, int p0, int p1);

/*
 * START, START + STEP, ... as long as below STOP, which is above START: F32,
 * ceil((STOP - START) / STEP) elements.  STEP is above 0.
 *
 * Parameters: START, STOP, STEP.
 */
GGML_API struct ggml_tensor *ggml_arange(
    struct ggml_context *ctx, float start, float stop, float step);

#ifdef __cplusplus
}
#endif

#endif
