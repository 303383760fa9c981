# SPDX-License-Identifier: MIT
# backends/cpu/isa: what the machine has, and which variant of the kernels runs.
libcpu_la_SOURCES += \
	%D%/compiled.h \
	%D%/detect-arm.c \
	%D%/detect-x86.c \
	%D%/features.def \
	%D%/features.h \
	%D%/machine.c \
	%D%/machine.h \
	%D%/select.c \
	%D%/tiles.c
