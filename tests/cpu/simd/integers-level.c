/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers-level.c - the words for small integers of the level
 * that is being compiled, against plain C.
 */
#include "config.h"

#include "tests/cpu/simd/integers.h"

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/simd/dot4.h"
#include "lib/base/byte-order.h"

#include "ggml.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define QUADS     (4 * VF_LEN) /* bytes of a vq */
#define MAX_BYTES 4096

/* What the words are given: any bytes, codes, wide codes, activations. */
static uint8_t any[MAX_BYTES];
static uint8_t codes[MAX_BYTES];
static uint8_t wide[MAX_BYTES];
static int8_t acts[MAX_BYTES];

static void
fill(void)
{
    uint32_t state = 1;

    for (int i = 0; i < MAX_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        any[i] = (uint8_t)(state >> 24);
        codes[i] = (state >> 8 & 3) == 0 ? 124 : any[i] % 125;
        acts[i] = (state >> 10 & 3) == 0 ? -127
                                         : (int8_t)((state >> 16) % 255 - 127);
        wide[i] = (state >> 12 & 3) == 0
                      ? (uint8_t)(Q_WIDE_BIAS - 128)
                      : any[i];
    }
}

/* A wide code's product with an activation.  (Of sums of them with a cast to
 * int8_t GCC 12 makes unsigned ones where the machine has those, I8MM.) */
static int32_t
wide_product(int i, int j)
{
    const int code = Q_WIDE_BIAS == 0 && wide[i] > 127 ? wide[i] - 256
                                                         : wide[i];

    return code * acts[j];
}

/* The first word that was found wrong. */
static const char *wrong;

/* Neither is inlined: a branch to what is wrong would count as one of the
 * header whose word is tried. */
static __attribute__((__noinline__)) void
need(bool is_right, const char *word)
{
    if (!is_right && wrong == NULL)
        wrong = word;
}

static __attribute__((__noinline__)) bool
is_same(const void *got, const void *want, size_t bytes)
{
    return memcmp(got, want, bytes) == 0;
}

static bool
bytes_are(q32 v, const uint8_t *want)
{
    uint8_t got[32];

    q32_store(got, v);
    return is_same(got, want, sizeof(got));
}

/* Words that make bytes of bytes. */
static void
check_bytes(void)
{
    const q32 x = q32_load(any);
    const q32 y = q32_load(any + 32);
    const void *words[8];
    uint8_t want[13][32];
    q32 mask;

    for (int i = 0; i < 8; i++)
        words[i] = any + 100 + 12 * i;
    for (int i = 0; i < 32; i++) {
        const bool is_set = (0x9badcafeu >> i & 1) != 0;

        want[0][i] = i < 16 ? any[i] : any[200 + i - 16];
        want[1][i] = 77;
        want[2][i] = i < 16 ? any[i] & 15 : any[i - 16] >> 4;
        want[3][i] = any[i] >> 3 & 7;
        want[4][i] = (uint8_t)((any[i] & 7) << 5);
        want[5][i] = any[i] | any[32 + i];
        want[6][i] = (uint8_t)(any[i] + any[32 + i]);
        want[7][i] = any[i] ^ any[32 + i];
        want[8][i] = is_set ? 255 : 0;
        want[9][i] = is_set ? any[i] : 0;
        want[10][i] = (uint8_t)(is_set ? -any[i] : any[i]);
        want[11][i] = any[300 + (any[i] & 15)];
        want[12][i] = any[100 + 12 * (i / 4) + i % 4];
    }
    mask = q32_mask_of_bits(0x9badcafeu);
    need(bytes_are(q32_load2(any, any + 200), want[0]), "q32_load2");
    need(bytes_are(q32_set1(77), want[1]), "q32_set1");
    need(bytes_are(q32_nibbles(any), want[2]), "q32_nibbles");
    need(bytes_are(q32_bits(x, 3, 7), want[3]), "q32_bits");
    need(bytes_are(q32_shift_left(q32_bits(x, 0, 7), 5), want[4]),
         "q32_shift_left");
    need(bytes_are(q32_or(x, y), want[5]), "q32_or");
    need(bytes_are(q32_add(x, y), want[6]), "q32_add");
    need(bytes_are(q32_xor(x, y), want[7]), "q32_xor");
    need(bytes_are(mask, want[8]), "q32_mask_of_bits");
    need(bytes_are(q32_where(mask, x), want[9]), "q32_where");
    need(bytes_are(q32_negate(mask, x), want[10]), "q32_negate");
    need(bytes_are(q32_lookup(any + 300, q32_bits(x, 0, 15)), want[11]),
         "q32_lookup");
    need(bytes_are(q32_words(words), want[12]), "q32_words");
}

