#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/gemmdot.comp - what gemm.comp makes, by dot products of bytes, of
// columns that columns.comp made blocks of.
//
// A work group makes a tile of TILE rows and COLS columns of dst, an invocation
// SIDE_M by SIDE_N of them in registers.  32 values of k at a time come as bytes
// into shared memory, in halves of 16: the codes of a row are those of its weights,
// less their middle where the type has one, so that a value is scale * code - min.
// Behind both halves are their scales and mins, for a column its scale and the sums
// of its codes; so a row or column has three vectors of 16 bytes, which lets eight
// neighbouring ones have all 32 banks.
//
// A sum of integers is added to the bits of 1.5 * 2^23, and so is a float without a
// conversion, which is slow.  Blocks are summed as floats.
//
// Tiles are of 64 by 64 (128 invocations, 8 by 4 each), or of 64 by 16 (64, 4 by 4),
// for few columns and for products that have too few of the former.
//
// GB_TYPE_…  type of the weights
// TILE       rows
// THREADS    invocations
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

#define ACROSS (TILE == THREADS ? 16u : 8u) // invocations along rows
#define SIDE_M (TILE / ACROSS)
#define SIDE_N 4
#define DOWN   (THREADS / ACROSS) // along columns: from one of its own to the next
#define COLS   (DOWN * SIDE_N)
#define STEP   32 // values of k
#define STRIDE 3  // vectors of a row or column
#define LOADS  (2 * TILE / THREADS) // halves of rows that an invocation reads

layout(constant_id = 0) const uint TILE = 64;
layout(constant_id = 1) const uint THREADS = 128;
layout(local_size_x_id = 1, local_size_x = 128) in; // THREADS
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
GB_OPERAND(2, columns, readonly);
GB_OPERAND(3, chosen, readonly);
layout(set = 0, binding = 2, std430) readonly buffer columns_vectors
{
    uvec4 columns_v[];
};

#include "common/unpack.glsl"
#include "common/dot.glsl"

shared uvec4 a[TILE * STRIDE];
shared uvec4 b[COLS * STRIDE];
shared uint from[COLS]; // columns of the tile
shared uint to[COLS];   // and where their results go

// Column C of those that meet matrix INDEX.
void find_column(uint c, uint index, uint which)
{
    const uint a2 = index % p.weights_ne2;
    const uint a3 = index / p.weights_ne2;
    const uint i1 = gb_take(c, p.n);
    const uint i2 = a2 * p.r2 + gb_take(c, p.r2);
    const uint i3 = a3 * p.r3 + c;

    from[which] = p.at[2] + i1 * p.columns_nb[0] + i2 * p.columns_nb[1] +
                  i3 * p.columns_nb[2];
    to[which] = p.at[0] + i1 * p.dst_nb[0] + i2 * p.dst_nb[1] +
                i3 * p.dst_nb[2];
}

// The pair that is number PLACE of those sorted by expert.
void find_pair(uint place, uint which)
{
    uint pair = gb_u32(chosen, p.at[3] + place * 4u);
    const uint x = gb_take(pair, p.n);

    from[which] = p.at[2] + x % p.r2 * p.columns_nb[0] + pair * p.columns_nb[1];
    to[which] = p.at[0] + x * p.dst_nb[0] + pair * p.dst_nb[1];
}

float sums[SIDE_M][SIDE_N];

