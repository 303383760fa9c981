# SPDX-License-Identifier: MIT
# backends/cpu/isa: which level of kernels runs.
libcpu_la_SOURCES += \
	%D%/attend.h \
	%D%/compiled.h \
	%D%/cut.h \
	%D%/detect-arm.c \
	%D%/detect-x86.c \
	%D%/features.def \
	%D%/kernels.def \
	%D%/kernels.h \
	%D%/level.h \
	%D%/machine.c \
	%D%/machine.h \
	%D%/scores.h \
	%D%/select.c \
	%D%/weight.h
