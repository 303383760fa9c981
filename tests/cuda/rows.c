/* SPDX-License-Identifier: MIT */
/*
 * The rows of the operation table, without a card: what the CPU backend
 * computes they accept, and what they launch is within the limits that
 * kernels.def and the card set.
 *
 * Nodes are the samples of tests/op/operations.def with types, lengths, strides
 * and parameters changed at random.
 */
#include "tests/cpu/ops/nodes.h"

#include "backends/cuda/kernels/args-all.h"
#include "backends/cuda/ops/op.h"

#include <stdio.h>

#define N_TRIALS     300     /* of each sample */
#define MAX_ELEMENTS 1000000 /* of a tensor: some launch for each few rows */
#define MAX_TENSORS  (GGML_MAX_SRC + 1)

/* ---- kernels ---- */

static const struct {
    const char *name;
    size_t args;
    size_t shared;
    int threads;
    enum gb_cuda_variant variant;
} kernels[] = {
#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \
    { #name, sizeof(struct gb_cuda_##args##_args), shared, threads, \
      GB_CUDA_##variant },
#include "backends/cuda/kernels/kernels.def"
#undef GB_CUDA_KERNEL
};

/* A block is whole warps of 32 and of 64 lanes, but those of a vendor's
 * instructions; no card has more threads a block, nor larger arguments. */
static void
kernels_are_within_what_all_cards_have(void **state)
{
    (void)state;
    for (int i = 0; i < GB_CUDA_KERNEL_COUNT; i++) {
        if (kernels[i].threads <= 0 || kernels[i].threads > 1024 ||
            kernels[i].threads % 32 != 0)
            fail_msg("%s: %d threads", kernels[i].name, kernels[i].threads);
        if (kernels[i].args > 4096)
            fail_msg("%s: %zu bytes of arguments", kernels[i].name,
                     kernels[i].args);
    }
}

/* ---- nodes ---- */

struct scene {
    const struct sample *sample;
    struct gb_random random;
    struct ggml_context *ctx;
    struct ggml_tensor *tensor[MAX_TENSORS]; /* the node is the last */
    int n;
};

/* Even over 0 to N - 1. */
static int
draw(struct scene *scene, int n)
{
    return (int)(gb_random_u64(&scene->random) >> 33) % n;
}

static struct ggml_tensor *
draw_tensor(struct scene *scene)
{
    return scene->tensor[draw(scene, scene->n)];
}

static struct ggml_tensor *
node_of(const struct scene *scene)
{
    return scene->tensor[scene->n - 1];
}

static void
build(struct scene *scene)
{
    const struct sample *sample = scene->sample;
    const struct ggml_init_params params = {
        .mem_size = 64 * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    scene->ctx = ggml_init(params);
    assert_non_null(scene->ctx);
    scene->n = n_sources(sample);
    for (int i = 0; i < scene->n; i++)
        scene->tensor[i] = ggml_new_tensor(
            scene->ctx, sample->sources[i].type, 4, sample->sources[i].ne);
    scene->tensor[scene->n] = sample->build(scene->ctx, scene->tensor);
    scene->n++;
    assert_int_equal(node_of(scene)->op, sample->op);
}

/* The same length instead of another one, in all tensors that have that as the
 * same dimension. */
static void
change_length(struct scene *scene)
{
    static const int64_t lengths[] = {
        0, 1, 2, 3, 5, 32, 33, 64, 256, 513, 1025, 5000
    };
    const int d = draw(scene, GGML_MAX_DIMS);
    const int64_t from = draw_tensor(scene)->ne[d];
    const int64_t to =
        lengths[draw(scene, sizeof(lengths) / sizeof(lengths[0]))];

    for (int i = 0; i < scene->n; i++)
        if (scene->tensor[i]->ne[d] == from)
            scene->tensor[i]->ne[d] = to;
}

/* Another type instead of one, in one tensor or in all that have it. */
static void
change_type(struct scene *scene)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_I32,
        GGML_TYPE_I8,  GGML_TYPE_I16, GGML_TYPE_I64,  GGML_TYPE_F64,
        GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL,
    };
    const enum ggml_type from = draw_tensor(scene)->type;
    const enum ggml_type to =
        types[draw(scene, sizeof(types) / sizeof(types[0]))];
    const int only = draw(scene, 2) == 0 ? -1 : draw(scene, scene->n);

    for (int i = 0; i < scene->n; i++)
        if (scene->tensor[i]->type == from && (only < 0 || i == only))
            scene->tensor[i]->type = to;
}

static void
change_parameter(struct scene *scene)
{
    static const int32_t values[] = { 0, 1, 2, 3, 8, 24, -1, 4 };

    node_of(scene)->op_params[draw(scene, 15)] =
        values[draw(scene, sizeof(values) / sizeof(values[0]))];
}

/* A source is left out. */
static void
drop_source(struct scene *scene)
{
    node_of(scene)->src[draw(scene, GGML_MAX_SRC)] = NULL;
}

