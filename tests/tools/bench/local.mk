# SPDX-License-Identifier: MIT
# What ggmlbackend-bench makes of its samples, and of libraries that it is given.
check_PROGRAMS += tests/tools/bench/library tests/tools/bench/stats
tests_tools_bench_library_SOURCES = \
	%D%/library.c \
	tools/ggmlbackend-bench/library.c \
	tools/ggmlbackend-bench/library.h
tests_tools_bench_library_CPPFLAGS = $(TEST_CPPFLAGS) -D_exit=exit
tests_tools_bench_library_LDADD = libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_bench_stats_SOURCES = \
	%D%/stats.c \
	tools/ggmlbackend-bench/stats.c \
	tools/ggmlbackend-bench/stats.h
tests_tools_bench_stats_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_bench_stats_LDADD = libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
