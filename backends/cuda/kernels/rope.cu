/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/rope.cu - rotary position embedding and its gradient, and stores
 * of what was rotated.
 *
 * A thread a pair of elements of a token, for some heads one after another, all
 * of which have the same angle; 256 threads a block.  Reads and writes of
 * neighbouring threads are next to each other; memory is the limit, for few
 * tokens the latency of the angle.
 *
 * Several rotations and copies that have nothing to do with each other are one
 * launch, each with thread blocks of its own: of a single token they are so few
 * that the launch takes longer than they do.  What becomes blocks of a quantised
 * type is rotated into shared memory first.
 *
 * Angles are in double: at position 100,000 a float's would be off by some
 * thousandths.  They are brought below pi before they become floats.
 *
 * Sources: "RoFormer" (arXiv 2104.09864), section 3.2; blending of frequencies:
 * "YaRN" (arXiv 2309.00071), section 3.
 */
#include "backends/cuda/kernels/args-rope.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/pack.cuh"
#include "backends/cuda/kernels/rows.cuh"

/* Which position a pair has, and the exponent of its frequency. */
struct gb_rope_pair {
    int stream;
    int64_t exponent;
};

/* Sections follow each other, and begin again behind the last one. */
GB_DEVICE gb_rope_pair
gb_rope_pair_of(const gb_cuda_rope_args &a, int64_t j)
{
    gb_rope_pair pair = { 0, j };
    int64_t within;
    int64_t rest = j;

    if (a.n_section == 0)
        return pair;
    within = gb_take_index(&rest, a.n_section);
    while (pair.stream < GB_CUDA_ROPE_STREAMS - 1 &&
           within >= a.section[pair.stream])
        within -= a.section[pair.stream++];
    if (a.is_vision)
        pair.exponent = within;
    return pair;
}

/* The share of the unscaled frequency that pair J keeps: ext_factor for fast
 * pairs, nothing for slow ones, between the two of corr a linear ramp. */
GB_DEVICE float
gb_rope_kept(const gb_cuda_rope_args &a, int64_t j)
{
    const float width = a.corr[1] - a.corr[0];
    const float y =
        ((float)j - a.corr[0]) / (width > 0.001f ? width : 0.001f);
    const float ramp = y > 0.0f ? (y < 1.0f ? y : 1.0f) : 0.0f;

    return (1.0f - ramp) * a.ext_factor;
}

/* The angle of pair J at position 1. */
GB_DEVICE double
gb_rope_frequency(const gb_cuda_rope_args &a, int64_t j, int64_t exponent)
{
    double frequency = 1.0;
    double scale = a.freq_scale;

    for (int i = 0; i < GB_CUDA_ROPE_BITS && exponent >> i != 0; i++)
        if ((exponent >> i & 1) != 0)
            frequency *= a.powers[i];
    if (a.factors != nullptr)
        frequency /= *(const float *)(a.factors + j * a.factor_stride);
    if (a.ext_factor != 0.0f) {
        const double kept = gb_rope_kept(a, j);

        scale = scale * (1.0 - kept) + kept;
    }
    return frequency * scale;
}

/* X less a multiple of 2 pi: adding 1.5 * 2^52 leaves no bits for a fraction.
 * From 2^51 on nothing is left of an angle: 0, or NaN for what is none. */
GB_DEVICE float
gb_rope_reduce(double x)
{
    const double shift = 6755399441055744.0;
    const double turns = (x * 0.15915494309189535 + shift) - shift;

    if (!(x < 2251799813685248.0 && x > -2251799813685248.0))
        return (float)(x - x);
    return (float)(x - turns * 6.283185307179586);
}

GB_DEVICE float
gb_rope_angle(const gb_cuda_rope_args &a, int64_t j, int64_t token)
{
    const gb_rope_pair pair = gb_rope_pair_of(a, j);
    const int64_t at = token + pair.stream * a.src0.ne[2];
    const double position =
        *(const int *)(a.positions + at * a.position_stride);

    return gb_rope_reduce(position * gb_rope_frequency(a, j, pair.exponent));
}

/* Elements of a type, or of those of the launch. */
template <typename T>
struct gb_rope_elements {
    GB_DEVICE float
    load(const gb_cuda_rope_args &, const char *from)
    {
        return gb_float(*(const T *)from);
    }

    GB_DEVICE void
    store(const gb_cuda_rope_args &, char *to, float value)
    {
        gb_store((T *)to, value);
    }
};

struct gb_rope_any_elements {
    GB_DEVICE float
    load(const gb_cuda_rope_args &a, const char *from)
    {
        return gb_float_at(from, a.src_type);
    }

    GB_DEVICE void
    store(const gb_cuda_rope_args &a, char *to, float value)
    {
        gb_store_at(to, a.dst_type, value);
    }
};

