/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-card.cpp - do NVIDIA's cards at hand give what the
 * emulator's words give?
 *
 * values-card IMAGE: IMAGE has the kernels of values.cu for cards, a cubin or
 * several in one file.  Each kernel runs on the emulator and on every card, with
 * the same numbers by chance, and all words that it hands out are compared, in
 * TAP.  Floating-point numbers are small integers, so that products and their
 * sums are exact in any order.
 */
#include "tests/gpu-emulator/device.h"
#include "tests/gpu-emulator/values-panels.h"
#include "tests/gpu-emulator/values-run.h"

#include "backends/cuda/driver/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

const int n_rounds = 20;

/* ---- numbers by chance ---- */

int
integer(uint32_t *state, int largest)
{
    return (int)(next(state) % (uint32_t)(2 * largest + 1)) - largest;
}

/* In seven bits, which bf16 has too. */
uint16_t
draw_f16(uint32_t *state)
{
    return gb_emu_f16_of_float((float)integer(state, 127));
}

uint16_t
draw_bf16(uint32_t *state)
{
    return (uint16_t)(bits_of((float)integer(state, 127)) >> 16);
}

uint32_t
draw_f16_pair(uint32_t *state)
{
    const uint32_t low = draw_f16(state);

    return low | (uint32_t)draw_f16(state) << 16;
}

uint32_t
draw_bf16_pair(uint32_t *state)
{
    const uint32_t low = draw_bf16(state);

    return low | (uint32_t)draw_bf16(state) << 16;
}

uint32_t
draw_float(uint32_t *state)
{
    return bits_of((float)integer(state, 1000));
}

uint32_t
draw_bits(uint32_t *state)
{
    const uint32_t low = next(state);

    return low ^ next(state) << 16;
}

/* ---- what kernels get: IN has its size, and words of 0 ---- */

void
fill_nothing(words *, int, uint32_t *)
{
}

void
fill_bits(words *in, int, uint32_t *state)
{
    for (uint32_t &word : *in)
        word = draw_bits(state);
}

/* So small that votes differ. */
void
fill_small(words *in, int, uint32_t *state)
{
    for (uint32_t &word : *in)
        word = next(state) % 100;
}

/* Of each lane N_OPERANDS words of A and B, then N_SUMS of C. */
template <int n_operands, int n_sums, uint32_t (*operand)(uint32_t *state),
          uint32_t (*sum)(uint32_t *state)>
void
fill_lanes(words *in, int, uint32_t *state)
{
    const size_t n = n_operands + n_sums;

    for (size_t i = 0; i < in->size(); i++)
        (*in)[i] = i % n < n_operands ? operand(state) : sum(state);
}

const size_t wgmma_words = sizeof(gb_value_wgmma_input) / sizeof(uint32_t);

/* What no half takes are bad numbers. */
void
begin_panels(gb_value_wgmma_input *in, uint32_t *state)
{
    memset(in, 0xff, sizeof(*in));
    for (auto &thread : in->c)
        for (uint32_t &c : thread)
            c = draw_float(state);
}

void
put(gb_value_wgmma_input *in, size_t at, uint16_t half)
{
    memcpy((char *)in->panels + at, &half, sizeof(half));
}

/* The rounds go through all layouts and each 16 of K in a row of them. */
template <uint16_t (*draw)(uint32_t *state)>
void
fill_panels(words *words, int round, uint32_t *state)
{
    const panel_layout &l = panel_layouts[round % 4];
    const int pieces = l.mode == 0 ? 1 : l.width / 2 / 16;
    const int first_k = round / 4 % pieces * 16;
    gb_value_wgmma_input in;

    begin_panels(&in, state);
    in.a = descriptor_of(l, 64, first_k, 0);
    in.b = descriptor_of(l, 128, first_k, GB_VALUE_PANEL_A);
    for (int k = first_k; k < first_k + 16; k++) {
        for (int row = 0; row < 64; row++)
            put(&in, byte_of(l, 64, row, k), draw(state));
        for (int row = 0; row < 128; row++)
            put(&in, GB_VALUE_PANEL_A + byte_of(l, 128, row, k), draw(state));
    }
    memcpy(words->data(), &in, sizeof(in));
}

template <int columns>
void
fill_columns(words *words, int round, uint32_t *state)
{
    const panel_layout &l = panel_layouts[1 + round % 3];
    gb_value_wgmma_input in;

    begin_panels(&in, state);
    in.b = descriptor_by_columns(l, GB_VALUE_PANEL_A);
    for (int i = 0; i < 4 * 128; i++)
        in.panels[i] = draw_f16_pair(state);
    for (int k = 0; k < 16; k++)
        for (int column = 0; column < columns; column++)
            put(&in, GB_VALUE_PANEL_A + byte_by_columns(l, k, column),
                draw_f16(state));
    memcpy(words->data(), &in, sizeof(in));
}

