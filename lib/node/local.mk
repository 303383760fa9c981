# SPDX-License-Identifier: MIT
# lib/node: what nodes say, and which are valid.  Not in the library: backends link it.
noinst_LTLIBRARIES += libnode.la
libnode_la_SOURCES = \
	%D%/apart.h \
	%D%/attention.c \
	%D%/conv.c \
	%D%/elements.c \
	%D%/im2col.c \
	%D%/im2col.h \
	%D%/list.c \
	%D%/list.h \
	%D%/loss.c \
	%D%/move.c \
	%D%/node.c \
	%D%/node.h \
	%D%/nodes.def \
	%D%/part.c \
	%D%/part.h \
	%D%/pool.c \
	%D%/pool.h \
	%D%/product.c \
	%D%/recurrent.c \
	%D%/recurrent.h \
	%D%/rope.c \
	%D%/rope.h \
	%D%/rows.c \
	%D%/shape.h \
	%D%/sound.c \
	%D%/sound.h \
	%D%/window.c
