/* SPDX-License-Identifier: MIT */
/*
 * bench/counters.c - what products and attention read on the emulated driver,
 * and what it costs there: bytes, sectors, bank conflicts.  Nothing is timed.
 *
 * counters [--full | --attention]: a line a figure, with tabs: what, type,
 * figure, value, target, and whether it is met.  With --full the GEMV has all
 * 4,096 rows of a matrix, which takes minutes, in the place of 8; with --attention
 * there are the lines of that alone.
 *
 *   gemv       one column; of the weights alone, whose rows have 14,336 values:
 *     fetched     bytes of the sectors that blocks touch, each once a block, for
 *                 a byte of weights: what comes from memory
 *     asked       bytes that lanes ask for, for a byte of weights
 *     efficiency  the fewest sectors for the bytes of a request, in percent of
 *                 those that it touches
 *     lines_1     of 128 bytes that requests touch for 1,024 weights, which one
 *                 warp takes at a time; those of the activations too.  lines_8:
 *                 with 8 columns
 *     turns_1     of shared memory for 1,024 weights; turns_8
 *   gemm       by architecture:
 *     ways        turns of shared memory for each that a request's words need
 *     ways_long   the same where rows are long, as those of models: they begin at
 *                 multiples of 16 bytes (9.0a, whose kernel has them there as they lie)
 *   attention  head size 128, four heads that share keys and values in f16:
 *     moved       bytes that memory gives and takes, scratch too, for a byte of
 *                 queries, keys, values, mask and result: sectors counted once
 *                 a launch, as the card's cache has what several blocks read
 *     asked       the same, sectors counted once a thread block
 *     ways        as above
 *
 * Places in the code are those of the host's compiler, which does not join
 * neighbouring loads as a card's does: asked and fetched say what the source
 * says, and efficiency and ways are those of the source's accesses.
 */
#include "bench.h"
#include "emulated.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 14336, LONG = 4096, ROWS = 8, ALL_ROWS = 4096, HEAD = 128, HEADS = 4 };

/* Cards of the emulated driver: the second has the share of 132 multiprocessors
 * that one of eight K/V heads has. */
static const struct {
    const char *name, *value;
} settings[] = {
    { "GGMLBACKEND_TEST_EMU_COUNT", "1" },
    { "GGMLBACKEND_TEST_EMU_CHECK", "0" },
    { "GGMLBACKEND_TEST_EMU_DEVICES", "4" },
    { "GGMLBACKEND_TEST_EMU_ARCH", "90,90,80,75" },
    { "GGMLBACKEND_TEST_EMU_SMS", "1,16,1,1" },
};

static const struct {
    const char *arch, *device, *kernel;
} gemms[] = {
    { "9.0a", "CUDA0", "gb_wgmma_gemm_" },
    { "8.0", "CUDA2", "gb_mma8_gemm_" },
    { "7.5", "CUDA3", "gb_mma_gemm_" },
    { "any", "CUDA3", "gb_gemm_" },
};

static struct bench_emulated driver;

static double
ways(const struct emu_costs *c)
{
    return c->full_turns == 0 ? 1.0
                              : (double)c->turns / (double)c->full_turns;
}

static struct emu_costs
costs_between(const struct emu_costs *before, const struct emu_costs *after)
{
    return (struct emu_costs){
        .fetched = after->fetched - before->fetched,
        .written = after->written - before->written,
        .delivered = after->delivered - before->delivered,
        .stored = after->stored - before->stored,
        .turns = after->turns - before->turns,
        .full_turns = after->full_turns - before->full_turns,
    };
}

/* ---- a graph of one operation ---- */

struct one {
    struct ggml_context *ctx;
    ggml_backend_t backend;
    ggml_backend_buffer_t buffer;
};

