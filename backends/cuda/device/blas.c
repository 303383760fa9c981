/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/blas.c - products by the vendor's BLAS where a trial found it
 * faster than our own kernels.
 *
 * A trial is made with the product that comes first of its shape, in its place
 * in the stream: operands are the real ones, the result is right whichever way
 * made it last, and no memory is needed that the plan does not have.  Shapes
 * count as equal where type, rows, columns, length and matrices are, to the
 * nearest power of two.
 */
#include "backends/cuda/device/blas.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/graph.h"

enum {
    REPEATS = 3,       /* of each way in a trial, behind one that warms up */
    GAIN_PERCENT = 5,  /* that the BLAS has to be faster, to be used */
};

/* What is known of a shape. */
enum finding { UNKNOWN, OWN_IS_FASTER, BLAS_IS_FASTER };

/* A step that runs. */
struct run {
    gb_cuda_blas_handle handle;
    struct gb_cuda_card *card;
    gb_cuda_stream stream;
    const struct gb_cuda_plan *plan;
    const struct gb_cuda_step *step;
};

/* ---- findings ---- */

/* The power of two that is nearest to N, as an exponent. */
static uint64_t
rounded_log2(int n)
{
    uint64_t log2 = 0;

    while (n >> (log2 + 1) > 0)
        log2++;
    return log2 + (log2 > 0 && (n >> (log2 - 1) & 1) != 0 ? 1 : 0);
}

static uint64_t
shape_of(const struct gb_cuda_gemm *gemm)
{
    const int counts[] = { gemm->m, gemm->n, gemm->k, gemm->batch };
    uint64_t shape = gemm->is_bf16 ? 1 : 0;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        shape = shape << 8 | rounded_log2(counts[i]);
    return shape;
}

static bool
is_off(struct gb_cuda_card *card)
{
    bool is_off;

    pthread_mutex_lock(&card->blas.lock);
    is_off = card->blas.is_off;
    pthread_mutex_unlock(&card->blas.lock);
    return is_off;
}

/* Is this the call that did it? */
static bool
turn_off(struct gb_cuda_card *card)
{
    bool was_off;

    pthread_mutex_lock(&card->blas.lock);
    was_off = card->blas.is_off;
    card->blas.is_off = true;
    pthread_mutex_unlock(&card->blas.lock);
    return !was_off;
}

/* With the lock. */
static enum finding
find(const struct gb_cuda_blas_findings *findings, uint64_t shape)
{
    for (int i = 0; i < findings->n; i++) {
        if (findings->shapes[i].shape == shape)
            return findings->shapes[i].is_faster ? BLAS_IS_FASTER
                                                 : OWN_IS_FASTER;
    }
    return findings->n < GB_CUDA_BLAS_SHAPES ? UNKNOWN : OWN_IS_FASTER;
}

static enum finding
finding_of(struct gb_cuda_card *card, const struct gb_cuda_gemm *gemm)
{
    enum finding finding;

    pthread_mutex_lock(&card->blas.lock);
    finding = card->blas.is_off ? OWN_IS_FASTER
                                : find(&card->blas, shape_of(gemm));
    pthread_mutex_unlock(&card->blas.lock);
    return finding;
}

/* Where two backends tried at once, the first one's stays. */
static void
keep(struct gb_cuda_card *card, const struct gb_cuda_gemm *gemm, bool is_faster)
{
    struct gb_cuda_blas_findings *findings = &card->blas;
    const uint64_t shape = shape_of(gemm);

    pthread_mutex_lock(&findings->lock);
    if (find(findings, shape) == UNKNOWN) {
        findings->shapes[findings->n].shape = shape;
        findings->shapes[findings->n++].is_faster = is_faster;
    }
    pthread_mutex_unlock(&findings->lock);
}

/* ---- is there one? ---- */

/*
 * The vendors' own sizes ("cublasSetWorkspace" in NVIDIA's manual, "Device memory
 * allocation" in AMD's, whose architectures all have greater numbers).
 */
static size_t
workspace_size(const struct gb_cuda_card *card)
{
    return (size_t)(card->arch.number >= 90 ? 32 : 4) << 20;
}

