# SPDX-License-Identifier: MIT
# Complete programs to copy from.
noinst_PROGRAMS += examples/hello examples/make-tiny-model
examples_hello_SOURCES = %D%/hello.c
examples_hello_LDADD = libggmlbackend.la
examples_make_tiny_model_SOURCES = %D%/make-tiny-model.c
examples_make_tiny_model_LDADD = libggmlbackend.la -lm
