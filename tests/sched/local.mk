# SPDX-License-Identifier: MIT
# tests/sched: one graph, several backends.  The simulated device comes later in
# tests/local.mk; make does not mind.
sched_rig = \
	tests/sched/rig.c \
	tests/sched/rig.h
sched_random = \
	tests/sched/graphs.c \
	tests/sched/graphs.h \
	tests/sched/rules.c \
	tests/sched/rules.h
sched_model = \
	tests/sched/model.c \
	tests/sched/model.h

check_PROGRAMS += \
	tests/sched/assign \
	tests/sched/cuts \
	tests/sched/device-faults \
	tests/sched/fallback \
	tests/sched/faults \
	tests/sched/in-place \
	tests/sched/observe \
	tests/sched/pipeline \
	tests/sched/print \
	tests/sched/random \
	tests/sched/split \
	tests/sched/states
tests_sched_assign_SOURCES = %D%/assign.c $(sched_rig) $(sim_devices)
tests_sched_assign_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_assign_LDADD = $(SIM_LDADD)
tests_sched_cuts_SOURCES = %D%/cuts.c $(sched_model) $(sim_devices)
tests_sched_cuts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_cuts_LDADD = $(SIM_LDADD)
tests_sched_device_faults_SOURCES = \
	%D%/device-faults.c \
	$(sched_model) \
	$(sim_devices)
tests_sched_device_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_device_faults_LDADD = $(SIM_LDADD)
tests_sched_fallback_SOURCES = %D%/fallback.c $(sched_rig) $(sim_devices)
tests_sched_fallback_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_fallback_LDADD = $(SIM_LDADD)
tests_sched_faults_SOURCES = %D%/faults.c $(sched_rig) $(sim_devices)
tests_sched_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_faults_LDADD = $(SIM_LDADD)
tests_sched_in_place_SOURCES = %D%/in-place.c $(sched_rig) $(sim_devices)
tests_sched_in_place_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_in_place_LDADD = $(SIM_LDADD)
tests_sched_observe_SOURCES = %D%/observe.c $(sched_rig) $(sim_devices)
tests_sched_observe_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_observe_LDADD = $(SIM_LDADD)
tests_sched_pipeline_SOURCES = %D%/pipeline.c $(sched_rig) $(sim_devices)
tests_sched_pipeline_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_pipeline_LDADD = $(SIM_LDADD)
tests_sched_print_SOURCES = %D%/print.c $(sched_rig) $(sim_devices)
tests_sched_print_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_print_LDADD = $(SIM_LDADD)
tests_sched_random_SOURCES = \
	%D%/random.c \
	$(sched_random) \
	$(sched_rig) \
	$(sim_devices)
tests_sched_random_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_random_LDADD = $(SIM_LDADD)
tests_sched_split_SOURCES = %D%/split.c $(sched_rig) $(sim_devices)
tests_sched_split_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_split_LDADD = $(SIM_LDADD)
tests_sched_states_SOURCES = %D%/states.c $(sched_rig) $(sim_devices)
tests_sched_states_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sched_states_LDADD = $(SIM_LDADD)
