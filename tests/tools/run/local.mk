# SPDX-License-Identifier: MIT
# ggmlbackend-run on tiny models of random weights.
run_program = %D%/program.c %D%/program.h

check_PROGRAMS += \
	tests/tools/run/answers \
	tests/tools/run/chat \
	tests/tools/run/convert \
	tests/tools/run/converse \
	tests/tools/run/devices \
	tests/tools/run/errors \
	tests/tools/run/forward \
	tests/tools/run/hostile \
	tests/tools/run/keys \
	tests/tools/run/layers \
	tests/tools/run/lines \
	tests/tools/run/parts \
	tests/tools/run/tokens \
	tests/tools/run/values
tests_tools_run_answers_SOURCES = %D%/answers.c $(run_program)
tests_tools_run_answers_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_answers_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_chat_SOURCES = \
	%D%/chat.c \
	%D%/chat-truth.def \
	tools/ggmlbackend-run/chat-form.c \
	tools/ggmlbackend-run/chat-form.h
tests_tools_run_chat_CPPFLAGS = $(TEST_CPPFLAGS)
tests_tools_run_chat_LDADD = libmodel.la libtools.la $(BLACK_LDADD)
tests_tools_run_converse_SOURCES = %D%/converse.c $(run_program)
tests_tools_run_converse_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_converse_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_convert_SOURCES = %D%/convert.c $(run_program)
tests_tools_run_convert_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_convert_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_devices_SOURCES = %D%/devices.c $(sim_devices)
tests_tools_run_devices_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_devices_LDADD = libmodel.la libtools.la $(SIM_LDADD) $(JANSSON_LIBS) -lm
tests_tools_run_errors_SOURCES = %D%/errors.c $(run_program)
tests_tools_run_errors_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_errors_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_forward_SOURCES = \
	%D%/forward.c \
	%D%/reference.c \
	%D%/reference.h \
	$(run_program)
tests_tools_run_forward_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_forward_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS) -lm
tests_tools_run_hostile_SOURCES = %D%/hostile.c $(run_program)
tests_tools_run_hostile_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_hostile_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_keys_SOURCES = %D%/keys.c $(run_program)
tests_tools_run_keys_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_keys_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_layers_SOURCES = \
	%D%/layers.c \
	%D%/reference.c \
	%D%/reference.h \
	$(run_program)
tests_tools_run_layers_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_layers_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS) -lm
tests_tools_run_lines_SOURCES = %D%/lines.c $(run_program)
tests_tools_run_lines_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_lines_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_parts_SOURCES = %D%/parts.c $(run_program)
tests_tools_run_parts_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_parts_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_tokens_SOURCES = %D%/tokens.c $(run_program)
tests_tools_run_tokens_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_tokens_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
tests_tools_run_values_SOURCES = %D%/values.c $(run_program)
tests_tools_run_values_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_tools_run_values_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
