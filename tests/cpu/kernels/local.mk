# SPDX-License-Identifier: MIT
# tests/cpu/kernels: inner loops, on every level.
check_PROGRAMS += tests/cpu/kernels/attend
tests_cpu_kernels_attend_SOURCES = %D%/attend.c %D%/guard.h
tests_cpu_kernels_attend_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_attend_LDADD = $(WHITE_LDADD)

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

check_PROGRAMS += tests/cpu/kernels/reals
tests_cpu_kernels_reals_SOURCES = %D%/guard.h %D%/reals.c
tests_cpu_kernels_reals_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_reals_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/kernels/turn
tests_cpu_kernels_turn_SOURCES = %D%/guard.h %D%/turn.c
tests_cpu_kernels_turn_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_kernels_turn_LDADD = $(WHITE_LDADD)
