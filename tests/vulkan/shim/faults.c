/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/faults.c - calls that fail, and devices that are lost.
 */
#include "tests/vulkan/shim/faults.h"

#include "tests/vulkan/shim/control.h"
#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Besides rows: all calls that have a result, and those that tell of losses. */
enum { ANY = SHIM_CALLS, TELL, N_COUNTS, UNKNOWN = N_COUNTS };

static atomic_uint_least64_t counts[N_COUNTS];
static atomic_uint_least64_t n_failures;

/* What is to fail: by the count of WHICH, 0 for nothing. */
static struct {
    int which;
    atomic_uint_least64_t at;
    int result;
} fault;

static atomic_uint_least64_t lose_at, hang_at;

static int
find(const char *name)
{
    int row;

    if (strcmp(name, "any") == 0)
        return ANY;
    if (strcmp(name, "tell") == 0)
        return TELL;
    row = (int)shim_find(name);
    return row < SHIM_CALLS ? row : UNKNOWN;
}

/* One more of WHICH; is it the one that is to fail? */
static bool
count(int which)
{
    const uint64_t n =
        atomic_fetch_add_explicit(&counts[which], 1, memory_order_relaxed) + 1;
    const uint64_t at =
        atomic_load_explicit(&fault.at, memory_order_acquire);

    return at != 0 && which == fault.which && n == at;
}

/* What a device works on when it is lost is done first: the real one uses memory
 * that is freed afterwards. */
static void
settle(enum shim_call call, const void *owner)
{
    if (call == SHIM_QueueSubmit || call == SHIM_QueueWaitIdle) {
        if (shim_inner.QueueWaitIdle != NULL)
            shim_inner.QueueWaitIdle((VkQueue)(uintptr_t)owner);
    } else if (shim_inner.DeviceWaitIdle != NULL) {
        shim_inner.DeviceWaitIdle((VkDevice)(uintptr_t)owner);
    }
}

static bool
tells_loss(enum shim_call call, const void *owner)
{
    const uint64_t n =
        atomic_load_explicit(&counts[TELL], memory_order_relaxed);
    const uint64_t at = atomic_load_explicit(&lose_at, memory_order_relaxed);

    if (at != 0 && n == at && !shim_is_lost(owner)) {
        settle(call, owner);
        shim_lost(owner);
    }
    return shim_is_lost(owner);
}

bool
shim_fails(enum shim_call call, const void *owner, VkResult *result)
{
    const bool tells = shim_rows[call].tells;
    bool fails = count((int)call);

    fails |= count(ANY);
    if (tells)
        fails |= count(TELL);
    if (fails) {
        atomic_fetch_add(&n_failures, 1);
        *result = (VkResult)fault.result;
        return true;
    }
    if (!tells || !tells_loss(call, owner))
        return false;
    *result = VK_ERROR_DEVICE_LOST;
    return true;
}

void
shim_passes(enum shim_call call)
{
    atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
}

bool
shim_hangs(void)
{
    const uint64_t at = atomic_load_explicit(&hang_at, memory_order_relaxed);

    return at != 0 && atomic_load(&counts[SHIM_QueueSubmit]) >= at;
}

/* ---- what tests ask ---- */

void
shim_reset(void)
{
    atomic_store(&fault.at, 0);
    atomic_store(&lose_at, 0);
    atomic_store(&hang_at, 0);
    atomic_store(&n_failures, 0);
    for (int i = 0; i < N_COUNTS; i++)
        atomic_store(&counts[i], 0);
}

uint64_t
shim_calls(const char *name)
{
    const int which = find(name);

    return which != UNKNOWN ? atomic_load(&counts[which]) : 0;
}

void
shim_fail(const char *name, uint64_t n, int result)
{
    const int which = find(name);

    if (which == UNKNOWN) {
        shim_report("a call that it does not know is to fail");
        return;
    }
    fault.which = which;
    fault.result = result;
    atomic_store_explicit(&fault.at, atomic_load(&counts[which]) + n,
                          memory_order_release);
}

uint64_t
shim_failures(void)
{
    return atomic_load(&n_failures);
}

void
shim_lose(uint64_t n)
{
    atomic_store(&lose_at, n > 0 ? atomic_load(&counts[TELL]) + n : 0);
}

void
shim_hang(uint64_t n)
{
    atomic_store(&hang_at,
                 n > 0 ? atomic_load(&counts[SHIM_QueueSubmit]) + n : 0);
}

void
shim_faults_init(void)
{
    const char *text = shim_setting("FAIL");
    unsigned long long n;
    char name[64];
    int result;

    if (text != NULL &&
        sscanf(text, "%63[^:]:%llu:%d", name, &n, &result) == 3)
        shim_fail(name, n, result);
    shim_lose(shim_setting_number("LOSE"));
    shim_hang(shim_setting_number("HANG"));
}
