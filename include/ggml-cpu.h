/* SPDX-License-Identifier: MIT */
/*
 * ggml-cpu.h - the CPU backend's own functions.
 *
 * Results have the same bits for any number of threads, with any pool, and
 * whether a graph is computed by a backend or by the functions here.  Unless
 * something else is said, an object is used by one thread at a time, and
 * different objects by any.
 */
#ifndef GGML_CPU_H
#define GGML_CPU_H

#include "ggml.h"

/* Backends of 2023 see what computes without one: their handles are others. */
#if GGML_API_LEVEL >= 202410
#include "ggml-backend.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory nodes: any thread ---- */

/* Where threads run on a machine with several memory nodes. */
enum ggml_numa_strategy {
    GGML_NUMA_STRATEGY_DISABLED   = 0, /* where the system puts them */
    GGML_NUMA_STRATEGY_DISTRIBUTE = 1, /* on the nodes in turn */
    GGML_NUMA_STRATEGY_ISOLATE    = 2, /* on the node of ggml_numa_init */
    GGML_NUMA_STRATEGY_NUMACTL    = 3, /* where the process was put */
    GGML_NUMA_STRATEGY_MIRROR     = 4, /* reserved; as NUMACTL */
    GGML_NUMA_STRATEGY_COUNT      = 5
};

/*
 * Set the process's strategy, for thread pools made afterwards that have no
 * mask of CPUs.  The first call counts; a further one logs a warning.
 */
GGML_BACKEND_API void ggml_numa_init(enum ggml_numa_strategy numa);

/* Has a strategy been set on a machine with several nodes? */
GGML_BACKEND_API bool ggml_is_numa(void);

/*
 * ---- single elements ----
 *
 * For I8, I16, I32, F16, BF16 and F32 in host memory.  Values are converted as
 * C does it; a float beyond the integers' range gives the nearest of them, NaN
 * gives 0.  For another type, memory elsewhere, or an index out of range
 * nothing is written and 0 is read, and the reason is logged.
 */

/* A new tensor of one element; CTX must give memory, else a failed node. */
GGML_BACKEND_API struct ggml_tensor *ggml_new_i32(
    struct ggml_context *ctx, int32_t value);
GGML_BACKEND_API struct ggml_tensor *ggml_new_f32(
    struct ggml_context *ctx, float value);

/* Set all elements, strided or not; gives TENSOR back. */
GGML_BACKEND_API struct ggml_tensor *ggml_set_i32(
    struct ggml_tensor *tensor, int32_t value);
GGML_BACKEND_API struct ggml_tensor *ggml_set_f32(
    struct ggml_tensor *tensor, float value);

/* The element with number I in the order of the indices, or the one at
 * (I0, I1, I2, I3); strides are followed by both. */
GGML_BACKEND_API int32_t ggml_get_i32_1d(
    const struct ggml_tensor *tensor, int i);
GGML_BACKEND_API void ggml_set_i32_1d(
    const struct ggml_tensor *tensor, int i, int32_t value);
GGML_BACKEND_API int32_t ggml_get_i32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3);
GGML_BACKEND_API void ggml_set_i32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3,
    int32_t value);
GGML_BACKEND_API float ggml_get_f32_1d(
    const struct ggml_tensor *tensor, int i);
GGML_BACKEND_API void ggml_set_f32_1d(
    const struct ggml_tensor *tensor, int i, float value);
GGML_BACKEND_API float ggml_get_f32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3);
GGML_BACKEND_API void ggml_set_f32_nd(
    const struct ggml_tensor *tensor, int i0, int i1, int i2, int i3,
    float value);

/* ---- thread pools ---- */

/*
 * A pool of params->n_threads threads, of which the thread that computes is
 * one.
 *
 * Workers wait for work by looking for it, as long as params->poll says, and
 * then sleep: with 0 at once, with 100 after about a tenth of a millisecond;
 * more counts as 100.  No more of them are started than there are CPUs for
 * them: those of the mask if there is one, else those that the process may use.
 * A mask, a strict one (a CPU each) or a priority that the system refuses is a
 * warning, and so are threads that cannot be started.
 *
 * Returns NULL for params->n_threads below 1 or above GGML_MAX_N_THREADS, for a
 * priority that is none, and when there is no memory; PARAMS is copied.  The
 * caller frees the pool when nothing computes with it.  After a fork the child
 * may use and free it; it has no workers there.
 */
