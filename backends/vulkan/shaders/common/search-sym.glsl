// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/search-sym.glsl - scales for numbers from -top to
// top - 1; see search.glsl.
#ifndef GB_SEARCH_SYM_GLSL
#define GB_SEARCH_SYM_GLSL

#include "search.glsl"

// How the numbers x * INVERSE fit, with the weights x^2.
gb_fit gb_fit_sym(float x[GB_SUB], float top, float inverse)
{
    gb_fit fit = gb_fit(0.0, 0.0);

    for (uint i = 0u; i < GB_SUB; i++)
        gb_fit_add(fit, gb_mul(x[i], x[i]), x[i],
                   gb_round_even(gb_mul(x[i], inverse), -top, top - 1.0));
    return fit;
}

// The best of nineteen candidates around the scale that makes the largest value
// -top; a scale of 0 for zeros.
gb_best gb_search_sym(float x[GB_SUB], float top)
{
    const float largest = gb_largest(x);
    gb_best best = gb_best(0.0, 0.0, 0.0);

    if (abs(largest) < GB_SEARCH_TINY)
        return best;
    best.inverse = gb_divide(-top, largest);
    best = gb_fit_best(gb_fit_sym(x, top, best.inverse), best.inverse);
    for (int k = -9; k <= 9; k++) {
        const float inverse =
            gb_divide(-gb_add(top, gb_mul(0.1, float(k))), largest);
        const gb_fit fit = gb_fit_sym(x, top, inverse);

        if (k != 0 && gb_fit_beats(fit, best))
            best = gb_fit_best(fit, inverse);
    }
    return best;
}

// Move a number while the score grows; has it moved?
bool gb_move_number(float x, float top, inout float number, inout gb_fit fit)
{
    const float w = gb_mul(x, x);
    gb_fit rest =
        gb_fit(gb_sub(fit.xq, gb_mul(gb_mul(w, x), number)),
               gb_sub(fit.qq, gb_mul(gb_mul(w, number), number)));
    float moved;

    if (!(rest.xq > 0.0 && rest.qq > 0.0))
        return false;
    moved = gb_round_even(gb_divide(gb_mul(x, rest.qq), rest.xq), -top,
                          top - 1.0);
    if (moved == number)
        return false;
    gb_fit_add(rest, w, x, moved);
    if (!(gb_mul(gb_mul(rest.xq, rest.xq), fit.qq) >
          gb_mul(gb_mul(fit.xq, fit.xq), rest.qq)))
        return false;
    number = moved;
    fit = rest;
    return true;
}

// From one candidate, by moving single numbers, at most five times each; their
// scale.  NUMBERS are 0 - top where there is no largest value.
float gb_search_sym_by_moves(float x[GB_SUB], float top,
                             out float numbers[GB_SUB])
{
    const float largest = gb_largest(x);
    gb_fit fit = gb_fit(0.0, 0.0);
    float inverse;
    bool has_moved = true;

    for (uint i = 0u; i < GB_SUB; i++)
        numbers[i] = -top;
    if (abs(largest) < GB_SEARCH_TINY)
        return 0.0;
    inverse = gb_divide(-top, largest);
    for (uint i = 0u; i < GB_SUB; i++) {
        numbers[i] = gb_round_even(gb_mul(x[i], inverse), -top, top - 1.0);
        gb_fit_add(fit, gb_mul(x[i], x[i]), x[i], numbers[i]);
    }
    for (uint sweep = 0u; sweep < 5u && has_moved; sweep++) {
        has_moved = false;
        for (uint i = 0u; i < GB_SUB; i++)
            if (gb_move_number(x[i], top, numbers[i], fit))
                has_moved = true;
    }
    return gb_fit_scale(fit);
}

#endif
