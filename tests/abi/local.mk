# SPDX-License-Identifier: MIT
# What clients compile against: headers, layouts, values, exported names.
check_PROGRAMS += tests/abi/layouts
tests_abi_layouts_SOURCES = %D%/layouts.c %D%/values.def
tests_abi_layouts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_abi_layouts_LDADD = $(BLACK_LDADD)

check_SCRIPTS += %D%/headers.sh %D%/symbols.sh
EXTRA_DIST += %D%/headers.sh %D%/symbols.sh
