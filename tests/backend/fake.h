/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/fake.h - a device that is not there.
 *
 * Its memory has addresses that nobody can use: what lies behind them is a
 * shadow that only the device's own functions reach.  Every table of functions
 * is complete at first and the test's to change; calls are counted.
 */
#ifndef GB_TESTS_BACKEND_FAKE_H
#define GB_TESTS_BACKEND_FAKE_H

#include "ggml-backend-impl.h"

#include <stdint.h>

/* Where the memory of the Nth buffer is: no processor of 64 bits has such
 * addresses.  With 32 bits there may be something, and less fits in between. */
#if UINTPTR_MAX > UINT32_MAX
#define FAKE_ADDRESS(n) (((uintptr_t)0x7000 << 48) + ((uintptr_t)(n) << 36))
#else
#define FAKE_ADDRESS(n) ((uintptr_t)0x80000000 + ((uintptr_t)(n) << 24))
#endif

struct fake_calls {
    int alloc, free, clear, reset, init_tensor;
    int set, get, fill, copy;
    int set_async, get_async, copy_async;
    int synchronize, compute, plan_compute;
    int event_record, event_wait, event_synchronize;
    int while_busy; /* blocking access while work was queued */
};

struct fake {
    const char *name;
    struct ggml_backend_reg reg;
    struct ggml_backend_device device;
    struct ggml_backend_buffer_type buft;
    struct ggml_backend_buffer_i buffer_members; /* of new buffers */
    struct ggml_backend_i backend_members;       /* of new backends */

    size_t alignment, max_size;
    size_t padding;      /* bytes that every tensor needs beyond its data */
    int allocs_left;     /* buffers until one cannot be had; -1: no end */
    int inits_left;      /* tensors until one is refused; -1: no end */
    enum ggml_status compute_status;
    float error;         /* what every sum is wrong by */
    bool is_busy;        /* there is queued work */
    bool is_friend;      /* copies from other fakes' buffers succeed */
    struct fake_calls calls;
};

/* A whole device, and no failure before it. */
void fake_init(struct fake *fake, const char *name);

/* A backend on the device; freed with ggml_backend_free. */
ggml_backend_t fake_backend(struct fake *fake);

/* Where the tensor's data is in truth. */
unsigned char *fake_shadow(const struct ggml_tensor *tensor);

/* A context for N tensors and a graph, with no_alloc. */
struct ggml_context *fake_context(size_t n);

/* Was there a failure since the last call?  It is forgotten then. */
bool fake_failed(void);

#endif