/* Where the elements of a slot are in a row: a pair, or the two behind the pairs,
 * or the one that is left, where V is none. */
struct gb_rope_ends {
    int64_t u, v;
};

GB_DEVICE gb_rope_ends
gb_rope_ends_of(const gb_cuda_rope_args &a, int64_t slot)
{
    if (slot < a.n_pairs && a.is_split)
        return { slot, slot + a.n_pairs };
    return { 2 * slot, 2 * slot + 1 };
}

/* What a thread does to the pairs of some heads. */
struct gb_rope_rotation {
    float cosine, sine;
};

GB_DEVICE gb_rope_rotation
gb_rope_rotation_of(const gb_cuda_rope_args &a, int64_t slot, int64_t token)
{
    gb_reduced angle;

    if (slot >= a.n_pairs)
        return { 1.0f, 0.0f };
    angle = gb_reduce_sin_near(gb_rope_angle(a, slot, token));
    return {
        gb_mul(gb_sin_quadrant(angle.r, angle.count + 1), a.cos_factor),
        gb_mul(gb_sin_quadrant(angle.r, angle.count), a.sin_factor)
    };
}

/* Elements U and V of a row. */
struct gb_rope_values {
    float u, v;
};

template <typename elements>
GB_DEVICE gb_rope_values
gb_rope_load(const gb_cuda_rope_args &a, const gb_rope_ends &ends,
             const char *src)
{
    return { elements::load(a, src + ends.u * a.src0.nb[0]),
             ends.v < a.src0.ne[0]
                 ? elements::load(a, src + ends.v * a.src0.nb[0])
                 : 0.0f };
}

/* What the elements of a slot become. */
GB_DEVICE gb_rope_values
gb_rope_rotate(const gb_cuda_rope_args &a, const gb_rope_rotation &rotation,
             int64_t slot, const gb_rope_values &from)
{
    if (slot >= a.n_pairs)
        return from;
    return {
        gb_fma(from.u, rotation.cosine, -gb_mul(from.v, rotation.sine)),
        gb_fma(from.u, rotation.sine, gb_mul(from.v, rotation.cosine))
    };
}

template <typename elements>
GB_DEVICE void
gb_rope_put(const gb_cuda_rope_args &a, const gb_rope_ends &ends,
            const gb_rope_values &values, const gb_cuda_tensor &t, char *to)
{
    elements::store(a, to + ends.u * t.nb[0], values.u);
    if (ends.v < a.src0.ne[0])
        elements::store(a, to + ends.v * t.nb[0], values.v);
}

/* Takes N % D off N, mostly without a division. */
GB_DEVICE int64_t
gb_rope_take(int64_t *n, int64_t d)
{
    const int64_t index = *n;

    if (index >= d)
        return gb_take_index(n, d);
    *n = 0;
    return index;
}

/* A pair is read before anything is written: both results may take the place
 * of what is read.  The first is on its way while the angle is computed, and
 * each other one while that before it is written. */
template <typename elements, bool has_also>
GB_DEVICE void
gb_rope_item(const gb_cuda_rope_args &a, int64_t item)
{
    const int64_t slot = gb_take_index(&item, a.n_slots);
    const int64_t first = gb_rope_take(&item, a.n_parts) * a.per_thread;
    const int64_t token = gb_rope_take(&item, a.src0.ne[2]);
    const int64_t left = a.src0.ne[1] - first;
    const gb_row row = { first, token, item };
    const gb_rope_ends ends = gb_rope_ends_of(a, slot);
    const char *src = gb_row_data(a.src0, row);
    char *dst = gb_row_data(a.dst, row);
    char *also = has_also ? gb_row_data(a.also, row) : nullptr;
    gb_rope_values values = gb_rope_load<elements>(a, ends, src);
    const gb_rope_rotation rotation = gb_rope_rotation_of(a, slot, token);

    for (int n = (int)(left < a.per_thread ? left : a.per_thread); n > 0; n--) {
        const gb_rope_values rotated = gb_rope_rotate(a, rotation, slot, values);

        src += a.src0.nb[1];
        if (n > 1)
            values = gb_rope_load<elements>(a, ends, src);
        gb_rope_put<elements>(a, ends, rotated, a.dst, dst);
        dst += a.dst.nb[1];
        if (has_also && a.also.data != nullptr) {
            gb_rope_put<gb_rope_elements<float>>(a, ends, rotated, a.also, also);
            also += a.also.nb[1];
        }
    }
}

