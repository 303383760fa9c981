/* SPDX-License-Identifier: MIT */
/*
 * abi/uses.h - what the functions of uses.c give.
 *
 * Tensors are told apart by their shapes and strides; a tensor's sum is the sum
 * of all of both.
 */
#ifndef GB_TESTS_ABI_USES_H
#define GB_TESTS_ABI_USES_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the macros of one source, two and three declare: their sums. */
int64_t use_locals_by_number(const struct ggml_tensor *src0);
int64_t use_locals_of_expressions(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1);
int64_t use_unary_locals(
    const struct ggml_tensor *src0, const struct ggml_tensor *dst);
int64_t use_unary_locals_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *dst);
int64_t use_binary_locals(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1,
    const struct ggml_tensor *dst);
int64_t use_binary_locals_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1,
    const struct ggml_tensor *dst);
int64_t use_binary_locals01(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1);
int64_t use_binary_locals01_with_semicolon(
    const struct ggml_tensor *src0, const struct ggml_tensor *src1);

/* 1 for X of 0 and above with Y of 0 and above, 2 for X below 0. */
int use_assert_between_branches(int x, int y);

/* Y in a loop without braces: their sum, none of which may be negative. */
int use_assert_in_a_loop(const int *y, int n);

/* The sign of X: -1, 0 or 1; other X would end the process. */
int use_what_ends_the_process(int x);

/* X + N rounded up to a multiple of 32, thrice. */
size_t use_pad(size_t x, size_t n);

/* X, having logged lines by each macro for it. */
int use_log(int x);

/* The values of three halves, read by a pointer that goes on. */
float use_halves(const ggml_fp16_t *halves);

/* X rounded to a half and to a BF16, and added up. */
float use_rounding(float x);

/* The larger of A and B, less the smaller. */
int use_min_and_max(int a, int b);

/* A function of every mark that declarations have; gives X. */
int use_marks(int x);

#ifdef __cplusplus
}
#endif

#endif
