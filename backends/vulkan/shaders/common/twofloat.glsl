// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/twofloat.glsl - numbers of 48 bits as sums of two
// floats, for devices without doubles.
//
// What a sum or a product of floats leaves out is computed by Knuth's and
// Dekker's sequences (Dekker, "A Floating-Point Technique for Extending the
// Available Precision", 1971), without fused operations, which need not be
// fused.  They are precise, or else a compiler would find that they are 0.  The
// relative error of each function is about 2^-45.
#ifndef GB_TWOFLOAT_GLSL
#define GB_TWOFLOAT_GLSL

// A float as such a sum.
vec2 gb_two_float(float x)
{
    return vec2(x, 0.0);
}

// The float next to a + b and what it leaves out, |a| >= |b|.
vec2 gb_two_quick(float a, float b)
{
    precise float sum = a + b;
    precise float rest = b - (sum - a);

    return vec2(sum, rest);
}

// The same for any two.
vec2 gb_two_sum(float a, float b)
{
    precise float sum = a + b;
    precise float other = sum - a;
    precise float rest = (a - (sum - other)) + (b - other);

    return vec2(sum, rest);
}

// a * b: each is taken apart into two numbers of twelve bits.
vec2 gb_two_product(float a, float b)
{
    precise float product = a * b;
    precise float a_far = a * 4097.0;
    precise float b_far = b * 4097.0;
    precise float a_up = a_far - (a_far - a);
    precise float b_up = b_far - (b_far - b);
    precise float a_low = a - a_up;
    precise float b_low = b - b_up;
    precise float rest = a_up * b_up - product;

    rest = rest + a_up * b_low;
    rest = rest + a_low * b_up;
    rest = rest + a_low * b_low;
    return vec2(product, rest);
}

vec2 gb_two_add(vec2 a, vec2 b)
{
    const vec2 sum = gb_two_sum(a.x, b.x);
    precise float rest = sum.y + (a.y + b.y);

    return gb_two_quick(sum.x, rest);
}

vec2 gb_two_mul(vec2 a, vec2 b)
{
    const vec2 product = gb_two_product(a.x, b.x);
    precise float rest = product.y + (a.x * b.y + a.y * b.x);

    return gb_two_quick(product.x, rest);
}

vec2 gb_two_div(vec2 a, float b)
{
    const float quotient = a.x / b;
    const vec2 product = gb_two_product(quotient, b);
    precise float rest = ((a.x - product.x) - product.y + a.y) / b;

    return gb_two_quick(quotient, rest);
}

#endif
