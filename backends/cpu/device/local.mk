# SPDX-License-Identifier: MIT
# backends/cpu/device: the CPU as a backend.
libcpu_la_SOURCES += \
	%D%/backend.c \
	%D%/device.c \
	%D%/device.h \
	%D%/features.c \
	%D%/reg.c \
	%D%/repack-buffer.c
