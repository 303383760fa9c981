// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/epilogue.glsl - what becomes of a product's results before
// they are written.
//
// Included behind params-matmul.h and the operand chosen.
#ifndef GB_EPILOGUE_GLSL
#define GB_EPILOGUE_GLSL

// Row ROW of column C of those that meet matrix INDEX, SUM, and what is added to
// it: rounded twice, as two operations round it.
float gb_with_addend(float sum, uint row, uint c, uint index)
{
    uint at = p.at[3] + row * p.ids_nb[0];
    precise float result = sum;

    if (p.has_ids != GB_VK_WITH_ADDEND)
        return sum;
    at += gb_take(c, p.n) * p.ids_nb[1];
    at += (index % p.weights_ne2 * p.r2 + gb_take(c, p.r2)) * p.first_expert;
    at += (index / p.weights_ne2 * p.r3 + c) * p.end_expert;
    result = sum + gb_f32(chosen, at);
    return result;
}

#endif
