# SPDX-License-Identifier: MIT
# lib/gguf: files right and wrong.
gguf_bytes = %D%/bytes.c %D%/bytes.h

check_PROGRAMS += tests/gguf/edit tests/gguf/invalid tests/gguf/sweep
tests_gguf_edit_SOURCES = %D%/edit.c $(gguf_bytes)
tests_gguf_edit_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gguf_edit_LDADD = $(WHITE_LDADD)
tests_gguf_invalid_SOURCES = %D%/invalid.c $(gguf_bytes)
tests_gguf_invalid_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gguf_invalid_LDADD = $(WHITE_LDADD)
tests_gguf_sweep_SOURCES = %D%/sweep.c $(gguf_bytes)
tests_gguf_sweep_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gguf_sweep_LDADD = $(WHITE_LDADD)
