/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32-sve.h - the words of q32.h that gain by SVE: a gather.
 *
 * Scales of successive blocks are PITCH bytes apart; one gather with a
 * predicate loads four of them, where NEON takes four loads and insertions.
 */
#ifndef GB_CPU_SIMD_Q32_SVE_H
#define GB_CPU_SIMD_Q32_SVE_H

/* N of four words, PITCH bytes apart, and zeros. */
static inline uint32x4_t
q_four_words(const char *p, size_t pitch, int n)
{
    const svbool_t first = svwhilelt_b32_s32(0, n < 4 ? n : 4);
    const svuint32_t offsets = svindex_u32(0, (uint32_t)pitch);
    const svuint32_t words = svld1_gather_u32offset_u32(
        first, (const uint32_t *)(const void *)p, offsets);

    return vreinterpretq_u32_f32(vf_of_sve(svreinterpret_f32_u32(words)));
}

#endif
