# SPDX-License-Identifier: MIT
# What ggmlbackend-bench makes of its samples, of libraries that it is given, and of
# the machine.
check_PROGRAMS += \
	tests/tools/bench/batch \
	tests/tools/bench/library \
	tests/tools/bench/peak \
	tests/tools/bench/stats
tests_tools_bench_batch_SOURCES = %D%/batch.c
tests_tools_bench_batch_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_bench_batch_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
tests_tools_bench_library_SOURCES = \
	%D%/library.c \
	tools/ggmlbackend-bench/library.c \
	tools/ggmlbackend-bench/library.h
tests_tools_bench_library_CPPFLAGS = $(TEST_CPPFLAGS) -D_exit=exit
tests_tools_bench_library_LDADD = libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
check_LTLIBRARIES += libbenchpeak.la
libbenchpeak_la_SOURCES = \
	tools/ggmlbackend-bench/peak.c \
	tools/ggmlbackend-bench/peak.h
libbenchpeak_la_CPPFLAGS = \
	$(TEST_CPPFLAGS) -Dpeak_rows_machine=rows_asked_for \
	-Dread_rows_machine=readers_asked_for
tests_tools_bench_peak_SOURCES = %D%/peak.c tools/ggmlbackend-bench/peak-machine.c
tests_tools_bench_peak_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_bench_peak_LDADD = libbenchpeak.la $(BLACK_LDADD)
tests_tools_bench_stats_SOURCES = \
	%D%/stats.c \
	tools/ggmlbackend-bench/stats.c \
	tools/ggmlbackend-bench/stats.h
tests_tools_bench_stats_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_bench_stats_LDADD = libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
