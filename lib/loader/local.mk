# SPDX-License-Identifier: MIT
# lib/loader: which backends there are.
libcore_la_SOURCES += \
	%D%/builtin.c \
	%D%/registry.c \
	%D%/registry.h
