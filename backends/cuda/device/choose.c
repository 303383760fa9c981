/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/choose.c - the best of the images that fit a card, and variants by
 * their names; what fits and what is called how, each vendor's image.c says.
 */
#include "backends/cuda/device/image.h"

#include <string.h>

const char *
gb_cuda_variant_name(enum gb_cuda_variant variant)
{
    return gb_cuda_variant_names[variant];
}

bool
gb_cuda_variant_of_name(const char *name, enum gb_cuda_variant *out)
{
    for (int i = 0; i < gb_cuda_n_variants; i++) {
        if (gb_cuda_variant_names[i] != NULL &&
            strcmp(gb_cuda_variant_names[i], name) == 0) {
            *out = (enum gb_cuda_variant)i;
            return true;
        }
    }
    return false;
}

bool
gb_cuda_image_choose(
    const char *images, const struct gb_cuda_target *target,
    struct gb_cuda_image *out)
{
    struct gb_cuda_image best, image;
    bool is_found = false;

    for (;;) {
        size_t length;

        images += strspn(images, " ");
        length = strcspn(images, " ");
        if (length == 0)
            break;
        if (gb_cuda_image_read(images, length, &image) &&
            gb_cuda_image_fits(&image, target) &&
            (!is_found ||
             gb_cuda_image_rank(&image) > gb_cuda_image_rank(&best))) {
            best = image;
            is_found = true;
        }
        images += length;
    }
    if (is_found)
        *out = best;
    return is_found;
}
