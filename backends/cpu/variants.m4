dnl SPDX-License-Identifier: MIT
dnl The CPU variants, slowest first; the first one runs on every machine.  This is
dnl the one list of them: m4/gb-variants.m4 makes of it what configure asks and the
dnl list that C has (GB_CPU_VARIANTS of config.h), variants.mk.m4 what make builds.
dnl
dnl GB_CPU_VARIANT(NAME, MACHINE, SIMD, FLOATS, PAIRS, BYTES, SHUFFLES, TILES, FLAGS,
dnl                HEADER, PROBE)
dnl   NAME           what -DGB_VARIANT says
dnl   MACHINE        the compiler defines __MACHINE__; empty for any machine
dnl   SIMD           which words of simd/ it is written in: -DGB_SIMD_AVX2 and so on
dnl   FLOATS, PAIRS, BYTES, SHUFFLES
dnl                  whose kernels of these groups (kernels/api/variant.h) it has:
dnl                  its own, or those of a variant above, which is needed then
dnl   TILES          the same of products by tiles; empty for none
dnl   FLAGS          of the compiler
dnl   HEADER, PROBE  with FLAGS and this header these statements must compile
dnl
dnl A row begins with its first two arguments, as scripts look for them.
GB_CPU_VARIANT([generic], [], [GENERIC], [generic], [generic], [generic], [generic], [])
GB_CPU_VARIANT([amx_generic], [], [GENERIC], [generic], [generic], [generic], [generic],
  [amx_generic])
GB_CPU_VARIANT([avx2], [x86_64], [AVX2], [avx2], [avx2], [avx2], [avx2], [],
  [-mavx2 -mfma -mf16c -mbmi2], [immintrin.h],
  [__m256 x = _mm256_cvtph_ps(_mm_setzero_si128());
   x = _mm256_fmadd_ps(x, x, x);])
GB_CPU_VARIANT([avx2_vnni], [x86_64], [AVX2], [avx2], [avx2], [avx2_vnni], [avx2_vnni], [],
  [-mavx2 -mavxvnni -mfma -mf16c -mbmi2], [immintrin.h],
  [__m256i x = _mm256_setzero_si256();
   x = _mm256_dpbusd_epi32(x, x, x);])
GB_CPU_VARIANT([avx512], [x86_64], [AVX512], [avx512], [avx512], [avx512], [avx512], [],
  [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2],
  [immintrin.h],
  [__m512 x = _mm512_cvtph_ps(_mm256_setzero_si256());
   x = _mm512_fmadd_ps(x, x, x);])
GB_CPU_VARIANT([avx512_vnni], [x86_64], [AVX512], [avx512], [avx512], [avx512_vnni], [avx512_vnni], [],
  [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx2 -mfma -mf16c -mbmi2],
  [immintrin.h],
  [__m512i x = _mm512_setzero_si512();
   x = _mm512_dpbusd_epi32(x, x, x);])
GB_CPU_VARIANT([avx512_vbmi], [x86_64], [AVX512], [avx512], [avx512], [avx512_vnni], [avx512_vbmi], [],
  [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vnni -mavx2 -mfma -mf16c -mbmi2],
  [immintrin.h],
  [__m512i x = _mm512_setzero_si512();
   x = _mm512_permutex2var_epi8(x, x, x);])
GB_CPU_VARIANT([avx512_bf16], [x86_64], [AVX512], [avx512], [avx512_bf16], [avx512_vnni], [avx512_vbmi], [],
  [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vnni -mavx512bf16 -mavx2 -mfma -mf16c -mbmi2],
  [immintrin.h],
  [__m512 x = _mm512_setzero_ps();
   x = _mm512_dpbf16_ps(x, (__m512bh)_mm512_castps_si512(x),
                        (__m512bh)_mm512_castps_si512(x));])
GB_CPU_VARIANT([amx], [x86_64], [AVX512], [avx512], [avx512], [avx512_vnni],
  [avx512_vbmi], [amx],
  [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vnni -mavx512bf16 -mamx-tile -mamx-bf16 -mavx2 -mfma -mf16c -mbmi2],
  [immintrin.h],
  [_tile_zero(0);
   _tile_dpbf16ps(0, 1, 2);])
GB_CPU_VARIANT([neon], [aarch64], [NEON], [neon], [neon], [neon], [neon], [],
  [], [arm_neon.h],
  [int32x4_t x = vdupq_n_s32(0);
   x = vmulq_s32(x, x);])
GB_CPU_VARIANT([dotprod], [aarch64], [NEON], [neon], [neon], [dotprod], [dotprod], [],
  [-march=armv8.2-a+dotprod], [arm_neon.h],
  [int32x4_t x = vdupq_n_s32(0);
   x = vdotq_s32(x, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x));])
GB_CPU_VARIANT([i8mm], [aarch64], [NEON], [neon], [neon], [i8mm], [i8mm], [],
  [-march=armv8.2-a+dotprod+i8mm], [arm_neon.h],
  [int32x4_t x = vdupq_n_s32(0);
   x = vmmlaq_s32(x, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x));])
GB_CPU_VARIANT([sve], [aarch64], [NEON], [sve], [sve], [sve], [sve], [],
  [-march=armv8.2-a+dotprod+i8mm+sve], [arm_sve.h],
  [uint64_t x = svcntw();
   (void)x;])
