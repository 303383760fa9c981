# SPDX-License-Identifier: MIT
# tests/cpu/kernels: inner loops, on every variant.
check_PROGRAMS += tests/cpu/kernels/attention
tests_cpu_kernels_attention_SOURCES = %D%/attention.c %D%/guard.h
tests_cpu_kernels_attention_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_attention_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/blocks
tests_cpu_kernels_blocks_SOURCES = %D%/blocks.c %D%/guard.h
tests_cpu_kernels_blocks_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_blocks_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/product
tests_cpu_kernels_product_SOURCES = \
	tests/cpu/blocks.h %D%/guard.h %D%/product.c
tests_cpu_kernels_product_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_product_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/quantize
tests_cpu_kernels_quantize_SOURCES = %D%/guard.h %D%/quantize.c
tests_cpu_kernels_quantize_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_quantize_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/floats
tests_cpu_kernels_floats_SOURCES = %D%/guard.h %D%/floats.c
tests_cpu_kernels_floats_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_floats_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/tiles
tests_cpu_kernels_tiles_SOURCES = %D%/guard.h %D%/tiles.c
tests_cpu_kernels_tiles_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_tiles_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/transpose
tests_cpu_kernels_transpose_SOURCES = %D%/guard.h %D%/transpose.c
tests_cpu_kernels_transpose_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_transpose_LDADD = $(WHITE_LDADD)
