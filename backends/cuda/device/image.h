/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/image.h - which embedded image of the kernels fits a card.
 */
#ifndef GB_CUDA_DEVICE_IMAGE_H
#define GB_CUDA_DEVICE_IMAGE_H

#include "backends/cuda/ops/limits.h"

#include <stdbool.h>

struct gb_cuda_image {
    char name[24];    /* the word of the list: "90a" */
    int arch;         /* 90 for compute 9.0 */
    bool is_ptx;
    bool is_specific; /* 90a: for that architecture alone */
};

/* What images are chosen for, and who made them. */
struct gb_cuda_target {
    int arch;     /* of the card: 10 * major + minor */
    int driver;   /* version that it serves: 1000 * major + 10 * minor */
    int compiler; /* release that made the images; 0: any driver does */
};

/*
 * The best image of IMAGES ("75 90 90a ptx75", as images.h has them) for
 * TARGET: code before PTX, the architecture's own before others, then the
 * highest.  False, with *OUT untouched, without one.
 */
bool gb_cuda_image_choose(
    const char *images, const struct gb_cuda_target *target,
    struct gb_cuda_image *out);

/* The kernel variant that code for this image has. */
enum gb_cuda_variant gb_cuda_image_variant(const struct gb_cuda_image *image);

/* The variant called NAME ("mma8"); false, with *OUT untouched, for none. */
bool gb_cuda_variant_of_name(const char *name, enum gb_cuda_variant *out);
const char *gb_cuda_variant_name(enum gb_cuda_variant variant);

/* ---- each vendor's answers ---- */

/* What variants are called, the lowest first. */
extern const char *const gb_cuda_variant_names[];
extern const int gb_cuda_n_variants;

/* One word of the list, of LENGTH bytes; false for what it cannot be. */
bool gb_cuda_image_read(
    const char *word, size_t length, struct gb_cuda_image *out);

bool gb_cuda_image_fits(
    const struct gb_cuda_image *image, const struct gb_cuda_target *target);

/* The higher, the better, among images that fit; the first one of two alike. */
int gb_cuda_image_rank(const struct gb_cuda_image *image);

#endif
