/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/products.h - products of matrices in cases of emulated.h, some of
 * them by the emulated BLAS, which takes the time that a case says.
 *
 * Results are compared with sums in double precision of what was set.
 */
#ifndef GB_TESTS_CUDA_PRODUCTS_H
#define GB_TESTS_CUDA_PRODUCTS_H

#include "tests/cuda/emulated.h"

/* ---- the BLAS ---- */

#define BLAS          ON_HIP("libcublas.so.13", "librocblas.so.4")
#define EMULATED_BLAS "tests/gpu-emulator/.libs/" BLAS
#define AUTO "GGMLBACKEND_GPU_BLAS=auto"
#define GEMM "cublasGemmStridedBatchedEx"
/* What messages have. */
#define GEMM_NAME ON_HIP(GEMM, "rocblas_gemm_strided_batched_ex")

/* What blas.h of the emulator has. */
struct cuda_blas {
    void (*time)(uint64_t us);
    uint64_t (*calls)(const char *name);
    uint64_t (*products)(void);
    void (*fail_call)(const char *name, uint64_t n, int status);
    uint64_t (*live)(void);
    uint64_t (*faults)(void);
};
extern struct cuda_blas blas;

/*
 * In a case: the library at PATH, which the backend finds then.  Without it
 * nobody finds one, the machine's own neither.  blas_allow lets the backend
 * find what is there, and does not open it.
 */
void blas_open(const char *path);
void blas_allow(void);
/* How often somebody looked for one since. */
int blas_n_looks(void);

/*
 * HIP's BLAS has to lie beside the driver, with files for each architecture: a
 * folder for both.  rocm_make and rocm_remove are a group's setup and teardown,
 * with files for gfx1100, and do nothing for CUDA.  rocm_begin is without
 * files; rocm_add adds NAME, which ends in "/" for a folder, and what is above.
 */
int rocm_make(void **state);
int rocm_remove(void **state);
bool rocm_begin(void);
bool rocm_add(const char *name);
/* The path of NAME in there, until the next call. */
const char *rocm_path(const char *name);

/* In a case: the module on the emulated driver at PATH. */
ggml_backend_reg_t blas_load(const char *path);

/* The module, and the BLAS. */
void products_begin(void);
/* Nothing of anybody's is left. */
void products_end(void);

/* ---- products ---- */

struct shape {
    enum ggml_type type, columns; /* of weights, of what they meet */
    int k, m, n, a2, a3, b2, b3;
    enum { DENSE, WITH_GAPS, PERMUTED } weights; /* how they lie */
    double size; /* of the values of columns */
};

struct product {
    struct shape shape;
    struct ggml_context *ctx, *weights_ctx;
    struct ggml_tensor *a, *b, *d;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer; /* NULL where there is no memory */
    ggml_backend_buffer_t weights_buffer;
    float *result;
};

extern const struct shape plain;

struct product product_on(ggml_backend_t backend, const struct shape *shape);
/* The same with weights in memory of that type. */
struct product product_of(ggml_backend_t backend,
                          ggml_backend_buffer_type_t weights,
                          const struct shape *shape);
void product_free(struct product *p);

/* Weights, and columns that differ by SEED; the result is theirs. */
void product_set(struct product *p, int seed);
bool product_computes(ggml_backend_t backend, struct product *p);
bool product_get(struct product *p);
void product_check(const struct product *p, int seed);

/* N times, with other columns each time; by a backend of its own. */
void multiply(ggml_backend_t backend, struct product *p, int n);
void multiply_alone(const struct shape *shape, int n);

#endif
