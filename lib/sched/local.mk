# SPDX-License-Identifier: MIT
# lib/sched: one graph, several backends.
libcore_la_SOURCES += \
	%D%/ask.c \
	%D%/assign.c \
	%D%/copy.c \
	%D%/draw.c \
	%D%/index.c \
	%D%/join.c \
	%D%/place.c \
	%D%/plain.c \
	%D%/print.c \
	%D%/run.c \
	%D%/sched.c \
	%D%/sched.h \
	%D%/split.c
