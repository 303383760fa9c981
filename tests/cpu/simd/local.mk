# SPDX-License-Identifier: MIT
# tests/cpu/simd: compiled once a variant, as the kernels are, in libraries of
# backends/cpu/variants.mk; the words for floats where the variant has its own.
simd_levels =
simd_integers_sources = %D%/integers-level.c %D%/integers.h \
	%D%/tiles-level.c %D%/tiles.h
simd_words_sources = %D%/words.c %D%/words.h

check_PROGRAMS += tests/cpu/simd/integers
tests_cpu_simd_integers_SOURCES = %D%/check-levels.h %D%/integers.c \
	%D%/integers.h
tests_cpu_simd_integers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_integers_LDADD = $(simd_levels) $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/simd/math
tests_cpu_simd_math_SOURCES = %D%/levels.c %D%/math.c %D%/words.h
tests_cpu_simd_math_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_math_LDADD = $(simd_levels) $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/simd/tiles
tests_cpu_simd_tiles_SOURCES = %D%/check-levels.h %D%/tiles.c %D%/tiles.h
tests_cpu_simd_tiles_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_tiles_LDADD = $(simd_levels) $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/simd/vocabulary
tests_cpu_simd_vocabulary_SOURCES = %D%/levels.c %D%/vocabulary.c %D%/words.h
tests_cpu_simd_vocabulary_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_simd_vocabulary_LDADD = $(simd_levels) $(WHITE_LDADD)
