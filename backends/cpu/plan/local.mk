# SPDX-License-Identifier: MIT
# backends/cpu/plan: from a graph to work for threads.
libcpu_la_SOURCES += \
	%D%/plan.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/run.c \
	%D%/steps.c \
	%D%/waves.c \
	%D%/waves.h
