# SPDX-License-Identifier: MIT
# tests/cpu/ops: operations, a family a program, on every variant.
check_PROGRAMS += tests/cpu/ops/arith
tests_cpu_ops_arith_SOURCES = %D%/arith.c %D%/driver.h
tests_cpu_ops_arith_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_arith_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/attention
tests_cpu_ops_attention_SOURCES = %D%/attention.c %D%/driver.h
tests_cpu_ops_attention_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_attention_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/conv
tests_cpu_ops_conv_SOURCES = %D%/conv.c %D%/driver.h
tests_cpu_ops_conv_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_conv_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/copy
tests_cpu_ops_copy_SOURCES = %D%/copy.c %D%/driver.h
tests_cpu_ops_copy_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_copy_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/custom
tests_cpu_ops_custom_SOURCES = %D%/custom.c %D%/driver.h
tests_cpu_ops_custom_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_custom_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/edited
tests_cpu_ops_edited_SOURCES = %D%/edited.c %D%/nodes.h
tests_cpu_ops_edited_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_edited_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/empty
tests_cpu_ops_empty_SOURCES = %D%/empty.c %D%/nodes.h
tests_cpu_ops_empty_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_empty_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/inner
tests_cpu_ops_inner_SOURCES = %D%/inner.c %D%/nodes.h
tests_cpu_ops_inner_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_inner_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/loss
tests_cpu_ops_loss_SOURCES = %D%/loss.c %D%/driver.h
tests_cpu_ops_loss_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_loss_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/matmul
tests_cpu_ops_matmul_SOURCES = %D%/matmul.c %D%/driver.h
tests_cpu_ops_matmul_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_matmul_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/norm
tests_cpu_ops_norm_SOURCES = %D%/norm.c %D%/driver.h
tests_cpu_ops_norm_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_norm_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/over
tests_cpu_ops_over_SOURCES = %D%/over.c %D%/nodes.h
tests_cpu_ops_over_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_over_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/recurrent
tests_cpu_ops_recurrent_SOURCES = %D%/recurrent.c %D%/driver.h
tests_cpu_ops_recurrent_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_recurrent_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/reduce
tests_cpu_ops_reduce_SOURCES = %D%/reduce.c %D%/driver.h
tests_cpu_ops_reduce_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_reduce_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/rope
tests_cpu_ops_rope_SOURCES = %D%/rope.c %D%/driver.h
tests_cpu_ops_rope_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_rope_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/rows
tests_cpu_ops_rows_SOURCES = %D%/rows.c %D%/driver.h
tests_cpu_ops_rows_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_rows_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/shape
tests_cpu_ops_shape_SOURCES = %D%/shape.c %D%/driver.h
tests_cpu_ops_shape_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_shape_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/sizes
tests_cpu_ops_sizes_SOURCES = %D%/sizes.c
tests_cpu_ops_sizes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_sizes_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/table
tests_cpu_ops_table_SOURCES = tests/cpu/blocks.h %D%/driver.h %D%/table.c
tests_cpu_ops_table_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_table_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/unary
tests_cpu_ops_unary_SOURCES = %D%/unary.c %D%/driver.h
tests_cpu_ops_unary_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_unary_LDADD = $(WHITE_LDADD)

check_PROGRAMS += tests/cpu/ops/window
tests_cpu_ops_window_SOURCES = %D%/window.c %D%/driver.h
tests_cpu_ops_window_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_ops_window_LDADD = $(WHITE_LDADD)
