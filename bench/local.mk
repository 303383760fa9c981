# SPDX-License-Identifier: MIT
# Timing.  The sources know the public headers only, so that they can be built
# with another library of the same interface, and compared by `beside`.
bench_common = %D%/bench.c %D%/bench.h
bench_graphs = $(bench_common) %D%/graphs.c %D%/graphs.h
bench_llama = $(bench_common) %D%/llama.c %D%/llama.h
bench_emulated = $(bench_common) %D%/emulated.c %D%/emulated.h
EXTRA_DIST += %D%/beside

benches = bench/alloc bench/build bench/calls bench/gguf bench/sched bench/token
EXTRA_PROGRAMS += $(benches)
bench_alloc_SOURCES = %D%/alloc.c $(bench_graphs)
bench_alloc_LDADD = $(GB_LIBRARY)
bench_build_SOURCES = %D%/build.c $(bench_graphs)
bench_build_LDADD = $(GB_LIBRARY)
bench_calls_SOURCES = %D%/calls.c $(bench_common)
bench_calls_LDADD = $(GB_LIBRARY)
bench_gguf_SOURCES = %D%/gguf.c $(bench_common)
bench_gguf_LDADD = $(GB_LIBRARY)
bench_sched_SOURCES = %D%/device.c %D%/device.h %D%/sched.c $(bench_graphs)
bench_sched_LDADD = $(GB_LIBRARY)
bench_token_SOURCES = %D%/token.c $(bench_llama)
bench_token_LDADD = $(GB_LIBRARY)
CLEANFILES += $(benches)

# What kernels read on the emulated card, and what a model's graph moves there;
# tests/cuda has a slice of it.
EXTRA_PROGRAMS += bench/counters bench/traffic
CLEANFILES += bench/counters bench/traffic
bench_counters_SOURCES = %D%/counters.c $(bench_emulated)
bench_counters_LDADD = $(GB_LIBRARY)
bench_traffic_SOURCES = %D%/traffic.c $(bench_emulated) %D%/llama.c %D%/llama.h
bench_traffic_LDADD = $(GB_LIBRARY)

# Models of known sizes, for gpu-report.
noinst_PROGRAMS += bench/make-model
bench_make_model_SOURCES = %D%/make-model.c
bench_make_model_LDADD = $(GB_LIBRARY) -lm

bench: $(benches)

# A report about a card: gpu-report calls the other, which writes the page.
EXTRA_DIST += %D%/gpu-report %D%/gpu-report-page
