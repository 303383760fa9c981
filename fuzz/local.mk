# SPDX-License-Identifier: MIT
# Entry points for fuzzers.  make check replays the corpora; with --enable-fuzzing
# `make fuzzers` links them with libFuzzer.
fuzz_common = %D%/common.c %D%/fuzz.h
EXTRA_DIST += %D%/corpus %D%/replay.sh

EXTRA_PROGRAMS += fuzz/replay-gguf fuzz/replay-graph fuzz/replay-row
fuzz_replay_gguf_SOURCES = %D%/gguf.c %D%/main.c $(fuzz_common)
fuzz_replay_gguf_LDADD = libggmlbackend.la
fuzz_replay_graph_SOURCES = %D%/graph.c %D%/main.c $(fuzz_common)
fuzz_replay_graph_LDADD = libggmlbackend.la
fuzz_replay_row_SOURCES = %D%/row.c %D%/main.c $(fuzz_common)
fuzz_replay_row_LDADD = libggmlbackend.la -lm
fuzz_replays = fuzz/replay-gguf fuzz/replay-graph fuzz/replay-row
check_SCRIPTS += %D%/replay.sh
fuzz/replay.log: $(fuzz_replays)
CLEANFILES += $(fuzz_replays)

if FUZZING
EXTRA_PROGRAMS += fuzz/fuzz-gguf fuzz/fuzz-graph fuzz/fuzz-row
fuzz_fuzz_gguf_SOURCES = %D%/gguf.c $(fuzz_common)
fuzz_fuzz_gguf_LDADD = libggmlbackend.la
fuzz_fuzz_gguf_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_graph_SOURCES = %D%/graph.c $(fuzz_common)
fuzz_fuzz_graph_LDADD = libggmlbackend.la
fuzz_fuzz_graph_LDFLAGS = -fsanitize=fuzzer
fuzz_fuzz_row_SOURCES = %D%/row.c $(fuzz_common)
fuzz_fuzz_row_LDADD = libggmlbackend.la -lm
fuzz_fuzz_row_LDFLAGS = -fsanitize=fuzzer
fuzzers: fuzz/fuzz-gguf fuzz/fuzz-graph fuzz/fuzz-row
CLEANFILES += fuzz/fuzz-gguf fuzz/fuzz-graph fuzz/fuzz-row
.PHONY: fuzzers
endif
