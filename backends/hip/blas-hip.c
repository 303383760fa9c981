/* SPDX-License-Identifier: MIT */
/*
 * hip/blas-hip.c - AMD's BLAS, with the manners that driver/blas.h has.
 *
 * rocBLAS ends the process at its first product on a card whose architecture
 * has no files in its folder, and a run time may do so when it is given a
 * library that has no code for one of its cards (ROCm/ROCm#1623).  So files are
 * looked for before the library is opened.
 *
 * It is rocBLAS and not hipBLAS, whose numbers changed with major versions;
 * rocBLAS has had the same ones, and the same names of files, since ROCm 5.2.
 */
#include "backends/cuda/driver/blas.h"
#include "backends/cuda/driver/platform.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of ROCm 7, of 6, of 5.6 and 5.7. */
static const char *const names[] = {
    "librocblas.so.5", "librocblas.so.4", "librocblas.so.3", NULL
};

/* rocblas-types.h */
static const char *const statuses[] = {
    [2] = "rocblas_status_not_implemented",
    [5] = "rocblas_status_memory_error", "rocblas_status_internal_error",
    [11] = "rocblas_status_invalid_value",
    [15] = "rocblas_status_arch_mismatch",
};

enum {
    PERF_DEGRADED = 7, /* a status: done, with less memory than it wants */
    FIRST_OP = 111,    /* as it is; transposed is behind it */
    F16 = 150, F32 = 151, BF16 = 168,
};

/*
 * Where versions look for files, by the library's folder, unless a variable
 * says it: in the first that is there; but not all of them know each, so the
 * last has to have them too.
 */
static const char *const places[] = {
    "../../Tensile/library", "library", "../rocblas/library", "rocblas/library"
};
enum { LAST_PLACE = sizeof(places) / sizeof(places[0]) - 1 };

static int (*own_gemm)(
    gb_cuda_blas_handle handle, int op_a, int op_b, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, int64_t stride_a,
    const void *b, int type_b, int ldb, int64_t stride_b, const void *beta,
    const void *c, int type_c, int ldc, int64_t stride_c, void *d, int type_d,
    int ldd, int64_t stride_d, int batch, int compute, int algorithm,
    int32_t solution, uint32_t flags);

/* ---- files ---- */

/* What there is for products. */
static bool
is_index(const char *name, const char *arch)
{
    char lazy[128], all[128];

    snprintf(lazy, sizeof(lazy), "TensileLibrary_lazy_%s.dat", arch);
    snprintf(all, sizeof(all), "TensileLibrary_%s.dat", arch);
    return strcmp(name, lazy) == 0 || strcmp(name, all) == 0;
}

/* "Kernels.so-000-gfx90a-xnack-.hsaco", "TensileLibrary_gfx90a.co" */
static bool
is_code(const char *name, const char *arch)
{
    const char *at = strstr(name, arch), *end = name + strlen(name);

    return at != NULL && strchr(".-_", at[strlen(arch)]) != NULL &&
           strcmp(end - 2, "co") == 0;
}

static bool
has_files(const char *folder, const char *arch)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool has_index = false, has_code = false;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        const bool can_read = faccessat(dirfd(dir), name, R_OK, 0) == 0;

        has_index |= can_read && is_index(name, arch);
        has_code |= can_read && is_code(name, arch);
    }
    if (dir != NULL)
        closedir(dir);
    return has_index && has_code;
}

static bool
serves(const char *library, const char *arch, char *files, size_t size)
{
    const char *set = getenv("ROCBLAS_TENSILE_LIBPATH");

    if (set != NULL)
        return snprintf(files, size, "%s", set) > 0 && has_files(files, arch);
    for (size_t i = 0; i <= LAST_PLACE; i++) {
        snprintf(files, size, "%s%s", library, places[i]);
        if ((i == LAST_PLACE || access(files, R_OK) == 0) && !has_files(files, arch))
            return false;
    }
    return true;
}

/* ---- entry points ---- */

/* There C is added, and D is the result.  What is multiplied is F16 or BF16, all
 * else F32. */
static int
gemm(gb_cuda_blas_handle handle, int op_a, int op_b, int m, int n, int k,
     const void *alpha, const void *a, int type_a, int lda, long long stride_a,
     const void *b, int type_b, int ldb, long long stride_b, const void *beta,
     void *c, int type_c, int ldc, long long stride_c, int batch, int compute,
     int algorithm)
{
    const int type = type_a == GB_CUDA_BLAS_BF16 ? BF16 : F16;
    const int status =
        own_gemm(handle, FIRST_OP + op_a, FIRST_OP + op_b, m, n, k, alpha, a,
                 type, lda, stride_a, b, type, ldb, stride_b, beta, c, F32, ldc,
                 stride_c, c, F32, ldc, stride_c, batch, F32, 0, 0, 0);

    (void)type_b, (void)type_c, (void)compute, (void)algorithm;
    return status == PERF_DEGRADED ? GB_CUDA_BLAS_SUCCESS : status;
}

static void
adapt(struct gb_cuda_blas_library *blas)
{
    memcpy(&own_gemm, &blas->gemm, sizeof(own_gemm));
    blas->gemm = gemm;
}

const struct gb_cuda_blas_platform gb_cuda_blas_platform = {
    .names = names,
    .statuses = statuses,
    .n_statuses = sizeof(statuses) / sizeof(statuses[0]),
    .serves = serves,
    .adapt = adapt,
};
