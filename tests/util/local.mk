# SPDX-License-Identifier: MIT
# tests/util: what tests share.
libtestutil_la_SOURCES += \
	%D%/child.c \
	%D%/child.h \
	%D%/fault.c \
	%D%/fault.h \
	%D%/library.c \
	%D%/library.h \
	%D%/random.c \
	%D%/random.h \
	%D%/sink.c \
	%D%/sink.h
