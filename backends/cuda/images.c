/* SPDX-License-Identifier: MIT */
/*
 * cuda/images.c - files of images, embedded as they are.
 *
 * The makefile says what: GB_CUDA_IMAGES is IMAGE(name) for each of them, and
 * GB_CUDA_FOLDER where they lie, below the folder of the build.
 */
#include "backends/cuda/images.h"

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

/* Names as the linker sees them, which may begin with something. */
#define SYMBOL(name) TEXT(__USER_LABEL_PREFIX__) "gb_cuda_image_" #name

/* The driver takes PTX as a text, which needs its byte of 0. */
#define IMAGE(name)                                               \
    __asm__(".section .rodata\n\t"                                \
            ".balign 64\n\t"                                      \
            ".globl " SYMBOL(name) "\n\t"                         \
            ".hidden " SYMBOL(name) "\n"                          \
            SYMBOL(name) ":\n\t"                                  \
            ".incbin \"" GB_CUDA_FOLDER "/" #name ".image\"\n\t"  \
            ".globl " SYMBOL(name) "_end\n\t"                     \
            ".hidden " SYMBOL(name) "_end\n"                      \
            SYMBOL(name) "_end:\n\t"                              \
            ".byte 0\n\t"                                         \
            ".previous\n");
GB_CUDA_IMAGES
#undef IMAGE

#define IMAGE(name)                                \
    extern const unsigned char gb_cuda_image_##name[]; \
    extern const unsigned char gb_cuda_image_##name##_end[];
GB_CUDA_IMAGES
#undef IMAGE

const struct gb_cuda_image_file gb_cuda_image_files[] = {
#define IMAGE(name) \
    { #name, gb_cuda_image_##name, gb_cuda_image_##name##_end },
    GB_CUDA_IMAGES
#undef IMAGE
};

const size_t gb_cuda_image_file_count =
    sizeof(gb_cuda_image_files) / sizeof(gb_cuda_image_files[0]);

const char gb_cuda_image_archs[] = GB_CUDA_ARCHS;
const int gb_cuda_image_compiler = GB_CUDA_RELEASE;
