# SPDX-License-Identifier: MIT
# backends/cpu/simd: the vocabulary, once for each instruction set.
cpu_level_sources += \
	%D%/avx2.h \
	%D%/avx512.h \
	%D%/generic.h \
	%D%/math.h \
	%D%/neon-sve.h \
	%D%/neon.h \
	%D%/q32-avx2.h \
	%D%/q32-generic.h \
	%D%/q32-neon.h \
	%D%/q32-sve.h \
	%D%/q32.h \
	%D%/q64-avx512.h \
	%D%/q64-pairs.h \
	%D%/q64-vbmi.h \
	%D%/q64.h \
	%D%/quad-avx2.h \
	%D%/quad-avx512.h \
	%D%/quad-generic.h \
	%D%/quad-i8mm.h \
	%D%/quad-neon.h \
	%D%/quad-pairs.h \
	%D%/quad.h \
	%D%/simd.h
