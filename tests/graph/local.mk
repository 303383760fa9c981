# SPDX-License-Identifier: MIT
# tests/graph: graphs of nodes, and ggml-impl.h.
check_PROGRAMS += \
	tests/graph/backward \
	tests/graph/derivative \
	tests/graph/edited \
	tests/graph/expand \
	tests/graph/gradient \
	tests/graph/graph \
	tests/graph/impl \
	tests/graph/print \
	tests/graph/threads
tests_graph_backward_SOURCES = %D%/backward.c
tests_graph_backward_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_backward_LDADD = $(WHITE_LDADD)
tests_graph_derivative_SOURCES = %D%/derivative.c
tests_graph_derivative_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_derivative_LDADD = $(WHITE_LDADD)
tests_graph_edited_SOURCES = %D%/edited.c
tests_graph_edited_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_edited_LDADD = $(WHITE_LDADD)
tests_graph_expand_SOURCES = %D%/expand.c %D%/node.h
tests_graph_expand_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_expand_LDADD = $(WHITE_LDADD)
tests_graph_gradient_SOURCES = %D%/gradient.c %D%/node.h
tests_graph_gradient_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_gradient_LDADD = $(WHITE_LDADD)
tests_graph_graph_SOURCES = %D%/graph.c %D%/node.h
tests_graph_graph_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_graph_LDADD = $(WHITE_LDADD)
tests_graph_impl_SOURCES = %D%/impl.c
tests_graph_impl_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_impl_LDADD = $(WHITE_LDADD)
tests_graph_print_SOURCES = %D%/print.c %D%/node.h
tests_graph_print_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_print_LDADD = $(WHITE_LDADD)
tests_graph_threads_SOURCES = %D%/threads.c
tests_graph_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_graph_threads_LDADD = $(WHITE_LDADD)
