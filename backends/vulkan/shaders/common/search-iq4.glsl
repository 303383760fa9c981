// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/search-iq4.glsl - the sixteen levels of iq4_nl and
// iq4_xs; see search.glsl.
#ifndef GB_SEARCH_IQ4_GLSL
#define GB_SEARCH_IQ4_GLSL

#include "search.glsl"

const float gb_iq4_values[16] =
    float[16](-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0,
              13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0);

// Code of the value nearest to V, the upper one of two, and that value.
uint gb_iq4_nearest(float v, out float value)
{
    uint code = 0u;

    // Twice the middle between two values is whole: nothing is rounded.
    value = gb_iq4_values[0];
    for (uint k = 0u; k < 15u; k++)
        if (2.0 * v >= gb_iq4_values[k] + gb_iq4_values[k + 1u]) {
            code++;
            value = gb_iq4_values[k + 1u];
        }
    return code;
}

// How the codes of x * INVERSE fit, with the weights x^2.
gb_fit gb_fit_iq4(float x[GB_SUB], float inverse)
{
    gb_fit fit = gb_fit(0.0, 0.0);

    for (uint i = 0u; i < GB_SUB; i++) {
        float value, wv;

        gb_iq4_nearest(gb_mul(inverse, x[i]), value);
        wv = gb_mul(gb_mul(x[i], x[i]), value);
        fit.xq = gb_add(fit.xq, gb_mul(wv, x[i]));
        fit.qq = gb_add(fit.qq, gb_mul(wv, value));
    }
    return fit;
}

// The best of candidates that make the largest value, with its sign changed and
// then as it is, one about the lowest of the sixteen; 0 for zeros.
float gb_search_iq4(float x[GB_SUB])
{
    const float lowest = -127.0;
    const float largest = gb_largest(x);
    gb_best best = gb_best(0.0, 0.0, 0.0);

    if (abs(largest) < GB_SEARCH_TINY)
        return 0.0;
    for (int k = -8; k <= 7; k++) {
        const float of_lowest = k == -8 ? -lowest : float(k) + lowest;
        const gb_fit fit = gb_fit_iq4(x, gb_divide(of_lowest, largest));

        if (k == -8 || gb_fit_beats(fit, best))
            best = gb_fit_best(fit, 0.0);
    }
    return best.scale;
}

#endif
