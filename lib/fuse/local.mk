# SPDX-License-Identifier: MIT
# lib/fuse: nodes that a GPU computes as one, and graphs that come again.  Not in the
# library: backends link it.
noinst_LTLIBRARIES += libfuse.la
libfuse_la_SOURCES = \
	%D%/find.c \
	%D%/fuse.h \
	%D%/members.c \
	%D%/members.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/patterns.c \
	%D%/patterns.h \
	%D%/safe.c \
	%D%/search.h \
	%D%/seen.c \
	%D%/seen.h \
	%D%/take.c
