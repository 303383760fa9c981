/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/image.c - which embedded image of the kernels fits one of NVIDIA's
 * cards.
 *
 * The driver chooses among the images by the same rules when it loads them;
 * here they are asked before, so that a card without one is not listed and its
 * kernel variant is known without a context.  The rules are those of the CUDA
 * programming guide, "Application Compatibility": code runs on cards of the
 * same major version and an equal or higher minor one, PTX on all later ones.
 */
#include "backends/cuda/device/image.h"

#include <ctype.h>
#include <string.h>

const char *const gb_cuda_variant_names[] = {
    [GB_CUDA_PLAIN] = "plain", [GB_CUDA_DP4A] = "dp4a",
    [GB_CUDA_MMA] = "mma",     [GB_CUDA_MMA8] = "mma8",
    [GB_CUDA_WGMMA] = "wgmma",
};
const int gb_cuda_n_variants =
    sizeof(gb_cuda_variant_names) / sizeof(gb_cuda_variant_names[0]);

enum gb_cuda_variant
gb_cuda_image_variant(const struct gb_cuda_image *image)
{
    static const struct {
        int arch;
        enum gb_cuda_variant variant;
    } first[] = {
        { 80, GB_CUDA_MMA8 }, { 75, GB_CUDA_MMA }, { 61, GB_CUDA_DP4A },
    };

    if (image->arch == 90 && image->is_specific)
        return GB_CUDA_WGMMA;
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        if (image->arch >= first[i].arch)
            return first[i].variant;
    }
    return GB_CUDA_PLAIN;
}

bool
gb_cuda_image_read(
    const char *word, size_t length, struct gb_cuda_image *out)
{
    const char *const end = word + length;
    struct gb_cuda_image image = { .arch = 0 };

    if (length >= sizeof(image.name))
        return false;
    memcpy(image.name, word, length);
    if (length > 3 && memcmp(word, "ptx", 3) == 0) {
        image.is_ptx = true;
        word += 3;
    }
    for (; word < end && isdigit((unsigned char)*word); word++)
        image.arch = 10 * image.arch + (*word - '0');
    if (word < end && *word == 'a') {
        image.is_specific = true;
        word++;
    }
    *out = image;
    return word == end && image.arch >= 10 && image.arch < 1000;
}

/*
 * A driver takes code of its own major version's compilers, PTX of none newer.
 */
static bool
driver_takes(
    const struct gb_cuda_image *image, const struct gb_cuda_target *target)
{
    return image->is_ptx ? target->driver >= target->compiler
                         : target->driver / 1000 >= target->compiler / 1000;
}

bool
gb_cuda_image_fits(
    const struct gb_cuda_image *image, const struct gb_cuda_target *target)
{
    if (!driver_takes(image, target) || image->arch > target->arch)
        return false;
    if (image->is_specific)
        return image->arch == target->arch;
    return image->is_ptx || image->arch / 10 == target->arch / 10;
}

int
gb_cuda_image_rank(const struct gb_cuda_image *image)
{
    return (image->is_ptx ? 0 : 10000) + 2 * image->arch + image->is_specific;
}
