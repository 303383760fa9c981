# SPDX-License-Identifier: MIT
# lib/levels: adapters for backends of older levels.
libcore_la_SOURCES += \
	%D%/forms.c \
	%D%/forms.def \
	%D%/forms.h \
	%D%/level-2023-buffer.c \
	%D%/level-2023-stream.c \
	%D%/level-2023.c \
	%D%/level-2023.h \
	%D%/level-2024.c \
	%D%/level-2024.h
