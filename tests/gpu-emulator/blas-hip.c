/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/blas-hip.c - what AMD's BLAS does otherwise than NVIDIA's:
 * numbers of its own (rocblas-types.h), a product with one more matrix, and files
 * for each architecture in a folder, without which the process ends.
 *
 * AMD's ends it at the first product; here it ends as soon as the library is
 * opened in a process that has a card without files, as with some run times.
 * The folder is where versions since 6.0 look.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#define GB_HIP_ADAPTED(name) "own_" name
#include "tests/gpu-emulator/blas-entry.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { ROOM = 4096, TEXTS = 512 };

/* ---- files ---- */

static void
find_folder(char *folder)
{
    static const char *const places[] = {
        "/../../Tensile/library", "/library", "/../rocblas/library"
    };
    const char *set = getenv("ROCBLAS_TENSILE_LIBPATH");
    char own[ROOM];
    Dl_info info;

    if (set != NULL) {
        snprintf(folder, ROOM, "%s", set);
        return;
    }
    if (dladdr((void *)places, &info) == 0)
        abort();
    snprintf(own, sizeof(own), "%s", info.dli_fname);
    *strrchr(own, '/') = '\0';
    snprintf(folder, ROOM, "%.3000s/rocblas/library", own);
    for (int i = 2; i >= 0; i--) {
        char place[ROOM];

        snprintf(place, sizeof(place), "%.3000s%s", own, places[i]);
        if (access(place, R_OK) == 0)
            strcpy(folder, place);
    }
}

static bool
exists(const char *folder, const char *begin, const char *arch, const char *end)
{
    char pattern[ROOM + TEXTS];
    glob_t found = { .gl_pathc = 0 };
    bool is_found;

    snprintf(pattern, sizeof(pattern), "%s/%s%s%s", folder, begin, arch, end);
    is_found = glob(pattern, GLOB_NOSORT, NULL, &found) == 0 &&
               access(found.gl_pathv[0], R_OK) == 0;
    globfree(&found);
    return is_found;
}

static bool
has_files(const char *arch)
{
    char folder[ROOM];

    find_folder(folder);
    return (exists(folder, "TensileLibrary_lazy_", arch, ".dat") ||
            exists(folder, "TensileLibrary_", arch, ".dat")) &&
           exists(folder, "*", arch, "*co");
}

/* Its name lies where hip.cpp writes it. */
__attribute__((constructor))
static void
end_without_files(void)
{
    void *driver = dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_NOLOAD);
    int (*count)(int *n), (*properties)(char *properties, int device);
    char text[1024];
    int n = 0;

    if (driver == NULL)
        return;
    *(void **)&count = dlsym(driver, "hipGetDeviceCount");
    *(void **)&properties = dlsym(driver, "hipGetDeviceProperties");
    if (count == NULL || properties == NULL || count(&n) != 0)
        return;
    for (int i = 0; i < n; i++) {
        char *arch = text + 396;

        if (properties(text, i) != 0)
            continue;
        arch[strcspn(arch, ":")] = '\0';
        if (has_files(arch))
            continue;
        fprintf(stderr, "rocBLAS error: no files for GPU arch : %s\n", arch);
        abort();
    }
}

/* ---- entry points ---- */

static int
type_of(int type)
{
    return type == 150   ? GB_CUDA_BLAS_F16
           : type == 168 ? GB_CUDA_BLAS_BF16
           : type == 151 ? GB_CUDA_BLAS_F32
                         : -1;
}

static int
op_of(int op)
{
    return op == 111   ? GB_CUDA_BLAS_AS_IT_IS
           : op == 112 ? GB_CUDA_BLAS_TRANSPOSED
                       : -1;
}

EXPORTED int hip_gemm(
    gb_cuda_blas_handle handle, int op_a, int op_b, int32_t m, int32_t n,
    int32_t k, const void *alpha, const void *a, int type_a, int32_t lda,
    int64_t stride_a, const void *b, int type_b, int32_t ldb, int64_t stride_b,
    const void *beta, const void *c, int type_c, int32_t ldc, int64_t stride_c,
    void *d, int type_d, int32_t ldd, int64_t stride_d, int32_t batch,
    int compute, int algorithm, int32_t solution, uint32_t flags)
    __asm__("rocblas_gemm_strided_batched_ex");

int
hip_gemm(
    gb_cuda_blas_handle handle, int op_a, int op_b, int32_t m, int32_t n,
    int32_t k, const void *alpha, const void *a, int type_a, int32_t lda,
    int64_t stride_a, const void *b, int type_b, int32_t ldb, int64_t stride_b,
    const void *beta, const void *c, int type_c, int32_t ldc, int64_t stride_c,
    void *d, int type_d, int32_t ldd, int64_t stride_d, int32_t batch,
    int compute, int algorithm, int32_t solution, uint32_t flags)
{
    if (c != d || type_c != type_d || ldc != ldd || stride_c != stride_d)
        return gb_emu_blas_fault("what is added is not the result");
    if (compute != 151 || algorithm != 0 || solution != 0 || flags != 0)
        return gb_emu_blas_fault("not the standard way with sums of F32");
    return entry_gemm(handle, op_of(op_a), op_of(op_b), m, n, k, alpha, a,
                      type_of(type_a), lda, stride_a, b, type_of(type_b), ldb,
                      stride_b, beta, d, type_of(type_d), ldd, stride_d, batch,
                      GB_CUDA_BLAS_COMPUTE_F32, GB_CUDA_BLAS_ANY_ALGORITHM);
}
