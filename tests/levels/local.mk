# SPDX-License-Identifier: MIT
# tests/levels: backends of older levels, compiled with those levels' headers.
check_LTLIBRARIES += liblevel2023.la liblevel2024.la
LEVEL_CPPFLAGS = -I$(srcdir)/include -I$(srcdir)/%D%/backends \
	-D_POSIX_C_SOURCE=200809L $(GB_PREFIX_CPPFLAGS)
liblevel2023_la_SOURCES = \
	%D%/backends/backend-2023.c \
	%D%/backends/kernels.c \
	%D%/backends/kernels.h \
	%D%/backends/layout-2023.c \
	%D%/backends/layout.h \
	%D%/backends/node-2023.c \
	%D%/backends/old.h \
	%D%/backends/recorder-2023.c \
	%D%/backends/recorder.h
liblevel2023_la_CPPFLAGS = -I$(srcdir)/include/level-2023 $(LEVEL_CPPFLAGS)
liblevel2024_la_SOURCES = \
	%D%/backends/backend-2024.c \
	%D%/backends/kernels.c \
	%D%/backends/layout-2024.c \
	%D%/backends/recorder-2024.c
liblevel2024_la_CPPFLAGS = \
	-I$(srcdir)/include/level-2024 $(LEVEL_CPPFLAGS) \
	-Dcan_run_node=can_run_node_2024 -Drun_node=run_node_2024

check_PROGRAMS += \
	tests/levels/forms \
	tests/levels/layer \
	tests/levels/layouts \
	tests/levels/level-2023 \
	tests/levels/level-2023-names \
	tests/levels/level-2024
tests_levels_forms_SOURCES = %D%/forms.c
tests_levels_forms_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_forms_LDADD = liblevel2023.la liblevel2024.la $(WHITE_LDADD)
tests_levels_layer_SOURCES = %D%/layer.c
tests_levels_layer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_layer_LDADD = liblevel2023.la liblevel2024.la $(WHITE_LDADD)
tests_levels_layouts_SOURCES = %D%/layouts.c
tests_levels_layouts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_layouts_LDADD = liblevel2023.la liblevel2024.la $(WHITE_LDADD)
tests_levels_level_2023_SOURCES = %D%/level-2023.c
tests_levels_level_2023_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_level_2023_LDADD = liblevel2023.la $(WHITE_LDADD)
tests_levels_level_2023_names_SOURCES = %D%/level-2023-names.c
tests_levels_level_2023_names_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_level_2023_names_LDADD = liblevel2023.la $(WHITE_LDADD)
tests_levels_level_2024_SOURCES = %D%/level-2024.c
tests_levels_level_2024_CPPFLAGS = $(TEST_CPPFLAGS)
tests_levels_level_2024_LDADD = liblevel2024.la $(WHITE_LDADD)

check_SCRIPTS += %D%/compile.sh
EXTRA_DIST += %D%/compile.sh
