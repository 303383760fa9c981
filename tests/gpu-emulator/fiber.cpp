/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/fiber.cpp - stacks, and the switch between them.
 *
 * The switch saves what the platform's calling convention lets a function keep
 * across a call, no more: it takes a few nanoseconds, where swapcontext() takes
 * a hundred and more for its system call.
 */
#include "tests/gpu-emulator/fiber.h"

#include "tests/gpu-emulator/forbid.h"

#include <sys/mman.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace emu {

namespace {

/* The part without access below each stack: a multiple of every page's size. */
constexpr size_t guard_size = 64 << 10;

/* Functions that never returned have left what the address sanitizer forbids
 * around their variables. */
void
allow_stack(const fiber *f)
{
    const uintptr_t lowest =
        ((uintptr_t)f & ~(stack_size - 1)) + guard_size;

    allow((const void *)lowest, (uintptr_t)f - lowest);
}

} // namespace

/* ---- the switch ---- */

#if defined(__x86_64__)

extern "C" void gb_emu_switch(void **from, void *to)
    __attribute__((visibility("hidden")));

__asm__(".text\n"
        ".hidden gb_emu_switch\n"
        ".globl gb_emu_switch\n"
        ".type gb_emu_switch, @function\n"
        "gb_emu_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size gb_emu_switch, . - gb_emu_switch\n");

void
fiber_switch(void **from, void *to)
{
    gb_emu_switch(from, to);
}

/* At the first switch six registers are taken off, then MAIN is gone to. */
void
fibers::reset(fiber *f, void (*main)())
{
    void **top = (void **)((uintptr_t)f & ~(uintptr_t)63);

    allow_stack(f);
    top[-1] = nullptr; /* no caller: debuggers stop here */
    top[-2] = (void *)main;
    for (int i = 3; i <= 8; i++)
        top[-i] = nullptr;
    f->context = top - 8;
}

#elif defined(__aarch64__)

extern "C" void gb_emu_switch(void **from, void *to)
    __attribute__((visibility("hidden")));

__asm__(".text\n"
        ".hidden gb_emu_switch\n"
        ".globl gb_emu_switch\n"
        ".type gb_emu_switch, %function\n"
        "gb_emu_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size gb_emu_switch, . - gb_emu_switch\n");

void
fiber_switch(void **from, void *to)
{
    gb_emu_switch(from, to);
}

void
fibers::reset(fiber *f, void (*main)())
{
    void **const frame =
        (void **)((uintptr_t)f & ~(uintptr_t)63) - 160 / sizeof(void *);

    allow_stack(f);
    for (size_t i = 0; i < 160 / sizeof(void *); i++)
        frame[i] = nullptr;
    frame[11] = (void *)main; /* x30 */
    f->context = frame;
}

#else

/* The context lies below what the fiber is doing, the stack below that. */
static ucontext_t *
context_of(fiber *f)
{
    return (ucontext_t *)(((uintptr_t)f - sizeof(ucontext_t)) &
                          ~(uintptr_t)63);
}

void
fiber_switch(void **from, void *to)
{
    ucontext_t here;

    if (*from == nullptr)
        *from = &here; /* not a fiber's: as long as this call lasts */
    swapcontext((ucontext_t *)*from, (ucontext_t *)to);
}

void
fibers::reset(fiber *f, void (*main)())
{
    ucontext_t *const context = context_of(f);
    char *const lowest =
        (char *)((uintptr_t)f & ~(stack_size - 1)) + guard_size;

    allow_stack(f);
    getcontext(context);
    context->uc_link = nullptr;
    context->uc_stack.ss_sp = lowest;
    context->uc_stack.ss_size = (size_t)((char *)context - lowest);
    makecontext(context, main, 0);
    f->context = context;
}

#endif

/* ---- the stacks ---- */

fibers::fibers() : first(nullptr), mapping(nullptr), mapping_size(0), count(0) {}

fibers::~fibers()
{
    if (mapping != nullptr)
        munmap(mapping, mapping_size);
}

bool
fibers::reserve(size_t wanted)
{
    if (wanted <= count)
        return true;
    if (mapping != nullptr)
        munmap(mapping, mapping_size);
    count = 0;
    mapping_size = (wanted + 1) * stack_size;
    mapping = mmap(nullptr, mapping_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        mapping = nullptr;
        return false;
    }
    first = (char *)(((uintptr_t)mapping + stack_size - 1) & ~(stack_size - 1));
    for (size_t i = 0; i < wanted; i++)
        if (mprotect(first + i * stack_size, guard_size, PROT_NONE) != 0)
            return false;
    count = wanted;
    return true;
}

fiber *
fibers::at(size_t i) const
{
    return fiber_of((uintptr_t)(first + i * stack_size));
}

} // namespace emu
