/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/rope.cu - rotary position embedding and its gradient.
 *
 * A thread a pair of elements of a token, for some heads one after another, all
 * of which have the same angle; 256 threads a block.  Reads and writes of
 * neighbouring threads are next to each other; memory is the limit, for few
 * tokens the latency of the angle.
 *
 * Angles are in double: at position 100,000 a float's would be off by some
 * thousandths.  They are brought below pi before they become floats.
 *
 * Sources: "RoFormer" (arXiv 2104.09864), section 3.2; blending of frequencies:
 * "YaRN" (arXiv 2309.00071), section 3.
 */
#include "backends/cuda/kernels/args-rope.h"
#include "backends/cuda/kernels/math.cuh"
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

/* What a thread does to a pair: elements U and V of some heads. */
struct gb_rope_rotation {
    int64_t u, v;
    float cosine, sine;
};

GB_DEVICE gb_rope_rotation
gb_rope_rotation_of(const gb_cuda_rope_args &a, int64_t slot, int64_t token)
{
    gb_rope_rotation rotation = { 2 * slot, 2 * slot + 1, 1.0f, 0.0f };
    gb_reduced angle;

    if (slot >= a.n_pairs)
        return rotation;
    angle = gb_reduce_sin_near(gb_rope_angle(a, slot, token));
    rotation.cosine =
        gb_mul(gb_sin_quadrant(angle.r, angle.count + 1), a.cos_factor);
    rotation.sine =
        gb_mul(gb_sin_quadrant(angle.r, angle.count), a.sin_factor);
    if (a.is_split) {
        rotation.u = slot;
        rotation.v = slot + a.n_pairs;
    }
    return rotation;
}

/* Both elements are read before either is written: TO may be what is read. */
template <typename elements>
GB_DEVICE void
gb_rope_rotate(const gb_cuda_rope_args &a, const gb_rope_rotation &rotation,
               char *to, int64_t stride, const char *src)
{
    const char *from_u = src + rotation.u * a.src0.nb[0];
    const char *from_v = src + rotation.v * a.src0.nb[0];
    const float x = elements::load(a, from_u);
    const float y = elements::load(a, from_v);

    elements::store(a, to + rotation.u * stride,
                    gb_fma(x, rotation.cosine, -gb_mul(y, rotation.sine)));
    elements::store(a, to + rotation.v * stride,
                    gb_fma(x, rotation.sine, gb_mul(y, rotation.cosine)));
}

/* Elements behind the pairs: SLOT's two, or the one that is left. */
template <typename elements>
GB_DEVICE void
gb_rope_copy(const gb_cuda_rope_args &a, int64_t slot, char *to,
             int64_t stride, const char *src)
{
    for (int64_t i = 2 * slot; i < 2 * slot + 2 && i < a.dst.ne[0]; i++)
        elements::store(a, to + i * stride,
                        elements::load(a, src + i * a.src0.nb[0]));
}

/* A slot of ROW, into T. */
template <typename elements>
GB_DEVICE void
gb_rope_slot(const gb_cuda_rope_args &a, const gb_rope_rotation &rotation,
             int64_t slot, const gb_row &row, const gb_cuda_tensor &t)
{
    char *const to = gb_row_data(t, row);
    const char *const src = gb_row_data(a.src0, row);

    if (slot < a.n_pairs)
        gb_rope_rotate<elements>(a, rotation, to, t.nb[0], src);
    else
        gb_rope_copy<elements>(a, slot, to, t.nb[0], src);
}

/* What is also written may take the place of what is read, and comes last. */
template <typename elements, bool has_also>
GB_DEVICE void
gb_rope_item(const gb_cuda_rope_args &a, int64_t item)
{
    const int64_t slot = gb_take_index(&item, a.n_slots);
    const int64_t first = gb_take_index(&item, a.n_parts) * a.per_thread;
    const int64_t token = gb_take_index(&item, a.dst.ne[2]);
    const gb_rope_rotation rotation = gb_rope_rotation_of(a, slot, token);
    gb_row row = { first, token, item };

    for (; row.i1 < first + a.per_thread && row.i1 < a.dst.ne[1]; row.i1++) {
        gb_rope_slot<elements>(a, rotation, slot, row, a.dst);
        if (has_also && a.also.data != nullptr)
            gb_rope_slot<gb_rope_elements<float>>(a, rotation, slot, row,
                                                  a.also);
    }
}

#define GB_ROPE_KERNEL(name, elements, has_also)                    \
    GB_KERNEL(256, gb_rope_##name, rope)                            \
    {                                                               \
        for (int64_t item = gb_global_thread(); item < a.n_items;   \
             item += gb_global_threads())                           \
            gb_rope_item<elements, has_also>(a, item);              \
    }

GB_ROPE_KERNEL(f32, gb_rope_elements<float>, false)
GB_ROPE_KERNEL(f16, gb_rope_elements<gb_f16>, false)
GB_ROPE_KERNEL(bf16, gb_rope_elements<gb_bf16>, false)
GB_ROPE_KERNEL(mixed, gb_rope_any_elements, false)

/* ROPE of F32, and the copy of it to another type. */
GB_ROPE_KERNEL(store, gb_rope_any_elements, true)
