# SPDX-License-Identifier: MIT
# Complete programs to copy from.
noinst_PROGRAMS += examples/hello examples/make-tiny-model
examples_hello_SOURCES = %D%/hello.c
examples_hello_LDADD = $(GB_LIBRARY)
examples_make_tiny_model_SOURCES = %D%/make-tiny-model.c
examples_make_tiny_model_LDADD = $(GB_LIBRARY) -lm

# A project of its own, which finds the library as a stranger would.
EXTRA_DIST += \
	%D%/own-backend/Makefile \
	%D%/own-backend/check.sh \
	%D%/own-backend/plain.c \
	%D%/own-backend/use.c
check_SCRIPTS += %D%/own-backend/check.sh

# Another, whose backend is of 2023.
EXTRA_DIST += \
	%D%/own-backend-2023/Makefile \
	%D%/own-backend-2023/check.sh \
	%D%/own-backend-2023/plain23.c \
	%D%/own-backend-2023/use.c
check_SCRIPTS += %D%/own-backend-2023/check.sh
