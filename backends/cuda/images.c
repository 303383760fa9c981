/* SPDX-License-Identifier: MIT */
/*
 * cuda/images.c - files of images, embedded as they are.
 *
 * The makefile says what: GB_CUDA_IMAGES is IMAGE(name) for each of them, and
 * GB_CUDA_FOLDER where they lie, below the folder of the build.
 */
#include "backends/cuda/images.h"

#include <string.h>

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
            ".byte 0\n\t"                                         \
            ".previous\n");
GB_CUDA_IMAGES
#undef IMAGE

#define IMAGE(name) extern const unsigned char gb_cuda_image_##name[];
GB_CUDA_IMAGES
#undef IMAGE

static const struct {
    const char *name;
    const unsigned char *data;
} files[] = {
#define IMAGE(name) { #name, gb_cuda_image_##name },
    GB_CUDA_IMAGES
#undef IMAGE
};

/* Each image has the code of all architectures. */
const unsigned char *
gb_cuda_image_data(const char *file, const char *arch)
{
    (void)arch;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].name, file) == 0)
            return files[i].data;
    }
    return NULL;
}

const char gb_cuda_image_archs[] = GB_CUDA_ARCHS;
const int gb_cuda_image_compiler = GB_CUDA_RELEASE;
