// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-call.cpp - counts calls, and makes them fail.
 */
#include "tests/gpu-emulator/driver.h"

#include <stdlib.h>
#include <string.h>

namespace emu {

uint64_t counts[EMU_COUNTERS];

namespace {

struct call_row {
    const char *id, *cuda, *hip;
    uint64_t n; /* calls */
};

call_row rows[N_CALLS] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    { #id, cuda, hip, 0 },
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
};

/* Without what stands before it where hip.cpp has the entry point. */
const char *
hip_name(const call_row &row)
{
    return strncmp(row.hip, "own_", 4) == 0 ? row.hip + 4 : row.hip;
}

enum kind {
    ORDINARY,
    WITHOUT_INIT,    /* works before cuInit */
    WITHOUT_CONTEXT, /* of the driver or of a device */
    OF_CONTEXT,      /* of a context, current or not; works on a lost card */
    GIVES_BACK,      /* is done also when it fails */
};

kind
kind_of(call which)
{
    switch (which) {
    case CALL_init:
    case CALL_version:
    case CALL_error_name:
    case CALL_error_text:
        return WITHOUT_INIT;
    case CALL_device_count:
    case CALL_device_get:
    case CALL_device_name:
    case CALL_device_attribute:
    case CALL_device_memory:
    case CALL_device_pci:
    case CALL_device_uuid:
    case CALL_peer_possible:
        return WITHOUT_CONTEXT;
    case CALL_context_retain:
    case CALL_context_release:
    case CALL_context_push:
    case CALL_context_pop:
        return OF_CONTEXT;
    case CALL_memory_free:
    case CALL_host_free:
    case CALL_host_unregister:
    case CALL_stream_destroy:
    case CALL_event_destroy:
    case CALL_module_unload:
    case CALL_graph_destroy:
    case CALL_graph_exec_destroy:
    case CALL_peer_disable:
        return GIVES_BACK;
    default:
        return ORDINARY;
    }
}

bool
gives_back(call which)
{
    return kind_of(which) == GIVES_BACK || which == CALL_context_release ||
           which == CALL_context_pop;
}

int
usual_failure(call which)
{
    switch (which) {
    case CALL_memory_alloc:
    case CALL_memory_alloc_managed:
    case CALL_host_alloc:
    case CALL_host_register:
        return GB_CUDA_OUT_OF_MEMORY;
    case CALL_launch:
    case CALL_launch_config:
    case CALL_graph_launch:
        return GB_CUDA_LAUNCH_FAILED;
    default:
        return GB_CUDA_UNKNOWN;
    }
}

/* What emu_fail_call and emu_lose_card asked for; calls that are left. */
struct {
    int which; /* N_CALLS: any */
    uint64_t left;
    int result;
} failing;

struct {
    uint64_t left;
    int result;
} losing;

uint64_t n_failed;

bool
counts_down(uint64_t *left)
{
    return *left > 0 && --*left == 0;
}

/* Is this the call that fails?  0: no. */
int
failure_of(call which)
{
    if (failing.which != N_CALLS && failing.which != which)
        return 0;
    if (!counts_down(&failing.left))
        return 0;
    n_failed++;
    return failing.result != 0 ? failing.result : usual_failure(which);
}

void
lose_card_of(call which)
{
    card *on = is_about_current(which) ? nullptr : current_card();

    if (on == nullptr || !counts_down(&losing.left))
        return;
    on->error = losing.result != 0 ? losing.result : GB_CUDA_LAUNCH_FAILED;
    queue_drop(on);
}

void
read_failing(const char *text)
{
    const std::string name(text, strcspn(text, ":"));
    const char *rest = text + name.size();
    char *end = nullptr;
    const uint64_t n = *rest == ':' ? strtoull(rest + 1, &end, 0) : 1;

    fail_call(name.c_str(), n,
              end != nullptr && *end == ':' ? atoi(end + 1) : 0);
}

void
read_losing(const char *text)
{
    char *end;
    const uint64_t n = strtoull(text, &end, 0);

    lose_card(n, *end == ':' ? atoi(end + 1) : 0);
}

} // namespace

bool is_ready();

int
call_named(const char *name)
{
    if (name != nullptr && strcmp(name, "any") == 0)
        return N_CALLS;
    for (int i = 0; name != nullptr && i < N_CALLS; i++)
        if (strcmp(name, rows[i].cuda) == 0 ||
            strcmp(name, hip_name(rows[i])) == 0 ||
            strcmp(name, rows[i].id) == 0)
            return i;
    return -1;
}

uint64_t
calls_of(int which)
{
    if (which == N_CALLS)
        return counts[EMU_CALLS];
    return which < 0 ? 0 : rows[which].n;
}

void
fail_call(const char *name, uint64_t n, int result)
{
    failing.which = call_named(name);
    failing.left = n;
    failing.result = result;
    if (failing.which < 0 && n > 0)
        report("emu_fail_call: no entry point is called %s", name);
}

void
lose_card(uint64_t n, int result)
{
    losing.left = n;
    losing.result = result;
}

uint64_t
failed_calls()
{
    return n_failed;
}

void
calls_reset()
{
    failing = {};
    losing = {};
    n_failed = 0;
    memset(counts, 0, sizeof(counts));
    for (call_row &row : rows)
        row.n = 0;
}

void
calls_read_settings()
{
    if (const char *text = setting_text("FAIL"))
        read_failing(text);
    if (const char *text = setting_text("LOST"))
        read_losing(text);
}

int
call_begins(call which, int *after)
{
    settings_read();
    counts[EMU_CALLS]++;
    rows[which].n++;
    lose_card_of(which);

    const kind needs = kind_of(which);
    const int failure = failure_of(which);

    if (failure != 0 && !gives_back(which))
        return failure;
    *after = failure;
    if (needs == WITHOUT_INIT)
        return 0;
    if (!is_ready())
        return GB_CUDA_NOT_INITIALIZED;
    if (needs == WITHOUT_CONTEXT || needs == OF_CONTEXT)
        return 0;

    card *on = current_card();

    if (on == nullptr)
        return GB_CUDA_INVALID_CONTEXT;
    if (on->error != 0 && needs == GIVES_BACK)
        *after = on->error;
    return needs == GIVES_BACK ? 0 : on->error;
}

} // namespace emu
