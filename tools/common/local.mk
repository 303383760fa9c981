# SPDX-License-Identifier: MIT
# Messages, numbers, progress bars and JSON for all tools.  Where characters end is
# the library's own knowledge, compiled once more: it is not exported.
noinst_LTLIBRARIES += libtools.la
libtools_la_SOURCES = \
	lib/base/utf8.c \
	lib/base/utf8.h \
	%D%/json.c \
	%D%/json.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/tool.c \
	%D%/tool.h
libtools_la_CPPFLAGS = $(TOOL_CPPFLAGS)