GGML_BACKEND_API struct ggml_threadpool *ggml_threadpool_new(
    struct ggml_threadpool_params *params);

/* End the workers and wait for them.  NULL is allowed; a pool that somebody
 * computes with is not freed, which is logged. */
GGML_BACKEND_API void ggml_threadpool_free(struct ggml_threadpool *threadpool);

/* What params->n_threads was; 0 for NULL, which is logged as a failure. */
GGML_BACKEND_API int ggml_threadpool_get_n_threads(
    struct ggml_threadpool *threadpool);

/*
 * Idle workers of a paused pool sleep at once; computing with it resumes it.
 * Both may be called in any state and from any thread.
 */
GGML_BACKEND_API void ggml_threadpool_pause(
    struct ggml_threadpool *threadpool);
GGML_BACKEND_API void ggml_threadpool_resume(
    struct ggml_threadpool *threadpool);

/* ---- computing without a backend ---- */

/* How a graph is to be computed; made by ggml_graph_plan. */
struct ggml_cplan {
    size_t work_size;   /* 0: the library takes its work memory itself */
    uint8_t *work_data; /* not looked at; may be NULL */
    int n_threads;      /* the calling one included */
    struct ggml_threadpool *threadpool; /* NULL: one for this call alone */
    ggml_abort_callback abort_callback; /* NULL: not asked */
    void *abort_callback_data;
};

/*
 * What computing CGRAPH takes, with at most N_THREADS (0 and less: as many as
 * THREADPOOL has, or GGML_DEFAULT_N_THREADS).  THREADPOOL may be NULL.  The
 * caller sets an abort callback if he likes.
 *
 * A graph that cannot be computed gives a plan with which computing fails.
 */
GGML_BACKEND_API struct ggml_cplan ggml_graph_plan(
    const struct ggml_cgraph *cgraph, int n_threads,
    struct ggml_threadpool *threadpool);

/*
 * Compute CGRAPH, all of whose tensors have memory of the host, as CPLAN says,
 * which is the caller's; it is only read, and may be used again.
 *
 * A pool that is computing another graph is not waited for: this thread works
 * alone.  When the plan has more threads than its pool, those of the pool are
 * used, with a warning.
 *
 * Returns GGML_STATUS_ABORTED when the callback said so; GGML_STATUS_FAILED for
 * a failed graph, an operation that cannot be computed, a tensor without memory
 * or a plan that makes no sense; GGML_STATUS_ALLOC_FAILED without work memory.
 * For the last two the thread's last failure has the reason.
 */
GGML_BACKEND_API enum ggml_status ggml_graph_compute(
    struct ggml_cgraph *cgraph, struct ggml_cplan *cplan);

/* Plan and compute in one call.  CTX needs no room for it. */
GGML_BACKEND_API enum ggml_status ggml_graph_compute_with_ctx(
    struct ggml_context *ctx, struct ggml_cgraph *cgraph, int n_threads);

/* ---- the machine: any thread ---- */

/*
 * 1 when the processor can do that and the system lets programs do it, else 0;
 * whether the kernels in use need it is another question
 * (ggmlbackend_cpu_level).  ggml_cpu_get_sve_cnt gives the bytes of an SVE
 * vector, 0 without SVE.
 */
GGML_BACKEND_API int ggml_cpu_has_sse3(void);
GGML_BACKEND_API int ggml_cpu_has_ssse3(void);
GGML_BACKEND_API int ggml_cpu_has_avx(void);
GGML_BACKEND_API int ggml_cpu_has_avx_vnni(void);
GGML_BACKEND_API int ggml_cpu_has_avx2(void);
GGML_BACKEND_API int ggml_cpu_has_f16c(void);
GGML_BACKEND_API int ggml_cpu_has_fma(void);
GGML_BACKEND_API int ggml_cpu_has_avx512(void);
GGML_BACKEND_API int ggml_cpu_has_avx512_vbmi(void);
GGML_BACKEND_API int ggml_cpu_has_avx512_vnni(void);
GGML_BACKEND_API int ggml_cpu_has_avx512_bf16(void);
GGML_BACKEND_API int ggml_cpu_has_amx_int8(void);
GGML_BACKEND_API int ggml_cpu_has_neon(void);
GGML_BACKEND_API int ggml_cpu_has_arm_fma(void);
GGML_BACKEND_API int ggml_cpu_has_fp16_va(void);
GGML_BACKEND_API int ggml_cpu_has_dotprod(void);
GGML_BACKEND_API int ggml_cpu_has_matmul_int8(void);
GGML_BACKEND_API int ggml_cpu_has_sve(void);
GGML_BACKEND_API int ggml_cpu_get_sve_cnt(void);
GGML_BACKEND_API int ggml_cpu_has_sme(void);
GGML_BACKEND_API int ggml_cpu_has_riscv_v(void);
GGML_BACKEND_API int ggml_cpu_has_vsx(void);
GGML_BACKEND_API int ggml_cpu_has_vxe(void);
GGML_BACKEND_API int ggml_cpu_has_wasm_simd(void);
GGML_BACKEND_API int ggml_cpu_has_llamafile(void);

