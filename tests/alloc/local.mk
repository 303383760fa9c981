# SPDX-License-Identifier: MIT
# tests/alloc: who lies where in a buffer.
check_PROGRAMS += \
	tests/alloc/chunks \
	tests/alloc/context \
	tests/alloc/free-list \
	tests/alloc/graph \
	tests/alloc/linear \
	tests/alloc/random
tests_alloc_chunks_SOURCES = %D%/chunks.c $(backend_fake)
tests_alloc_chunks_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_chunks_LDADD = $(WHITE_LDADD)
tests_alloc_context_SOURCES = %D%/context.c $(backend_fake)
tests_alloc_context_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_context_LDADD = $(WHITE_LDADD)
tests_alloc_free_list_SOURCES = %D%/free-list.c
tests_alloc_free_list_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_free_list_LDADD = $(WHITE_LDADD)
tests_alloc_graph_SOURCES = %D%/graph.c $(backend_fake)
tests_alloc_graph_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_graph_LDADD = $(WHITE_LDADD)
tests_alloc_linear_SOURCES = %D%/linear.c $(backend_fake)
tests_alloc_linear_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_linear_LDADD = $(WHITE_LDADD)
tests_alloc_random_SOURCES = %D%/random.c $(backend_fake)
tests_alloc_random_CPPFLAGS = $(TEST_CPPFLAGS)
tests_alloc_random_LDADD = $(WHITE_LDADD)
