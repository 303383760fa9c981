// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-launch.cpp - launches of kernels: what is wrong with one,
 * and how often each kernel ran.
 */
#include "tests/gpu-emulator/driver.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace emu {

namespace {

/* By number in the table; and of the whole process, for COUNTS. */
std::vector<uint64_t> runs, all_runs;

size_t
number_of(const kernel *k)
{
    size_t n;

    return (size_t)(k - kernels(&n));
}

void
count_run(const kernel *k)
{
    size_t n;

    kernels(&n);
    runs.resize(n);
    all_runs.resize(n);
    runs[number_of(k)]++;
    all_runs[number_of(k)]++;
    counts[EMU_KERNELS]++;
}

int
wrong(const kernel *k, const char *what, size_t is, size_t limit, int result)
{
    report("launch of %s: %s %zu, %zu expected or allowed", k->name, what, is,
           limit);
    return result;
}

int
check_grid(const kernel *k, const unsigned grid[3])
{
    static const unsigned most[3] = { 0x7fffffff, 65535, 65535 };

    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || grid[i] > most[i])
            return wrong(k, "thread blocks", grid[i], most[i],
                         GB_CUDA_INVALID_VALUE);
    return 0;
}

int
check_block(const kernel *k, const unsigned block[3])
{
    const size_t threads = (size_t)block[0] * block[1] * block[2];

    if (threads != k->threads)
        return wrong(k, "threads of a block", threads, k->threads,
                     GB_CUDA_INVALID_VALUE);
    return 0;
}

int
check_shared(const function &f, size_t shared)
{
    if (shared > f.k->shared)
        return wrong(f.k, "bytes of shared memory", shared, f.k->shared,
                     GB_CUDA_INVALID_VALUE);
    if (shared > f.max_shared)
        return wrong(f.k, "bytes of shared memory without function_set", shared,
                     f.max_shared, GB_CUDA_INVALID_VALUE);
    return 0;
}

struct launch_item : item {
    kernel_launch what;

    int
    run()
    {
        return what.run();
    }
    bool
    may_use(const range &r) const
    {
        return what.may_use(r);
    }
};

} // namespace

uint64_t
kernel_runs(const char *name)
{
    const kernel *k = find_kernel(name);

    return k == nullptr || number_of(k) >= runs.size() ? 0 : runs[number_of(k)];
}

void
kernel_runs_reset()
{
    runs.clear();
}

int
kernel_launch::run() const
{
    const launch what = {
        k, on->number, { grid[0], grid[1], grid[2] },
        { block[0], block[1], block[2] }, shared, args.data(),
        args.size(), is_early, matrix_shares_of(on->arch),
    };

    count_run(k);
    counts[EMU_EARLY] += is_early;
    on->clock += kernel_time(*k);
    return set.is_idle ? 0 : emu::run(what);
}

/* Lines are appended in one piece: many processes write the same file. */
void
kernel_runs_write()
{
    const char *path = setting_text("COUNTS");
    std::string text;
    size_t n;
    const kernel *table = kernels(&n);

    for (size_t i = 0; i < all_runs.size(); i++)
        if (all_runs[i] != 0)
            text += std::to_string(lanes) + ' ' + table[i].name + ' ' +
                    std::to_string(all_runs[i]) + '\n';
    if (path == nullptr || text.empty())
        return;

    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);

    if (fd < 0 || write(fd, text.data(), text.size()) != (ssize_t)text.size())
        report("%s cannot be written", path);
    if (fd >= 0)
        close(fd);
}

/* Any word of the arguments that could be an address in there. */
bool
kernel_launch::may_use(const range &what) const
{
    for (size_t i = 0; i + sizeof(char *) <= args.size(); i += sizeof(char *)) {
        const char *word;

        memcpy(&word, &args[i], sizeof(word));
        if (what.overlaps({ word, 1 }))
            return true;
    }
    return false;
}

int
launch_prepare(const struct gb_cuda_kernel_node &from, kernel_launch *out)
{
    const auto f = function_of(from.function);
    int result;

    if (f == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (from.params == nullptr || from.params[0] == nullptr ||
        from.extra != nullptr)
        return GB_CUDA_INVALID_VALUE;
    if ((result = check_grid(f->k, from.grid)) != 0 ||
        (result = check_block(f->k, from.block)) != 0 ||
        (result = check_shared(*f, from.shared)) != 0)
        return result;

    const char *args = (const char *)from.params[0];

    out->k = f->k;
    out->on = f->on;
    memcpy(out->grid, from.grid, sizeof(out->grid));
    memcpy(out->block, from.block, sizeof(out->block));
    out->shared = from.shared;
    out->args.assign(args, args + f->k->args_size);
    return 0;
}

static int
add_launch(const struct gb_cuda_kernel_node &from, gb_cuda_stream stream,
           bool is_early)
{
    auto launch = std::make_unique<launch_item>();
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr)
        return result;
    result = launch_prepare(from, &launch->what);
    if (result != 0)
        return result;
    launch->what.is_early = is_early;
    queue_add(*s, std::move(launch));
    counts[EMU_LAUNCHES]++;
    return 0;
}

/* By name: the vendors' orders differ. */
static gb_cuda_kernel_node
node_of(gb_cuda_function function, const unsigned *grid, const unsigned *block,
        unsigned shared, void **params, void **extra)
{
    gb_cuda_kernel_node node = {};

    node.function = function;
    memcpy(node.grid, grid, sizeof(node.grid));
    memcpy(node.block, block, sizeof(node.block));
    node.shared = shared;
    node.params = params;
    node.extra = extra;
    return node;
}

int
api::launch(gb_cuda_function function, unsigned grid_x, unsigned grid_y,
            unsigned grid_z, unsigned block_x, unsigned block_y,
            unsigned block_z, unsigned shared, gb_cuda_stream stream,
            void **params, void **extra)
{
    const unsigned grid[] = { grid_x, grid_y, grid_z };
    const unsigned block[] = { block_x, block_y, block_z };

    return add_launch(node_of(function, grid, block, shared, params, extra),
                      stream, false);
}

/* Of the attributes only one is known. */
int
api::launch_config(const struct gb_cuda_launch_config *config,
                   gb_cuda_function function, void **params, void **extra)
{
    bool is_early = false;

    if (config == nullptr ||
        (config->n_attributes > 0 && config->attributes == nullptr))
        return GB_CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < config->n_attributes; i++) {
        if (config->attributes[i].number != GB_CUDA_ATTRIBUTE_MAY_BEGIN_EARLY)
            return GB_CUDA_INVALID_VALUE;
        is_early = config->attributes[i].value.is_on != 0;
    }

    return add_launch(node_of(function, config->grid, config->block,
                              config->shared, params, extra),
                      config->stream, is_early);
}

} // namespace emu
