// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/wgmma.cpp - MMA of warp groups, by definition.
 *
 * Each of the group's four warps makes 16 of the 64 rows.  It reads shared
 * memory when it waits, not earlier, and until then its sums are bad numbers: a
 * panel that is filled again too early, or sums that are read, give wrong
 * results.
 *
 * Where elements are: PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Instructions": "Matrix Fragments for wgmma.mma_async.m64nNk16", "Shared
 * Memory Matrix Layout" and "Matrix Descriptor Format", K-major:
 *
 *   bits 0-13 address, 16-29 and 32-45 two distances, all in units of 16 bytes;
 *   49-51 base offset; 62-63 swizzling: 0 none, 1, 2, 3 of 128, 64, 32 bytes
 *
 * Swizzled, the rows of a group of eight lie one after the other and the second
 * distance is that to the next eight; without, a row is 16 bytes, and the first
 * distance is that to its next 16.  The base offset has to be 0: a group of
 * eight begins at a multiple of its size.
 *
 * MN-major, which is there for B and swizzled only, a line of swizzled bytes has
 * neighbouring columns, and the next line is the next of k: eight of them lie
 * one after the other, the second distance is that to the next eight, and the
 * first one that to the columns behind the line's.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/elements.h"

#include <string.h>

namespace emu {

namespace {

constexpr int rows = 16, columns = 128, depth = 16; /* of a quarter, at most */
constexpr uint64_t unused_bits =
    (uint64_t)3 << 14 | (uint64_t)3 << 30 | (uint64_t)7 << 46 |
    (uint64_t)0x3ff << 52;

/* ---- descriptors ---- */

struct panel {
    uintptr_t at;     /* in shared memory as instructions have it */
    uintptr_t across; /* to a row's next 16 bytes, unless swizzled; to the
                         columns behind a line's */
    uintptr_t down;   /* to the next eight rows */
    unsigned span;    /* swizzled bytes */
};

panel
panel_of(uint64_t descriptor)
{
    static const unsigned spans[] = { 0, 128, 64, 32 };

    return { (uintptr_t)(descriptor & 0x3fff) << 4,
             (uintptr_t)(descriptor >> 16 & 0x3fff) << 4,
             (uintptr_t)(descriptor >> 32 & 0x3fff) << 4,
             spans[descriptor >> 62] };
}

/* Sixteen bytes of row R of the panel: the first, or the second. */
uintptr_t
piece_of(const block *b, const panel &p, int r, int i)
{
    const uintptr_t eight = p.at + (uintptr_t)(r / 8) * p.down;
    const uintptr_t pitch = p.span == 0 ? 16 : p.span;
    const uintptr_t next = p.span == 0 ? p.across : 16;

    return b->shared.window() +
           swizzled(eight + (uintptr_t)(r % 8) * pitch + (uintptr_t)i * next,
                    p.span);
}

/* Sixteen bytes of line K of a panel by columns, from column N on. */
uintptr_t
piece_of_line(const block *b, const panel &p, int k, int n)
{
    const int width = (int)p.span / 2;

    return b->shared.window() +
           swizzled(p.at + (uintptr_t)(n / width) * p.across +
                        (uintptr_t)(k / 8) * p.down +
                        (uintptr_t)(k % 8) * p.span +
                        (uintptr_t)(2 * (n % width)),
                    p.span);
}

bool
is_descriptor(uint64_t descriptor)
{
    const panel p = panel_of(descriptor);

    return (descriptor & unused_bits) == 0 && (descriptor >> 49 & 7) == 0 &&
           (p.span == 0 || (p.at % (8 * p.span) < p.span &&
                            p.down % (8 * p.span) == 0));
}

/* ---- a quarter: 16 rows, all columns, 16 of k ---- */

template <typename F>
void
each_piece(const block *b, const pending_mma &m, F function)
{
    const panel of_b = panel_of(m.b);

    if (m.form->by_columns) {
        for (int k = 0; k < depth; k++)
            for (int n = 0; n < m.form->columns; n += 8)
                function(piece_of_line(b, of_b, k, n));
        return;
    }
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < 2; i++)
            function(piece_of(b, panel_of(m.a), rows * m.quarter + r, i));
    for (int r = 0; r < m.form->columns; r++)
        for (int i = 0; i < 2; i++)
            function(piece_of(b, of_b, r, i));
}

void
read_row(const block *b, const pending_mma &m, uint64_t descriptor, int r,
         double out[depth])
{
    for (int i = 0; i < 2; i++) {
        uint16_t bits[8];

        memcpy(bits, (const void *)piece_of(b, panel_of(descriptor), r, i),
               sizeof(bits));
        for (int j = 0; j < 8; j++)
            out[8 * i + j] = m.form->read(bits[j]);
    }
}

struct quarter {
    double a[rows][depth], b[columns][depth];

