/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/report.cpp - what is wrong with the code under test, told once.
 */
#include "tests/gpu-emulator/block.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <set>
#include <string>
#include <tuple>

namespace emu {

namespace {

std::mutex reporting;
std::set<std::string> texts;
std::set<std::tuple<const kernel *, const void *, const char *>> places;
uint64_t n_reports;

void
write_down(const char *text)
{
    const char *const name = getenv("GGMLBACKEND_TEST_EMU_REPORT");
    FILE *file;

    fprintf(stderr, "gpu-emulator: %s\n", text);
    if (name == nullptr || *name == 0)
        return;
    file = fopen(name, "a");
    if (file == nullptr)
        return;
    fprintf(file, "%s\n", text);
    fclose(file);
}

bool
is_new(const kernel *k, const void *pc, const char *what)
{
    const std::lock_guard<std::mutex> alone(reporting);

    n_reports++;
    return places.insert({ k, pc, what }).second;
}

void
say(const char *text)
{
    const std::lock_guard<std::mutex> alone(reporting);

    if (texts.insert(text).second)
        write_down(text);
}

/* " at FILE:LINE", asked of binutils; else the place in the library. */
void
name_place(const void *pc, char *text, size_t size)
{
    Dl_info info;
    char command[1024], line[256];
    const char *slash;
    FILE *answer;

    text[0] = 0;
    if (dladdr(pc, &info) == 0 || info.dli_fname == nullptr)
        return;
    const size_t offset = (size_t)((uintptr_t)pc - (uintptr_t)info.dli_fbase);

    snprintf(text, size, " at +%#zx", offset);
    snprintf(command, sizeof(command), "addr2line -e '%s' %#zx 2>/dev/null",
             info.dli_fname, offset - 1);
    answer = popen(command, "r");
    if (answer == nullptr)
        return;
    if (fgets(line, sizeof(line), answer) != nullptr && line[0] != '?') {
        line[strcspn(line, " \n")] = 0;
        slash = strrchr(line, '/');
        snprintf(text, size, " at %.200s",
                 slash == nullptr ? line : slash + 1);
    }
    pclose(answer);
}

} // namespace

void
report(const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    {
        const std::lock_guard<std::mutex> alone(reporting);

        n_reports++;
    }
    say(text);
}

void
complain(const fiber *f, const void *pc, const char *fmt, ...)
{
    const block *const b = f->in;
    const kernel *const k = b->of->what->k;
    char text[1024], place[256], whole[1536];
    va_list args;

    if (!is_new(k, pc, fmt))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    name_place(pc, place, sizeof(place));
    snprintf(whole, sizeof(whole),
             "kernel %s%s, block %u,%u,%u, thread %u,%u,%u: %s", k->name,
             place, b->index.x, b->index.y, b->index.z, f->index.x,
             f->index.y, f->index.z, text);
    say(whole);
}

uint64_t
reports()
{
    const std::lock_guard<std::mutex> alone(reporting);

    return n_reports;
}

long
setting(const char *name, long otherwise)
{
    const char *const text = getenv(name);

    return text == nullptr || *text == 0 ? otherwise : strtol(text, nullptr, 0);
}

} // namespace emu
