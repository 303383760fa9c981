# SPDX-License-Identifier: MIT
# tests/tensor: contexts and tensors.
check_PROGRAMS += \
	tests/tensor/context \
	tests/tensor/failed \
	tests/tensor/name \
	tests/tensor/new \
	tests/tensor/shape \
	tests/tensor/view
tests_tensor_context_SOURCES = %D%/context.c
tests_tensor_context_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_context_LDADD = $(WHITE_LDADD)
tests_tensor_failed_SOURCES = %D%/failed.c
tests_tensor_failed_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_failed_LDADD = $(WHITE_LDADD)
tests_tensor_name_SOURCES = %D%/name.c
tests_tensor_name_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_name_LDADD = $(WHITE_LDADD)
tests_tensor_new_SOURCES = %D%/new.c
tests_tensor_new_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_new_LDADD = $(WHITE_LDADD)
tests_tensor_shape_SOURCES = %D%/shape.c
tests_tensor_shape_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_shape_LDADD = $(WHITE_LDADD)
tests_tensor_view_SOURCES = %D%/view.c
tests_tensor_view_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tensor_view_LDADD = $(WHITE_LDADD)
