# SPDX-License-Identifier: MIT
# tests/node: which nodes are valid, and what their parameters say.
check_PROGRAMS += tests/node/parameters tests/node/sound tests/node/valid
tests_node_parameters_SOURCES = %D%/parameters.c
tests_node_parameters_CPPFLAGS = $(TEST_CPPFLAGS)
tests_node_parameters_LDADD = libnode.la $(BLACK_LDADD)
tests_node_sound_SOURCES = %D%/sound.c
tests_node_sound_CPPFLAGS = $(TEST_CPPFLAGS)
tests_node_sound_LDADD = libnode.la $(BLACK_LDADD)
tests_node_valid_SOURCES = %D%/valid.c
tests_node_valid_CPPFLAGS = $(TEST_CPPFLAGS)
tests_node_valid_LDADD = libnode.la $(BLACK_LDADD)
