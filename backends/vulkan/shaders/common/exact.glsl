// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/exact.glsl - operations that are rounded as IEEE 754
// says, where results have to have the bits that the host finds.
//
// Additions and products are so by Vulkan's rules, if nothing is fused or
// rearranged: what is precise is not.  Quotients and roots may be wrong by some
// units; theirs are the drivers' ones, corrected by what is left over, which is
// exact in integers.  Subnormal arguments count as 0, as they may do in
// additions and products too.
#ifndef GB_EXACT_GLSL
#define GB_EXACT_GLSL

float gb_add(float a, float b)
{
    precise float sum = a + b;

    return sum;
}

float gb_sub(float a, float b)
{
    precise float difference = a - b;

    return difference;
}

float gb_mul(float a, float b)
{
    precise float product = a * b;

    return product;
}

// A magnitude of Q / 2^SHIFT ulp, and something behind it if IS_INEXACT,
// rounded to the nearest, ties to even; Q has 24 + SHIFT bits, and the first of
// 24 has the exponent EXPONENT, biased.
uint gb_round_bits(uint q, uint shift, int exponent, bool is_inexact)
{
    uint kept, lost, middle;

    if (exponent <= 0) {
        shift += uint(1 - exponent);
        exponent = 1;
        if (shift > 30u)
            return 0u;
    }
    kept = q >> shift;
    lost = q - (kept << shift);
    middle = 1u << (shift - 1u);
    if (lost > middle ||
        (lost == middle && (is_inexact || (kept & 1u) != 0u)))
        kept++;
    // The first bit of 24 counts one in the exponent; so does a carry.
    return min((uint(exponent - 1) << 23) + kept, 0x7f800000u);
}

// a / b; of magnitudes below 2^128.
float gb_divide(float a, float b)
{
    const uint a_bits = floatBitsToUint(a), b_bits = floatBitsToUint(b);
    const uint sign = (a_bits ^ b_bits) & 0x80000000u;
    const int ea = int(a_bits >> 23 & 255u), eb = int(b_bits >> 23 & 255u);
    const uint ma = (a_bits & 0x7fffffu) | 0x800000u;
    const uint mb = (b_bits & 0x7fffffu) | 0x800000u;
    uint q, bits;
    int left;

    if (ea == 255 || eb == 255)
        return a / b;
    if (eb == 0)
        return uintBitsToFloat(ea == 0 ? 0x7fc00000u : sign | 0x7f800000u);
    if (ea == 0)
        return uintBitsToFloat(sign);
    // q = ma 2^25 / mb of 25 or 26 bits; the driver's is at most some tens
    // away, so that 32 bits have all of what is left.
    q = uint(float(ma) / float(mb) * 33554432.0);
    left = int((ma << 25) - q * mb);
    for (uint i = 0u; i < 64u && left < 0; i++) {
        q--;
        left += int(mb);
    }
    for (uint i = 0u; i < 64u && left >= int(mb); i++) {
        q++;
        left -= int(mb);
    }
    if (q >= 0x2000000u)
        bits = gb_round_bits(q, 2u, ea - eb + 127, left != 0);
    else
        bits = gb_round_bits(q, 1u, ea - eb + 126, left != 0);
    return uintBitsToFloat(sign | bits);
}

// The square root of X >= 0.
float gb_sqrt(float x)
{
    const uint bits = floatBitsToUint(x);
    const int e = int(bits >> 23) - 127;
    const int half_e = e >> 1;
    uint m = (bits & 0x7fffffu) | 0x800000u;
    uint q;
    int left;

    if (bits == 0u || bits >= 0x7f800000u || e == -127)
        return e == -127 ? 0.0 : x;
    if ((e & 1) != 0)
        m <<= 1;
    // q = sqrt(m 2^25) of 25 bits
    q = uint(sqrt(float(m)) * 5792.6187514801984);
    left = int((m << 25) - q * q);
    for (uint i = 0u; i < 64u && left < 0; i++) {
        q--;
        left += int(2u * q + 1u);
    }
    for (uint i = 0u; i < 64u && left >= int(2u * q + 1u); i++) {
        left -= int(2u * q + 1u);
        q++;
    }
    return uintBitsToFloat(gb_round_bits(q, 1u, half_e + 127, left != 0));
}

#endif