/* ---- the kernels ---- */

struct row {
    const char *name;
    unsigned grid[3], block[3];
    size_t n_in, n_out; /* words */
    size_t of_thread;   /* words of OUT one after the other; 0: not so */
    void (*fill)(words *in, int round, uint32_t *state);
};

#define MMA(name, n_operands, n_sums, operand, sum)                       \
    {                                                                     \
        name, { 1, 1, 1 }, { 32, 1, 1 }, 32 * ((n_operands) + (n_sums)),  \
            32 * (n_sums), n_sums,                                        \
            fill_lanes<n_operands, n_sums, operand, sum>                  \
    }
#define WGMMA(name, fill)                                                 \
    {                                                                     \
        name, { 1, 1, 1 }, { 128, 1, 1 }, wgmma_words, 128 * 64, 64, fill \
    }

const row rows[] = {
    { "warp", { 1, 1, 1 }, { 64, 1, 1 }, 64, 64 * VALUE_WARP_COUNT,
      VALUE_WARP_COUNT, fill_small },
    { "place", { 2, 3, 4 }, { 3, 4, 5 }, 1, 24 * 60 * 4, 4, fill_nothing },
    { "atomic", { 50, 1, 1 }, { 128, 1, 1 }, 1, 9, 0, fill_nothing },
    MMA("mma_m16n8k8_f16", 3, 4, draw_f16_pair, draw_float),
    MMA("mma_m16n8k16_f16", 6, 4, draw_f16_pair, draw_float),
    MMA("mma_m16n8k16_bf16", 6, 4, draw_bf16_pair, draw_float),
    MMA("mma_m8n8k16_s8", 2, 2, draw_bits, next),
    MMA("mma_m16n8k32_s8", 6, 4, draw_bits, next),
    { "ldmatrix", { 1, 1, 1 }, { 32, 1, 1 }, 4 * 32, 14 * 32, 14, fill_bits },
    { "late", { 1, 1, 1 }, { 32, 1, 1 }, 4 * 32, 12 * 32, 0, fill_bits },
    WGMMA("wgmma_f16", fill_panels<draw_f16>),
    WGMMA("wgmma_bf16", fill_panels<draw_bf16>),
    WGMMA("wgmma_begin_f16", fill_panels<draw_f16>),
    WGMMA("wgmma_columns_128", fill_columns<128>),
    WGMMA("wgmma_columns_64", fill_columns<64>),
};
const int n_rows = (int)(sizeof(rows) / sizeof(rows[0]));

/* ---- the driver ---- */

struct gb_cuda_driver cu;

/* A kernel that failed leaves its card unusable. */
void
must(const char *call, int result)
{
    const char *name = "", *text = "";

    if (result == GB_CUDA_SUCCESS)
        return;
    cu.error_name(result, &name);
    cu.error_text(result, &text);
    printf("Bail out! %s: %s (%s)\n", call, text, name);
    exit(1);
}
#define MUST(id, ...) must(#id, cu.id(__VA_ARGS__))

/* NULL, or what is missing. */
const char *
open_driver()
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;

    if (library == NULL)
        return dlerror();
    /* POSIX lets a data pointer stand for a function's. */
    const auto look_up = [&](void *member, const char *name) {
        void *const address = dlsym(library, name);

        memcpy(member, &address, sizeof(address));
        return address != NULL;
    };
    const bool NEEDED = true, OPTIONAL = false;
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    if (!look_up(&cu.id, cuda) && (need))                          \
        missing = "the driver has no " cuda;
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    return missing;
}

gb_cuda_address
upload(const words &from)
{
    const size_t size = from.size() * sizeof(uint32_t);
    gb_cuda_address to;

    MUST(memory_alloc, &to, size);
    MUST(copy_to_device, to, from.data(), size, NULL);
    return to;
}

void
run_on_card(gb_cuda_function f, const row &r, const words &in, words *out)
{
    const unsigned *const g = r.grid, *const b = r.block;
    const size_t shared = shared_of(r.name);
    const gb_cuda_address from = upload(in), to = upload(*out);
    gb_value_args args = { (const uint32_t *)from, (uint32_t *)to };
    void *params[] = { &args };
    gb_cuda_event event;

    MUST(function_set, f, GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED, (int)shared);
    MUST(event_create, &event, GB_CUDA_EVENT_DISABLE_TIMING);
    MUST(launch, f, g[0], g[1], g[2], b[0], b[1], b[2], (unsigned)shared, NULL,
         params, NULL);
    MUST(copy_to_host, out->data(), to, out->size() * sizeof(uint32_t), NULL);
    MUST(event_record, event, NULL);
    MUST(event_wait, event);
    MUST(event_destroy, event);
    MUST(memory_free, from);
    MUST(memory_free, to);
}

