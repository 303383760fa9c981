# SPDX-License-Identifier: MIT
# tests/sched: one graph, several backends.
check_PROGRAMS += \
	tests/sched/first
tests_sched_first_SOURCES = %D%/first.c $(backend_fake)
tests_sched_first_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_first_LDADD = $(WHITE_LDADD)

# The simulated device comes later in tests/local.mk; make does not mind.
check_PROGRAMS += tests/sched/cuts
tests_sched_cuts_SOURCES = %D%/cuts.c %D%/model.c %D%/model.h $(sim_devices)
tests_sched_cuts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_cuts_LDADD = $(SIM_LDADD)
