# SPDX-License-Identifier: MIT
# backends/cpu/api: what ggml-cpu.h offers beside the backend.
libcpu_la_SOURCES += \
	%D%/compute.c \
	%D%/init.c \
	%D%/traits.c \
	%D%/traits.def \
	%D%/values.c