    quarter(const block *in, const pending_mma &m)
    {
        if (m.form->by_columns) {
            read_registers(m);
            read_columns(in, m);
            return;
        }
        for (int r = 0; r < rows; r++)
            read_row(in, m, m.a, rows * m.quarter + r, a[r]);
        for (int r = 0; r < m.form->columns; r++)
            read_row(in, m, m.b, r, b[r]);
    }
    /* Word I of lane L: row L / 4, and 8 more where I is odd; k 2 (L % 4) and the
     * next, and 8 more from the third word on. */
    void
    read_registers(const pending_mma &m)
    {
        for (int lane = 0; lane < mma_lanes; lane++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
                    a[lane / 4 + i % 2 * 8][lane % 4 * 2 + i / 2 * 8 + j] =
                        m.form->read(m.registers[lane][i] >> 16 * j & 0xffff);
    }
    void
    read_columns(const block *in, const pending_mma &m)
    {
        for (int k = 0; k < depth; k++)
            for (int n = 0; n < m.form->columns; n += 8) {
                uint16_t bits[8];

                memcpy(bits,
                       (const void *)piece_of_line(in, panel_of(m.b), k, n),
                       sizeof(bits));
                for (int j = 0; j < 8; j++)
                    b[n + j][k] = m.form->read(bits[j]);
            }
    }
    double
    at(int row, int column) const
    {
        double sum = 0;

        for (int k = 0; k < depth; k++)
            sum += a[row][k] * b[column][k];
        return sum;
    }
};

void
add(const quarter &q, const mma_form &form, hidden_sums *s)
{
    for (int lane = 0; lane < mma_lanes; lane++)
        for (int i = 0; i < form.columns / 2; i++) {
            const double before = form.begins ? 0 : s->value[lane][i];

            s->value[lane][i] =
                (float)(before + q.at(lane / 4 + i % 4 / 2 * 8,
                                      i / 4 * 8 + lane % 4 * 2 + i % 2));
        }
}

/* ---- lanes ---- */

lane_mmas *
lanes_of(const fiber *f, int first)
{
    return &f->in->async.lanes[(f->thread - (unsigned)f->lane +
                                (unsigned)first) / mma_lanes];
}

hidden_sums *
find_sums(lane_mmas *l, const float *d)
{
    for (hidden_sums &s : l->sums)
        if (s.d[0] == d)
            return &s;
    return nullptr;
}

struct operands {
    float *d;
    uint64_t a, b;
    const uint32_t *registers;
    const mma_form *form;
    const void *pc;
};

size_t
bytes_of_sums(const hidden_sums *s)
{
    return (size_t)s->n * sizeof(s->value[0][0]);
}

/* The lanes' sums are hidden from them. */
hidden_sums *
hide_sums(lane_mmas *l, const meeting &meet, int first)
{
    l->sums.emplace_back();

    hidden_sums *const s = &l->sums.back();

    s->n_pending = 0;
    s->n = ((const operands *)meet.data[first])->form->columns / 2;
    for (int i = 0; i < mma_lanes; i++) {
        s->d[i] = ((const operands *)meet.data[first + i])->d;
        memcpy(s->value[i], s->d[i], bytes_of_sums(s));
        memset(s->d[i], poison, bytes_of_sums(s));
    }
    return s;
}

void
show_sums(lane_mmas *l, hidden_sums *s)
{
    for (int i = 0; i < mma_lanes; i++)
        memcpy(s->d[i], s->value[i], bytes_of_sums(s));
    l->sums.erase(l->sums.begin() + (s - l->sums.data()));
}

bool
is_uniform(const meeting &meet, int first)
{
    const operands &o = *(const operands *)meet.data[first];

    for (int i = 1; i < mma_lanes; i++) {
        const operands &other = *(const operands *)meet.data[first + i];

        if (other.a != o.a || other.b != o.b)
            return false;
    }
    return true;
}

/* What is wrong with it; NULL: nothing. */
const char *
fault_of(const fiber *f, const meeting &meet, int first)
{
    const operands &o = *(const operands *)meet.data[first];
    const unsigned group = f->thread / 128;

    if (!is_uniform(meet, first))
        return "wgmma: lanes with other descriptors";
    if (f->in->n_threads < 128 * (group + 1))
        return "wgmma: the block ends in the middle of the warp group";
    if (!is_descriptor(o.b) ||
        (o.form->by_columns ? panel_of(o.b).span == 0 : !is_descriptor(o.a)))
        return "wgmma: a descriptor of no panel";
    return nullptr;
}

void
begin_lanes(const meeting &meet, int first)
{
    fiber *const f = this_fiber();
    const operands &o = *(const operands *)meet.data[first];
    const char *const fault = fault_of(f, meet, first);
    lane_mmas *const l = lanes_of(f, first);
    hidden_sums *s = find_sums(l, o.d);
    pending_mma m = {
        o.form, o.a, o.b, {}, o.d,
        (int)(l - f->in->async.lanes.data()) % 4, l->n_groups, o.pc
    };

    if (fault != nullptr) {
        complain(f, o.pc, "%s", fault);
        f->in->stop(launch_failed);
    }
    if (s == nullptr && !l->is_fenced)
        complain(f, o.pc, "wgmma: no wgmma.fence since its sums were the "
                          "threads'");
    if (s == nullptr)
        s = hide_sums(l, meet, first);
    s->n_pending++;
    for (int i = 0; i < mma_lanes; i++)
        m.registers[i] =
            ((const operands *)meet.data[first + i])->registers;
    each_piece(f->in, m, [&](uintptr_t at) {
        check_mma_begins(f, at, 16, m.pc);
    });
    l->pending.push_back(m);
}

void
end_mma(fiber *f, lane_mmas *l, const pending_mma &m)
{
    hidden_sums *const s = find_sums(l, m.d);
    const quarter q(f->in, m);

    each_piece(f->in, m, [&](uintptr_t at) {
        check_mma_ends(f, at, 16, m.pc);
    });
    add(q, *m.form, s);
    if (--s->n_pending == 0)
        show_sums(l, s);
}

void
wait_lanes(const meeting &meet, int first)
{
    fiber *const f = this_fiber();
    lane_mmas *const l = lanes_of(f, first);
    const unsigned n_pending = *(const unsigned *)meet.data[first];
    size_t n = 0;

    while (n < l->pending.size() &&
           l->pending[n].group + n_pending < l->n_groups)
        end_mma(f, l, l->pending[n++]);
    l->pending.erase(l->pending.begin(), l->pending.begin() + (long)n);
    l->is_fenced = false;
}

void
fence_lanes(const meeting &, int first)
{
    lanes_of(this_fiber(), first)->is_fenced = true;
}

void
commit_lanes(const meeting &, int first)
{
    lanes_of(this_fiber(), first)->n_groups++;
}

/* Each 32 lanes of a warp. */
template <void (*function)(const meeting &, int first)>
void
each_lanes(const meeting &meet)
{
    for (int first = 0; first < GB_WARP; first += mma_lanes)
        function(meet, first);
}

const collective beginning = { "wgmma", each_lanes<begin_lanes>, false };
const collective fencing = { "wgmma.fence", each_lanes<fence_lanes>, false };
const collective committing = { "wgmma.commit_group",
                                each_lanes<commit_lanes>, false };
const collective waiting = { "wgmma.wait_group", each_lanes<wait_lanes>,
                             false };

void
all_lanes(const collective *what, void *data, const void *pc)
{
    this_fiber()->in->meet_all(what, data, pc);
}

} // namespace
} // namespace emu

