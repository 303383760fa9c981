# SPDX-License-Identifier: MIT
# make installcheck: a C and a C++ program against what was installed.
EXTRA_DIST += \
	%D%/both.c \
	%D%/client.c \
	%D%/client.cpp \
	%D%/cmake/CMakeLists.txt \
	%D%/half.c \
	%D%/half.h \
	%D%/installcheck \
	%D%/llama/CMakeLists.txt

installcheck-local:
	CC='$(CC)' CXX='$(CXX)' PKG_CONFIG='$(PKG_CONFIG)' \
	$(SHELL) '$(srcdir)/%D%/installcheck' \
	    '$(DESTDIR)' '$(prefix)' '$(libdir)' '$(srcdir)/%D%' \
	    '$(GB_PREFIX)ggmlbackend'
