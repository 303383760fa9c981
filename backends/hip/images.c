/* SPDX-License-Identifier: MIT */
/*
 * hip/images.c - code objects, embedded as they are.
 *
 * The makefile says what: GB_HIP_IMAGES is IMAGE(file, arch, "arch") for each
 * of them, where arch is a word of C and "arch" what the compiler calls it, and
 * GB_HIP_FOLDER where they lie, below the folder of the build.
 */
#include "backends/cuda/images.h"

#include <string.h>

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

/* Names as the linker sees them, which may begin with something. */
#define SYMBOL(file, arch) \
    TEXT(__USER_LABEL_PREFIX__) "gb_hip_image_" #arch "_" #file

#define IMAGE(file, arch, text)                                     \
    __asm__(".section .rodata\n\t"                                  \
            ".balign 64\n\t"                                        \
            ".globl " SYMBOL(file, arch) "\n\t"                     \
            ".hidden " SYMBOL(file, arch) "\n"                      \
            SYMBOL(file, arch) ":\n\t"                              \
            ".incbin \"" GB_HIP_FOLDER "/" text "/" #file ".image\"\n\t" \
            ".byte 0\n\t"                                           \
            ".previous\n");
GB_HIP_IMAGES
#undef IMAGE

#define IMAGE(file, arch, text) \
    extern const unsigned char gb_hip_image_##arch##_##file[];
GB_HIP_IMAGES
#undef IMAGE

static const struct {
    const char *file, *arch;
    const unsigned char *data;
} files[] = {
#define IMAGE(file, arch, text) { #file, text, gb_hip_image_##arch##_##file },
    GB_HIP_IMAGES
#undef IMAGE
};

const unsigned char *
gb_cuda_image_data(const char *file, const char *arch)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].file, file) == 0 &&
            strcmp(files[i].arch, arch) == 0)
            return files[i].data;
    }
    return NULL;
}

const char gb_cuda_image_archs[] = GB_HIP_ARCHS;
const int gb_cuda_image_compiler = 0;
