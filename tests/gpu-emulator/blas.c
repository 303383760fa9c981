/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/blas.c - the vendor's BLAS, as far as the CUDA backend calls it,
 * on the emulated card: products are made when the stream comes to them, in
 * double precision, and all of the workspace is written over.
 *
 * What is asked of it more strictly than by the vendor's: a workspace of the
 * caller's for each product, set behind the stream; a stream that is not the
 * default one; no product with operands that this backend has no use for, or
 * whose sums could come in any order.
 *
 * Compiled once more with GB_USE_HIP it is AMD's, with its statuses; what has
 * other parameters there is in blas-hip.c.
 */
#define GB_HIP_ADAPTED(name) "own_" name
#include "tests/gpu-emulator/blas-entry.h"
#include "tests/gpu-emulator/blas.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

#define DRIVER GB_CUDA_NAME_OF("libcuda.so.1", "libamdhip64.so.6")

/* The vendor's statuses; the last one of a product that was made. */
enum {
    SUCCESS = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = GB_CUDA_NAME_OF(GB_CUDA_BLAS_ALLOC_FAILED, 5),
    INVALID_VALUE = GB_CUDA_NAME_OF(GB_CUDA_BLAS_INVALID_VALUE, 11),
    EXECUTION_FAILED = GB_CUDA_NAME_OF(GB_CUDA_BLAS_EXECUTION_FAILED, 6),
    PERF_DEGRADED = GB_CUDA_NAME_OF(SUCCESS, 7),
};

struct gb_cuda_blas_object {
    gb_cuda_stream stream;
    bool has_atomics;
    char *workspace;
    size_t size;
};

/* A product, as its stream has it. */
struct product {
    const char *a, *b;
    char *c, *workspace;
    size_t workspace_size;
    long long stride_a, stride_b, stride_c;
    int m, n, k, lda, ldb, ldc, batch, type;
};

static struct {
    int (*queue)(void *stream, void (*run)(const void *data),
                 const void *data, size_t size, uint64_t us);
    int (*reads)(const void *at, size_t size);
    int (*writes)(void *at, size_t size);
} driver;

static uint64_t product_us, n_products, n_live, n_faults;

/* ---- calls ---- */

enum call {
#define GB_BLAS_CALL(id, cuda, hip, parameters) CALL_##id,
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
    N_CALLS
};

static struct {
    const char *name; /* CUDA's, by which tests name them */
    uint64_t n, left; /* calls; those up to one that fails */
    int status;
} calls[] = {
#define GB_BLAS_CALL(id, cuda, hip, parameters) { cuda, 0, 0, 0 },
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
};

static int
begin(enum call which)
{
    calls[which].n++;
    if (calls[which].left == 0 || --calls[which].left > 0)
        return SUCCESS;
    return calls[which].status;
}

static int
call_named(const char *name)
{
    for (int i = 0; i < N_CALLS; i++) {
        if (strcmp(calls[i].name, name) == 0)
            return i;
    }
    fprintf(stderr, "blas: no entry point is called %s\n", name);
    abort();
}

EXPORTED void
emu_blas_time(uint64_t us)
{
    product_us = us;
}

EXPORTED uint64_t
emu_blas_calls(const char *name)
{
    return calls[call_named(name)].n;
}

EXPORTED uint64_t
emu_blas_products(void)
{
    return n_products;
}

EXPORTED void
emu_blas_fail(const char *name, uint64_t n, int status)
{
    calls[call_named(name)].left = n;
    calls[call_named(name)].status = status;
}

EXPORTED uint64_t
emu_blas_live(void)
{
    return n_live;
}

EXPORTED uint64_t
emu_blas_faults(void)
{
    return n_faults;
}

int
gb_emu_blas_fault(const char *text)
{
    fprintf(stderr, "blas: %s\n", text);
    n_faults++;
    return INVALID_VALUE;
}

/* ---- a product ---- */

/* A float of EXPONENT_BITS and FRACTION_BITS behind its sign. */
static double
value_of(unsigned bits, int exponent_bits, int fraction_bits)
{
    const int top = (1 << exponent_bits) - 1;
    const int exponent = (int)(bits >> fraction_bits) & top;
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const double sign =
        bits >> (exponent_bits + fraction_bits) & 1 ? -1.0 : 1.0;
    const int unit = 2 - (1 << (exponent_bits - 1)) - fraction_bits;

    if (exponent == top)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, unit);
    return sign * ldexp(fraction + (1u << fraction_bits), unit + exponent - 1);
}

static double
value_at(const char *from, int i, int type)
{
    uint16_t bits;

    memcpy(&bits, from + 2 * (size_t)i, sizeof(bits));
    return type == GB_CUDA_BLAS_BF16 ? value_of(bits, 8, 7)
                                     : value_of(bits, 5, 10);
}

static float
dot(const struct product *p, const char *a, const char *b)
{
    double sum = 0.0;

    for (int i = 0; i < p->k; i++)
        sum += value_at(a, i, p->type) * value_at(b, i, p->type);
    return (float)sum;
}

