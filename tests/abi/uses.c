/* SPDX-License-Identifier: MIT */
/*
 * abi/uses.c - every macro of the public headers that takes arguments or
 * declares something, in each place where clients write it.
 *
 * It is C99 and C++11, and compiled as each standard, for each level; macros.c
 * asks what the functions give.
 */
#include "uses.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

/* ---- what walks strides ---- */

int64_t
use_locals_by_number(const struct ggml_tensor *src0)
{
    /* As real backends have it: the expansion ends the declaration itself. */
    GGML_TENSOR_LOCALS_1(int64_t, a, src0, ne)
    GGML_TENSOR_LOCALS_2(int64_t, b, src0, ne)
    GGML_TENSOR_LOCALS_3(int64_t, c, src0, ne)
    GGML_TENSOR_LOCALS(int64_t, d, src0, ne)
    int64_t sum = a0 + b1 + c2 + d3;

    {
        GGML_TENSOR_LOCALS_1(size_t, p, src0, nb);
        GGML_TENSOR_LOCALS_2(size_t, q, src0, nb);
        GGML_TENSOR_LOCALS_3(size_t, r, src0, nb);
        GGML_TENSOR_LOCALS(size_t, s, src0, nb);
        sum += (int64_t)(p0 + q1 + r2 + s3);
    }
    return sum;
}

static const struct ggml_tensor *
second(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    (void)a;
    return b;
}

int64_t
use_locals_of_expressions(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1)
{
    const struct ggml_tensor *const *both = &src1;

    GGML_TENSOR_LOCALS(long long, x, second(src0, src1), ne)
    GGML_TENSOR_LOCALS_2(int64_t, y, *both + 0, ne)
    if (x0 > 0) {
        GGML_TENSOR_LOCALS_1(int64_t, z, x1 > 0 ? src0 : src1, ne)
        return (int64_t)x3 + y1 + z0;
    }
    return 0;
}

/* The locals of the macros below: unused ones do not warn. */
#define SUM(p) (p##0 + p##1 + p##2 + p##3)

int64_t
use_unary_locals(
    const struct ggml_tensor *src0, const struct ggml_tensor *dst)
{
    GGML_TENSOR_UNARY_OP_LOCALS
    return SUM(ne0) + SUM(ne) + (int64_t)(SUM(nb0) + SUM(nb));
}

int64_t
use_unary_locals_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *dst)
{
    GGML_TENSOR_UNARY_OP_LOCALS;

    return SUM(ne0) + SUM(ne) + (int64_t)(SUM(nb0) + SUM(nb));
}

int64_t
use_binary_locals(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1,
    const struct ggml_tensor *dst)
{
    GGML_TENSOR_BINARY_OP_LOCALS

    const int64_t n = SUM(ne0) + SUM(ne1) + SUM(ne);

    return n + (int64_t)(SUM(nb0) + SUM(nb1) + SUM(nb));
}

int64_t
use_binary_locals_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1,
    const struct ggml_tensor *dst)
{
    GGML_TENSOR_BINARY_OP_LOCALS;

    const int64_t n = SUM(ne0) + SUM(ne1) + SUM(ne);

    return n + (int64_t)(SUM(nb0) + SUM(nb1) + SUM(nb));
}

int64_t
use_binary_locals01(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1)
{
    GGML_TENSOR_BINARY_OP_LOCALS01
    return SUM(ne0) + SUM(ne1) + (int64_t)(SUM(nb0) + SUM(nb1));
}

int64_t
use_binary_locals01_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1)
{
    GGML_TENSOR_BINARY_OP_LOCALS01;

    return SUM(ne0) + SUM(ne1) + (int64_t)(SUM(nb0) + SUM(nb1));
}

/* ---- what ends the process ---- */

static int
larger(int a, int b)
{
    return a > b ? a : b;
}

int
use_assert_between_branches(int x, int y)
{
    int branch;

    if (x >= 0)
        GGML_ASSERT(larger(x, y) >= x && "text beside it, with a comma");
    else
        return 2;
    if (x < 0)
        branch = 0;
    else
        GGML_ASSERT(y >= 0);
    switch (x) {
    default:
        GGML_ASSERT(y + 1 > 0);
    }
    branch = 1;
    return branch;
}

int
use_assert_in_a_loop(const int *y, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        GGML_ASSERT(y[i] >= 0);
    for (int i = 0; i < n; i++)
        sum += y[i];
    do
        GGML_ASSERT(sum >= 0);
    while (sum < 0);
    return sum;
}

