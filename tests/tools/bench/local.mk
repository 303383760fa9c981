# SPDX-License-Identifier: MIT
# What ggmlbackend-bench makes of its samples.
check_PROGRAMS += tests/tools/bench/stats
tests_tools_bench_stats_SOURCES = \
	%D%/stats.c \
	tools/ggmlbackend-bench/stats.c \
	tools/ggmlbackend-bench/stats.h
tests_tools_bench_stats_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_bench_stats_LDADD = libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
