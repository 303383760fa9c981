/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/recurrent.cu - operations that carry a state from token to
 * token.
 *
 * SSM_CONV      one thread an element of the result, 256 a block.
 * SSM_SCAN      sixteen lanes a channel, 256 threads a block; each lane has
 *               every sixteenth number of the state.
 * linear        RWKV_WKV6 and GATED_LINEAR_ATTN: one thread a column of a
 *               head's state, 64 a block.
 *
 * Up to a size, states stay in registers: one number a lane of a scan, heads of
 * 64 elements.  Larger ones stay in the place of the result, of which each
 * thread has its own part.  The limit is the latency of a token's step, since
 * tokens come one after another.
 *
 * Sources: "Mamba" (arXiv 2312.00752), algorithm 2; "Eagle and Finch"
 * (arXiv 2404.05892), section 4; "Gated Linear Attention" (arXiv 2312.06635),
 * section 4.
 */
#include "backends/cuda/kernels/args-recurrent.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/tensor.cuh"

GB_KERNEL(256, gb_ssm_conv_f32, ssm_conv)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const gb_index from = { { at.i[1], at.i[0], at.i[2], 0 } };
        const float *x = (const float *)gb_element(a.src0, from);
        const float *taps = a.taps + at.i[0] * a.n_taps;
        float sum = 0.0f;

        for (int64_t i = 0; i < a.n_taps; i++)
            sum = gb_fma(x[i], taps[i], sum);
        *(float *)gb_element(a.dst, at) = sum;
    }
}

/* ---- SSM_SCAN ---- */

#define GB_SCAN_LANES 16

/* ln(1 + e^x), which is x itself above 20. */
GB_DEVICE float
gb_softplus(float x)
{
    return x <= 20.0f ? gb_log1p(gb_exp(x)) : x;
}

/* A channel of a sequence, and what a token does to its state: with the step
 * softplus(dt), h = h e^(step A) + B x step, and y = the sum of h C. */
struct gb_scan {
    int64_t channel, seq;
    const float *a;
    float step, x_step;
    const float *b, *c;
};

GB_DEVICE const float *
gb_scan_row(const gb_cuda_tensor &t, int64_t i1, int64_t i2)
{
    return (const float *)(t.data + i1 * t.nb[1] + i2 * t.nb[2]);
}

GB_DEVICE void
gb_scan_token(const gb_cuda_ssm_scan_args &a, gb_scan *scan, int64_t token)
{
    const float dt = gb_scan_row(a.dt, token, scan->seq)[scan->channel];
    const float x = gb_scan_row(a.x, token, scan->seq)[scan->channel];

    scan->step = gb_softplus(dt);
    scan->x_step = gb_mul(x, scan->step);
    scan->b = gb_scan_row(a.b, token, scan->seq);
    scan->c = gb_scan_row(a.c, token, scan->seq);
}

/* Number N of the state H after a token. */
GB_DEVICE float
gb_scan_step(const gb_scan &scan, int64_t n, float h)
{
    return gb_fma(h, gb_exp(gb_mul(scan.step, scan.a[n])),
                  gb_mul(scan.b[n], scan.x_step));
}

/* A state that fits the lanes: one number each.  All lanes of a warp come here;
 * those that have no channel or no number compute nothing. */
GB_DEVICE void
gb_scan_in_registers(const gb_cuda_ssm_scan_args &a, gb_scan *scan,
                     bool is_channel)
{
    const int64_t n = gb_lane() % GB_SCAN_LANES;
    const bool has_number = is_channel && n < a.first.ne[0];
    const int64_t n_channels = a.x.ne[0];
    const int64_t n_tokens = a.x.ne[1];
    const int64_t place =
        (scan->seq * n_channels + scan->channel) * a.first.ne[0] + n;
    float *y = a.y + scan->seq * n_tokens * n_channels + scan->channel;
    float h = has_number
                  ? gb_scan_row(a.first, scan->channel, scan->seq)[n]
                  : 0.0f;

    for (int64_t t = 0; t < n_tokens; t++) {
        float sum = 0.0f;

        if (has_number) {
            gb_scan_token(a, scan, t);
            h = gb_scan_step(*scan, n, h);
            sum = gb_mul(h, scan->c[n]);
        }
        sum = gb_warp_sum<GB_SCAN_LANES>(sum);
        if (is_channel && n == 0)
            y[t * n_channels] = sum;
    }
    if (has_number)
        a.states[place] = h;
}