/* Strides of rows that are dense or have gaps, of dimensions in any order, with
 * padding, or of 0 where they are repeated. */
static void
set_strides(struct scene *scene, struct ggml_tensor *t)
{
    const int64_t block = ggml_blck_size(t->type);
    const int gaps = draw(scene, 4) == 0 ? 2 : 1;
    const int padding = draw(scene, 3);
    const int first = draw(scene, 3) == 0 ? 1 + draw(scene, 3) : 1;
    size_t next = ggml_type_size(t->type) * (size_t)gaps;

    t->nb[0] = next;
    next *= (size_t)(t->ne[0] / block + padding);
    for (int i = 0; i < 3; i++) {
        const int d = 1 + (first - 1 + i) % 3;

        t->nb[d] = next;
        next *= (size_t)(t->ne[d] > 0 ? t->ne[d] : 1);
    }
    if (t != node_of(scene) && draw(scene, 8) == 0)
        t->nb[1 + draw(scene, 3)] = 0;
}

static void
set_dense(struct ggml_tensor *t)
{
    t->nb[0] = ggml_type_size(t->type);
    t->nb[1] = ggml_row_size(t->type, t->ne[0]);
    for (int d = 2; d < GGML_MAX_DIMS; d++)
        t->nb[d] = t->nb[d - 1] * (size_t)t->ne[d - 1];
}

/* Can T be, and is it small? */
static bool
is_possible(const struct ggml_tensor *t)
{
    return t->ne[0] % ggml_blck_size(t->type) == 0 &&
           t->ne[0] * t->ne[1] < MAX_ELEMENTS &&
           t->ne[0] * t->ne[1] * t->ne[2] < MAX_ELEMENTS &&
           ggml_nelements(t) < MAX_ELEMENTS;
}

/* The built node with some changes; false: it cannot be. */
static bool
change(struct scene *scene)
{
    if (draw(scene, 2) == 0)
        change_length(scene);
    if (draw(scene, 4) == 0)
        change_length(scene);
    if (draw(scene, 2) == 0)
        change_type(scene);
    if (draw(scene, 4) == 0)
        change_type(scene);
    if (draw(scene, 4) == 0)
        change_parameter(scene);
    if (draw(scene, 8) == 0)
        drop_source(scene);
    for (int i = 0; i < scene->n; i++) {
        if (!is_possible(scene->tensor[i]))
            return false;
        if (draw(scene, 2) == 0)
            set_strides(scene, scene->tensor[i]);
        else
            set_dense(scene->tensor[i]);
    }
    return true;
}

static void
describe(const struct scene *scene, const char *what)
{
    fprintf(stderr, "%s (%s): %s\n", scene->sample->name,
            ggml_op_desc(node_of(scene)), what);
    for (int i = 0; i < scene->n; i++) {
        const struct ggml_tensor *t = scene->tensor[i];

        fprintf(stderr, "    %s", ggml_type_name(t->type));
        for (int d = 0; d < GGML_MAX_DIMS; d++)
            fprintf(stderr, " %lld/%zu", (long long)t->ne[d], t->nb[d]);
        fputc('\n', stderr);
    }
}

/* ---- launches ---- */

/* What a node's launches were, as a number. */
struct record {
    struct gb_cuda_emit emit;
    uint64_t hash;
    const char *fault;
};

static void
hash_bytes(struct record *record, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        record->hash =
            (record->hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
}

static void
record_launch(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
              unsigned n_blocks, size_t shared, const void *args, size_t size)
{
    struct record *const record = (struct record *)emit;

    if ((unsigned)kernel >= GB_CUDA_KERNEL_COUNT)
        record->fault = "launches no kernel";
    else if (size != kernels[kernel].args)
        record->fault = "gives a kernel another one's arguments";
    else if (shared > kernels[kernel].shared)
        record->fault = "asks for more shared memory than the kernel has";
    else if (shared > emit->limits->shared)
        record->fault = "asks for more shared memory than the card has";
    else if (kernels[kernel].variant > emit->limits->variant)
        record->fault = "launches a kernel that the card does not have";
    else if (n_blocks > INT32_MAX)
        record->fault = "asks for more blocks than a grid has";
    hash_bytes(record, &kernel, sizeof(kernel));
    hash_bytes(record, &n_blocks, sizeof(n_blocks));
    hash_bytes(record, &shared, sizeof(shared));
    hash_bytes(record, args, size);
}

/* What cuTensorMapEncodeTiled takes (its description in the vendor's cuda.h). */
static void
record_map(struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
           struct gb_cuda_tensor_map *out)
{
    struct record *const record = (struct record *)emit;

    if (emit->limits->variant < GB_CUDA_WGMMA)
        record->fault = "wants a map of a card without TMA";
    else if ((uintptr_t)mapped->data % 16 != 0 || (uintptr_t)out % 64 != 0 ||
             mapped->n == 0 || mapped->n > (uint64_t)1 << 32 ||
             mapped->rows == 0 || mapped->rows > (uint64_t)1 << 32 ||
             mapped->stride % 16 != 0 || mapped->stride < 2 * mapped->n ||
             mapped->stride >= (uint64_t)1 << 40 || mapped->box_rows == 0 ||
             mapped->box_rows > 256)
        record->fault = "wants a map that there cannot be";
    *out = (struct gb_cuda_tensor_map){ .opaque = { (uintptr_t)mapped->data,
                                                    mapped->n, mapped->rows,
                                                    mapped->stride } };
}

/* Other bytes where the next call's variables will be. */
static void
soil_stack(int byte)
{
    volatile char bytes[16384];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)byte;
}

