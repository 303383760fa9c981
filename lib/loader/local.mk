# SPDX-License-Identifier: MIT
# lib/loader: which backends there are, built in or as modules.
libcore_la_SOURCES += \
	%D%/builtin.c \
	%D%/direct-cuda.c \
	%D%/direct-vulkan.c \
	%D%/direct.c \
	%D%/direct.h \
	%D%/elf.c \
	%D%/elf.h \
	%D%/elf-dynamic.c \
	%D%/image.c \
	%D%/image.h \
	%D%/module.c \
	%D%/module.h \
	%D%/not-here.c \
	%D%/not-here.h \
	%D%/registry.c \
	%D%/registry.h \
	%D%/search.c \
	%D%/search.h

# A folder may be given to make as well as to configure, so config.h cannot have it.
moduledir = $(libdir)/$(GB_PREFIX)ggmlbackend/$(GB_MODULE_ABI)
noinst_LTLIBRARIES += libfolder.la
libcore_la_LIBADD += libfolder.la
libfolder_la_SOURCES = %D%/folder.c
libfolder_la_CPPFLAGS = $(AM_CPPFLAGS) '-DGB_MODULE_FOLDER="$(moduledir)"'
# Configured for another prefix, it is another object.
$(libfolder_la_OBJECTS): Makefile
