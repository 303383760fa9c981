# SPDX-License-Identifier: MIT
# tests/sim: the simulated device itself, and what tests with it share.
sim_devices = \
	tests/sim/sim.c \
	tests/sim/sim.h
SIM_LDADD = libtestutil.la libsim.la libwhite.la $(CMOCKA_LIBS)

check_PROGRAMS += \
	tests/sim/config \
	tests/sim/device \
	tests/sim/module
tests_sim_config_SOURCES = %D%/config.c $(sim_devices)
tests_sim_config_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sim_config_LDADD = $(SIM_LDADD)
tests_sim_device_SOURCES = %D%/device.c $(sim_devices)
tests_sim_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sim_device_LDADD = $(SIM_LDADD)
tests_sim_module_SOURCES = %D%/module.c
tests_sim_module_CPPFLAGS = $(TEST_CPPFLAGS)
tests_sim_module_LDADD = $(BLACK_LDADD)
