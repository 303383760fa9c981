# SPDX-License-Identifier: MIT
# tests/sched: one graph, several backends.
check_PROGRAMS += \
	tests/sched/first
tests_sched_first_SOURCES = %D%/first.c $(backend_fake)
tests_sched_first_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_first_LDADD = $(WHITE_LDADD)
