/* SPDX-License-Identifier: MIT */
/*
 * cuda/images.c - files of images, embedded as they are.
 *
 * The makefile says what: GB_IMAGES is IMAGE(file, word, "arch") for each of them,
 * which lies in GB_IMAGE_FOLDER/arch/file GB_IMAGE_SUFFIX below the folder of the
 * build; WORD is the architecture as a word of C.  An image without an architecture
 * has the code of all.
 */
#include "backends/cuda/images.h"

#include <string.h>

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

/* Names as the linker sees them, which may begin with something. */
#define SYMBOL(file, word) \
    TEXT(__USER_LABEL_PREFIX__) "gb_cuda_image_" #word "_" #file
#define LABEL(name) ".globl " name "\n\t.hidden " name "\n" name ":\n\t"

/* The driver takes PTX as a text, which needs its byte of 0. */
#define IMAGE(file, word, arch)                                          \
    __asm__(".section .rodata\n\t"                                       \
            ".balign 64\n\t" LABEL(SYMBOL(file, word))                   \
            ".incbin \"" GB_IMAGE_FOLDER "/" arch "/" #file              \
            GB_IMAGE_SUFFIX "\"\n\t" LABEL(SYMBOL(file, word) "_end")    \
            ".byte 0\n\t"                                                \
            ".previous\n");
GB_IMAGES
#undef IMAGE

#define IMAGE(file, word, arch)                                \
    extern const unsigned char gb_cuda_image_##word##_##file[]; \
    extern const unsigned char gb_cuda_image_##word##_##file##_end[];
GB_IMAGES
#undef IMAGE

static const struct {
    const char *file, *arch;
    const unsigned char *begin, *end;
} files[] = {
#define IMAGE(file, word, arch)                       \
    { #file, arch, gb_cuda_image_##word##_##file,     \
      gb_cuda_image_##word##_##file##_end },
    GB_IMAGES
#undef IMAGE
};

struct gb_cuda_image_data
gb_cuda_image_data(const char *file, const char *arch)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].file, file) == 0 &&
            (files[i].arch[0] == '\0' || strcmp(files[i].arch, arch) == 0))
            return (struct gb_cuda_image_data){
                files[i].begin, (size_t)(files[i].end - files[i].begin)
            };
    }
    return (struct gb_cuda_image_data){ NULL, 0 };
}

const char gb_cuda_image_archs[] = GB_IMAGE_ARCHS;
const int gb_cuda_image_compiler = GB_IMAGE_COMPILER;