// What is in shared memory.
void multiply(uint my_row, uint my_col)
{
    uvec4 first[SIDE_N], second[SIDE_N];
    vec3 of_col[SIDE_N]; // scale, and sums of codes

    [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
        const uint at = (my_col + c * DOWN) * STRIDE;

        first[c] = b[at];
        second[c] = b[at + 1u];
        of_col[c] = uintBitsToFloat(b[at + 2u].xyz);
    }
    [[unroll]] for (uint r = 0u; r < SIDE_M; r++) {
        const uint at = (my_row + r * ACROSS) * STRIDE;
        const uvec4 one = a[at], two = a[at + 1u];
        const vec4 of_row = uintBitsToFloat(a[at + 2u]); // scales, and mins

        [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
            float sum;

#ifdef DOT_HALVES
            sum = of_row.x * gb_dot_float(gb_dot16(one, first[c], DOT_ZERO));
            sum = fma(of_row.y,
                      gb_dot_float(gb_dot16(two, second[c], DOT_ZERO)), sum);
#ifdef DOT_HAS_MIN
            sum = fma(-of_row.z, of_col[c].y, sum);
            sum = fma(-of_row.w, of_col[c].z, sum);
#endif
#else
            sum = of_row.x *
                  gb_dot_float(gb_dot16(
                      two, second[c], gb_dot16(one, first[c], DOT_ZERO)));
#ifdef DOT_HAS_MIN
            sum = fma(-of_row.z, of_col[c].y + of_col[c].z, sum);
#endif
#endif
            sums[r][c] = fma(of_col[c].x, sum, sums[r][c]);
        }
    }
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint my_row = thread % ACROSS, my_col = thread / ACROSS;
    // The halves that it reads: of LOADS rows, and of a column.
    const uint mine = thread / 2u, piece = thread % 2u;
    uint index = gb_group();
    uint first_row, split, tile, n_here, matrix, begin, end;
    uint row[LOADS];
    bool is_nothing = false;

    if (index >= p.n_groups)
        return;
    first_row = gb_take(index, (p.m + TILE - 1u) / TILE) * TILE;
    split = gb_take(index, p.n_splits);
    if (p.has_ids != 0u) {
        // Three words of a tile: expert, first place, places.
        const uint at = p.at[3] + p.ids_nb[0] + index * 12u;
        const uint expert = gb_u32(chosen, at);

        tile = gb_u32(chosen, at + 4u);
        n_here = gb_u32(chosen, at + 8u);
        if (n_here == 0u)
            return;
        is_nothing = expert >= p.weights_ne2;
        if (is_nothing ? p.first_expert > 0u
                       : expert < p.first_expert || expert >= p.end_expert)
            return;
        matrix = p.at[1] + (expert - p.first_expert) * p.weights_nb[1];
        if (thread < COLS)
            find_pair(tile + min(thread, n_here - 1u), thread);
    } else {
        tile = gb_take(index, (p.n_cols + COLS - 1u) / COLS) * COLS;
        n_here = min(p.n_cols - tile, COLS);
        matrix = p.at[1] + index % p.weights_ne2 * p.weights_nb[1] +
                 index / p.weights_ne2 * p.weights_nb[2];
        if (thread < COLS)
            find_column(tile + min(thread, n_here - 1u), index, thread);
    }
    barrier();

    [[unroll]] for (uint r = 0u; r < SIDE_M; r++)
        [[unroll]] for (uint c = 0u; c < SIDE_N; c++)
            sums[r][c] = 0.0;
    [[unroll]] for (uint l = 0u; l < LOADS; l++)
        row[l] = matrix + min(first_row + mine + l * (THREADS / 2u), p.m - 1u) *
                              p.weights_nb[0];
    begin = split * p.split_k;
    end = is_nothing ? begin : min(begin + p.split_k, p.k);
    for (uint step = begin;; step += STEP) {
        uvec4 w[LOADS], x = uvec4(0u);
        float scale[LOADS], least[LOADS], x_scale = 0.0;

        [[unroll]] for (uint l = 0u; l < LOADS; l++) {
            w[l] = uvec4(0u);
            scale[l] = least[l] = 0.0;
            if (step < end) {
                const uint at = row[l] + step / GB_BLOCK * GB_BLOCK_BYTES;
                const uint part = step % GB_BLOCK / 8u + 2u * piece;

                w[l] = uvec4(gb_dot_codes8(at, part),
                             gb_dot_codes8(at, part + 1u));
                scale[l] = gb_scale8(at, part);
#ifdef DOT_HAS_MIN
                least[l] = gb_min8(at, part);
#endif
            }
        }
        if (step < end && mine < COLS) {
            x = columns_v[(from[mine] + step) / 16u + piece];
            x_scale = gb_f32(columns, from[mine] + p.k + step / 8u);
        }
        if (step > begin)
            multiply(my_row, my_col);
        if (step >= end)
            break;
        barrier();
        [[unroll]] for (uint l = 0u; l < LOADS; l++) {
            const uint at = (mine + l * (THREADS / 2u)) * STRIDE;

            a[at + piece] = w[l];
            a[at + 2u][piece] = floatBitsToUint(scale[l]);
            a[at + 2u][2u + piece] = floatBitsToUint(least[l]);
        }
        if (mine < COLS) {
            const uint at = mine * STRIDE;

            b[at + piece] = x;
#ifdef DOT_HAS_MIN
            b[at + 2u][1u + piece] = floatBitsToUint(gb_dot_float(
                gb_dot16(x, uvec4(0x01010101u), DOT_ZERO)));
#endif
            if (piece == 0u)
                b[at + 2u].x = floatBitsToUint(x_scale);
        }
        barrier();
    }

    [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
        const uint col = my_col + c * DOWN;
        const uint base = to[col] + split * p.split_bytes;

        [[unroll]] for (uint r = 0u; r < SIDE_M; r++) {
            const uint at_row = first_row + my_row + r * ACROSS;

            if (at_row < p.m && col < n_here)
                gb_put_f32(dst, base + at_row * 4u, sums[r][c]);
        }
    }
}
