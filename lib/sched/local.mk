# SPDX-License-Identifier: MIT
# lib/sched: one graph, several backends.
libcore_la_SOURCES += \
	%D%/assign.c \
	%D%/copy.c \
	%D%/draw.c \
	%D%/index.c \
	%D%/place.c \
	%D%/plain.c \
	%D%/print.c \
	%D%/run.c \
	%D%/sched.c \
	%D%/sched.h \
	%D%/split.c
