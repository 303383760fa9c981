# SPDX-License-Identifier: MIT
# Messages, numbers, progress bars and JSON for all tools.
noinst_LTLIBRARIES += libtools.la
libtools_la_SOURCES = \
	%D%/json.c \
	%D%/json.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/tool.c \
	%D%/tool.h \
	%D%/utf8.c \
	%D%/utf8.h
libtools_la_CPPFLAGS = $(TOOL_CPPFLAGS)
