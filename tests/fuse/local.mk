# SPDX-License-Identifier: MIT
# tests/fuse: which nodes become a group, and that nobody can tell; which graphs come
# again.
fuse_graphs = %D%/graphs.c %D%/graphs.h
check_PROGRAMS += tests/fuse/patterns tests/fuse/random tests/fuse/seen
tests_fuse_patterns_SOURCES = %D%/patterns.c
tests_fuse_patterns_CPPFLAGS = $(TEST_CPPFLAGS)
tests_fuse_patterns_LDADD = libfuse.la $(BLACK_LDADD)
tests_fuse_random_SOURCES = %D%/random.c
tests_fuse_random_CPPFLAGS = $(TEST_CPPFLAGS)
tests_fuse_random_LDADD = libfuse.la $(BLACK_LDADD)
tests_fuse_seen_SOURCES = %D%/seen.c
tests_fuse_seen_CPPFLAGS = $(TEST_CPPFLAGS)
tests_fuse_seen_LDADD = libfuse.la $(BLACK_LDADD)