size_t
gb_cuda_blas_workspace(struct gb_cuda_card *card)
{
    const char *reason = "the driver cannot time";

    if (!card->blas.is_wanted || is_off(card))
        return 0;
    if (card->driver->event_elapsed != NULL &&
        gb_cuda_blas_library(&reason) != NULL)
        return workspace_size(card);
    if (turn_off(card))
        GGML_LOG_INFO("%s: no BLAS: %s\n", card->label, reason);
    return 0;
}

bool
gb_cuda_blas_may_do(struct gb_cuda_card *card, const struct gb_cuda_gemm *gemm)
{
    return finding_of(card, gemm) != OWN_IS_FASTER;
}

/* ---- calls ---- */

static const struct gb_cuda_blas_library *
library(void)
{
    const char *reason;

    return gb_cuda_blas_library(&reason);
}

/*
 * Was it done?  Whether it is the card that failed, the next launch finds out:
 * no status of the BLAS says so.
 */
static bool
is_done(struct gb_cuda_card *card, int status, enum gb_cuda_blas_call call)
{
    if (status == GB_CUDA_BLAS_SUCCESS)
        return true;
    if (turn_off(card))
        GGML_LOG_WARN("%s: %s: %s: products are made without the BLAS from now "
                      "on\n", card->label, gb_cuda_blas_call_name(call),
                      gb_cuda_blas_error(status));
    return false;
}

void
gb_cuda_blas_prepare(
    struct gb_cuda_blas *blas, struct gb_cuda_card *card,
    const struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan)
{
    bool is_needed = false;

    for (size_t i = 0; i < plan->n_steps; i++)
        is_needed |= plan->steps[i].gemm.m > 0;
    if (!is_needed || blas->handle != NULL || is_off(card))
        return;
    if (!is_done(card, library()->create(&blas->handle),
                 GB_CUDA_BLAS_CALL_create)) {
        blas->handle = NULL;
        return;
    }
    if (!is_done(card, library()->set_stream(blas->handle, queue->stream),
                 GB_CUDA_BLAS_CALL_set_stream) ||
        !is_done(card,
                 library()->set_atomics(blas->handle, GB_CUDA_BLAS_NO_ATOMICS),
                 GB_CUDA_BLAS_CALL_set_atomics))
        gb_cuda_blas_clear(blas, card);
}

void
gb_cuda_blas_clear(struct gb_cuda_blas *blas, struct gb_cuda_card *card)
{
    int status = GB_CUDA_BLAS_SUCCESS;

    if (blas->handle != NULL)
        status = library()->destroy(blas->handle);
    if (status != GB_CUDA_BLAS_SUCCESS &&
        !atomic_load_explicit(&card->has_failed, memory_order_relaxed))
        GGML_LOG_WARN("%s: %s: %s\n", card->label,
                      gb_cuda_blas_call_name(GB_CUDA_BLAS_CALL_destroy),
                      gb_cuda_blas_error(status));
    blas->handle = NULL;
}

/* ---- a product ---- */

static bool
queue_gemm(const struct run *run)
{
    static const float one = 1.0f, zero = 0.0f;
    const struct gb_cuda_gemm *gemm = &run->step->gemm;
    const int type = gemm->is_bf16 ? GB_CUDA_BLAS_BF16 : GB_CUDA_BLAS_F16;

    if (is_off(run->card) ||
        !is_done(run->card,
                 library()->set_workspace(run->handle, gemm->workspace,
                                          workspace_size(run->card)),
                 GB_CUDA_BLAS_CALL_set_workspace))
        return false;
    return is_done(
        run->card,
        library()->gemm(run->handle, GB_CUDA_BLAS_TRANSPOSED,
                        GB_CUDA_BLAS_AS_IT_IS, gemm->m, gemm->n, gemm->k, &one,
                        gemm->a, type, gemm->lda, gemm->stride_a, gemm->b,
                        type, gemm->ldb, gemm->stride_b, &zero, gemm->d,
                        GB_CUDA_BLAS_F32, gemm->m,
                        (long long)gemm->m * gemm->n, gemm->batch,
                        GB_CUDA_BLAS_COMPUTE_F32, GB_CUDA_BLAS_ANY_ALGORITHM),
        GB_CUDA_BLAS_CALL_gemm);
}