static struct record
record_node(const struct gb_cuda_limits *limits,
            const struct ggml_tensor *node, int byte)
{
    struct record record = {
        .emit = {
            .limits = limits,
            .columns = (char *)(uintptr_t)((uint64_t)1 << 40),
            .scratch = (char *)(uintptr_t)((uint64_t)1 << 41),
            .block_masks = (char *)(uintptr_t)((uint64_t)3 << 40),
            .add = record_launch,
            .map = record_map,
        },
    };

    soil_stack(byte);
    gb_cuda_op_of(node->op)->emit(&record.emit, node);
    return record;
}

/* Addresses far from each other, which nothing is read from. */
static void
give_addresses(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++)
        scene->tensor[i]->data = (void *)(uintptr_t)((uint64_t)(i + 1) << 34);
}

/* The node's launches, which two calls make alike to the bit. */
static int
check_launches(struct scene *scene, const struct gb_cuda_limits *limits)
{
    const struct ggml_tensor *node = node_of(scene);
    struct record first, second;

    if (gb_cuda_op_of(node->op) == NULL || ggml_is_empty(node))
        return 0;
    give_addresses(scene);
    first = record_node(limits, node, 0x55);
    second = record_node(limits, node, 0xaa);
    if (first.hash != second.hash)
        first.fault = "is launched in another way the second time";
    if (first.fault != NULL)
        describe(scene, first.fault);
    return first.fault != NULL;
}

/* ---- the test ---- */

static struct gb_cuda_limits
draw_limits(struct scene *scene)
{
    static const int sms[] = { 1, 4, 30, 132 };
    const struct gb_cuda_limits limits = {
        .variant = (enum gb_cuda_variant)draw(scene, GB_CUDA_WGMMA + 1),
        .n_sms = sms[draw(scene, 4)],
        .warp = draw(scene, 2) == 0 ? 32 : 64,
        .shared = draw(scene, 2) == 0 ? 48 * 1024 : 227 * 1024,
    };

    return limits;
}

/* Functions of the client's run on the host alone. */
static bool
is_of_the_client(enum ggml_op op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

/* A product with none of no experts: the CPU finds out when it meets an index,
 * of which none can be good. */
static bool
has_no_experts(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_MUL_MAT_ID && node->src[0] != NULL &&
           node->src[0]->ne[2] == 0;
}

/* Ask about one node, whatever stands in it: adds to the faults, and to the
 * nodes that both run. */
static void
ask(struct scene *scene, ggml_backend_dev_t cpu, int *n_faults, int *n_both)
{
    const struct gb_cuda_limits limits = draw_limits(scene);
    const struct ggml_tensor *node = node_of(scene);
    const bool runs = gb_cuda_supports(&limits, node);

    if (!ggml_backend_dev_supports_op(cpu, node) || has_no_experts(node))
        return;
    if (!runs) {
        describe(scene, "the CPU runs it, the card does not");
        ++*n_faults;
        return;
    }
    ++*n_both;
    *n_faults += check_launches(scene, &limits);
}

static void
what_the_cpu_runs_the_card_runs_within_its_limits(void **state)
{
    const uint64_t seed = gb_test_seed(16);
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    int n_faults = 0;

    (void)state;
    assert_non_null(cpu);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct scene scene = { .sample = &samples[i] };
        int n_both = 0;

        if (is_of_the_client(samples[i].op))
            continue;
        gb_random_init(&scene.random, seed + i);
        for (int trial = 0; trial < N_TRIALS; trial++) {
            build(&scene);
            if (trial == 0 || change(&scene))
                ask(&scene, cpu, &n_faults, &n_both);
            ggml_free(scene.ctx);
        }
        if (n_both == 0)
            fail_msg("%s: no node that the CPU runs", samples[i].name);
    }
    assert_int_equal(n_faults, 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_within_what_all_cards_have),
        cmocka_unit_test(what_the_cpu_runs_the_card_runs_within_its_limits),
    };

    if (sizeof(void *) < sizeof(uint64_t)) {
        puts("1..0 # SKIP a card's addresses have 64 bits");
        return 0;
    }
    return cmocka_run_group_tests_name("rows of operations", tests, NULL,
                                       NULL);
}