/* Four by four quads in each half, and digits to the base of three. */
static void
check_transposed(void)
{
    q32 v[4];
    uint8_t want[4][32];
    uint8_t thirds[256];

    for (int i = 0; i < 4; i++)
        v[i] = q32_load(any + 32 * i);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 32; h += 16)
                memcpy(want[i] + h + 4 * j, any + 32 * j + h + 4 * i, 4);
    q32_transpose(v);
    for (int i = 0; i < 4; i++)
        need(bytes_are(v[i], want[i]), "q32_transpose");
    for (int i = 0; i < 256; i++)
        thirds[i] = (uint8_t)i;
    for (int i = 0; i < 256; i += 32)
        q32_store(thirds + i, q32_thirds(q32_load(thirds + i)));
    for (int i = 0; i < 256; i++)
        need(thirds[i] == 3 * i >> 8, "q32_thirds");
}

/* Halves, and floats of bytes. */
static void
check_floats(void)
{
    char halves[64];
    float a[9] = { 0 };
    float b[9] = { 0 };

    for (int i = 0; i < 8; i++) {
        const uint16_t pair[2] = {
            gb_le16(ggml_fp32_to_fp16((float)i - 3.5f)),
            gb_le16(ggml_fp32_to_fp16(0x1p-20f * (float)i)),
        };

        memcpy(halves + 1 + 6 * i, pair, sizeof(pair));
    }
    for (int n = 1; n <= 8; n++) {
        q_half_pairs(a, b, halves + 1, 6, n);
        for (int i = 0; i < 8; i++)
            need(a[i] == (i < n ? (float)i - 3.5f : 0.0f) &&
                     b[i] == (i < n ? 0x1p-20f * (float)i : 0.0f),
                 "q_half_pairs");
        q_halves(a, halves + 3, 6, n);
        for (int i = 0; i < 8; i++)
            need(a[i] == (i < n ? 0x1p-20f * (float)i : 0.0f), "q_halves");
    }
    need(a[8] == 0.0f && b[8] == 0.0f, "q_halves: one float too many");
    need(q_half(halves + 1) == -3.5f, "q_half");
    for (int i = 0; i < 64; i++) {
        const float x = ldexpf(1.0f + (float)any[i] / 300.0f, i / 2 - 26);

        need(gb_le16(q_to_half(x)) == ggml_fp32_to_fp16(x), "q_to_half");
    }
    q_floats_u8(a, any + 5, 0.5f);
    q_floats_i8(b, any + 5, 0.5f);
    for (int i = 0; i < 8; i++) {
        need(a[i] == 0.5f * (float)any[5 + i], "q_floats_u8");
        need(b[i] == 0.5f * (float)(int8_t)any[5 + i], "q_floats_i8");
    }
}

static bool
sums_are(qs s, const int32_t *want)
{
    int32_t got[8];

    qs_store(got, s);
    return is_same(got, want, sizeof(got));
}

/* Sums of products along rows. */
static void
check_sums(void)
{
    for (int at = 0; at < 1024; at += 32) {
        const q32 a = q32_load(acts + at);
        int32_t first[8] = { 1234567, 0, 0, 0, -89, 0, 0, 0 };
        int32_t want[8];
        int32_t want_wide[8];
        int32_t want_256[8];
        qs s = qs_set_lanes04(first[0], first[4]);

        for (int i = 0; i < 8; i++) {
            want[i] = first[i];
            want_wide[i] = first[i];
            for (int j = 4 * i; j < 4 * i + 4; j++) {
                want[i] += codes[at + j] * acts[at + j];
                want_wide[i] += wide_product(at + j, at + j);
            }
            want_256[i] = first[i] + 256 * want[i];
        }
        need(sums_are(s, first), "qs_set_lanes04");
        need(sums_are(qs_dot(s, q32_load(codes + at), a), want), "qs_dot");
        need(sums_are(qs_dot_wide(s, q32_load(wide + at), a), want_wide),
             "qs_dot_wide");
        need(sums_are(qs_add_256(s, qs_dot(s, q32_load(codes + at), a)),
                      want_256),
             "qs_add_256");
        first[4] = 0;
        need(sums_are(qs_set_lane0(first[0]), first), "qs_set_lane0");
    }
}

