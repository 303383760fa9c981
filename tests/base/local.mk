# SPDX-License-Identifier: MIT
# tests/base: lib/base and the environment.
check_PROGRAMS += \
	tests/base/abort \
	tests/base/byte-order \
	tests/base/checked \
	tests/base/clock \
	tests/base/env \
	tests/base/file \
	tests/base/first-use \
	tests/base/log \
	tests/base/mem \
	tests/base/quote \
	tests/base/remainder \
	tests/base/status
tests_base_abort_SOURCES = %D%/abort.c
tests_base_abort_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_abort_LDADD = $(WHITE_LDADD)
tests_base_byte_order_SOURCES = %D%/byte-order.c
tests_base_byte_order_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_byte_order_LDADD = $(WHITE_LDADD)
tests_base_checked_SOURCES = %D%/checked.c
tests_base_checked_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_checked_LDADD = $(WHITE_LDADD)
tests_base_clock_SOURCES = %D%/clock.c
tests_base_clock_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_clock_LDADD = $(WHITE_LDADD)
tests_base_env_SOURCES = %D%/env.c
tests_base_env_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_env_LDADD = $(WHITE_LDADD)
tests_base_file_SOURCES = %D%/file.c
tests_base_file_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_file_LDADD = $(WHITE_LDADD)
tests_base_first_use_SOURCES = %D%/first-use.c
tests_base_first_use_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_first_use_LDADD = $(WHITE_LDADD)
tests_base_log_SOURCES = %D%/log.c
tests_base_log_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_log_LDADD = $(WHITE_LDADD)
tests_base_mem_SOURCES = %D%/mem.c
tests_base_mem_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_mem_LDADD = $(WHITE_LDADD)
tests_base_quote_SOURCES = %D%/quote.c
tests_base_quote_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_quote_LDADD = $(WHITE_LDADD)
tests_base_remainder_SOURCES = %D%/remainder.c
tests_base_remainder_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_remainder_LDADD = $(WHITE_LDADD)
tests_base_status_SOURCES = %D%/status.c
tests_base_status_CPPFLAGS = $(TEST_CPPFLAGS)
tests_base_status_LDADD = $(WHITE_LDADD)
