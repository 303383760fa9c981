// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/format.glsl - sizes of the blocks of the type that -D
// names: GB_TYPE_F32, GB_TYPE_Q4_0 and the other names of formats.def.
//
// GB_BLOCK         values of a block, a multiple of 8; floats have blocks of 8,
//                  of which the last of a row may have fewer
// GB_BLOCK_BYTES   bytes of a block
// GB_IS_FLOAT      of types without blocks, which gb_unpack1() reads singly
// GB_USES_TABLE    of types whose values are rows of a table: the shader
//                  declares GB_OPERAND(its last binding, tables, readonly)
#ifndef GB_FORMAT_GLSL
#define GB_FORMAT_GLSL

#if defined GB_TYPE_F32
#define GB_IS_FLOAT
#define GB_BLOCK 8
#define GB_BLOCK_BYTES 32
#elif defined GB_TYPE_F16 || defined GB_TYPE_BF16
#define GB_IS_FLOAT
#define GB_BLOCK 8
#define GB_BLOCK_BYTES 16
#elif defined GB_TYPE_Q4_0 || defined GB_TYPE_IQ4_NL
#define GB_BLOCK 32
#define GB_BLOCK_BYTES 18
#elif defined GB_TYPE_Q4_1
#define GB_BLOCK 32
#define GB_BLOCK_BYTES 20
#elif defined GB_TYPE_Q5_0
#define GB_BLOCK 32
#define GB_BLOCK_BYTES 22
#elif defined GB_TYPE_Q5_1
#define GB_BLOCK 32
#define GB_BLOCK_BYTES 24
#elif defined GB_TYPE_Q8_0
#define GB_BLOCK 32
#define GB_BLOCK_BYTES 34
#else
#define GB_BLOCK 256
#if defined GB_TYPE_Q2_K
#define GB_BLOCK_BYTES 84
#elif defined GB_TYPE_Q3_K
#define GB_BLOCK_BYTES 110
#elif defined GB_TYPE_Q4_K
#define GB_BLOCK_BYTES 144
#elif defined GB_TYPE_Q5_K
#define GB_BLOCK_BYTES 176
#elif defined GB_TYPE_Q6_K
#define GB_BLOCK_BYTES 210
#elif defined GB_TYPE_TQ1_0
#define GB_BLOCK_BYTES 54
#elif defined GB_TYPE_TQ2_0
#define GB_BLOCK_BYTES 66
#elif defined GB_TYPE_IQ4_XS
#define GB_BLOCK_BYTES 136
#else
#define GB_USES_TABLE
#if defined GB_TYPE_IQ1_S
#define GB_BLOCK_BYTES 50
#elif defined GB_TYPE_IQ1_M
#define GB_BLOCK_BYTES 56
#elif defined GB_TYPE_IQ2_XXS
#define GB_BLOCK_BYTES 66
#elif defined GB_TYPE_IQ2_XS
#define GB_BLOCK_BYTES 74
#elif defined GB_TYPE_IQ2_S
#define GB_BLOCK_BYTES 82
#elif defined GB_TYPE_IQ3_XXS
#define GB_BLOCK_BYTES 98
#elif defined GB_TYPE_IQ3_S
#define GB_BLOCK_BYTES 110
#else
#error "no type is named"
#endif
#endif
#endif

#endif