/* Floats of sums; all numbers are small integers, so nothing is rounded. */
static void
check_scaled_sums(void)
{
    static const float pair[2] = { 3.0f, -2.0f };
    const qs s = qs_dot(qs_set_lane0(7), q32_set1(1), q32_set1(2));
    float x[8];
    float got[8];
    qf acc;

    for (int i = 0; i < 8; i++)
        x[i] = (float)(i * i - 5);
    acc = qf_load(x);
    qf_store(got, qf_add(acc, s, 3.0f));
    for (int i = 0; i < 8; i++)
        need(got[i] == x[i] + 3.0f * (float)(i == 0 ? 15 : 8), "qf_add");
    qf_store(got, qf_add2(acc, s, pair));
    for (int i = 0; i < 8; i++)
        need(got[i] == x[i] + pair[i / 4] * (float)(i == 0 ? 15 : 8),
             "qf_add2");
    qf_store(got, qf_fma(acc, acc, qf_mul(acc, qf_zero())));
    for (int i = 0; i < 8; i++)
        need(got[i] == x[i] * x[i], "qf_fma or qf_mul");
    qf_store(got, qf_from(s));
    for (int i = 0; i < 8; i++)
        need(got[i] == (float)(i == 0 ? 15 : 8), "qf_from");
    need(qf_sum(acc) == 100.0f, "qf_sum");
}

/* Words for columns. */
static void
check_quads(void)
{
    uint8_t transposed[QUADS * VF_LEN];
    float got[VF_LEN];

    vq_transpose(transposed, any, QUADS + 4);
    for (int i = 0; i < VF_LEN; i++)
        for (int j = 0; j < VF_LEN; j++)
            need(is_same(transposed + QUADS * j + 4 * i,
                         any + (QUADS + 4) * i + 4 * j, 4),
                 "vq_transpose");
    for (int at = 0; at < 1024; at += QUADS) {
        const vq u = vq_load(codes + at);
        const vq a = vq_broadcast(acts + at);
        const vi first = vi_set1(-1000);
        float dot[VF_LEN];
        float dot_wide[VF_LEN];
        float dot_low[VF_LEN];

        for (int i = 0; i < VF_LEN; i++) {
            dot[i] = dot_wide[i] = -1000.0f;
            dot_low[i] = -1000.0f;
            for (int j = 0; j < 4; j++) {
                const int code = codes[at + 4 * i + j];

                dot[i] += (float)(code * acts[at + j]);
                dot_wide[i] += (float)wide_product(at + 4 * i + j, at + j);
                dot_low[i] += (float)((code & 15) * acts[at + j]) * 8.0f;
            }
        }
        vf_store(got, vf_from_vi(vi_dot(first, u, a)));
        need(is_same(got, dot, sizeof(got)), "vi_dot");
        vf_store(got, vf_from_vi(vi_dot_wide(first, vq_load(wide + at), a)));
        need(is_same(got, dot_wide, sizeof(got)), "vi_dot_wide");
        vf_store(got, vf_from_vi(vi_add_pairs(first, vh_dot(u, a))));
        need(is_same(got, dot, sizeof(got)), "vh_dot or vi_add_pairs");
        vf_store(got, vf_from_vi(vi_add_256(first, vi_dot(first, u, a))));
        for (int i = 0; i < VF_LEN; i++)
            need(got[i] == -1000.0f + 256.0f * dot[i], "vi_add_256");
        /* Eight products of four bits fit sums of 16. */
        {
            uint8_t small[QUADS];
            vh h;

            for (int i = 0; i < QUADS; i++)
                small[i] = codes[at + i] & 15;
            h = vh_dot(vq_load(small), a);
            for (int i = 1; i < 8; i++)
                h = vh_dot_more(h, vq_load(small), a);
            vf_store(got, vf_from_vi(vi_add_pairs(first, h)));
            need(is_same(got, dot_low, sizeof(got)), "vh_dot_more");
        }
    }
}

/* Words for two columns at a time. */
static void
check_tiles(void)
{
    uint8_t transposed[QUADS * VF_LEN];
    uint8_t transposed_wide[QUADS * VF_LEN];

    vq4_transpose(transposed, codes, QUADS + 4);
    vq4_transpose(transposed_wide, wide, QUADS + 4);
    for (int from = 0; from < VF_LEN; from += 4) {
        const int8_t *columns[2] = { acts + from, acts + 100 + from };
        const va2 a = va2_load(columns[0], columns[1]);
        const vi2 first = vi2_join(vi_set1(-1000), vi_set1(30));
        const vi2 t = vi2_dot(first, vq4_load(transposed + QUADS * from), a);
        const vi2 t_wide =
            vi2_dot_wide(first, vq4_load(transposed_wide + QUADS * from), a);

        for (int c = 0; c < 2; c++) {
            float got[VF_LEN];
            float got_wide[VF_LEN];

            vf_store(got, vf_from_vi(vi2_sums(t, c)));
            vf_store(got_wide, vf_from_vi(vi2_sums(t_wide, c)));
            for (int i = 0; i < VF_LEN; i++) {
                int32_t want = c == 0 ? -1000 : 30;
                int32_t want_wide = want;

                for (int j = 0; j < 16; j++) {
                    const int at = (QUADS + 4) * i + 4 * from + j;

                    want += codes[at] * columns[c][j];
                    want_wide += wide_product(
                        at, (int)(columns[c] - acts) + j);
                }
                need(got[i] == (float)want, "vi2_dot");
                need(got_wide[i] == (float)want_wide, "vi2_dot_wide");
            }
        }
    }
}

