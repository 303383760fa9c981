# SPDX-License-Identifier: MIT
# The core, and the library made of it and the built-in backends.
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES =
libcore_la_LIBADD =

include lib/base/local.mk
include lib/type/local.mk
include lib/tensor/local.mk
include lib/op/local.mk
include lib/graph/local.mk
include lib/gguf/local.mk
include lib/backend/local.mk
include lib/alloc/local.mk
include lib/copy/local.mk
include lib/loader/local.mk
include lib/trace/local.mk
include lib/sched/local.mk
include lib/levels/local.mk
include lib/fuse/local.mk
include lib/node/local.mk

# With --with-symbol-prefix, prefix/ has what compiler and linker are told of it, and
# the library is another file.
EXTRA_DIST += %D%/libggmlbackend.map build-aux/add-prefix
if SYMBOL_PREFIX
GB_MAP = prefix/libggmlbackend.map
AM_CPPFLAGS += -include prefix/internal.h
BUILT_SOURCES += prefix/internal.h
CLEANFILES += prefix/internal.h prefix/libggmlbackend.map prefix/prefix.h

prefix/internal.h: $(srcdir)/%D%/libggmlbackend.map $(srcdir)/build-aux/add-prefix
	$(AM_V_GEN)$(SHELL) '$(srcdir)/build-aux/add-prefix' '$(GB_PREFIX)' \
	    '$(srcdir)' prefix
prefix/libggmlbackend.map prefix/prefix.h: prefix/internal.h
else
GB_MAP = $(srcdir)/%D%/libggmlbackend.map
endif

# What the modules of GPU backends have in them, each its own copy.
gpu_libraries = libfuse.la libnode.la

# Those of backends that are built in add themselves.
builtin_libraries = libcore.la libcpu.la
if GPU_BUILTIN
builtin_libraries += $(gpu_libraries)
endif

GB_LIBRARY = lib@GB_PREFIX@ggmlbackend.la
lib_LTLIBRARIES += lib@GB_PREFIX@ggmlbackend.la
lib@GB_PREFIX@ggmlbackend_la_SOURCES =
lib@GB_PREFIX@ggmlbackend_la_LIBADD = $(builtin_libraries)
lib@GB_PREFIX@ggmlbackend_la_LDFLAGS = \
	-version-info $(GB_LIBTOOL_VERSION) -no-undefined $(GB_BSYMBOLIC)
EXTRA_lib@GB_PREFIX@ggmlbackend_la_DEPENDENCIES = $(GB_MAP)
if VERSION_SCRIPT
lib@GB_PREFIX@ggmlbackend_la_LDFLAGS += '-Wl,--version-script=$(GB_MAP)'
else
lib@GB_PREFIX@ggmlbackend_la_LDFLAGS += \
	-export-symbols-regex '^$(GB_PREFIX)(ggml|gguf)'
endif
