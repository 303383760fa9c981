# SPDX-License-Identifier: MIT
# backends/cpu/repack: weights with rows side by side, and their bytes back.
libcpu_la_SOURCES += \
	%D%/repack.c \
	%D%/repack.h
