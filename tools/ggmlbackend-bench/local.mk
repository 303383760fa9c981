# SPDX-License-Identifier: MIT
# ggmlbackend-bench: how fast, and how near to the machine's limits.
bin_PROGRAMS += ggmlbackend-bench
ggmlbackend_bench_SOURCES = \
	%D%/against.c \
	%D%/against.h \
	%D%/by-op.c \
	%D%/by-op.h \
	%D%/card.c \
	%D%/card.h \
	%D%/case-copies.c \
	%D%/case-models.c \
	%D%/case-operations.c \
	%D%/case-products.c \
	%D%/case-tiny.c \
	%D%/case.c \
	%D%/case.h \
	%D%/clock.h \
	%D%/compare.c \
	%D%/compare.h \
	%D%/functions.def \
	%D%/job.c \
	%D%/job.h \
	%D%/library.c \
	%D%/library.h \
	%D%/machine.c \
	%D%/machine.h \
	%D%/main.c \
	%D%/measure.c \
	%D%/measure.h \
	%D%/options.c \
	%D%/options.def \
	%D%/options.h \
	%D%/page.c \
	%D%/page.h \
	%D%/peak-machine.c \
	%D%/peak.c \
	%D%/peak.h \
	%D%/plot.c \
	%D%/plot.h \
	%D%/report.c \
	%D%/report.h \
	%D%/result.c \
	%D%/result.h \
	%D%/stack.c \
	%D%/stack.h \
	%D%/stats.c \
	%D%/stats.h \
	%D%/team.c \
	%D%/team.h
ggmlbackend_bench_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_bench_LDADD = libmodel.la $(TOOL_LDADD) -lm
