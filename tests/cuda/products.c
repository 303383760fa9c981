/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/products.c - products of matrices in cases of emulated.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw */
#endif
#include "config.h"

#include "tests/cuda/products.h"

#include "ggmlbackend.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the library ---- */

struct cuda_blas blas;

static int n_looks;
static bool is_there; /* was one opened by a test? */

/* In the place of libc's: a machine may have a BLAS of the vendor's. */
__attribute__((visibility("default")))
void *
dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);

    if (real == NULL) {
        void *address = dlsym(RTLD_NEXT, "dlopen");

        memcpy(&real, &address, sizeof(address));
    }
    if (name != NULL && strstr(name, ON_HIP("libcublas", "librocblas"))) {
        n_looks++;
        if (!is_there)
            return NULL;
    }
    return real(name, flags);
}

/* ---- AMD's folder ---- */

static char folder[4096];

const char *
rocm_path(const char *name)
{
    static char path[sizeof(folder) + 256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

bool
rocm_begin(void)
{
    char made[] = "./rocm-XXXXXX";

    return mkdtemp(made) != NULL && realpath(made, folder) != NULL;
}

bool
rocm_add(const char *name)
{
    char above[256];
    FILE *file;

    for (const char *end = strchr(name, '/'); end != NULL;
         end = strchr(end + 1, '/')) {
        snprintf(above, sizeof(above), "%.*s", (int)(end - name), name);
        if (mkdir(rocm_path(above), 0777) != 0 && errno != EEXIST)
            return false;
        if (end[1] == '\0')
            return true;
    }
    file = fopen(rocm_path(name), "w");
    return file != NULL && fclose(file) == 0;
}

int
rocm_make(void **state)
{
    const char *index = "rocblas/library/TensileLibrary_lazy_gfx1100.dat";
    const char *code = "rocblas/library/Kernels.so-000-gfx1100.hsaco";

    (void)state;
    if (ON_HIP(true, false))
        return 0;
    return rocm_begin() && rocm_add(index) && rocm_add(code) ? 0 : -1;
}

static int
remove_one(const char *path, const struct stat *info, int kind,
           struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int
rocm_remove(void **state)
{
    (void)state;
    if (ON_HIP(true, false))
        return 0;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* PATH itself, or a name in the folder that leads to it. */
static const char *
put_in_folder(const char *path, const char *name)
{
    char real[4096];

    if (ON_HIP(true, false))
        return path;
    CHECK(realpath(path, real) != NULL);
    unlink(rocm_path(name));
    CHECK(symlink(real, rocm_path(name)) == 0);
    return rocm_path(name);
}

ggml_backend_reg_t
blas_load(const char *path)
{
    unlink(rocm_path(BLAS));
    return cuda_load_on(put_in_folder(path, DRIVER));
}

void
blas_allow(void)
{
    is_there = true;
}

void
blas_open(const char *path)
{
    void *library;

    blas_allow();
    library = dlopen(put_in_folder(path, BLAS), RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    gb_look_up(library, &blas.time, "emu_blas_time");
    gb_look_up(library, &blas.calls, "emu_blas_calls");
    gb_look_up(library, &blas.products, "emu_blas_products");
    gb_look_up(library, &blas.fail_call, "emu_blas_fail");
    gb_look_up(library, &blas.live, "emu_blas_live");
    gb_look_up(library, &blas.faults, "emu_blas_faults");
}

int
blas_n_looks(void)
{
    return n_looks;
}

void
products_begin(void)
{
    CHECK(blas_load(gb_built(EMULATED_DRIVER)) != NULL);
    blas_open(gb_built(EMULATED_BLAS));
}

void
products_end(void)
{
    CHECK(emulator.live() == 0 && emulator.memory_used(0) == 0);
    CHECK(emulator.reports() == 0);
    CHECK(blas.live == NULL || (blas.live() == 0 && blas.faults() == 0));
}

/* ---- products ---- */

/* Sixteenths below 6.25: halves and bfloats have all of them. */
static double
weight_at(int64_t i)
{
    return (double)((i * 7919 + i / 13) % 201 - 100) / 16.0;
}

/* Few of these are halves. */
static double
column_at(const struct shape *s, int64_t i, int seed)
{
    const double value = (double)((i * 104729 + 31 * seed) % 1009 - 504) / 97.0;

    return s->size * (value + (value < 0 ? -0.1 : 0.1));
}

/* VALUE as the I-th of TYPE at TO. */
static void
convert(double value, enum ggml_type type, void *to, int64_t i)
{
    switch ((int)type) {
    case GGML_TYPE_F16:
        ((ggml_fp16_t *)to)[i] = ggml_fp32_to_fp16((float)value);
        break;
    case GGML_TYPE_BF16:
        ((ggml_bf16_t *)to)[i] = ggml_fp32_to_bf16((float)value);
        break;
    default:
        ((float *)to)[i] = (float)value;
    }
}

/* What a tensor has after convert(). */
static double
rounded(double value, enum ggml_type type)
{
    if (type == GGML_TYPE_F16)
        return (double)ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)value));
    if (type == GGML_TYPE_BF16)
        return (double)ggml_bf16_to_fp32(ggml_fp32_to_bf16((float)value));
    return (double)(float)value;
}

/* In the only tensor of CTX that is no view. */
static struct ggml_tensor *
make_weights(struct ggml_context *ctx, const struct shape *s)
{
    struct ggml_tensor *t;

    switch (s->weights) {
    case WITH_GAPS:
        t = ggml_new_tensor_4d(ctx, s->type, s->k + 16, s->m, s->a2, s->a3);
        return ggml_view_4d(ctx, t, s->k, s->m, s->a2, s->a3, t->nb[1],
                            t->nb[2], t->nb[3], 0);
    case PERMUTED:
        t = ggml_new_tensor_4d(ctx, s->type, s->k, s->a2, s->m, s->a3);
        return ggml_permute(ctx, t, 0, 2, 1, 3);
    case DENSE:
        break;
    }
    return ggml_new_tensor_4d(ctx, s->type, s->k, s->m, s->a2, s->a3);
}

static struct ggml_context *
make_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

struct product
product_of(ggml_backend_t backend, ggml_backend_buffer_type_t weights,
           const struct shape *shape)
{
    struct product p = {
        .shape = *shape,
        .ctx = make_context(),
        .weights_ctx = make_context(),
    };

    p.a = make_weights(p.weights_ctx, shape);
    p.b = ggml_new_tensor_4d(p.ctx, shape->columns, shape->k, shape->n,
                             shape->b2, shape->b3);
    p.d = ggml_mul_mat(p.ctx, p.a, p.b);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.d);
    p.weights_buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(p.weights_ctx, weights);
    if (p.weights_buffer != NULL)
        p.buffer = ggml_backend_alloc_ctx_tensors(p.ctx, backend);
    p.result = malloc(ggml_nbytes(p.d));
    CHECK(p.result != NULL);
    return p;
}

struct product
product_on(ggml_backend_t backend, const struct shape *shape)
{
    return product_of(backend, ggml_backend_get_default_buffer_type(backend),
                      shape);
}

void
product_free(struct product *p)
{
    free(p->result);
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_buffer_free(p->weights_buffer);
    ggml_free(p->ctx);
    ggml_free(p->weights_ctx);
}

/* Rows of weights, counted through. */
static int64_t
row_of(const struct shape *s, int64_t i1, int64_t i2, int64_t i3)
{
    return i1 + s->m * (i2 + s->a2 * i3);
}

/* What lies in gaps is no number. */
static void
set_weights(struct product *p)
{
    const struct shape *s = &p->shape;
    struct ggml_tensor *whole = p->a->view_src != NULL ? p->a->view_src : p->a;
    char *data = malloc(ggml_nbytes(whole));

    CHECK(data != NULL);
    memset(data, 0xff, ggml_nbytes(whole));
    for (int64_t r = 0; r < (int64_t)s->m * s->a2 * s->a3; r++) {
        char *row = data + (size_t)(r % s->m) * p->a->nb[1] +
                    (size_t)(r / s->m % s->a2) * p->a->nb[2] +
                    (size_t)(r / s->m / s->a2) * p->a->nb[3];

        for (int i = 0; i < s->k; i++)
            convert(weight_at(r * s->k + i), s->type, row, i);
    }
    ggml_backend_tensor_set(whole, data, 0, ggml_nbytes(whole));
    free(data);
}

static void
set_columns(struct product *p, int seed)
{
    const int64_t n = ggml_nelements(p->b);
    char *data = malloc(ggml_nbytes(p->b));

    CHECK(data != NULL);
    for (int64_t i = 0; i < n; i++)
        convert(column_at(&p->shape, i, seed), p->b->type, data, i);
    ggml_backend_tensor_set(p->b, data, 0, ggml_nbytes(p->b));
    free(data);
}

void
product_set(struct product *p, int seed)
{
    set_weights(p);
    set_columns(p, seed);
}

/*
 * Columns are rounded to the weights' type, by half a unit of 11 or 8 bits, and
 * each of K sums to 24 bits; what halves below the smallest lose is far less.
 */
static bool
is_near(const struct shape *s, int64_t first_a, int64_t first_b, int seed,
        double result)
{
    const double unit = s->type == GGML_TYPE_F16 ? ldexp(1, -11)
                                                 : ldexp(1, -8);
    double sum = 0.0, magnitude = 0.0;

    for (int i = 0; i < s->k; i++) {
        const double term =
            weight_at(first_a + i) *
            rounded(column_at(s, first_b + i, seed), s->columns);

        sum += term;
        magnitude += fabs(term);
    }
    return fabs(sum - result) <= (unit + s->k * ldexp(1, -23)) * magnitude;
}

/* A copy that failed tells by the reason alone. */
bool
product_get(struct product *p)
{
    ggmlbackend_clear_failure();
    ggml_backend_tensor_get(p->d, p->result, 0, ggml_nbytes(p->d));
    return ggmlbackend_last_failure()[0] == '\0';
}

void
product_check(const struct product *p, int seed)
{
    const struct shape *s = &p->shape;
    const float *d = p->result;

    for (int64_t i = 0; i < ggml_nelements(p->d); i++) {
        const int64_t row = i % s->m, column = i / s->m;
        const int64_t i2 = column / s->n % s->b2, i3 = column / s->n / s->b2;
        const int64_t of_weights = row_of(s, row, i2 / (s->b2 / s->a2),
                                          i3 / (s->b3 / s->a3));

        if (is_near(s, of_weights * s->k, column * s->k, seed, (double)d[i]))
            continue;
        fprintf(stderr, "%s %dx%dx%d: row %d, column %d: %g\n",
                ggml_type_name(s->type), s->m, s->n, s->k, (int)row,
                (int)column, (double)d[i]);
        exit(1);
    }
}

bool
product_computes(ggml_backend_t backend, struct product *p)
{
    return ggml_backend_graph_compute(backend, p->graph) ==
           GGML_STATUS_SUCCESS;
}

void
multiply(ggml_backend_t backend, struct product *p, int n)
{
    CHECK(p->buffer != NULL);
    for (int seed = 0; seed < n; seed++) {
        product_set(p, seed);
        CHECK(product_computes(backend, p));
        CHECK(product_get(p));
        product_check(p, seed);
    }
}

const struct shape plain = {
    GGML_TYPE_F16, GGML_TYPE_F32, 96, 70, 33, 1, 1, 1, 1, DENSE, 1.0
};

void
multiply_alone(const struct shape *shape, int n)
{
    ggml_backend_t backend = cuda_backend("CUDA0");
    struct product p = product_on(backend, shape);

    multiply(backend, &p, n);
    product_free(&p);
    ggml_backend_free(backend);
}
