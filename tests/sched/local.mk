# SPDX-License-Identifier: MIT
# tests/sched: one graph, several backends.
sched_model = \
	%D%/model.c \
	%D%/model.h \
	$(sim_devices)

check_PROGRAMS += \
	tests/sched/cuts \
	tests/sched/faults \
	tests/sched/first
tests_sched_cuts_SOURCES = %D%/cuts.c $(sched_model)
tests_sched_cuts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_cuts_LDADD = $(SIM_LDADD)
tests_sched_faults_SOURCES = %D%/faults.c $(sched_model)
tests_sched_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_faults_LDADD = $(SIM_LDADD)
tests_sched_first_SOURCES = %D%/first.c $(backend_fake)
tests_sched_first_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_first_LDADD = $(WHITE_LDADD)
