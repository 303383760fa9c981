/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/unary-functions.h - numbers of functions of one value, for C and
 * GLSL alike.
 */
#ifndef GB_VULKAN_SHADERS_UNARY_FUNCTIONS_H
#define GB_VULKAN_SHADERS_UNARY_FUNCTIONS_H

#define GB_VK_ABS 0
#define GB_VK_SGN 1
#define GB_VK_NEG 2
#define GB_VK_STEP 3
#define GB_VK_TANH 4
#define GB_VK_ELU 5
#define GB_VK_RELU 6
#define GB_VK_SIGMOID 7
#define GB_VK_GELU 8
#define GB_VK_GELU_QUICK 9
#define GB_VK_SILU 10
#define GB_VK_HARDSWISH 11
#define GB_VK_HARDSIGMOID 12
#define GB_VK_EXP 13
#define GB_VK_SQR 14
#define GB_VK_SQRT 15
#define GB_VK_LOG 16
#define GB_VK_SIN 17
#define GB_VK_COS 18
#define GB_VK_SCALE 19
#define GB_VK_CLAMP 20
#define GB_VK_LEAKY_RELU 21

#endif
