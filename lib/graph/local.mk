# SPDX-License-Identifier: MIT
# lib/graph: graphs of nodes.
libcore_la_SOURCES += \
	%D%/backward.c \
	%D%/check.c \
	%D%/check.h \
	%D%/dot.c \
	%D%/dot.h \
	%D%/draw.c \
	%D%/expand.c \
	%D%/export.c \
	%D%/grad-arith.c \
	%D%/grad-layout.c \
	%D%/grad-nn.c \
	%D%/grad.c \
	%D%/grad.h \
	%D%/gradient.c \
	%D%/graph.c \
	%D%/graph.h \
	%D%/index.c \
	%D%/index.h \
	%D%/print.c \
	%D%/threads.c
