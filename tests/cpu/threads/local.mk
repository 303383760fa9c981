# SPDX-License-Identifier: MIT
# tests/cpu/threads: pools, plans, and the same bits with any number of threads.
check_PROGRAMS += \
	tests/cpu/threads/bits \
	tests/cpu/threads/cpus \
	tests/cpu/threads/order \
	tests/cpu/threads/pool \
	tests/cpu/threads/run \
	tests/cpu/threads/together \
	tests/cpu/threads/writes

tests_cpu_threads_bits_SOURCES = %D%/bits.c
tests_cpu_threads_bits_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_bits_LDADD = $(WHITE_LDADD)
tests_cpu_threads_cpus_SOURCES = %D%/cpus.c
tests_cpu_threads_cpus_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_cpus_LDADD = $(WHITE_LDADD)
tests_cpu_threads_order_SOURCES = %D%/order.c
tests_cpu_threads_order_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_order_LDADD = $(WHITE_LDADD)
tests_cpu_threads_pool_SOURCES = %D%/pool.c
tests_cpu_threads_pool_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_pool_LDADD = $(WHITE_LDADD)
tests_cpu_threads_run_SOURCES = %D%/run.c
tests_cpu_threads_run_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_run_LDADD = $(WHITE_LDADD)
tests_cpu_threads_together_SOURCES = %D%/together.c
tests_cpu_threads_together_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_together_LDADD = $(WHITE_LDADD)
tests_cpu_threads_writes_SOURCES = %D%/writes.c
tests_cpu_threads_writes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_threads_writes_LDADD = $(BLACK_LDADD)