static struct one
begin(const char *device)
{
    ggml_backend_dev_t dev = ggml_backend_dev_by_name(device);
    struct one one = { .ctx = NULL };

    if (dev == NULL)
        bench_stop(device);
    one.backend = ggml_backend_dev_init(dev, NULL);
    one.ctx = ggml_init((struct ggml_init_params){
        .mem_size = 16 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    if (one.backend == NULL || one.ctx == NULL)
        bench_stop("a backend");
    return one;
}

/* All memory is zeros: what is read does not depend on it. */
static void
run(struct one *one, struct ggml_tensor *node, const struct ggml_tensor *of)
{
    struct ggml_cgraph *graph = ggml_new_graph(one->ctx);

    ggml_build_forward_expand(graph, node);
    one->buffer = ggml_backend_alloc_ctx_tensors(one->ctx, one->backend);
    if (one->buffer == NULL)
        bench_stop("memory");
    ggml_backend_buffer_clear(one->buffer, 0);
    driver.watch(of == NULL ? NULL : of->data,
                 of == NULL ? 0 : ggml_nbytes(of));
    if (ggml_backend_graph_compute(one->backend, graph) !=
        GGML_STATUS_SUCCESS)
        bench_stop("computing");
}

static void
end(struct one *one)
{
    ggml_backend_buffer_free(one->buffer);
    ggml_backend_free(one->backend);
    ggml_free(one->ctx);
}

/* ---- products ---- */

/* PREFIX and the type's name as kernels have it. */
static const char *
kernel_name(const char *prefix, enum ggml_type type, const char *suffix)
{
    static char name[64];

    snprintf(name, sizeof(name), "%s%s%s", prefix, ggml_type_name(type),
             suffix);
    for (char *p = name; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return name;
}

static bool
is_weight(enum ggml_type type)
{
    return ggml_type_name(type) != NULL && ggml_blck_size(type) > 0 &&
           type != GGML_TYPE_Q8_1 && type != GGML_TYPE_Q8_K;
}

/* Multiply A [k, rows] by COLS columns; accesses to A alone are counted if
 * IS_WATCHED.  False: the device cannot. */
static bool
multiply(const char *device, enum ggml_type type, int64_t k, int64_t rows,
         int64_t cols, bool is_watched)
{
    struct one one = begin(device);
    struct ggml_tensor *a = ggml_new_tensor_2d(one.ctx, type, k, rows);
    struct ggml_tensor *b =
        ggml_new_tensor_2d(one.ctx, GGML_TYPE_F32, k, cols);
    struct ggml_tensor *node = ggml_mul_mat(one.ctx, a, b);
    const bool is_supported = ggml_backend_supports_op(one.backend, node);

    if (is_supported)
        run(&one, node, is_watched ? a : NULL);
    end(&one);
    return is_supported;
}

/* For 1,024 weights: lines of all that the kernel with so many columns reads, and
 * turns of shared memory, through which weights come. */
static void
count_lines(enum ggml_type type, int64_t rows, int64_t cols, const char *suffix)
{
    const char *name = kernel_name("gb_gemv_", type, suffix);
    struct emu_costs before, c;

    driver.costs_of(name, &before);
    multiply("CUDA0", type, ROW, rows, cols, false);
    driver.costs_of(name, &c);
    printf("gemv\t%s\tlines%s\t%.1f\t\t\n", ggml_type_name(type), suffix,
           1024.0 * (double)(c.lines - before.lines) / (double)(rows * ROW));
    printf("gemv\t%s\tturns%s\t%.1f\t\t\n", ggml_type_name(type), suffix,
           1024.0 * (double)(c.turns - before.turns) / (double)(rows * ROW));
}

static void
count_gemv(enum ggml_type type, int64_t rows)
{
    const char *text = ggml_type_name(type);
    const double bytes = (double)rows * (double)ggml_row_size(type, ROW);
    struct emu_costs c;

    if (!multiply("CUDA0", type, ROW, rows, 1, true))
        return;
    driver.costs_of(kernel_name("gb_gemv_", type, "_1"), &c);
    bench_figure("gemv", text, "fetched", (double)c.fetched / bytes, "<=",
                 1.02);
    bench_figure("gemv", text, "asked", (double)c.read / bytes, "<=", 1.02);
    bench_figure("gemv", text, "efficiency",
                 100.0 * (double)c.full_sectors / (double)c.sectors, ">=", 95.0);
    count_lines(type, rows, 1, "_1");
    count_lines(type, rows, 8, "_8");
}

static void
count_gemms(enum ggml_type type)
{
    for (size_t i = 0; i < sizeof(gemms) / sizeof(gemms[0]); i++) {
        struct emu_costs c;
        char what[32];

        multiply(gemms[i].device, type, 256, 64, 256, false);
        driver.costs_of(kernel_name(gemms[i].kernel, type, ""), &c);
        snprintf(what, sizeof(what), "gemm-%s", gemms[i].arch);
        if (c.launches > 0)
            bench_figure(what, ggml_type_name(type), "ways", ways(&c), "<=",
                         1.1);
    }
}

/* The first of these kernels, with a tile of long rows. */
static void
count_long_rows(enum ggml_type type)
{
    const char *const kernel = kernel_name(gemms[0].kernel, type, "");
    struct emu_costs before, after, c;

    driver.costs_of(kernel, &before);
    multiply(gemms[0].device, type, LONG, 128, 256, false);
    driver.costs_of(kernel, &after);
    c = costs_between(&before, &after);
    if (after.launches > before.launches)
        bench_figure("gemm-9.0a", ggml_type_name(type), "ways_long", ways(&c),
                     "<=", 1.1);
}

/* ---- attention ---- */

static void
count_attention(const char *what, int64_t tokens, int64_t keys)
{
    struct one one = begin("CUDA1");
    struct ggml_tensor *q =
        ggml_new_tensor_3d(one.ctx, GGML_TYPE_F32, HEAD, tokens, HEADS);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(one.ctx, GGML_TYPE_F16, HEAD, keys, 1);
    struct ggml_tensor *v =
        ggml_new_tensor_3d(one.ctx, GGML_TYPE_F16, HEAD, keys, 1);
    struct ggml_tensor *mask = ggml_new_tensor_2d(
        one.ctx, GGML_TYPE_F16, keys, GGML_PAD(tokens, GGML_KQ_MASK_PAD));
    struct ggml_tensor *node =
        ggml_flash_attn_ext(one.ctx, q, k, v, mask, 0.1f, 0.0f, 0.0f);
    const double least =
        (double)(ggml_nbytes(q) + ggml_nbytes(k) + ggml_nbytes(v) +
                 ggml_nbytes(node) + (size_t)tokens * mask->nb[1]);
    struct emu_costs before, after, c;

    driver.costs_of(NULL, &before);
    run(&one, node, NULL);
    end(&one);
    driver.costs_of(NULL, &after);
    c = costs_between(&before, &after);
    bench_figure(what, "f16", "moved",
                 (double)(c.delivered + c.stored) / least, "<=", 1.1);
    bench_figure(what, "f16", "asked",
                 (double)(c.fetched + c.written) / least, NULL, 0.0);
    bench_figure(what, "f16", "ways", ways(&c), "<=", 1.1);
}

int
main(int argc, char **argv)
{
    const bool is_full = argc == 2 && strcmp(argv[1], "--full") == 0;
    const bool is_attention = argc == 2 && strcmp(argv[1], "--attention") == 0;
    const int n_types = is_attention ? 0 : GGML_TYPE_COUNT;

    if (argc > 1 && !is_full && !is_attention)
        bench_stop("usage: counters [--full | --attention]");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        setenv(settings[i].name, settings[i].value, 1);
    ggml_backend_load_all();
    driver = bench_find_emulated();
    printf("what\ttype\tfigure\tvalue\ttarget\tis\n");
    for (int type = 0; type < n_types; type++)
        if (is_weight((enum ggml_type)type))
            count_gemv((enum ggml_type)type, is_full ? ALL_ROWS : ROWS);
    for (int type = 0; type < n_types; type++)
        if (is_weight((enum ggml_type)type))
            count_gemms((enum ggml_type)type);
    for (int type = 0; type < n_types; type++)
        if (is_weight((enum ggml_type)type))
            count_long_rows((enum ggml_type)type);
    count_attention("decode-4k", 1, 4096);
    count_attention("prefill-32x1k", 32, 1024);
    count_attention("prefill-32x4k", 32, 4096);
    count_attention("decode-32k", 1, 32768);
    return 0;
}
