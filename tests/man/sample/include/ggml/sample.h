/* SPDX-License-Identifier: MIT */
/*
 * ggml/sample.h - part of ggml.h: what make-page.sh makes a page from.
 *
 * Errors   They are
 *          logged.
 * Threads  Any thread, but see GGML_SUMS.
 */
#ifndef GGML_SAMPLE_H
#define GGML_SAMPLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The level of today adds nothing. */
#if GGML_API_LEVEL == 202410
#define GGML_LEVEL_WAYS , GGML_WAY_BACK = 2
#else
#define GGML_LEVEL_WAYS
#endif

/* Where it goes. */
enum ggml_way {
    GGML_WAY_UP   = 0, /* not 'down' */
    GGML_WAY_DOWN = 1 GGML_LEVEL_WAYS
};

/* -- Sums: any thread ---------------------------------------------------- */

/* Asked for X; -1 (or NULL) is no answer. */
typedef int (*ggml_ask_t)(int x, void *user_data);

/*
 * The sum of a and b, of N values each.  A sum is CTX's; see
 * ggml_other, ggml_sum_old and gguf(5).
 *
 *   a, b    F32 [n]; they lie in one place as
 *           long as it takes
 *   no_alloc
 *           N's bits; none if NULL
 *   dst     F32
 *
 *     dst[i] = a[i] - b[i]^2
 *
 * All of (CTX) is read.
 * Source: "Sums" (1900).
 */
GGML_API struct ggml_tensor *ggml_sum2(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int n, bool no_alloc);
GGML_DEPRECATED(GGML_API void ggml_sum_old(void), "replaced by ggml_sum2");

#if defined(GGML_SUMS) && \
    GGML_API_LEVEL < 202410
GGML_API int ggml_gone(void);
#endif

/* X twice. */
#define GGML_TWICE(x) ((x) * 2)

#define GGML_SUMS 3

/*
 * ---- Others ----
 *
 * They come last:
 *   - one;
 *   - more.
 */

/* A text with "\n" in it. It is FMT's
 * .5 to 1.5 times. */
GGML_ATTRIBUTE_FORMAT(1, 2)
GGML_API const char *ggml_other(const char *fmt, ...);

/* ---- nothing ---- */

GGML_API int ggml_bare(void);

#ifdef __cplusplus
}
#endif

#endif
