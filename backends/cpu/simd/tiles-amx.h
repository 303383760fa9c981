/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/tiles-amx.h - words of products by tiles for AMX, with AVX-512.
 *
 * Tiles are registers, whose shapes LDTILECFG sets for a thread.  It takes some
 * hundred cycles, so the shapes that are in force are asked for first.
 *
 * A compiler does not know that loads of tiles read memory, so that each is a
 * barrier for it.
 */
#ifndef GB_CPU_SIMD_TILES_AMX_H
#define GB_CPU_SIMD_TILES_AMX_H

#define TILES_ARE_GENERIC 0

struct tiles {
    char unused;
};

/* What LDTILECFG loads: palette 1 and, of eight tiles, bytes in a row and
 * rows. */
struct tile_shapes {
    uint8_t palette;
    uint8_t start_row;
    uint8_t reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

_Static_assert(sizeof(struct tile_shapes) == 64, "as the processor has it");

static inline void
tiles_configure(struct tiles *t)
{
    static const _Alignas(64) struct tile_shapes wanted = {
        .palette = 1,
        .row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
        .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
    };
    _Alignas(64) struct tile_shapes shapes = { 0 };

    t->unused = 0;
    /* Compilers know of STTILECFG only that it writes the first bytes. */
    __asm__ volatile("" : "+m"(shapes));
    _tile_storeconfig(&shapes);
    __asm__ volatile("" : "+m"(shapes));
    if (memcmp(&shapes, &wanted, sizeof(shapes)) != 0)
        _tile_loadconfig(&wanted);
}

static inline void
tiles_release(void)
{
    _tile_release();
}

#define tile_zero(t, i)                              \
    do {                                             \
        (void)(t);                                   \
        _tile_zero(i);                               \
    } while (0)

#define tile_load(t, i, p, pitch)                    \
    do {                                             \
        (void)(t);                                   \
        __asm__ volatile("" ::: "memory");           \
        _tile_loadd(i, (p), (size_t)(pitch));        \
    } while (0)

#define tile_store(t, i, p, pitch)                   \
    do {                                             \
        (void)(t);                                   \
        _tile_stored(i, (p), (size_t)(pitch));       \
        __asm__ volatile("" ::: "memory");           \
    } while (0)

#define tile_dot_bf16(t, c, a, b)                    \
    do {                                             \
        (void)(t);                                   \
        _tile_dpbf16ps(c, a, b);                     \
    } while (0)

/* VCVTNEPS2BF16. */
static inline void
tile_store_bf16(uint16_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh(v));
}

static inline void
tile_transpose(void *dst, const void *src, int64_t pitch)
{
    vq_transpose(dst, src, pitch);
}

#endif
