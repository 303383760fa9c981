/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders.c - files of SPIR-V, embedded as they are.
 *
 * There is one for each row of shaders.def, called by the row's name, in the folder
 * GB_VK_SHADER_FOLDER below that of the build.
 */
#include "backends/vulkan/shaders.h"

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

/* Names as the linker sees them, which may begin with something. */
#define SYMBOL(name) TEXT(__USER_LABEL_PREFIX__) "gb_vk_spirv_" #name
#define LABEL(name) ".globl " name "\n\t.hidden " name "\n" name ":\n\t"

#define GB_VK_SHADER(name, file, defines)                                  \
    __asm__(".section .rodata\n\t"                                         \
            ".balign 4\n\t" LABEL(SYMBOL(name))                            \
            ".incbin \"" GB_VK_SHADER_FOLDER "/" #name ".spv\"\n\t" LABEL(  \
                SYMBOL(name) "_end") ".previous\n");
#include "backends/vulkan/shaders/shaders.def"
#undef GB_VK_SHADER

#define GB_VK_SHADER(name, file, defines)       \
    extern const uint32_t gb_vk_spirv_##name[]; \
    extern const uint32_t gb_vk_spirv_##name##_end[];
#include "backends/vulkan/shaders/shaders.def"
#undef GB_VK_SHADER

static const struct {
    const uint32_t *begin, *end;
} files[] = {
#define GB_VK_SHADER(name, file, defines)                  \
    [GB_VK_SPIRV_##name] = { gb_vk_spirv_##name,           \
                             gb_vk_spirv_##name##_end },
#include "backends/vulkan/shaders/shaders.def"
#undef GB_VK_SHADER
};

struct gb_vk_spirv
gb_vk_spirv_of(enum gb_vk_shader shader)
{
    const uint32_t *begin = files[shader].begin;

    return (struct gb_vk_spirv){
        begin, (size_t)(files[shader].end - begin) * sizeof(*begin)
    };
}
