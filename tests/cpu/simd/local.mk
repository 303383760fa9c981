# SPDX-License-Identifier: MIT
# tests/cpu/simd: words.c is compiled once a level, as the kernels are.
check_LTLIBRARIES += libsimd_generic.la
simd_levels = libsimd_generic.la
libsimd_generic_la_SOURCES = \
	%D%/integers-level.c %D%/integers.h %D%/words.c %D%/words.h
libsimd_generic_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=generic -DGB_SIMD_GENERIC

if ISA_AVX2
check_LTLIBRARIES += libsimd_avx2.la
simd_levels += libsimd_avx2.la
libsimd_avx2_la_SOURCES = \
	%D%/integers-level.c %D%/integers.h %D%/words.c %D%/words.h
libsimd_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=avx2 -DGB_SIMD_AVX2
libsimd_avx2_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX2)
endif

# Only words for small integers differ there.
if ISA_AVX2_VNNI
check_LTLIBRARIES += libsimd_avx2_vnni.la
simd_levels += libsimd_avx2_vnni.la
libsimd_avx2_vnni_la_SOURCES = %D%/integers-level.c %D%/integers.h
libsimd_avx2_vnni_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=avx2_vnni -DGB_SIMD_AVX2
libsimd_avx2_vnni_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX2_VNNI)
endif

if ISA_AVX512
check_LTLIBRARIES += libsimd_avx512.la
simd_levels += libsimd_avx512.la
libsimd_avx512_la_SOURCES = \
	%D%/integers-level.c %D%/integers.h %D%/words.c %D%/words.h
libsimd_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=avx512 -DGB_SIMD_AVX512
libsimd_avx512_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512)
endif

# Only words for small integers differ there.
if ISA_AVX512_VNNI
check_LTLIBRARIES += libsimd_avx512_vnni.la
simd_levels += libsimd_avx512_vnni.la
libsimd_avx512_vnni_la_SOURCES = %D%/integers-level.c %D%/integers.h
libsimd_avx512_vnni_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=avx512_vnni -DGB_SIMD_AVX512
libsimd_avx512_vnni_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_VNNI)
endif

if ISA_AVX512_BF16
check_LTLIBRARIES += libsimd_avx512_bf16.la
simd_levels += libsimd_avx512_bf16.la
libsimd_avx512_bf16_la_SOURCES = %D%/integers-level.c %D%/integers.h
libsimd_avx512_bf16_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=avx512_bf16 -DGB_SIMD_AVX512
libsimd_avx512_bf16_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_BF16)
endif

if ISA_NEON
check_LTLIBRARIES += libsimd_neon.la
simd_levels += libsimd_neon.la
libsimd_neon_la_SOURCES = \
	%D%/integers-level.c %D%/integers.h %D%/words.c %D%/words.h
libsimd_neon_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=neon -DGB_SIMD_NEON
libsimd_neon_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_NEON)
endif

if ISA_DOTPROD
check_LTLIBRARIES += libsimd_dotprod.la
simd_levels += libsimd_dotprod.la
libsimd_dotprod_la_SOURCES = %D%/integers-level.c %D%/integers.h
libsimd_dotprod_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=dotprod -DGB_SIMD_NEON
libsimd_dotprod_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_DOTPROD)
endif

if ISA_I8MM
check_LTLIBRARIES += libsimd_i8mm.la
simd_levels += libsimd_i8mm.la
libsimd_i8mm_la_SOURCES = %D%/integers-level.c %D%/integers.h
libsimd_i8mm_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=i8mm -DGB_SIMD_NEON
libsimd_i8mm_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_I8MM)
endif

if ISA_SVE
check_LTLIBRARIES += libsimd_sve.la
simd_levels += libsimd_sve.la
libsimd_sve_la_SOURCES = \
	%D%/integers-level.c %D%/integers.h %D%/words.c %D%/words.h
libsimd_sve_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=sve -DGB_SIMD_NEON
libsimd_sve_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_SVE)
endif

check_PROGRAMS += tests/cpu/simd/integers
tests_cpu_simd_integers_SOURCES = %D%/integers.c %D%/integers.h
tests_cpu_simd_integers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_integers_LDADD = $(simd_levels) $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/simd/math
tests_cpu_simd_math_SOURCES = %D%/levels.c %D%/math.c %D%/words.h
tests_cpu_simd_math_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_math_LDADD = $(simd_levels) $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/simd/vocabulary
tests_cpu_simd_vocabulary_SOURCES = %D%/levels.c %D%/vocabulary.c %D%/words.h
tests_cpu_simd_vocabulary_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_vocabulary_LDADD = $(simd_levels) $(WHITE_LDADD)