/* ---- rows of a type: any thread ---- */

/*
 * A dot product of N values: *S is the sum of their products.
 *
 *   x, y  rows of the type and of its vec_dot_type; N is whole blocks of both
 *   nrc   rows at once: 1.  BS, BX and BY, their strides, are not looked at
 */
typedef void (*ggml_vec_dot_t)(
    int n, float *GGML_RESTRICT s, size_t bs, const void *GGML_RESTRICT x,
    size_t bx, const void *GGML_RESTRICT y, size_t by, int nrc);

/* What the CPU does with rows of one type. */
struct ggml_type_traits_cpu {
    ggml_from_float_t from_float; /* rounds a row; NULL: not to this type */
    ggml_vec_dot_t vec_dot;       /* NULL: no products with this type */
    enum ggml_type vec_dot_type;  /* the other operand's */
    int64_t nrows;                /* that vec_dot can do at once: 1 */
};

/* Functions for rows of TYPE, at the level in use; static, never NULL, without
 * functions for a type that has none. */
GGML_BACKEND_API const struct ggml_type_traits_cpu *ggml_get_type_traits_cpu(
    enum ggml_type type);

/* ---- kernels: any thread ---- */

/* Choose the kernels now rather than on first use.  Any number of times. */
GGML_BACKEND_API void ggml_cpu_init(void);

#if GGML_API_LEVEL >= 202410

/* ---- the backend ---- */

/*
 * A new CPU backend with ggmlbackend_default_n_threads() threads; NULL without
 * memory.  It computes at once, in the thread that calls it, and one graph at a
 * time: until the call returns, computing on it fails with GGML_STATUS_FAILED
 * and it is not freed, whether that is tried by the graph's own operations and
 * callbacks or by another thread.  They may use other backends, and the
 * functions that compute without one.
 */
GGML_BACKEND_API ggml_backend_t ggml_backend_cpu_init(void);

/* Is it a backend of the CPU device, however it was made?  False for NULL. */
GGML_BACKEND_API bool ggml_backend_is_cpu(ggml_backend_t backend);

/*
 * Setters, cheap enough for every graph; on a backend that is not the CPU's,
 * and for a number of threads below 1 or above GGML_MAX_N_THREADS, nothing is
 * changed, and the reason is the thread's last failure.
 *
 * A pool belongs to its owner, who sets another one or NULL before he frees it;
 * the one before is paused.  The backend computes with the smaller of its own
 * number of threads and the pool's, and says nothing about it.  With NULL the
 * backend has a pool of its own, which it makes when it first needs it and
 * keeps.  Without a callback (NULL) graphs
 * run to their end.  What a graph's own operations and callbacks set holds from
 * the next graph on; a callback that was there is replaced at once.
 */
GGML_BACKEND_API void ggml_backend_cpu_set_n_threads(
    ggml_backend_t backend_cpu, int n_threads);
GGML_BACKEND_API void ggml_backend_cpu_set_threadpool(
    ggml_backend_t backend_cpu, ggml_threadpool_t threadpool);
GGML_BACKEND_API void ggml_backend_cpu_set_abort_callback(
    ggml_backend_t backend_cpu, ggml_abort_callback abort_callback,
    void *abort_callback_data);

/* The CPU's registration, with one device; static.  Any thread. */
GGML_BACKEND_API ggml_backend_reg_t ggml_backend_cpu_reg(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
