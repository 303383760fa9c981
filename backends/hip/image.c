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
};
const int gb_cuda_n_variants =
    sizeof(gb_cuda_variant_names) / sizeof(gb_cuda_variant_names[0]);

static const struct generic {
    const char *name;
    bool has_dot4;
    int archs[12]; /* 0 ends */
} generics[] = {
    { "gfx9-generic", false,
      { 0x900, 0x902, 0x904, 0x906, 0x909, 0x90c } },
    { "gfx10-1-generic", false, { 0x1010, 0x1011, 0x1012, 0x1013 } },
    { "gfx10-3-generic", true,
      { 0x1030, 0x1031, 0x1032, 0x1033, 0x1034, 0x1035, 0x1036 } },
    { "gfx11-generic", true,
      { 0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152, 0x1153 } },
    { "gfx12-generic", true, { 0x1200, 0x1201 } },
};

/* Version of the run time that loads code of generic targets. */
enum { LEAST_FOR_GENERIC = 6030 };

/* Have none: sums of four products of int8 are several instructions. */
static const int without_dot4[] = { 0x900, 0x902, 0x904,  0x909,
                                    0x90c, 0x1010, 0x1013 };

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
    const size_t n = sizeof(without_dot4) / sizeof(without_dot4[0]);
    const bool has_dot4 = generic != NULL ? generic->has_dot4
                                          : !has(without_dot4, n, image->arch);

    return has_dot4 ? GB_CUDA_DP4A : GB_CUDA_PLAIN;
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
           has(generic->archs,
               sizeof(generic->archs) / sizeof(generic->archs[0]),
               target->arch);
}

int
gb_cuda_image_rank(const struct gb_cuda_image *image)
{
    return image->is_specific;
}
