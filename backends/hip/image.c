/* SPDX-License-Identifier: MIT */
/*
 * hip/image.c - which embedded code object fits one of AMD's cards.
 *
 * Code runs on the architecture that it was made for, and that of a generic
 * target on all that the target has (LLVM, "User Guide for AMDGPU Backend",
 * Processors), by a run time that knows generic targets.
 */
#include "backends/cuda/device/image.h"

#include <stdlib.h>
#include <string.h>

const char *const gb_cuda_variant_names[] = {
    [GB_CUDA_PLAIN] = "plain",
    [GB_CUDA_DP4A] = "dot4",
    [GB_CUDA_MFMA] = "mfma",
    [GB_CUDA_WMMA] = "wmma",
};
const int gb_cuda_n_variants =
    sizeof(gb_cuda_variant_names) / sizeof(gb_cuda_variant_names[0]);

static const struct generic {
    const char *name;
    enum gb_cuda_variant variant;
    int archs[12]; /* 0 ends */
} generics[] = {
    { "gfx9-generic", GB_CUDA_PLAIN,
      { 0x900, 0x902, 0x904, 0x906, 0x909, 0x90c } },
    { "gfx10-1-generic", GB_CUDA_PLAIN, { 0x1010, 0x1011, 0x1012, 0x1013 } },
    { "gfx10-3-generic", GB_CUDA_DP4A,
      { 0x1030, 0x1031, 0x1032, 0x1033, 0x1034, 0x1035, 0x1036 } },
    { "gfx11-generic", GB_CUDA_WMMA,
      { 0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152, 0x1153 } },
    { "gfx12-generic", GB_CUDA_WMMA, { 0x1200, 0x1201 } },
};

/* Version of the run time that loads code of generic targets. */
enum { LEAST_FOR_GENERIC = 6030 };

/* Have no sums of four products of int8, but several instructions. */
static const int without_dot4[] = { 0x900, 0x902, 0x904,  0x909,
                                    0x90c, 0x1010, 0x1013 };

static const int with_mfma[] = { 0x908, 0x90a, 0x942, 0x950 };

enum { FIRST_WITH_WMMA = 0x1100 };

#define HAS(list, arch) has(list, sizeof(list) / sizeof((list)[0]), arch)

static const struct generic *
generic_of(const char *name)
{
    for (size_t i = 0; i < sizeof(generics) / sizeof(generics[0]); i++) {
        if (strcmp(generics[i].name, name) == 0)
            return &generics[i];
    }
    return NULL;
}

static bool
has(const int *archs, size_t n, int arch)
{
    for (size_t i = 0; i < n; i++) {
        if (archs[i] == arch)
            return true;
    }
    return false;
}

enum gb_cuda_variant
gb_cuda_image_variant(const struct gb_cuda_image *image)
{
    const struct generic *generic = generic_of(image->name);

    return generic != NULL                   ? generic->variant
           : image->arch >= FIRST_WITH_WMMA  ? GB_CUDA_WMMA
           : HAS(with_mfma, image->arch)     ? GB_CUDA_MFMA
           : HAS(without_dot4, image->arch)  ? GB_CUDA_PLAIN
                                             : GB_CUDA_DP4A;
}

bool
gb_cuda_image_read(
    const char *word, size_t length, struct gb_cuda_image *out)
{
    struct gb_cuda_image image = { .arch = 0 };
    char *end;

    if (length < 6 || length >= sizeof(image.name) ||
        memcmp(word, "gfx", 3) != 0)
        return false;
    memcpy(image.name, word, length);
    image.arch = (int)strtol(image.name + 3, &end, 16);
    image.is_specific = *end == '\0';
    *out = image;
    return image.is_specific || generic_of(image.name) != NULL;
}

bool
gb_cuda_image_fits(
    const struct gb_cuda_image *image, const struct gb_cuda_target *target)
{
    const struct generic *generic = generic_of(image->name);

    if (generic == NULL)
        return image->arch == target->arch;
    return target->driver >= LEAST_FOR_GENERIC && target->arch != 0 &&
           HAS(generic->archs, target->arch);
}

int
gb_cuda_image_rank(const struct gb_cuda_image *image)
{
    return image->is_specific;
}
