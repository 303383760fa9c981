# SPDX-License-Identifier: MIT
# lib/copy: a graph with its data on another backend, and whether both compute alike.
libcore_la_SOURCES += \
	%D%/compare.c \
	%D%/graph-copy.c
