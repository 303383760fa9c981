#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/experts.comp - which columns go to which expert.
//
// One work group of 256, which counts the pairs of each expert, gives each its
// places and tiles, and puts the pairs there; those of an expert in any order,
// since each is multiplied by itself.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-experts.h"
#include "common/tensor.glsl"

#define THREADS 256

layout(local_size_x = THREADS) in;
GB_OPERAND(0, chosen, coherent);
GB_OPERAND(1, counts, coherent);
GB_OPERAND(2, ids, readonly);

shared uvec2 sums[THREADS]; // places, tiles

void wait_for_all()
{
    memoryBarrierBuffer();
    barrier();
}

uint expert_of(uint pair)
{
    const uint x = gb_take(pair, p.n);

    return min(gb_u32(ids, p.at[2] + x * p.ids_nb[0] + pair * p.ids_nb[1]),
               p.n_experts);
}

// The sums of MINE over the invocations up to this one; of all of them in ALL.
uvec2 sum_up(uvec2 mine, out uvec2 all)
{
    const uint thread = gl_LocalInvocationID.x;

    sums[thread] = mine;
    barrier();
    for (uint step = 1u; step < THREADS; step *= 2u) {
        const uvec2 before =
            thread >= step ? sums[thread - step] : uvec2(0u);

        barrier();
        sums[thread] += before;
        barrier();
    }
    mine = sums[thread];
    all = sums[THREADS - 1];
    barrier();
    return mine;
}

void put_tile(uint tile, uint expert, uint first, uint n)
{
    const uint at = p.at[0] + p.tiles_at + tile * 12u;

    gb_put_u32(chosen, at, expert);
    gb_put_u32(chosen, at + 4u, first);
    gb_put_u32(chosen, at + 8u, n);
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint at = p.at[1] >> 2;
    uvec2 before = uvec2(0u);

    if (gb_group() > 0u)
        return;
    for (uint e = thread; e <= p.n_experts; e += THREADS)
        counts_w[at + e] = 0u;
    wait_for_all();
    for (uint i = thread; i < p.n_pairs; i += THREADS)
        atomicAdd(counts_w[at + expert_of(i)], 1u);
    wait_for_all();

    // A count becomes the expert's first place.
    for (uint base = 0u; base <= p.n_experts; base += THREADS) {
        const uint e = base + thread;
        const uint n = e <= p.n_experts ? counts_w[at + e] : 0u;
        const uvec2 mine = uvec2(n, (n + p.cols - 1u) / p.cols);
        uvec2 all;
        const uvec2 first = before + sum_up(mine, all) - mine;

        for (uint i = 0u; i < mine.y; i++)
            put_tile(first.y + i, e, first.x + i * p.cols,
                     min(n - i * p.cols, p.cols));
        if (e <= p.n_experts)
            counts_w[at + e] = first.x;
        before += all;
    }
    for (uint tile = before.y + thread; tile < p.n_tiles; tile += THREADS)
        put_tile(tile, 0u, 0u, 0u);
    wait_for_all();
    for (uint i = thread; i < p.n_pairs; i += THREADS) {
        const uint place = atomicAdd(counts_w[at + expert_of(i)], 1u);

        gb_put_u32(chosen, p.at[0] + place * 4u, i);
    }
}