/* Panels, or registers and a panel. */
#define WGMMA(name, ...)                                                   \
    extern "C" void gb_emu_wgmma_##name(float *d, uint64_t a, uint64_t b)  \
    {                                                                      \
        static const emu::mma_form form = __VA_ARGS__;                     \
        const void *const pc = __builtin_return_address(0);                \
        emu::operands o = { d, a, b, nullptr, &form, pc };                 \
                                                                           \
        emu::all_lanes(&emu::beginning, &o, pc);                           \
    }
#define WGMMA_COLUMNS(name, ...)                           \
    extern "C" void gb_emu_wgmma_columns_##name(           \
        float *d, const uint32_t *a, uint64_t b)           \
    {                                                      \
        static const emu::mma_form form = __VA_ARGS__;     \
        const void *const pc = __builtin_return_address(0); \
        emu::operands o = { d, 0, b, a, &form, pc };       \
                                                           \
        emu::all_lanes(&emu::beginning, &o, pc);           \
    }

WGMMA(m64n128k16_f16, { emu::of_f16, 128, false, false })
WGMMA(m64n128k16_bf16, { emu::of_bf16, 128, false, false })
WGMMA(begin_m64n128k16_f16, { emu::of_f16, 128, true, false })
WGMMA_COLUMNS(m64n128k16_f16, { emu::of_f16, 128, false, true })
WGMMA_COLUMNS(m64n64k16_f16, { emu::of_f16, 64, false, true })

extern "C" void
gb_emu_wgmma_fence()
{
    emu::all_lanes(&emu::fencing, nullptr, __builtin_return_address(0));
}

extern "C" void
gb_emu_wgmma_commit()
{
    emu::all_lanes(&emu::committing, nullptr, __builtin_return_address(0));
}

extern "C" void
gb_emu_wgmma_wait(int n_pending)
{
    unsigned n = (unsigned)n_pending;

    emu::all_lanes(&emu::waiting, &n, __builtin_return_address(0));
}

extern "C" uint64_t
gb_emu_shared_address(const void *p)
{
    emu::fiber *const f = emu::this_fiber();
    const uintptr_t at = (uintptr_t)p - f->in->shared.window();

    if (f->in->shared.allows((uintptr_t)p, 1) && at < (1 << 18))
        return at;
    complain(f, __builtin_return_address(0),
             "an address of shared memory is wanted, of that which the launch "
             "asked for");
    f->in->stop(emu::illegal_address);
}