/* ---- comparisons, in TAP ---- */

int n_said, n_failed;

__attribute__((format(printf, 2, 3))) void
say(bool is_ok, const char *fmt, ...)
{
    va_list args;

    n_failed += !is_ok;
    printf("%sok %d ", is_ok ? "" : "not ", ++n_said);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

/* Words that are all 0 would be those of a kernel that does nothing. */
bool
is_same(const row &r, int round, const words &card, const words &emulator)
{
    bool is_any = false;

    for (size_t i = 0; i < card.size(); i++) {
        is_any = is_any || emulator[i] != 0;
        if (card[i] == emulator[i])
            continue;
        if (r.of_thread != 0)
            say(false,
                "- %s: round %d, thread %zu, word %zu: 0x%08x on the card, "
                "0x%08x on the emulator",
                r.name, round, i / r.of_thread, i % r.of_thread, card[i],
                emulator[i]);
        else
            say(false,
                "- %s: round %d, word %zu: 0x%08x on the card, 0x%08x on the "
                "emulator",
                r.name, round, i, card[i], emulator[i]);
        return false;
    }
    if (!is_any)
        say(false, "- %s: round %d: all words are 0", r.name, round);
    return is_any;
}

void
compare(gb_cuda_function f, const row &r)
{
    for (int round = 0; round < n_rounds; round++) {
        words in(r.n_in), card(r.n_out), emulator(r.n_out);
        uint32_t state = 1000003u * (uint32_t)(round + 1);

        r.fill(&in, round, &state);
        run(r.name, r.grid, r.block, in, &emulator);
        run_on_card(f, r, in, &card);
        if (!is_same(r, round, card, emulator))
            return;
    }
    say(true, "- %s: %d rounds, %zu words each", r.name, n_rounds, r.n_out);
}

void
compare_all(gb_cuda_module module)
{
    for (const row &r : rows) {
        gb_cuda_function f;
        char name[64];
        int result;

        snprintf(name, sizeof(name), "gb_value_%s", r.name);
        result = cu.module_function(&f, module, name);
        if (result == GB_CUDA_NOT_FOUND) {
            say(true, "# SKIP %s: not on this architecture", r.name);
            continue;
        }
        must("module_function", result);
        compare(f, r);
    }
}

void
compare_card(int ordinal, const std::vector<char> &image)
{
    gb_cuda_context context;
    gb_cuda_module module;
    char name[128] = "";
    int device, result;

    MUST(device_get, &device, ordinal);
    MUST(device_name, name, (int)sizeof(name) - 1, device);
    printf("# card %d: %s\n", ordinal, name);
    MUST(context_retain, &context, device);
    MUST(context_push, context);
    result = cu.module_load(&module, image.data());
    if (result == GB_CUDA_NO_BINARY_FOR_GPU) {
        for (const row &r : rows)
            say(true, "# SKIP %s: no code for this card", r.name);
    } else {
        must("module_load", result);
        compare_all(module);
        MUST(module_unload, module);
    }
    MUST(context_pop, &context);
    MUST(context_release, device);
}

/* With a 0 at the end, as the driver wants it of PTX; empty: there is none. */
std::vector<char>
read_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    std::vector<char> all;
    char part[4096];
    size_t n;

    if (file == NULL)
        return all;
    while ((n = fread(part, 1, sizeof(part), file)) > 0)
        all.insert(all.end(), part, part + n);
    if (ferror(file))
        all.clear();
    fclose(file);
    if (!all.empty())
        all.push_back('\0');
    return all;
}

int
leave_out(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    const char *missing;
    int count = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: values-card IMAGE\n");
        return 2;
    }
    const std::vector<char> image = read_file(argv[1]);
    if (image.empty())
        return leave_out("no kernels for cards");
    missing = open_driver();
    if (missing != NULL)
        return leave_out(missing);
    if (cu.init(0) != GB_CUDA_SUCCESS ||
        cu.device_count(&count) != GB_CUDA_SUCCESS || count == 0)
        return leave_out("the driver has no card");
    printf("1..%d\n", count * n_rows);
    for (int i = 0; i < count; i++)
        compare_card(i, image);
    return n_failed != 0;
}