static void
check_rounding(void)
{
    for (int i = -1270; i <= 1270; i++) {
        float x[32];
        uint8_t want[32];
        int8_t got[VF_LEN];

        for (int j = 0; j < 32; j++) {
            x[j] = (float)(j % 2 == 0 ? i : -i) * (j % 3 == 0 ? 0.4f : 0.2f);
            if (i % 10 == 5 || i % 10 == -5)
                x[j] = (j % 2 == 0 ? 1.0f : -1.0f) +
                       2.0f * (float)((i + j) / 10 - j / 10);
            x[j] = fminf(fmaxf(x[j], -254.0f), 254.0f);
            want[j] = (uint8_t)(int8_t)nearbyintf(x[j] * 0.5f);
        }
        need(bytes_are(q32_scaled(x, 0.5f), want), "q32_scaled");
        vf_store_i8(got, vf_mul(vf_load(x), vf_set1(0.5f)));
        need(is_same(got, want, sizeof(got)), "vf_store_i8");
        for (int j = 0; j < VF_LEN; j++)
            want[j] = (uint8_t)(int8_t)truncf(x[j] * 0.5f);
        vf_store_i8_trunc(got, vf_mul(vf_load(x), vf_set1(0.5f)));
        need(is_same(got, want, sizeof(got)), "vf_store_i8_trunc");
    }
}

/* Words for four vectors; all numbers are small integers. */
static void
check_fours(void)
{
    qs s[4];
    vf v[4];
    int32_t sums[8];
    int32_t want[8] = { 0 };
    float got[4];

    for (int i = 0; i < 4; i++) {
        float x[VF_LEN];

        s[i] = qs_dot(qs_set_lanes04(i, 10 * i), q32_load(codes + 32 * i),
                      q32_load(acts + 32 * i));
        want[i] = i;
        want[4 + i] = 10 * i;
        for (int j = 0; j < 32; j++)
            want[4 * (j / 16) + i] += codes[32 * i + j] * acts[32 * i + j];
        for (int j = 0; j < VF_LEN; j++)
            x[j] = (float)acts[VF_LEN * i + j];
        v[i] = vf_load(x);
    }
    qs_store_sums4(sums, s);
    need(is_same(sums, want, sizeof(sums)), "qs_store_sums4");
    vf_store_sums4(got, v);
    for (int i = 0; i < 4; i++) {
        int sum = 0;

        for (int j = 0; j < VF_LEN; j++)
            sum += acts[VF_LEN * i + j];
        need(got[i] == (float)sum, "vf_store_sums4");
    }
    vf_store_max4(got, v);
    for (int i = 0; i < 4; i++) {
        int max = -127;

        for (int j = 0; j < VF_LEN; j++)
            if (max < acts[VF_LEN * i + j])
                max = acts[VF_LEN * i + j];
        need(got[i] == (float)max, "vf_store_max4");
    }
}

/* Bytes picked from sixteen, 16-bit words times others, and pairs of products
 * of such words with sums. */
