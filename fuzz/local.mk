# SPDX-License-Identifier: MIT
# Entry points for fuzzers.  make check replays the corpora; with --enable-fuzzing
# `make fuzzers` links them with libFuzzer.
fuzz_common = %D%/common.c %D%/fuzz.h
fuzz_operations = \
	%D%/bytes.h %D%/edit.c %D%/edit.h %D%/guard.c %D%/guard.h %D%/operations.c
EXTRA_DIST += %D%/corpus %D%/image.sh %D%/reentry.sh %D%/replay-one.sh \
	%D%/replay.sh

fuzz_replays = fuzz/replay-gguf fuzz/replay-graph fuzz/replay-operations \
	fuzz/replay-row
EXTRA_PROGRAMS += $(fuzz_replays) fuzz/replay-reentry
fuzz_replay_gguf_SOURCES = %D%/gguf.c %D%/main.c $(fuzz_common)
fuzz_replay_gguf_LDADD = $(GB_LIBRARY)
fuzz_replay_graph_SOURCES = %D%/graph.c %D%/main.c $(fuzz_common)
fuzz_replay_graph_LDADD = $(GB_LIBRARY)
fuzz_replay_operations_SOURCES = $(fuzz_operations) %D%/main.c $(fuzz_common)
fuzz_replay_operations_LDADD = $(GB_LIBRARY)
fuzz_replay_reentry_SOURCES = %D%/reentry.c %D%/main.c $(fuzz_common)
fuzz_replay_reentry_LDADD = libsim.la $(GB_LIBRARY)
fuzz_replay_row_SOURCES = %D%/row.c %D%/main.c $(fuzz_common)
fuzz_replay_row_LDADD = $(GB_LIBRARY) -lm
check_SCRIPTS += %D%/reentry.sh %D%/replay.sh
fuzz/reentry.log: fuzz/replay-reentry
fuzz/replay.log: $(fuzz_replays)
CLEANFILES += $(fuzz_replays) fuzz/replay-reentry

# The library with nothing hidden, and a module, are the tests' own.
if TESTS_CMOCKA
EXTRA_PROGRAMS += fuzz/replay-image
fuzz_replay_image_SOURCES = %D%/image.c %D%/main.c $(fuzz_common)
fuzz_replay_image_LDADD = libwhite.la
check_SCRIPTS += %D%/image.sh
fuzz/image.log: fuzz/replay-image tests/loader/modules/good.so
CLEANFILES += fuzz/replay-image
endif

if FUZZING
fuzz_fuzzers = fuzz/fuzz-gguf fuzz/fuzz-graph fuzz/fuzz-operations \
	fuzz/fuzz-reentry fuzz/fuzz-row
if TESTS_CMOCKA
fuzz_fuzzers += fuzz/fuzz-image
endif
EXTRA_PROGRAMS += $(fuzz_fuzzers)
fuzz_fuzz_gguf_SOURCES = %D%/gguf.c $(fuzz_common)
fuzz_fuzz_gguf_LDADD = $(GB_LIBRARY)
fuzz_fuzz_gguf_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_graph_SOURCES = %D%/graph.c $(fuzz_common)
fuzz_fuzz_graph_LDADD = $(GB_LIBRARY)
fuzz_fuzz_graph_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_image_SOURCES = %D%/image.c $(fuzz_common)
fuzz_fuzz_image_LDADD = libwhite.la
fuzz_fuzz_image_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_operations_SOURCES = $(fuzz_operations) $(fuzz_common)
fuzz_fuzz_operations_LDADD = $(GB_LIBRARY)
fuzz_fuzz_operations_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_reentry_SOURCES = %D%/reentry.c $(fuzz_common)
fuzz_fuzz_reentry_LDADD = libsim.la $(GB_LIBRARY)
fuzz_fuzz_reentry_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_row_SOURCES = %D%/row.c $(fuzz_common)
fuzz_fuzz_row_LDADD = $(GB_LIBRARY) -lm
fuzz_fuzz_row_LDFLAGS = -fsanitize=fuzzer
fuzzers: $(fuzz_fuzzers)
CLEANFILES += $(fuzz_fuzzers)
phony_targets += fuzzers
endif
