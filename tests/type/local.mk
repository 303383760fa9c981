# SPDX-License-Identifier: MIT
# tests/type: data types and quantised formats.
check_PROGRAMS += \
	tests/type/chunk \
	tests/type/dequantize \
	tests/type/first-use \
	tests/type/grid \
	tests/type/half \
	tests/type/iq \
	tests/type/q8k \
	tests/type/quantize \
	tests/type/search \
	tests/type/table \
	tests/type/ties \
	tests/type/validate

tests_type_chunk_SOURCES = %D%/chunk.c
tests_type_chunk_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_chunk_LDADD = $(BLACK_LDADD) -lm
tests_type_dequantize_SOURCES = %D%/dequantize.c %D%/tsv.h
tests_type_dequantize_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_dequantize_LDADD = $(BLACK_LDADD)
tests_type_first_use_SOURCES = %D%/first-use.c
tests_type_first_use_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_first_use_LDADD = $(BLACK_LDADD) -lm
tests_type_grid_SOURCES = %D%/grid.c
tests_type_grid_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_grid_LDADD = $(WHITE_LDADD)
tests_type_half_SOURCES = %D%/half.c %D%/tsv.h
tests_type_half_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_half_LDADD = $(BLACK_LDADD) -lm
tests_type_iq_SOURCES = %D%/iq.c
tests_type_iq_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_iq_LDADD = $(WHITE_LDADD) -lm
tests_type_q8k_SOURCES = %D%/q8k.c %D%/tsv.h
tests_type_q8k_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_q8k_LDADD = $(WHITE_LDADD)
tests_type_quantize_SOURCES = %D%/quantize.c %D%/tsv.h
tests_type_quantize_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_quantize_LDADD = $(BLACK_LDADD) -lm
tests_type_search_SOURCES = %D%/search.c
tests_type_search_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_search_LDADD = $(WHITE_LDADD) -lm
tests_type_table_SOURCES = %D%/table.c %D%/tsv.h
tests_type_table_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_table_LDADD = $(BLACK_LDADD)
tests_type_ties_SOURCES = %D%/ties.c
tests_type_ties_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_ties_LDADD = $(BLACK_LDADD) -lm
tests_type_validate_SOURCES = %D%/validate.c
tests_type_validate_CPPFLAGS = $(TEST_CPPFLAGS)
tests_type_validate_LDADD = $(BLACK_LDADD)
