/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders.c - files of SPIR-V, embedded as they are.
 *
 * There is one for each row of pipelines.def, called by the row's name, in the folder
 * GB_VK_SHADER_FOLDER below that of the build.
 */
#include "backends/vulkan/shaders.h"

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

/* Names as the linker sees them, which may begin with something. */
#define SYMBOL(name) TEXT(__USER_LABEL_PREFIX__) "gb_vk_spirv_" #name
#define LABEL(name) ".globl " name "\n\t.hidden " name "\n" name ":\n\t"

#define GB_VK_PIPELINE(name, file, n_bindings, params, defines)           \
    __asm__(".section .rodata\n\t"                                        \
            ".balign 4\n\t" LABEL(SYMBOL(name))                           \
            ".incbin \"" GB_VK_SHADER_FOLDER "/" #name ".spv\"\n\t" LABEL( \
                SYMBOL(name) "_end") ".previous\n");
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE

#define GB_VK_PIPELINE(name, file, n_bindings, params, defines) \
    extern const uint32_t gb_vk_spirv_##name[];                 \
    extern const uint32_t gb_vk_spirv_##name##_end[];
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE

static const struct {
    const uint32_t *begin, *end;
} files[] = {
#define GB_VK_PIPELINE(name, file, n_bindings, params, defines) \
    [GB_VK_##name] = { gb_vk_spirv_##name, gb_vk_spirv_##name##_end },
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
};

struct gb_vk_shader
gb_vk_shader(enum gb_vk_pipeline pipeline)
{
    const uint32_t *begin = files[pipeline].begin;

    return (struct gb_vk_shader){
        begin, (size_t)(files[pipeline].end - begin) * sizeof(*begin)
    };
}
