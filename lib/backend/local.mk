# SPDX-License-Identifier: MIT
# lib/backend: thin functions over the interface structs.
libcore_la_SOURCES += \
	%D%/backend.c \
	%D%/buffer-type.c \
	%D%/buffer.c \
	%D%/buffer.h \
	%D%/device.c \
	%D%/event.c \
	%D%/host-buffer.c \
	%D%/members.c \
	%D%/members.h \
	%D%/multi-buffer.c \
	%D%/reg.c \
	%D%/reset.c \
	%D%/transfer.c \
	%D%/transfer.h