int
use_what_ends_the_process(int x)
{
    if (x == 12345)
        GGML_ABORT("%d of %s", x, "them");
    else if (x == 12346)
        GGML_ABORT("a text alone");
    if (x == 12347)
        GGML_UNREACHABLE();
    else
        GGML_UNUSED(x);
    switch (x > 0 ? 1 : x < 0 ? -1 : 0) {
    case -1:
        return -1;
    case 0:
        return 0;
    case 1:
        return x == 12348 ? (GGML_ABORT("no %s", "value"), 0) : 1;
    default:
        GGML_UNREACHABLE();
    }
}

GGML_NORETURN GGML_ATTRIBUTE_FORMAT(1, 2)
static void
end(const char *format, ...)
{
    (void)format;
    GGML_ABORT("the end");
}

/* ---- expressions ---- */

size_t
use_pad(size_t x, size_t n)
{
    char array[GGML_PAD(33, 32)];
    enum { PADDED = GGML_PAD(1, 4) * 2 + GGML_PAD((3 > 5 ? 3 : 5), 8) };
    const int rounded = GGML_PAD(larger(17, 5), 16) + 1;

    GGML_UNUSED(array), GGML_UNUSED(rounded);
    if (sizeof(array) != 64 || PADDED != 16 || rounded != 33)
        return 0;
    return 3 * GGML_PAD(x + n, (size_t)32);
}

int
use_min_and_max(int a, int b)
{
    enum { MOST = MAX(3, 4) + MIN(1, 2) };

    return MOST == 5 ? MAX(a, larger(b, b)) - MIN(a, b) : 0;
}

int
use_log(int x)
{
    if (x > 0)
        GGML_LOG_DEBUG("%s: %d\n", "x", x);
    else
        GGML_LOG_DEBUG("nothing\n");
    GGML_LOG("%s", "");
    GGML_LOG_CONT("%s", "");
    if (x == 12345) {
        GGML_LOG_INFO("%d\n", x);
        GGML_LOG_WARN("%d\n", x);
        GGML_LOG_ERROR("%d\n", x);
        end("%d", x);
    }
    GGML_PRINT_DEBUG("%d\n", x);
    GGML_PRINT_DEBUG("a text\n");
    GGML_PRINT_DEBUG_5("%d\n", x);
    GGML_PRINT_DEBUG_10("%d\n", x);
    return x;
}

float
use_halves(const ggml_fp16_t *halves)
{
    float sum = GGML_FP16_TO_FP32(*halves++);

    sum += GGML_COMPUTE_FP16_TO_FP32(*halves++) * 1.0f;
    return sum + GGML_FP16_TO_FP32(halves[0]);
}

float
use_rounding(float x)
{
    const ggml_fp16_t h[2] = {
        GGML_FP32_TO_FP16(x), GGML_COMPUTE_FP32_TO_FP16(-x + x)
    };
    const ggml_bf16_t b = GGML_FP32_TO_BF16(x + 0);

    return GGML_FP16_TO_FP32(h[0]) + GGML_FP16_TO_FP32(h[1]) +
           GGML_BF16_TO_FP32(b);
}

/* ---- marks of declarations ---- */

#ifdef __cplusplus
extern "C" {
#endif
GGML_API int use_marked(int x, int y);
GGML_DEPRECATED(GGML_API int use_old(int x, int y), "it has gone, " "so to say");
GGML_DEPRECATED(int use_older(void), "gone");
GGML_NORETURN void use_end(void);
GGML_NORETURN GGML_API void use_other_end(void);
#if GGML_API_LEVEL >= 202410
GGML_BACKEND_API int use_of_backend(int x);
#endif
#ifdef __cplusplus
}
#endif

int
use_marked(int x, int y)
{
    return x + y;
}

static void
copy(int *GGML_RESTRICT to, const int *GGML_RESTRICT from)
{
    *to = *from;
}

int
use_marks(int x)
{
    int y = 0;

    copy(&y, &x);
    return use_marked(y, 0);
}

/* A module's exports: nothing, or whole definitions; no semicolon follows. */
#if GGML_API_LEVEL >= 202410
static ggml_backend_reg_t
no_registration(void)
{
    return NULL;
}

static int
no_score(void)
{
    return 0;
}

GGML_BACKEND_DL_IMPL(no_registration)
GGML_BACKEND_DL_SCORE_IMPL(no_score)

#ifndef GGML_BACKEND_DL
int use_exports(void);

int
use_exports(void)
{
    return no_registration() == NULL ? no_score() : 1;
}
#endif
#endif