static void
multiply(const struct product *p, const char *a, const char *b, char *c)
{
    const size_t column = 2 * (size_t)p->k;

    for (int i = 0; i < p->m; i++) {
        if (!driver.reads(a + 2 * (size_t)i * (size_t)p->lda, column))
            return;
    }
    for (int j = 0; j < p->n; j++) {
        const char *from = b + 2 * (size_t)j * (size_t)p->ldb;
        float *to = (float *)(void *)c + (size_t)j * (size_t)p->ldc;

        if (!driver.reads(from, column) ||
            !driver.writes(to, sizeof(*to) * (size_t)p->m))
            return;
        for (int i = 0; i < p->m; i++)
            to[i] = dot(p, a + 2 * (size_t)i * (size_t)p->lda, from);
    }
}

static void
run(const void *data)
{
    struct product p;

    memcpy(&p, data, sizeof(p));
    n_products++;
    if (!driver.writes(p.workspace, p.workspace_size))
        return;
    memset(p.workspace, 0x7f, p.workspace_size);
    for (int i = 0; i < p.batch; i++)
        multiply(&p, p.a + 2 * i * p.stride_a, p.b + 2 * i * p.stride_b,
                 p.c + 4 * i * p.stride_c);
}

/* ---- entry points ---- */

static bool
look_up(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

static bool
find_driver(void)
{
    void *library = dlopen(DRIVER, RTLD_LAZY | RTLD_NOLOAD);

    return library != NULL &&
           look_up(library, "emu_queue_work", &driver.queue) &&
           look_up(library, "emu_work_reads", &driver.reads) &&
           look_up(library, "emu_work_writes", &driver.writes);
}

int
entry_create(gb_cuda_blas_handle *handle)
{
    const int status = begin(CALL_create);

    if (status != SUCCESS)
        return status;
    if (!find_driver())
        return NOT_INITIALIZED;
    *handle = calloc(1, sizeof(**handle));
    if (*handle == NULL)
        return ALLOC_FAILED;
    (*handle)->has_atomics = GB_CUDA_NAME_OF(false, true);
    n_live++;
    return SUCCESS;
}

/* Done also where it fails, so that nothing leaks. */
int
entry_destroy(gb_cuda_blas_handle handle)
{
    const int status = begin(CALL_destroy);

    free(handle);
    n_live--;
    return status;
}

int
entry_set_stream(gb_cuda_blas_handle handle, gb_cuda_stream stream)
{
    const int status = begin(CALL_set_stream);

    if (status != SUCCESS)
        return status;
    handle->stream = stream;
    handle->workspace = NULL;
    return SUCCESS;
}

int
entry_set_workspace(gb_cuda_blas_handle handle, void *workspace, size_t size)
{
    const int status = begin(CALL_set_workspace);

    if (status != SUCCESS)
        return status;
    if ((uintptr_t)workspace % 256 != 0)
        return gb_emu_blas_fault("the workspace is not at a multiple of 256");
    handle->workspace = workspace;
    handle->size = size;
    return SUCCESS;
}

int
entry_set_atomics(gb_cuda_blas_handle handle, int may_use)
{
    const int status = begin(CALL_set_atomics);

    if (status != SUCCESS)
        return status;
    handle->has_atomics = may_use != 0;
    return SUCCESS;
}

static int
queue(const struct gb_cuda_blas_object *handle, const struct product *p)
{
    if (handle->stream == NULL || handle->workspace == NULL)
        return gb_emu_blas_fault("no stream, or no workspace behind it");
    if (p->m <= 0 || p->n <= 0 || p->k <= 0 || p->batch <= 0)
        return gb_emu_blas_fault("an empty product");
    if (p->lda < p->k || p->ldb < p->k || p->ldc < p->m)
        return gb_emu_blas_fault("columns overlap");
    if ((uintptr_t)p->a % 2 != 0 || (uintptr_t)p->b % 2 != 0 ||
        (uintptr_t)p->c % 4 != 0)
        return gb_emu_blas_fault("misaligned operands");
    return driver.queue(handle->stream, run, p, sizeof(*p), product_us) == 0
               ? SUCCESS : EXECUTION_FAILED;
}

int
entry_gemm(gb_cuda_blas_handle handle, int op_a, int op_b, int m, int n, int k,
           const void *alpha, const void *a, int type_a, int lda,
           long long stride_a, const void *b, int type_b, int ldb,
           long long stride_b, const void *beta, void *c, int type_c, int ldc,
           long long stride_c, int batch, int compute, int algorithm)
{
    const int status = begin(CALL_gemm);
    const struct product p = {
        .a = a, .b = b, .c = c,
        .workspace = handle->workspace, .workspace_size = handle->size,
        .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c,
        .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc,
        .batch = batch, .type = type_a,
    };
    int queued;

    if (status != SUCCESS && status != PERF_DEGRADED)
        return status;
    if (handle->has_atomics)
        return gb_emu_blas_fault("sums in any order");
    if (op_a != GB_CUDA_BLAS_TRANSPOSED || op_b != GB_CUDA_BLAS_AS_IT_IS ||
        *(const float *)alpha != 1.0f || *(const float *)beta != 0.0f)
        return gb_emu_blas_fault("not A^T * B");
    if (type_a != type_b || type_c != GB_CUDA_BLAS_F32 ||
        (type_a != GB_CUDA_BLAS_F16 && type_a != GB_CUDA_BLAS_BF16) ||
        compute != GB_CUDA_BLAS_COMPUTE_F32 ||
        algorithm != GB_CUDA_BLAS_ANY_ALGORITHM)
        return gb_emu_blas_fault("types that it has no product for");
    queued = queue(handle, &p);
    return queued != SUCCESS ? queued : status;
}
