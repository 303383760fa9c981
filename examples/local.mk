# SPDX-License-Identifier: MIT
# Complete programs to copy from.
noinst_PROGRAMS += examples/hello examples/make-tiny-model
examples_hello_SOURCES = %D%/hello.c
examples_hello_LDADD = libggmlbackend.la
examples_make_tiny_model_SOURCES = %D%/make-tiny-model.c
examples_make_tiny_model_LDADD = libggmlbackend.la -lm

# A project of its own, which finds the library as a stranger would.
EXTRA_DIST += \
	%D%/own-backend/Makefile \
	%D%/own-backend/check.sh \
	%D%/own-backend/plain.c \
	%D%/own-backend/use.c
check_SCRIPTS += %D%/own-backend/check.sh
