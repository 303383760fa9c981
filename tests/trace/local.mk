# SPDX-License-Identifier: MIT
# tests/trace: timelines, read back with a JSON library.
if TOOLS
check_PROGRAMS += \
	tests/trace/cpu \
	tests/trace/file \
	tests/trace/sched
tests_trace_cpu_SOURCES = %D%/cpu.c %D%/events.c %D%/events.h
tests_trace_cpu_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_trace_cpu_LDADD = $(WHITE_LDADD) $(JANSSON_LIBS)
tests_trace_file_SOURCES = %D%/events.c %D%/events.h %D%/file.c
tests_trace_file_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_trace_file_LDADD = $(WHITE_LDADD) $(JANSSON_LIBS)
tests_trace_sched_SOURCES = \
	%D%/events.c %D%/events.h %D%/sched.c $(sim_devices)
tests_trace_sched_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_trace_sched_LDADD = $(SIM_LDADD) $(JANSSON_LIBS)
endif
