# SPDX-License-Identifier: MIT
# What clients compile against: headers, macros, layouts, values, exported names.
check_PROGRAMS += tests/abi/layouts tests/abi/macros
tests_abi_layouts_SOURCES = %D%/layouts.c %D%/values.def
tests_abi_layouts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_abi_layouts_LDADD = $(BLACK_LDADD)
tests_abi_macros_SOURCES = %D%/macros.c %D%/uses.c %D%/uses.h
tests_abi_macros_CPPFLAGS = $(TEST_CPPFLAGS)
tests_abi_macros_LDADD = $(BLACK_LDADD)

abi_checks = \
	%D%/baseline.sh \
	%D%/headers.sh \
	%D%/symbols.sh \
	%D%/uses.sh \
	%D%/warnings.sh
check_SCRIPTS += $(abi_checks)
EXTRA_DIST += $(abi_checks) %D%/baseline-x86_64.xml
