/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card-own.c - a program that has CUDA of its own.
 */
#include "config.h"

#include "tests/cuda/card.h"
#include "tests/util/child.h"
#include "tests/util/library.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The driver's functions, all of which return 0 if nothing failed. */
static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*allocate)(unsigned long long *address, size_t size);
    int (*give_back)(unsigned long long address);
    int (*to_card)(unsigned long long to, const void *from, size_t size,
                   void *stream);
    int (*to_host)(void *to, unsigned long long from, size_t size,
                   void *stream);
    int (*fill)(unsigned long long to, unsigned char value, size_t size,
                void *stream);
    int (*new_stream)(void **stream, unsigned flags);
    int (*end_stream)(void *stream);
    int (*new_event)(void **event, unsigned flags);
    int (*end_event)(void *event);
    int (*record)(void *event, void *stream);
    int (*wait)(void *event);
    /* NULL on the emulated driver, which knows primary contexts alone. */
    int (*create)(void **context, unsigned flags, int device);
    int (*destroy)(void *context);
} cu;

static void
open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    gb_look_up(library, &cu.init, "cuInit");
    gb_look_up(library, &cu.device, "cuDeviceGet");
    gb_look_up(library, &cu.retain, "cuDevicePrimaryCtxRetain");
    gb_look_up(library, &cu.release, "cuDevicePrimaryCtxRelease_v2");
    gb_look_up(library, &cu.push, "cuCtxPushCurrent_v2");
    gb_look_up(library, &cu.pop, "cuCtxPopCurrent_v2");
    gb_look_up(library, &cu.allocate, "cuMemAlloc_v2");
    gb_look_up(library, &cu.give_back, "cuMemFree_v2");
    gb_look_up(library, &cu.to_card, "cuMemcpyHtoDAsync_v2");
    gb_look_up(library, &cu.to_host, "cuMemcpyDtoHAsync_v2");
    gb_look_up(library, &cu.fill, "cuMemsetD8Async");
    gb_look_up(library, &cu.new_stream, "cuStreamCreate");
    gb_look_up(library, &cu.end_stream, "cuStreamDestroy_v2");
    gb_look_up(library, &cu.new_event, "cuEventCreate");
    gb_look_up(library, &cu.end_event, "cuEventDestroy_v2");
    gb_look_up(library, &cu.record, "cuEventRecord");
    gb_look_up(library, &cu.wait, "cuEventSynchronize");
    *(void **)&cu.create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&cu.destroy = dlsym(library, "cuCtxDestroy_v2");
}

/* What the program has on the card; half was copied there, half filled. */
struct foreign {
    void *context, *stream, *event;
    unsigned long long memory;
    uint8_t bytes[2 * KiB];
};

/* Of this thread. */
static void *
current_context(void)
{
    void *context;

    CHECK(cu.pop(&context) == 0 && cu.push(context) == 0);
    return context;
}

static void
foreign_wait(const struct foreign *f)
{
    CHECK(cu.record(f->event, f->stream) == 0 && cu.wait(f->event) == 0);
}

static void
foreign_set(struct foreign *f, uint8_t value)
{
    for (int i = 0; i < KiB; i++)
        f->bytes[i] = (uint8_t)(i * 7 + value);
    memset(f->bytes + KiB, value, KiB);
    CHECK(cu.to_card(f->memory, f->bytes, KiB, f->stream) == 0);
    CHECK(cu.fill(f->memory + KiB, value, KiB, f->stream) == 0);
    foreign_wait(f);
}

static void
foreign_check(const struct foreign *f)
{
    uint8_t bytes[sizeof(f->bytes)];

    CHECK(current_context() == f->context);
    memset(bytes, ~f->bytes[0], sizeof(bytes));
    CHECK(cu.to_host(bytes, f->memory, sizeof(bytes), f->stream) == 0);
    foreign_wait(f);
    CHECK(memcmp(bytes, f->bytes, sizeof(bytes)) == 0);
}

static void
foreign_begin(struct foreign *f, bool is_own, int card)
{
    if (is_own) {
        CHECK(cu.create(&f->context, 0, card) == 0);
    } else {
        CHECK(cu.retain(&f->context, card) == 0);
        CHECK(cu.push(f->context) == 0);
    }
    CHECK(cu.allocate(&f->memory, sizeof(f->bytes)) == 0);
    CHECK(cu.new_stream(&f->stream, 0) == 0 && cu.new_event(&f->event, 0) == 0);
    foreign_set(f, 0x5a);
}

/* No other context was left behind. */
static void
foreign_end(const struct foreign *f, bool is_own, int card)
{
    void *popped;

    CHECK(cu.end_event(f->event) == 0 && cu.end_stream(f->stream) == 0);
    CHECK(cu.give_back(f->memory) == 0);
    CHECK(cu.pop(&popped) == 0 && popped == f->context);
    CHECK(cu.pop(&popped) != 0);
    CHECK(is_own ? cu.destroy(f->context) == 0 : cu.release(card) == 0);
}

/* From one thread, before and between and after what the backend does. */
static void
compute_beside(bool is_own)
{
    struct foreign f;
    struct card_given given;
    struct card_product p;
    ggml_backend_t backend;
    float *values;
    int card;

    CHECK(cu.init(0) == 0 && cu.device(&card, 0) == 0);
    foreign_begin(&f, is_own, card);
    card_load();
    CHECK(current_context() == f.context);
    given = card_given_make(GGML_TYPE_Q4_K, 256, card_size(64, 4096), 8);
    backend = card_backend(0);
    p = card_product_make(ggml_backend_cuda_buffer_type(0), &given);
    CHECK(card_has_memory(&p));
    foreign_check(&f);
    card_compute(backend, p.graph);
    foreign_check(&f);
    foreign_set(&f, 0xc3);
    card_compute(backend, p.graph);
    values = card_get(p.result);
    CHECK(card_is_right(&given, values, given.n));
    foreign_check(&f);
    card_product_free(&p);
    ggml_backend_free(backend);
    foreign_check(&f);
    foreign_set(&f, 0x11);
    foreign_check(&f);
    foreign_end(&f, is_own, card);
    free(values);
    card_given_free(&given);
}

static void
share_the_primary_context(void)
{
    card_open_emulator();
    open_driver();
    compute_beside(false);
}

static void
have_another_context(void)
{
    card_open_emulator();
    open_driver();
    if (cu.create != NULL && cu.destroy != NULL)
        compute_beside(true);
    else
        card_leave_out("the driver makes no contexts");
}

void
a_programs_own_cuda_goes_on(void **state)
{
    (void)state;
    card_run(share_the_primary_context, CARD_MEMORY);
    card_run(have_another_context, CARD_MEMORY);
}