static enum ggml_status
do_own(const struct run *run)
{
    return gb_cuda_launch_all(run->card, run->stream, run->plan,
                              run->step->before,
                              (size_t)run->step->gemm.n_own);
}

static enum ggml_status
do_blas(const struct run *run)
{
    const struct gb_cuda_gemm *gemm = &run->step->gemm;

    if (!queue_gemm(run))
        return do_own(run);
    return gb_cuda_launch_all(run->card, run->stream, run->plan,
                              run->step->before + (size_t)gemm->n_own,
                              (size_t)gemm->n_after);
}

/* ---- trials ---- */

enum { N_EVENTS = 3 }; /* before, between, after */

static enum ggml_status
repeat(const struct run *run, enum ggml_status (*way)(const struct run *run))
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (int i = 0; i < REPEATS && status == GGML_STATUS_SUCCESS; i++)
        status = way(run);
    return status;
}

/* *OWN and *BLAS are milliseconds. */
static enum ggml_status
time_both(const struct run *run, const gb_cuda_event events[N_EVENTS],
          float *own, float *blas)
{
    struct gb_cuda_card *card = run->card;
    enum ggml_status status;

    GB_CUDA_TRY(card, event_record, (events[0], run->stream));
    status = repeat(run, do_own);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_CUDA_TRY(card, event_record, (events[1], run->stream));
    status = repeat(run, do_blas);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_CUDA_TRY(card, event_record, (events[2], run->stream));
    status = gb_cuda_event_await(card, events[2]);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_CUDA_TRY(card, event_elapsed, (own, events[0], events[1]));
    return GB_CUDA(card, event_elapsed, (blas, events[1], events[2]));
}

static enum ggml_status
compare(const struct run *run, const gb_cuda_event events[N_EVENTS])
{
    const struct gb_cuda_gemm *gemm = &run->step->gemm;
    float own = 0.0f, blas = 0.0f;
    enum ggml_status status = time_both(run, events, &own, &blas);

    if (status != GGML_STATUS_SUCCESS || is_off(run->card))
        return status;
    keep(run->card, gemm, blas * (100 + GAIN_PERCENT) <= own * 100);
    GGML_LOG_DEBUG("%s: %s, %d rows, %d columns, length %d, %d matrices: "
                   "%.3f ms, by the BLAS %.3f ms\n", run->card->label,
                   gemm->is_bf16 ? "BF16" : "F16", gemm->m, gemm->n, gemm->k,
                   gemm->batch, (double)own / REPEATS,
                   (double)blas / REPEATS);
    return status;
}

/* Each way once first: kernels are loaded then. */
static enum ggml_status
try_both(const struct run *run)
{
    struct gb_cuda_card *card = run->card;
    gb_cuda_event events[N_EVENTS] = { NULL };
    enum ggml_status status = do_own(run);
    int n = 0;

    if (status == GGML_STATUS_SUCCESS)
        status = do_blas(run);
    if (status != GGML_STATUS_SUCCESS || is_off(card))
        return status;
    while (n < N_EVENTS && status == GGML_STATUS_SUCCESS) {
        status = GB_CUDA(card, event_create,
                         (&events[n], GB_CUDA_EVENT_BLOCKING_SYNC));
        if (status == GGML_STATUS_SUCCESS)
            n++;
    }
    if (status == GGML_STATUS_SUCCESS)
        status = compare(run, events);
    while (n > 0)
        GB_CUDA_CLEANUP(card, event_destroy, (events[--n]));
    return status;
}

enum ggml_status
gb_cuda_blas_run(
    struct gb_cuda_blas *blas, struct gb_cuda_card *card,
    const struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan,
    const struct gb_cuda_step *step)
{
    const struct run run = {
        .handle = blas->handle,
        .card = card,
        .stream = queue->stream,
        .plan = plan,
        .step = step,
    };

    if (blas->handle == NULL)
        return do_own(&run);
    switch (finding_of(card, &step->gemm)) {
    case UNKNOWN:
        return try_both(&run);
    case OWN_IS_FASTER:
        return do_own(&run);
    case BLAS_IS_FASTER:
        break;
    }
    return do_blas(&run);
}
