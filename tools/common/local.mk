# SPDX-License-Identifier: MIT
# Command lines, messages, numbers, progress bars, files and JSON for all tools.
# Where characters end, which of them act on a terminal, and the order of bytes in
# files, is the library's own knowledge, compiled once more: it is not exported.
noinst_LTLIBRARIES += libtools.la
libtools_la_SOURCES = \
	lib/base/byte-order.h \
	lib/base/quote.c \
	lib/base/quote.h \
	lib/base/utf8.c \
	lib/base/utf8.h \
	%D%/device.c \
	%D%/device.h \
	%D%/file-order.h \
	%D%/hash.h \
	%D%/input.c \
	%D%/input.h \
	%D%/json.c \
	%D%/json.h \
	%D%/model-files.c \
	%D%/model-files.h \
	%D%/options.c \
	%D%/options.h \
	%D%/output.c \
	%D%/output.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/text.c \
	%D%/text.h \
	%D%/tool.c \
	%D%/tool.h
libtools_la_CPPFLAGS = $(TOOL_CPPFLAGS)
