# SPDX-License-Identifier: MIT
# lib/trace: what ran where and when.
libcore_la_SOURCES += \
	%D%/file.c \
	%D%/file.h \
	%D%/trace.c \
	%D%/trace.h