/* Any state, in its place. */
GB_DEVICE void
gb_scan_in_memory(const gb_cuda_ssm_scan_args &a, gb_scan *scan,
                  bool is_channel)
{
    const int64_t lane = gb_lane() % GB_SCAN_LANES;
    const int64_t n = is_channel ? a.first.ne[0] : 0;
    const int64_t n_channels = a.x.ne[0];
    const int64_t n_tokens = a.x.ne[1];
    float *h = a.states + (scan->seq * n_channels + scan->channel) * n;
    float *y = a.y + scan->seq * n_tokens * n_channels + scan->channel;

    for (int64_t i = lane; i < n; i += GB_SCAN_LANES)
        h[i] = gb_scan_row(a.first, scan->channel, scan->seq)[i];
    for (int64_t t = 0; t < n_tokens; t++) {
        float sum = 0.0f;

        gb_scan_token(a, scan, t);
        for (int64_t i = lane; i < n; i += GB_SCAN_LANES) {
            h[i] = gb_scan_step(*scan, i, h[i]);
            sum = gb_fma(h[i], scan->c[i], sum);
        }
        sum = gb_warp_sum<GB_SCAN_LANES>(sum);
        if (is_channel && lane == 0)
            y[t * n_channels] = sum;
    }
}

/* Channels of all sequences, each of sixteen lanes.  All lanes of a warp go on
 * as long as its first one has a channel. */
template <void (*scan_channel)(const gb_cuda_ssm_scan_args &, gb_scan *, bool)>
GB_DEVICE void
gb_scan_all(const gb_cuda_ssm_scan_args &a)
{
    const int64_t n = a.x.ne[0] * a.x.ne[2];
    const int64_t step = gb_global_threads() / GB_SCAN_LANES;
    const int64_t lead = gb_lane() / GB_SCAN_LANES;
    int64_t number = gb_global_thread() / GB_SCAN_LANES;

    for (; number - lead < n; number += step) {
        gb_scan scan;

        scan.seq = number < n ? number : 0;
        scan.channel = gb_take_index(&scan.seq, a.x.ne[0]);
        scan.a = gb_scan_row(a.a, scan.channel, 0);
        scan_channel(a, &scan, number < n);
    }
}

GB_KERNEL(256, gb_ssm_scan_16_f32, ssm_scan)
{
    gb_scan_all<gb_scan_in_registers>(a);
}

GB_KERNEL(256, gb_ssm_scan_f32, ssm_scan)
{
    gb_scan_all<gb_scan_in_memory>(a);
}

/* ---- linear attention ---- */

/*
 * With the state M of a head, decays d and, where there is one, the bonus f of
 * the present token:
 *
 *     bonus   out[j] = sum over i of r[i] (f[i] k[i] v[j] + M[i][j]), then
 *             M[i][j] = d[i] M[i][j] + k[i] v[j]
 *     none    M[i][j] = d[i] M[i][j] + k[i] v[j], then
 *             out[j] = scale * sum over i of r[i] M[i][j]
 */
struct gb_linear_row {
    float k, r, decay, bonus;
};

/* One row of the state: *state of column J changes, the result is the sum with
 * what it adds to out[j]. */
template <bool has_bonus>
GB_DEVICE float
gb_linear_step(const gb_linear_row &row, float v, float *state, float sum)
{
    const float kv = gb_mul(row.k, v);
    const float before = *state;

    *state = gb_fma(before, row.decay, kv);
    if (has_bonus)
        return gb_fma(row.r, gb_fma(row.bonus, kv, before), sum);
    return gb_fma(row.r, *state, sum);
}

