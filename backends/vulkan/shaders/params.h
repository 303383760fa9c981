/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params.h - how push constants are declared, for C and GLSL
 * alike.
 *
 * params-NAME.h has the struct of one family of shaders:
 *
 *     GB_PARAMS(gb_vk_unary_params, 2)
 *         uint32_t ne[4];
 *         …
 *     GB_PARAMS_END
 *
 * In GLSL it is the block p of push constants; in C a struct.  It has at most
 * 128 bytes, which each device has, of members of 32 bits and arrays of them.
 * The number is that of the shader's bindings: at[I] is where operand I begins
 * behind what binding I shows, in bytes, since bindings begin at multiples of
 * up to 256; gb_vk_dispatch fills it.
 *
 * Counts and strides have 32 bits: what a binding shows is below 4 GiB.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_H
#define GB_VULKAN_SHADERS_PARAMS_H

#ifdef GB_GLSL

#define uint32_t uint
#define int32_t int
#define GB_PARAMS(name, n_bindings)          \
    layout(push_constant) uniform name##_block { \
        uint at[n_bindings];
#define GB_PARAMS_END \
    }                 \
    p;

#else

#include <stdint.h>

#define GB_PARAMS(name, n_bindings) \
    struct name {                   \
        uint32_t at[n_bindings];
#define GB_PARAMS_END \
    }                 \
    ;

#endif

/* Floating-point types, where a shader learns of one by a number. */
#define GB_VK_F32 0
#define GB_VK_F16 1
#define GB_VK_BF16 2

#endif
