# SPDX-License-Identifier: MIT
# lib/base: what any file may use.
libcore_la_SOURCES += \
	%D%/abort.c \
	%D%/array.h \
	%D%/attr.h \
	%D%/byte-order.h \
	%D%/checked.c \
	%D%/checked.h \
	%D%/clock.c \
	%D%/env.c \
	%D%/env.def \
	%D%/env.h \
	%D%/file.c \
	%D%/file.h \
	%D%/guid.c \
	%D%/lock.c \
	%D%/lock.h \
	%D%/log.c \
	%D%/log.h \
	%D%/mem.c \
	%D%/mem.h \
	%D%/quote.c \
	%D%/quote.h \
	%D%/remainder.h \
	%D%/status.c \
	%D%/status.h \
	%D%/utf8.c \
	%D%/utf8.h \
	%D%/version.c
