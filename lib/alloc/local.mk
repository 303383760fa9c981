# SPDX-License-Identifier: MIT
# lib/alloc: who lies where in a buffer.
libcore_la_SOURCES += \
	%D%/check.c \
	%D%/check.h \
	%D%/context.c \
	%D%/free-list.c \
	%D%/free-list.h \
	%D%/graph.c \
	%D%/graph.h \
	%D%/lifetime.c \
	%D%/lifetime.h \
	%D%/linear.c \
	%D%/plan.c \
	%D%/plan.h
