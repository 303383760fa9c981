# SPDX-License-Identifier: MIT
# tests/sched: one graph, several backends.  The simulated device comes later in
# tests/local.mk; make does not mind.
sched_rig = \
	tests/sched/rig.c \
	tests/sched/rig.h

check_PROGRAMS += \
	tests/sched/assign \
	tests/sched/cuts
tests_sched_assign_SOURCES = %D%/assign.c $(sched_rig) $(sim_devices)
tests_sched_assign_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_assign_LDADD = $(SIM_LDADD)
tests_sched_cuts_SOURCES = %D%/cuts.c %D%/model.c %D%/model.h $(sim_devices)
tests_sched_cuts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_cuts_LDADD = $(SIM_LDADD)
