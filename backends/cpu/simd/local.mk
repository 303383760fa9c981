# SPDX-License-Identifier: MIT
# backends/cpu/simd: the vocabulary, once for each instruction set.
cpu_variant_sources += \
	%D%/avx2.h \
	%D%/avx512.h \
	%D%/dot4-avx2.h \
	%D%/dot4-avx512.h \
	%D%/dot4-generic.h \
	%D%/dot4-i8mm.h \
	%D%/dot4-neon.h \
	%D%/dot4-pairs.h \
	%D%/dot4.h \
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
	%D%/simd.h \
	%D%/tiles-amx.h \
	%D%/tiles-generic.h \
	%D%/tiles.h