#define GB_ROPE_KERNEL(name, elements)                              \
    GB_KERNEL(256, gb_rope_##name, rope)                            \
    {                                                               \
        for (int64_t item = gb_global_thread(); item < a.n_items;   \
             item += gb_global_threads())                           \
            gb_rope_item<elements, false>(a, item);                 \
    }

GB_ROPE_KERNEL(f32, gb_rope_elements<float>)
GB_ROPE_KERNEL(f16, gb_rope_elements<gb_f16>)
GB_ROPE_KERNEL(bf16, gb_rope_elements<gb_bf16>)
GB_ROPE_KERNEL(mixed, gb_rope_any_elements)

/* ---- several, and their stores ---- */

/* Which part a thread block is for, and which of the part's it is. */
struct gb_rope_place {
    int part;
    int64_t block, n_blocks;
};

GB_DEVICE gb_rope_place
gb_rope_place_of(const gb_cuda_rope_store_args &a)
{
    gb_rope_place place = { 0, gb_block(), 0 };

    while (place.block >= a.n_blocks[place.part])
        place.block -= a.n_blocks[place.part++];
    place.n_blocks = a.n_blocks[place.part];
    return place;
}

GB_DEVICE void
gb_rope_floats(const gb_cuda_rope_args &a, const gb_rope_place &place)
{
    for (int64_t item = place.block * 256 + gb_thread(); item < a.n_items;
         item += place.n_blocks * 256)
        gb_rope_item<gb_rope_any_elements, true>(a, item);
}

GB_KERNEL(256, gb_rope_store, rope_store)
{
    const gb_rope_place place = gb_rope_place_of(a);

    gb_rope_floats(a.of[place.part], place);
}

/* ---- into blocks ---- */

/* Where value I stands in shared memory: threads that read 32 values each begin
 * in different banks. */
GB_DEVICE int
gb_rope_shared_place(int i)
{
    return i + i / 32;
}

/* Block I of the part's result from its values. */
GB_DEVICE void
gb_rope_pack_block(const gb_cuda_rope_args &a, int64_t i, const float *values)
{
    char *const to = a.dst.data + i * a.dst.nb[0];

    switch (a.dst_type) {
#define GB_CUDA_PACKED(TYPE, name, n)      \
    case GB_CUDA_STORE_##TYPE:             \
        gb_pack((gb_##name *)to, values);  \
        break;
#define GB_CUDA_PACKED_BY_TEAM(TYPE, name, n)
#include "backends/cuda/kernels/packed.def"
#undef GB_CUDA_PACKED_BY_TEAM
#undef GB_CUDA_PACKED
    }
}

/* The slot of a thread in row N into shared memory, and to where else it is
 * seen. */
GB_DEVICE void
gb_rope_share(const gb_cuda_rope_args &a, int64_t n, int slot, float *values)
{
    const gb_row row = gb_row_of(n, a.src0.ne);
    const gb_rope_ends ends = gb_rope_ends_of(a, slot);
    const gb_rope_values from = gb_rope_load<gb_rope_any_elements>(
        a, ends, gb_row_data(a.src0, row));
    const gb_rope_values pair = gb_rope_rotate(
        a, gb_rope_rotation_of(a, slot, row.i2), slot, from);

    values[gb_rope_shared_place((int)ends.u)] = pair.u;
    values[gb_rope_shared_place((int)ends.v)] = pair.v;
    if (a.also.data != nullptr)
        gb_rope_put<gb_rope_elements<float>>(a, ends, pair, a.also,
                                             gb_row_data(a.also, row));
}

/* A thread block has as many whole rows at once as it has threads for; then a
 * thread packs 32 values. */
GB_DEVICE void
gb_rope_blocks(const gb_cuda_rope_args &a, const gb_rope_place &place)
{
    GB_SHARED float values[GB_CUDA_ROPE_TILE / 32 * 33];
    const int width = (int)a.src0.ne[0], n_slots = width / 2;
    const int rows = GB_CUDA_ROPE_TILE / width;
    const int row = gb_thread() / n_slots;
    const int per_row = width / 32;

    for (int64_t first = place.block * rows; first < a.n_items;
         first += place.n_blocks * rows) {
        if (row < rows && first + row < a.n_items)
            gb_rope_share(a, first + row, gb_thread() % n_slots,
                          values + row * per_row * 33);
        gb_sync();
        if (gb_thread() < rows * per_row &&
            first + gb_thread() / per_row < a.n_items)
            gb_rope_pack_block(a, first * per_row + gb_thread(),
                               values + gb_thread() * 33);
        gb_sync();
    }
}

/* The same, where one at least becomes blocks. */
GB_KERNEL(256, gb_rope_pack, rope_store)
{
    const gb_rope_place place = gb_rope_place_of(a);
    const gb_cuda_rope_args &part = a.of[place.part];

    if (part.dst_type > GB_CUDA_BF16)
        gb_rope_blocks(part, place);
    else
        gb_rope_floats(part, place);
}
