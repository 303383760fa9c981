# SPDX-License-Identifier: MIT
# backends/cpu/pool: threads.
libcpu_la_SOURCES += \
	%D%/affinity.c \
	%D%/affinity.h \
	%D%/cpus.c \
	%D%/cpus.h \
	%D%/event.c \
	%D%/event.h \
	%D%/hwloc.c \
	%D%/numa.c \
	%D%/numa.h \
	%D%/placement.c \
	%D%/placement.h \
	%D%/pool.c \
	%D%/pool.h