static void
check_words(void)
{
    static const int16_t factors[16] = { 16, 4, 1, 2, 3, 5, 7, 9,
                                         8, 6, 0, 1, 11, 13, 15, 240 };
    uint8_t from[32];
    uint8_t want[32];
    int16_t words[16];
    int32_t s[3][8];
    int32_t got[8];

    for (int i = 0; i < 32; i++) {
        from[i] = (uint8_t)(i % 5 == 0 ? 255 : 7 * i % 16);
        want[i] = from[i] < 16 ? any[i / 16 * 16 + from[i]] : 0;
    }
    need(bytes_are(q32_pick16(q32_load(any), from), want), "q32_pick16");
    for (int i = 0; i < 16; i++)
        words[i] = (int16_t)(any[i] * factors[i]);
    gb_le_bytes(words, sizeof(words[0]), sizeof(words));
    memcpy(want, words, sizeof(want));
    for (int i = 0; i < 32; i++)
        from[i] = i % 2 == 0 ? any[i / 2] : 0;
    need(bytes_are(q32_times(q32_load(from), factors), want), "q32_times");
    for (int i = 0; i < 8; i++) {
        s[0][i] = 1000 * i - 3;
        s[1][i] = 127 * any[i] - 16000;
        s[2][i] = 12345 - 99 * any[8 + i];
    }
    for (int i = 0; i < 16; i++)
        words[i] = (int16_t)(any[16 + i] - 100);
    memcpy(from, words, sizeof(from));
    gb_le_bytes(from, sizeof(words[0]), sizeof(from));
    qs_store(got, qs_dot_words(qs_load(s[0]), qs_load(s[1]), qs_load(s[2]),
                               q32_load(from)));
    for (int i = 0; i < 8; i++) {
        const int32_t *two = s[1 + i / 2 % 2] + i / 4 * 4 + i % 2 * 2;
        const int16_t *w = words + 2 * i;

        need(got[i] == s[0][i] + two[0] * w[0] + two[1] * w[1],
             "qs_dot_words");
    }
}

#if Q_WIDE_BIAS == 128

/* Some bytes or fields as sums, and multiples of those by four bytes of each
 * half. */
static void
check_multiples(void)
{
    static const uint8_t from[8] = { 0, 2, 15, 6, 1, 3, 5, 7 };
    static const int32_t at[8] = { 28, 24, 20, 16, 12, 8, 4, 0 };
    static const int32_t picked[8] = { 7, 0, 3, 3, 1, 6, 2, 5 };
    static const int16_t words[16] = { 1, -1, 0, 63, 5, 300, -300, 2,
                                       9, 8, 7, 6, 5, 4, 3, 2 };
    uint8_t places[32];
    int32_t got[8];
    int32_t again[8];
    uint8_t fields[32];
    uint8_t want[32];

    for (int i = 0; i < 8; i++)
        got[i] = any[from[i]] & 63;
    for (int i = 0; i < 32; i++)
        fields[i] = any[i] & 3;
    qs_store(again, qs_of_16(0x0706050403020100, 0x0f0e0d0c0b0a0908, from));
    for (int i = 0; i < 8; i++)
        need(again[i] == from[i], "qs_of_16");
    for (int i = 0; i < 32; i++) {
        places[i] = any[i] % 3 == 0 ? 128 : any[i] % 8;
        want[i] = places[i] == 128 ? 0 : 0x10 + places[i];
        fields[i] = any[i] & 63;
    }
    need(bytes_are(q32_of_8(0x1716151413121110, places), want), "q32_of_8");
    qs_store(again, qs_dot_times(qs_load(got), q32_load(fields),
                                 q32_load(acts), q32_load(words)));
    for (int i = 0; i < 8; i++) {
        int32_t sum = got[i];

        for (int j = 4 * i; j < 4 * i + 4; j++)
            sum += fields[j] * acts[j] * words[j / 2];
        need(again[i] == sum, "qs_dot_times");
    }
    for (int i = 0; i < 32; i++)
        fields[i] = any[i] & 3;
    qs_store(again, qs_fields(0x76543210, at, 15));
    for (int i = 0; i < 8; i++)
        need(again[i] == 7 - i, "qs_fields");
    qs_store(again, qs_pick(qs_load(again), picked));
    for (int i = 0; i < 8; i++)
        need(again[i] == 7 - picked[i], "qs_pick");
    qs_store(again, qs_mul(qs_load(got), qs_set1(-300)));
    for (int i = 0; i < 8; i++)
        need(again[i] == -300 * got[i], "qs_mul");
    for (int i = 0; i < 4; i++) {
        const q32t8 table = q32_multiples8(qs_load(got));
        const q32 third = q32_load(any + 32);

        for (int j = 0; j < 32; j++) {
            const int code = fields[j] - (any[32 + j] >> i & 1 ? 0 : 4);

            want[j] = (uint8_t)(128 - (got[j / 16 * 4 + i] - 32) * code);
        }
        need(bytes_are(q32_multiple8(table, i, q32_load(fields), third), want),
             "q32_multiple8");
    }
}

#endif

const char *
GB_K(check_integers)(void)
{
    wrong = NULL;
    fill();
    check_bytes();
    check_floats();
    check_sums();
    check_scaled_sums();
    check_quads();
    check_tiles();
    check_rounding();
    check_fours();
    check_transposed();
    check_words();
#if Q_WIDE_BIAS == 128
    check_multiples();
#endif
    return wrong;
}
