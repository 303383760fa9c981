# SPDX-License-Identifier: MIT
# tests/cpu/device: the CPU backend as clients see it.
check_PROGRAMS += \
	tests/cpu/device/detect \
	tests/cpu/device/device \
	tests/cpu/device/level \
	tests/cpu/device/plan \
	tests/cpu/device/profile \
	tests/cpu/device/reentry \
	tests/cpu/device/repack \
	tests/cpu/device/values

tests_cpu_device_detect_SOURCES = %D%/detect.c
tests_cpu_device_detect_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_detect_LDADD = $(WHITE_LDADD)
tests_cpu_device_device_SOURCES = %D%/device.c
tests_cpu_device_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_device_LDADD = $(BLACK_LDADD)
tests_cpu_device_level_SOURCES = %D%/level.c
tests_cpu_device_level_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_level_LDADD = $(BLACK_LDADD)
tests_cpu_device_plan_SOURCES = %D%/plan.c
tests_cpu_device_plan_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_plan_LDADD = $(WHITE_LDADD)
tests_cpu_device_profile_SOURCES = %D%/profile.c
tests_cpu_device_profile_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_profile_LDADD = $(BLACK_LDADD)
tests_cpu_device_reentry_SOURCES = %D%/reentry.c
tests_cpu_device_reentry_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_reentry_LDADD = $(BLACK_LDADD)
tests_cpu_device_repack_SOURCES = %D%/repack.c
tests_cpu_device_repack_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_repack_LDADD = $(WHITE_LDADD)
tests_cpu_device_values_SOURCES = %D%/values.c
tests_cpu_device_values_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cpu_device_values_LDADD = $(BLACK_LDADD)
