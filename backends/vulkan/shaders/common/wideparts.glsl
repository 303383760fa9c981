// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/wideparts.glsl - which pieces of 8 values of a block have
// their codes in the same words, and bits of a code.
//
// PARTS           pieces that are taken together
// APART           from one to the next, in pieces
// UNIT            values of them all
// GB_CODE_BITS    of the codes; of signed ones, by 128 larger
// GB_CODE_OFFSET  what a float with the bits of a code has more
//
// Included behind format.glsl and unpack.glsl.  ops/product.c knows UNIT, too.
#ifndef GB_WIDEPARTS_GLSL
#define GB_WIDEPARTS_GLSL

#if defined GB_IS_FLOAT || defined GB_TYPE_TQ1_0
#define PARTS 1u
#define APART 1u
#elif defined GB_TYPE_Q2_K || defined GB_TYPE_Q3_K || \
    defined GB_TYPE_Q6_K || defined GB_TYPE_TQ2_0
#define PARTS 4u
#define APART 4u
#elif defined GB_TYPE_Q4_K || defined GB_TYPE_Q5_K
#define PARTS 2u
#define APART 4u
#elif defined GB_TYPE_Q4_0 || defined GB_TYPE_Q4_1 || defined GB_TYPE_Q5_0 || \
    defined GB_TYPE_Q5_1 || defined GB_TYPE_IQ4_NL || defined GB_TYPE_IQ4_XS
#define PARTS 2u
#define APART 2u
#else
#define PARTS 2u
#define APART 1u
#endif
#define UNIT (8u * PARTS)

#endif
