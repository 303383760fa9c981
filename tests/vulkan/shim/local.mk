# SPDX-License-Identifier: MIT
# A stand-in for Vulkan's loader, which has calls fail, and a driver that runs
# nothing: .libs/ is put into LD_LIBRARY_PATH.  Not installed.
EXTRA_DIST += %D%/exports.map

if MODULES
if !VULKAN_NO
check_LTLIBRARIES += tests/vulkan/shim/libvulkan.la
tests_vulkan_shim_libvulkan_la_SOURCES = \
	%D%/calls.def \
	%D%/cards.c \
	%D%/changes.h \
	%D%/control.h \
	%D%/counts.c \
	%D%/entry.c \
	%D%/faults.c \
	%D%/faults.h \
	%D%/late.c \
	%D%/limits.c \
	%D%/live.c \
	%D%/live.h \
	%D%/memory.c \
	%D%/null-card.c \
	%D%/null-memory.c \
	%D%/null-queue.c \
	%D%/null.c \
	%D%/null.h \
	%D%/queues.c \
	%D%/settings.c \
	%D%/settings.h \
	%D%/shim.h \
	%D%/wrap.c \
	%D%/wrongs.c
tests_vulkan_shim_libvulkan_la_LDFLAGS = -shared -no-undefined -version-info 1:0:0 \
	-rpath $(testsdir) -pthread -Wl,-z,nodelete \
	-Wl,--version-script='$(srcdir)/%D%/exports.map'
endif
endif
