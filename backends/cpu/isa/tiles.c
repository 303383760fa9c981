/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/tiles.c - may this process use the processor's tiles (AMX)?
 *
 * Linux gives room for the 8 KiB of tiles to a process that asks for it, once,
 * since it becomes part of what each signal saves: it refuses where a thread's
 * alternate stack for signals is too small for that, and from then on refuses
 * such stacks.  A sandbox may forbid the call.
 *
 * Some hypervisors pass on that there are tiles, and fault at their first use.
 * So this is tried in a child, which has nothing to do but that: no handler of
 * the client's runs there (signals are blocked, and a fault whose signal is
 * blocked ends a process), none of its threads, nothing that was registered for
 * forks (the system call is used), and nobody is told of its end.  Where there
 * can be no child, tiles are not used.
 *
 * Source  Linux, Documentation/arch/x86/xstate.rst; "Intel 64 and IA-32
 * Architectures Software Developer's Manual", volume 2 (the instructions).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, __WALL */
#endif
#include "config.h"

#include "backends/cpu/isa/machine.h"

#define TILES (GB_CPU_BIT(GB_CPU_AMX_INT8) | GB_CPU_BIT(GB_CPU_AMX_BF16))

#if defined(__x86_64__) && defined(__linux__)

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
ask_system(void)
{
    const int request_permission = 0x1023;
    const int tile_data = 18;

    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/* Each kind of instruction once.  As bytes, since this file is for any
 * machine. */
static void
use_tiles(void)
{
    /* Palette 1; tiles 0 to 2 are 16 rows of 64 bytes. */
    static const _Alignas(64) unsigned char shapes[64] = {
        [0] = 1,   [16] = 64, [18] = 64, [20] = 64,
        [48] = 16, [49] = 16, [50] = 16,
    };

    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x07\n\t" /* LDTILECFG */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0\n\t" /* TILEZERO 0 */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc8\n\t" /* TILEZERO 1 */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xd0\n\t" /* TILEZERO 2 */
                     ".byte 0xc4, 0xe2, 0x6a, 0x5c, 0xc1\n\t" /* TDPBF16PS */
                     ".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"     /* TILERELEASE */
                     :
                     : "D"(shapes)
                     : "memory");
}

/* The child's memory is a copy, and a signal at its end is not asked for. */
bool
gb_cpu_returns_in_child(void (*run)(void))
{
    sigset_t all, old;
    bool has_returned = false;
    long child;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return false;
    child = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core */
        run();
        syscall(SYS_exit_group, 0);
    }
    if (child > 0) {
        int status;
        pid_t ended;

        do
            ended = waitpid((pid_t)child, &status, __WALL);
        while (ended < 0 && errno == EINTR);
        has_returned =
            ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return has_returned;
}

static bool
try_in_child(void)
{
    return gb_cpu_returns_in_child(use_tiles);
}

#else

static bool
ask_system(void)
{
    return false;
}

static bool
try_in_child(void)
{
    return false;
}

bool
gb_cpu_returns_in_child(void (*run)(void))
{
    (void)run;
    return false;
}

#endif

uint32_t
gb_cpu_usable_tiles(uint32_t features, const struct gb_cpu_tile_system *system,
                    const char **why)
{
    static const struct gb_cpu_tile_system own = { ask_system, try_in_child };

    if (system == NULL)
        system = &own;
    *why = NULL;
    if ((features & TILES) == 0)
        return features;
    if (!system->permit())
        *why = "the system does not permit it tiles (AMX)";
    else if (!system->can_use())
        *why = "its tiles (AMX) do not work";
    return *why == NULL ? features : features & ~TILES;
}