/* Row I of the head HEAD, whose elements of this token begin at AT. */
template <bool has_bonus>
GB_DEVICE gb_linear_row
gb_linear_row_of(const gb_cuda_linear_args &a, int64_t at, int64_t head,
                 int64_t i)
{
    gb_linear_row row;

    row.k = a.k[at + i];
    row.r = a.r[at + i];
    row.decay = a.decay[at + i];
    row.bonus = has_bonus ? a.bonus[head * a.z + i] : 0.0f;
    return row;
}

/* A head of 64 elements, a block each: the block's threads load a row each. */
template <bool has_bonus>
GB_DEVICE void
gb_linear_head_64(const gb_cuda_linear_args &a, int64_t number)
{
    GB_SHARED gb_linear_row rows[64];
    const int j = gb_thread();
    const int64_t state_at = number * 64 * 64 + j;
    int64_t seq = number;
    const int64_t head = gb_take_index(&seq, a.n_heads);
    float state[64];

    GB_UNROLL
    for (int i = 0; i < 64; i++)
        state[i] = a.first[state_at + i * 64];
    for (int64_t t = seq * a.n_tokens; t < (seq + 1) * a.n_tokens; t++) {
        const int64_t at = (t * a.n_heads + head) * 64;
        const float v = a.v[at + j];
        float sum = 0.0f;

        gb_sync();
        rows[j] = gb_linear_row_of<has_bonus>(a, at, head, j);
        gb_sync();
        GB_UNROLL
        for (int i = 0; i < 64; i++)
            sum = gb_linear_step<has_bonus>(rows[i], v, &state[i], sum);
        a.out[at + j] = has_bonus ? sum : gb_mul(sum, a.scale);
    }
    GB_UNROLL
    for (int i = 0; i < 64; i++)
        a.states[state_at + i * 64] = state[i];
}

/* Column J of head NUMBER, of any size. */
template <bool has_bonus>
GB_DEVICE void
gb_linear_column(const gb_cuda_linear_args &a, int64_t number, int64_t j)
{
    const int64_t state_at = number * a.z * a.z + j;
    int64_t seq = number;
    const int64_t head = gb_take_index(&seq, a.n_heads);

    for (int64_t i = 0; i < a.z; i++)
        a.states[state_at + i * a.z] = a.first[state_at + i * a.z];
    for (int64_t t = seq * a.n_tokens; t < (seq + 1) * a.n_tokens; t++) {
        const int64_t at = (t * a.n_heads + head) * a.z;
        const float v = a.v[at + j];
        float sum = 0.0f;

        for (int64_t i = 0; i < a.z; i++)
            sum = gb_linear_step<has_bonus>(
                gb_linear_row_of<has_bonus>(a, at, head, i), v,
                &a.states[state_at + i * a.z], sum);
        a.out[at + j] = has_bonus ? sum : gb_mul(sum, a.scale);
    }
}

#define GB_LINEAR_KERNELS(name, has_bonus)                               \
    GB_KERNEL(64, gb_##name##_64_f32, linear)                            \
    {                                                                    \
        for (int64_t n = gb_block(); n < a.n_heads * a.n_seqs;           \
             n += gb_n_blocks())                                         \
            gb_linear_head_64<has_bonus>(a, n);                          \
    }                                                                    \
    GB_KERNEL(64, gb_##name##_f32, linear)                               \
    {                                                                    \
        for (int64_t n = gb_global_thread();                             \
             n < a.n_heads * a.n_seqs * a.z; n += gb_global_threads()) { \
            int64_t number = n;                                          \
            const int64_t j = gb_take_index(&number, a.z);               \
                                                                         \
            gb_linear_column<has_bonus>(a, number, j);                   \
        }                                                                \
    }

GB_LINEAR_KERNELS(wkv6, true)
GB_LINEAR_KERNELS(gla, false)
