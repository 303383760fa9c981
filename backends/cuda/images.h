/* SPDX-License-Identifier: MIT */
/*
 * cuda/images.h - the kernels as they were compiled for cards, which are data here.
 *
 * Each of kernels/NAME.cu gives images in a form that the driver's
 * cuModuleLoadData takes: for CUDA one with code for several architectures, and
 * PTX, for HIP one for each architecture, packed (device/unpack.h).  All files have
 * the same ones.
 */
#ifndef GB_CUDA_IMAGES_H
#define GB_CUDA_IMAGES_H

#include <stddef.h>

struct gb_cuda_image_data {
    const unsigned char *bytes; /* NULL: there is none */
    size_t size;                /* behind them is a byte of 0 */
};

/*
 * The image of FILE ("binary", of binary.cu) for the architecture ARCH of the
 * list below.
 */
struct gb_cuda_image_data gb_cuda_image_data(const char *file, const char *arch);

/*
 * Architectures that the images are for, "75 90 90a ptx75", where ptx begins what
 * the driver compiles when it loads it.
 */
extern const char gb_cuda_image_archs[];

/* Release of the compiler that made them, 13000 for 13.0; 0: any driver does. */
extern const int gb_cuda_image_compiler;

#endif
