/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/bugs.h - kernels with one fault each, and their twins without.
 *
 * Read by bugs.cu, bugs-async.cu, bugs-waves.cu and checker.cpp.
 */
#ifndef GB_GPU_EMULATOR_BUGS_H
#define GB_GPU_EMULATOR_BUGS_H

#include <stdint.h>

/* Threads of each of their blocks. */
#define GB_BUG_THREADS 128

/* Floats of 64 and 128 rows of 128 bytes, which begin at a multiple of 1,024,
 * and of four more. */
#define GB_BUG_PANELS (256 + 32 * 192 + 4)

struct gb_bug_args {
    float *out;        /* n_blocks * threads */
    const float *in;   /* as many */
    float *scratch;    /* as many, never written before */
    int *counter;      /* 0 */
    int64_t stride;    /* of in, for offset_of_32_bits: bytes */
};

/* In device code: both kernels of a function NAME<is it mended?>. */
#define GB_BUG_AND_TWIN(name)                                            \
    extern "C" __global__ void gb_bug_##name(const struct gb_bug_args a) \
    {                                                                    \
        name<false>(a);                                                  \
    }                                                                    \
    extern "C" __global__ void gb_mended_##name(                         \
        const struct gb_bug_args a)                                      \
    {                                                                    \
        name<true>(a);                                                   \
    }

/*
 * GB_BUG(name, blocks, floats of dynamic shared memory, word of the report,
 * result of the run)
 */
#define GB_BUGS_OF_THREADS                                                     \
    GB_BUG(missing_barrier, 2, 0, "race", 0)                                   \
    GB_BUG(missing_second_barrier, 2, 0, "race", 0)                            \
    GB_BUG(missing_barrier_of_bytes, 2, 0, "race", 0)                          \
    GB_BUG(missing_syncwarp, 2, 0, "race", 0)                                  \
    GB_BUG(syncwarp_of_others, 2, 0, "race", 0)                                \
    GB_BUG(shuffle_as_syncwarp, 2, 0, "race", 0)                               \
    GB_BUG(mask_of_half_a_warp, 2, 0, "not in its mask", 719)                  \
    GB_BUG(shuffle_from_ended_lane, 2, 0, "takes no part", 719)                \
    GB_BUG(divergent_barrier, 2, 0, "divergent barrier", 719)                  \
    GB_BUG(barrier_for_a_few, 2, 0, "deadlock", 719)                           \
    GB_BUG(divergent_warp, 2, 0, "divergent warp", 719)                        \
    GB_BUG(race_of_blocks, 3, 0, "race", 0)                                    \
    GB_BUG(write_after_read_of_blocks, 3, 0, "race", 0)                        \
    GB_BUG(missing_fence, 3, 0, "race", 0)                                     \
    GB_BUG(atomic_left_out, 3, 0, "race", 0)                                   \
    GB_BUG(outside_global, 2, 0, "outside", 700)                               \
    GB_BUG(write_before_global, 2, 0, "outside", 700)                          \
    GB_BUG(outside_dynamic_shared, 2, GB_BUG_THREADS, "outside", 700)          \
    GB_BUG(host_memory, 2, 0, "no memory of the card", 700)                    \
    GB_BUG(unwritten_global, 2, 0, "never written", 0)                         \
    GB_BUG(unwritten_shared, 2, 0, "never written", 0)                         \
    GB_BUG(unwritten_dynamic_shared, 2, GB_BUG_THREADS, "never written", 0)    \
    GB_BUG(misaligned_vector, 2, 0, "misaligned", 716)                         \
    GB_BUG(offset_of_32_bits, 2, 0, "outside", 700)

/* Of kernels that begin before those in front have ended. */
#define GB_BUGS_OF_LAUNCHES                                                    \
    GB_BUG(early_read, 2, 0, "before it waits", 0)                             \
    GB_BUG(early_copy, 2, 0, "before it waits", 0)                             \
    GB_BUG(early_write, 2, 0, "before it waits", 0)                            \
    GB_BUG(early_end, 2, 0, "has not waited", 0)

#define GB_BUGS_BESIDE_THREADS                                                 \
    GB_BUG(missing_copy_wait, 2, 0, "before a wait", 0)                        \
    GB_BUG(wait_for_too_few_copies, 2, 0, "before a wait", 0)                  \
    GB_BUG(missing_barrier_after_copy, 2, 0, "race", 0)                        \
    GB_BUG(missing_tma_wait, 2, GB_BUG_PANELS, "before a wait", 0)             \
    GB_BUG(missing_mbarrier_fence, 2, GB_BUG_PANELS, "no fence since", 0)      \
    GB_BUG(too_few_bytes_expected, 2, GB_BUG_PANELS, "nobody expected", 719)   \
    GB_BUG(refill_before_arrivals, 2, GB_BUG_PANELS, "race", 0)                \
    GB_BUG(arrival_before_lanes_meet, 2, GB_BUG_PANELS, "race", 0)             \
    GB_BUG(missing_wgmma_wait, 2, GB_BUG_PANELS, "never waited", 0)            \
    GB_BUG(missing_wgmma_commit, 2, GB_BUG_PANELS, "never waited", 0)          \
    GB_BUG(missing_wgmma_fence, 2, GB_BUG_PANELS, "no wgmma.fence", 0)         \
    GB_BUG(missing_proxy_fence, 2, GB_BUG_PANELS, "without a fence", 0)        \
    GB_BUG(proxy_fence_after_barrier, 2, GB_BUG_PANELS, "without a fence", 0)  \
    GB_BUG(proxy_fence_after_arrival, 2, GB_BUG_PANELS, "without a fence", 0)  \
    GB_BUG(refill_before_wgmma_wait, 2, GB_BUG_PANELS, "that wgmma reads", 0)

#define GB_BUGS GB_BUGS_OF_THREADS GB_BUGS_BESIDE_THREADS GB_BUGS_OF_LAUNCHES

/*
 * GB_BUG_OF_WAVES(name, lanes that a wave has at least where it is wrong, word of
 * the report, result of the run).  "": nothing is reported, values are wrong.
 */
#define GB_BUGS_OF_WAVES                                          \
    GB_BUG_OF_WAVES(mask_of_32_bits, 64, "not in its mask", 719)  \
    GB_BUG_OF_WAVES(shuffle_without_width, 64, "", 0)             \
    GB_BUG_OF_WAVES(vote_in_an_int, 64, "", 0)                    \
    GB_BUG_OF_WAVES(shared_rows_of_32, 64, "race", 0)             \
    GB_BUG_OF_WAVES(missing_barrier_of_waves, 32, "race", 0)      \
    GB_BUG_OF_WAVES(halves_that_part, 64, "divergent warp", 719)  \
    GB_BUG_OF_WAVES(halves_that_wait_alone, 64, "race", 0)

#define GB_BUG(name, blocks, shared, word, result)              \
    extern "C" void gb_bug_##name(const struct gb_bug_args);    \
    extern "C" void gb_mended_##name(const struct gb_bug_args);
#define GB_BUG_OF_WAVES(name, lanes, word, result) \
    GB_BUG(name, 0, 0, word, result)
GB_BUGS
GB_BUGS_OF_WAVES
#undef GB_BUG_OF_WAVES
#undef GB_BUG

#endif
