/* SPDX-License-Identifier: MIT */
/*
 * Nodes that a client changed after they were built, on the emulated GPU: asking
 * whether they are supported is no error, computing them succeeds or fails with
 * one reason, no kernel touches memory that it should not, and what is computed
 * is what the CPU computes.
 *
 * Each operation's sample and a few larger graphs, whose kernels access several
 * elements at once or compute several nodes; some seeded changes of each, or with
 * GGMLBACKEND_TEST_ALL every one.
 */
#include "config.h"

#include "tests/cpu/ops/nodes.h"
#include "tests/cuda/emulated.h"
#include "tests/op/edits.h"

#include "ggml-impl.h"

#include <math.h>
#include <signal.h>

/* One graph on one backend. */
struct side {
    ggml_backend_t backend;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct edited edited;
    struct ggml_tensor saved[EDITS_MAX_TENSORS];
    struct ggml_tensor *bytes[EDITS_MAX_TENSORS]; /* of a buffer, all; or NULL */
    bool has_room; /* in buffers, before and behind tensors */
};

enum { ROOM = 128, SOME = 8 };

struct scene {
    const char *name;
    struct side gpu, cpu;
    char *start[EDITS_MAX_TENSORS]; /* what is in a buffer before computing */
};

static char what[200]; /* is being done */
static int n_errors, n_tried, n_computed, n_compared, n_wrong;
static char last_error[200];

static void
count_errors(enum ggml_log_level level, const char *text, void *data)
{
    (void)data;
    if (level != GGML_LOG_LEVEL_ERROR)
        return;
    n_errors++;
    snprintf(last_error, sizeof(last_error), "%s", text);
}

static void
say_what_and_die(int number)
{
    const ssize_t n = write(2, what, strlen(what));

    (void)n;
    signal(number, SIG_DFL);
    raise(number);
}

static void
complain(const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    n_wrong++;
}

/* ---- graphs that are larger than the samples ---- */

#define BUILD(name, call)                                                 \
    static struct ggml_tensor *                                           \
    name(struct ggml_context *ctx, struct ggml_tensor *const *s)          \
    {                                                                     \
        return call;                                                      \
    }

BUILD(product, ggml_mul_mat(ctx, s[0], s[1]))
BUILD(product_by_expert, ggml_mul_mat_id(ctx, s[0], s[1], s[2]))
BUILD(attention, ggml_flash_attn_ext(ctx, s[0], s[1], s[2], s[3], 0.1f, 0, 0))
BUILD(copied, ggml_cpy(ctx, s[0], s[1]))
BUILD(rows, ggml_get_rows(ctx, s[0], s[1]))
BUILD(norm_mul, ggml_mul(ctx, ggml_rms_norm(ctx, s[0], 1e-5f), s[1]))
BUILD(get_norm, ggml_mul(ctx, ggml_rms_norm(
    ctx, ggml_get_rows(ctx, s[0], s[1]), 1e-5f), s[2]))
BUILD(add_norm_mul, ggml_mul(ctx, ggml_rms_norm(
    ctx, ggml_add(ctx, s[0], s[1]), 1e-5f), s[2]))
BUILD(gate, ggml_mul(ctx, ggml_silu(ctx, s[0]), s[1]))
BUILD(product_sum, ggml_add(ctx, ggml_mul_mat(ctx, s[0], s[1]), s[2]))
BUILD(two_products, ggml_mul(ctx, ggml_mul_mat(ctx, s[0], s[2]),
                             ggml_mul_mat(ctx, s[1], s[2])))
BUILD(scores, ggml_soft_max(ctx, ggml_diag_mask_inf(
    ctx, ggml_scale(ctx, s[0], 0.5f), 2)))
BUILD(slices, ggml_concat(
    ctx, ggml_cont(ctx, ggml_view_2d(ctx, s[0], 16, 3, s[0]->nb[1], 0)),
    ggml_cont(ctx, ggml_view_2d(ctx, s[0], 16, 3, s[0]->nb[1], 64)), 0))
BUILD(stored, ggml_cpy(
    ctx, ggml_rope(ctx, s[0], s[1], 32, GGML_ROPE_TYPE_NEOX), s[2]))

static struct ggml_tensor *
route(struct ggml_context *ctx, struct ggml_tensor *const *s)
{
    struct ggml_tensor *p = ggml_soft_max(ctx, s[0]);
    struct ggml_tensor *best = ggml_top_k(ctx, p, 2);
    struct ggml_tensor *picked = ggml_get_rows(
        ctx, ggml_reshape_3d(ctx, p, 1, s[0]->ne[0], s[0]->ne[1]), best);

    picked = ggml_reshape_2d(ctx, picked, 2, s[0]->ne[1]);
    return ggml_div(ctx, picked, ggml_sum_rows(ctx, picked));
}

#define F32(...) { GGML_TYPE_F32, { __VA_ARGS__ } }
#define F16(...) { GGML_TYPE_F16, { __VA_ARGS__ } }
#define I32(...) { GGML_TYPE_I32, { __VA_ARGS__ } }
#define Q(type, ...) { GGML_TYPE_##type, { __VA_ARGS__ } }
#define SCENE(op, name, ...) { #name, GGML_OP_##op, { __VA_ARGS__ }, name }

static const struct sample larger[] = {
    SCENE(MUL_MAT, product, F32(64, 6, 1, 1), F32(64, 1, 1, 1)),
    SCENE(MUL_MAT, product, F16(64, 6, 1, 1), F32(64, 5, 1, 1)),
    SCENE(MUL_MAT, product, F16(64, 6, 2, 1), F16(64, 9, 4, 1)),
    SCENE(MUL_MAT, product, F32(64, 6, 1, 1), F32(64, 9, 1, 1)),
    SCENE(MUL_MAT, product, Q(BF16, 64, 6, 1, 1), F32(64, 9, 1, 1)),
    SCENE(MUL_MAT, product, Q(Q4_0, 64, 6, 1, 1), F32(64, 1, 1, 1)),
    SCENE(MUL_MAT, product, Q(Q8_0, 64, 6, 1, 1), F32(64, 9, 1, 1)),
    SCENE(MUL_MAT, product, Q(Q4_K, 256, 3, 1, 1), F32(256, 1, 1, 1)),
    SCENE(MUL_MAT, product, Q(Q4_K, 256, 3, 1, 1), F32(256, 9, 1, 1)),
    SCENE(MUL_MAT, product, Q(Q6_K, 256, 3, 1, 1), F32(256, 2, 1, 1)),
    SCENE(MUL_MAT, product, Q(IQ2_XS, 256, 3, 1, 1), F32(256, 1, 1, 1)),
    SCENE(MUL_MAT_ID, product_by_expert, Q(Q4_1, 32, 6, 3, 1),
          F32(32, 2, 3, 1), I32(2, 3, 1, 1)),
    SCENE(MUL_MAT_ID, product_by_expert, F16(32, 6, 2, 1), F32(32, 1, 20, 1),
          I32(2, 20, 1, 1)),
    SCENE(FLASH_ATTN_EXT, attention, F32(64, 1, 4, 1), F16(64, 9, 2, 1),
          F16(64, 9, 2, 1), F16(9, 32, 1, 1)),
    SCENE(FLASH_ATTN_EXT, attention, F32(64, 9, 4, 1), F16(64, 9, 2, 1),
          F16(64, 9, 2, 1), F16(9, 32, 1, 1)),
    SCENE(FLASH_ATTN_EXT, attention, F32(64, 1, 4, 1), Q(Q8_0, 64, 9, 2, 1),
          Q(Q4_0, 64, 9, 2, 1), F16(9, 32, 1, 1)),
    SCENE(CPY, copied, F32(64, 3, 2, 1), Q(Q4_0, 64, 3, 2, 1)),
    SCENE(CPY, copied, F32(64, 3, 2, 1), F16(64, 3, 2, 1)),
    SCENE(CPY, copied, Q(Q8_0, 64, 3, 2, 1), F32(64, 3, 2, 1)),
    SCENE(CPY, copied, F16(64, 3, 2, 1), F16(64, 3, 2, 1)),
    SCENE(GET_ROWS, rows, Q(Q4_K, 256, 3, 1, 1), I32(2, 1, 1, 1)),
    SCENE(GET_ROWS, rows, Q(Q5_1, 64, 3, 1, 1), I32(2, 1, 1, 1)),
    SCENE(MUL, norm_mul, F32(64, 3, 1, 1), F32(64, 1, 1, 1)),
    SCENE(MUL, norm_mul, F32(1024, 2, 1, 1), F32(1024, 1, 1, 1)),
    SCENE(MUL, get_norm, F32(64, 4, 1, 1), I32(3, 1, 1, 1), F32(64, 1, 1, 1)),
    SCENE(MUL, add_norm_mul, F32(64, 3, 1, 1), F32(64, 3, 1, 1),
          F32(64, 1, 1, 1)),
    SCENE(MUL, gate, F32(64, 3, 1, 1), F32(64, 3, 1, 1)),
    SCENE(ADD, product_sum, Q(Q4_0, 64, 6, 1, 1), F32(64, 1, 1, 1),
          F32(6, 1, 1, 1)),
    SCENE(MUL, two_products, Q(Q4_0, 64, 6, 1, 1), Q(Q4_0, 64, 6, 1, 1),
          F32(64, 1, 1, 1)),
    SCENE(SOFT_MAX, scores, F32(33, 5, 2, 1)),
    SCENE(CONCAT, slices, F32(40, 3, 1, 1)),
    SCENE(CPY, stored, F32(64, 2, 3, 1), I32(3, 1, 1, 1), F16(64, 2, 3, 1)),
    SCENE(CPY, stored, F32(64, 2, 3, 1), I32(3, 1, 1, 1),
          Q(Q8_0, 64, 2, 3, 1)),
    SCENE(DIV, route, F32(8, 3, 1, 1)),
};

#define N_LARGER (sizeof(larger) / sizeof(larger[0]))

/* ---- scenes ---- */

/* T in BUFFER, AT bytes behind its first one. */
static void
alloc_at(ggml_backend_buffer_t buffer, struct ggml_tensor *t, size_t at)
{
    char *const base = ggml_backend_buffer_get_base(buffer);

    CHECK(ggml_backend_tensor_alloc(buffer, t, base + at) ==
          GGML_STATUS_SUCCESS);
}

/* Memory for tensor T, number I, which a view has of its own source. */
static void
place(struct side *side, struct ggml_tensor *t, int i)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_get_default_buffer_type(side->backend);
    size_t size = ggml_backend_buft_get_alloc_size(buft, t);

    CHECK(i < EDITS_MAX_TENSORS);
    side->edited.tensor[i] = t;
    if (t->view_src != NULL) {
        CHECK(ggml_backend_view_init(t) == GGML_STATUS_SUCCESS);
        return;
    }
    size = size > 0 ? size : 1;
    if (side->has_room)
        size += size + 2 * ROOM;
    side->edited.buffer[i] = ggml_backend_buft_alloc_buffer(buft, size);
    CHECK(side->edited.buffer[i] != NULL);
    alloc_at(side->edited.buffer[i], t, side->has_room ? ROOM : 0);
    side->bytes[i] =
        ggml_new_tensor_1d(side->ctx, GGML_TYPE_I8, (int64_t)size);
    alloc_at(side->edited.buffer[i], side->bytes[i], 0);
}

static bool
is_placed(const struct side *side, const struct ggml_tensor *t)
{
    for (int i = 0; i < side->edited.n; i++)
        if (side->edited.tensor[i] == t)
            return true;
    return false;
}

static void
open_side(struct side *side, const struct sample *sample,
          ggml_backend_t backend, bool has_room)
{
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    const int n = n_sources(sample);

    memset(side, 0, sizeof(*side));
    side->backend = backend;
    side->has_room = has_room;
    side->ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)256 << 10, .no_alloc = true });
    CHECK(side->ctx != NULL);
    for (int i = 0; i < n; i++) {
        s[i] = ggml_new_tensor(side->ctx, sample->sources[i].type,
                               GGML_MAX_DIMS, sample->sources[i].ne);
        place(side, s[i], side->edited.n++);
    }
    side->graph = ggml_new_graph_custom(side->ctx, 64, false);
    ggml_build_forward_expand(side->graph, sample->build(side->ctx, s));
    for (int i = 0; i < side->graph->n_nodes; i++)
        if (!is_placed(side, side->graph->nodes[i]))
            place(side, side->graph->nodes[i], side->edited.n++);
    for (int i = 0; i < side->edited.n; i++)
        side->saved[i] = *side->edited.tensor[i];
}

static void
restore(const struct scene *scene, struct side *side)
{
    for (int i = 0; i < side->edited.n; i++)
        *side->edited.tensor[i] = side->saved[i];
    for (int i = 0; i < side->edited.n; i++)
        if (side->bytes[i] != NULL)
            ggml_backend_tensor_set(side->bytes[i], scene->start[i], 0,
                                    (size_t)scene->cpu.bytes[i]->ne[0]);
}

/* Both start with the same bytes, those of results with zeros. */
static void
open_scene(struct scene *scene, const struct sample *sample,
           ggml_backend_t gpu, ggml_backend_t cpu, bool has_room)
{
    const int n = n_sources(sample);
    struct gb_random random;

    memset(scene, 0, sizeof(*scene));
    gb_random_init(&random, 7);
    scene->name = sample->name;
    open_side(&scene->gpu, sample, gpu, has_room);
    open_side(&scene->cpu, sample, cpu, has_room);
    for (int i = 0; i < scene->cpu.edited.n; i++) {
        struct ggml_tensor *t = scene->cpu.edited.tensor[i];

        if (scene->cpu.bytes[i] == NULL)
            continue;
        ggml_backend_buffer_clear(scene->cpu.edited.buffer[i], 0);
        ggml_backend_buffer_clear(scene->gpu.edited.buffer[i], 0);
        scene->start[i] = calloc(1, (size_t)scene->cpu.bytes[i]->ne[0]);
        CHECK(scene->start[i] != NULL);
        if (i < n)
            fill_tensor(t, &random);
        memcpy(scene->start[i], scene->cpu.bytes[i]->data,
               (size_t)scene->cpu.bytes[i]->ne[0]);
    }
}

static void
close_side(struct side *side)
{
    for (int i = 0; i < side->edited.n; i++)
        ggml_backend_buffer_free(side->edited.buffer[i]);
    ggml_free(side->ctx);
}

static void
close_scene(struct scene *scene)
{
    for (int i = 0; i < scene->cpu.edited.n; i++)
        free(scene->start[i]);
    close_side(&scene->gpu);
    close_side(&scene->cpu);
}

/* ---- results ---- */

static float
element(const char *bytes, enum ggml_type type, size_t i)
{
    ggml_fp16_t half;
    ggml_bf16_t brain;
    int32_t whole;
    float value;

    switch ((int)type) {
    case GGML_TYPE_F32:
        memcpy(&value, bytes + i * sizeof(value), sizeof(value));
        return value;
    case GGML_TYPE_F16:
        memcpy(&half, bytes + i * sizeof(half), sizeof(half));
        return ggml_fp16_to_fp32(half);
    case GGML_TYPE_BF16:
        memcpy(&brain, bytes + i * sizeof(brain), sizeof(brain));
        return ggml_bf16_to_fp32(brain);
    default:
        memcpy(&whole, bytes + i * sizeof(whole), sizeof(whole));
        return (float)whole;
    }
}

/*
 * Do A and B, SIZE bytes of TYPE, agree as far as kernels of different precision
 * do: to a fiftieth of the largest value?  What overflowed or is none in one of
 * them is not looked at.
 */
static bool
agree(const char *a, const char *b, size_t size, enum ggml_type type)
{
    const size_t n = size / ggml_type_size(type);
    float most = 1e-3f, apart = 0.0f;

    for (size_t i = 0; i < n; i++) {
        const float x = element(a, type, i), y = element(b, type, i);

        if (!isfinite(x) || !isfinite(y))
            continue;
        most = fmaxf(most, fabsf(y));
        apart = fmaxf(apart, fabsf(x - y));
    }
    return apart <= most / 50.0f;
}

static bool
is_comparable(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16 || type == GGML_TYPE_I32;
}

/* The tensor whose buffer node T writes to. */
static int
root_of(const struct side *side, const struct ggml_tensor *t)
{
    for (int i = 0; i < side->edited.n; i++)
        if (side->edited.tensor[i] ==
            (t->view_src != NULL ? t->view_src : t))
            return i;
    return -1;
}

/* Rotations have no digits that are right where frequencies may be anything. */
static bool
has_other_frequencies(const struct side *side)
{
    for (int i = 0; i < side->edited.n; i++) {
        const struct ggml_tensor *t = side->edited.tensor[i];

        if ((t->op == GGML_OP_ROPE || t->op == GGML_OP_ROPE_BACK) &&
            memcmp(t->op_params, side->saved[i].op_params,
                   sizeof(t->op_params)) != 0)
            return true;
    }
    return false;
}

/* Of the last node, as the type that it has now. */
static void
compare(struct scene *scene)
{
    const struct ggml_tensor *node =
        scene->gpu.graph->nodes[scene->gpu.graph->n_nodes - 1];
    const int i = root_of(&scene->gpu, node);
    size_t size;
    char *bytes;

    if (i < 0 || has_other_frequencies(&scene->gpu) ||
        scene->gpu.bytes[i] == NULL || !is_comparable(node->type) ||
        node->buffer != scene->gpu.edited.buffer[i])
        return;
    size = (size_t)scene->cpu.bytes[i]->ne[0];
    bytes = malloc(size);
    CHECK(bytes != NULL);
    ggml_backend_tensor_get(scene->gpu.bytes[i], bytes, 0, size);
    if (!agree(bytes, scene->cpu.bytes[i]->data, size, node->type))
        complain("differs from the CPU");
    n_compared++;
    free(bytes);
}

/* ---- changes ---- */

static bool
are_supported(const struct side *side)
{
    bool are = true;

    for (int i = 0; i < side->graph->n_nodes; i++)
        are = ggml_backend_supports_op(side->backend, side->graph->nodes[i]) &&
              are;
    return are;
}

/* Is what T writes, or reads, in memory of ROOT's buffer? */
static bool
is_in(const struct side *side, const struct ggml_tensor *t, int root)
{
    return root >= 0 && root_of(side, t) == root;
}

static bool
lie_alike(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a != b && a->data == b->data && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

/* Has a node no result that is right, because it reads what it writes, element by
 * element elsewhere, and its threads are in no order? */
static bool
reads_what_it_writes(const struct side *side)
{
    for (int i = 0; i < side->graph->n_nodes; i++) {
        const struct ggml_tensor *node = side->graph->nodes[i];
        const int root = root_of(side, node);

        for (int s = 0; s < GGML_MAX_SRC; s++) {
            if (node->src[s] == NULL || !is_in(side, node->src[s], root))
                continue;
            if (!lie_alike(node, node->src[s]) ||
                node->op != side->saved[side->edited.n - 1].op)
                return true;
        }
        if (node->op == GGML_OP_OPT_STEP_ADAMW && node->src[2] == node->src[3])
            return true;
    }
    return false;
}

/* Compute both sides as they are now, then put them back. */
static void
try_scene(struct scene *scene)
{
    const uint64_t reports = emulator.reports();
    enum ggml_status status;
    bool can_run;

    if (reads_what_it_writes(&scene->gpu)) {
        restore(scene, &scene->gpu);
        restore(scene, &scene->cpu);
        return;
    }
    n_tried++;
    n_errors = 0;
    can_run = are_supported(&scene->gpu);
    if (n_errors > 0)
        complain("asking was an error");
    n_errors = 0;
    alarm(60);
    status = ggml_backend_graph_compute(scene->gpu.backend, scene->gpu.graph);
    alarm(0);
    if (status != GGML_STATUS_SUCCESS && status != GGML_STATUS_FAILED)
        complain("another status");
    if (n_errors != (status != GGML_STATUS_SUCCESS)) {
        fprintf(stderr, "%d errors, status %d, %s", n_errors, (int)status,
                last_error);
        complain("not one reason");
    }
    if (!can_run && status == GGML_STATUS_SUCCESS)
        complain("computed what is not supported");
    if (emulator.reports() != reports)
        complain("the emulator reports a fault");
    if (status == GGML_STATUS_SUCCESS) {
        n_computed++;
        n_errors = 0;
        if (ggml_backend_graph_compute(scene->cpu.backend,
                                       scene->cpu.graph) ==
            GGML_STATUS_SUCCESS)
            compare(scene);
    }
    restore(scene, &scene->gpu);
    restore(scene, &scene->cpu);
}

static void
apply(struct scene *scene, enum edit edit, int t, int way)
{
    char ignored[sizeof(what)] = "";

    edits_apply(&scene->gpu.edited, edit, t, way, what, sizeof(what));
    edits_apply(&scene->cpu.edited, edit, t, way, ignored, sizeof(ignored));
}

static void
begin(const struct scene *scene)
{
    snprintf(what, sizeof(what), "%s", scene->name);
}

static void
each_change(struct scene *scene)
{
    for (int t = 0; t < scene->gpu.edited.n; t++) {
        for (int e = 0; e < EDIT_COUNT; e++) {
            const int n = edits_ways(&scene->gpu.edited, (enum edit)e);

            for (int way = 0; way < n; way++) {
                begin(scene);
                apply(scene, (enum edit)e, t, way);
                try_scene(scene);
            }
        }
    }
}

/* N of one field, or of two: not of a size and a stride, since what has many
 * elements at few addresses takes as long as it has elements. */
static void
some_changes(struct scene *scene, struct gb_random *random, int n)
{
    for (int i = 0; i < n; i++) {
        const int n_fields = 1 + (int)(gb_random_u64(random) % 2);
        int before = EDIT_COUNT;

        begin(scene);
        for (int k = 0; k < n_fields; k++) {
            int e = (int)(gb_random_u64(random) % EDIT_COUNT);
            int ways;

            if (e + before == EDIT_SIZE + EDIT_STRIDE)
                e = before;
            before = e;
            ways = edits_ways(&scene->gpu.edited, (enum edit)e);
            apply(scene, (enum edit)e,
                  (int)(gb_random_u64(random) %
                        (uint64_t)scene->gpu.edited.n),
                  (int)(gb_random_u64(random) % (uint64_t)ways));
        }
        try_scene(scene);
    }
}

static bool
is_of_client(enum ggml_op op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

/* Without room what leaves a tensor leaves its buffer; with room tensors may begin
 * and step anywhere. */
static void
try_sample(const struct sample *sample, ggml_backend_t gpu, ggml_backend_t cpu,
           bool has_room, struct gb_random *random)
{
    struct scene scene;

    if (is_of_client(sample->op))
        return;
    open_scene(&scene, sample, gpu, cpu, has_room);
    restore(&scene, &scene.gpu);
    restore(&scene, &scene.cpu);
    begin(&scene);
    try_scene(&scene);
    if (getenv("GGMLBACKEND_TEST_ALL") != NULL)
        each_change(&scene);
    some_changes(&scene, random, SOME);
    begin(&scene);
    try_scene(&scene);
    close_scene(&scene);
}

static void
try_all(ggml_backend_t gpu, ggml_backend_t cpu)
{
    struct gb_random random;

    gb_random_init(&random, gb_test_seed(29));
    for (int has_room = 0; has_room < 2; has_room++) {
        for (size_t i = 0; i < N_SAMPLES; i++)
            try_sample(&samples[i], gpu, cpu, has_room, &random);
        for (size_t i = 0; i < N_LARGER; i++)
            try_sample(&larger[i], gpu, cpu, has_room, &random);
    }
}

static void
change_all(void)
{
    ggml_backend_t gpu, cpu = ggml_backend_cpu_init();

    CHECK(cuda_load() != NULL && cpu != NULL);
    gpu = cuda_backend("CUDA0");
    ggml_backend_cpu_set_n_threads(cpu, 1);
    signal(SIGSEGV, say_what_and_die);
    signal(SIGFPE, say_what_and_die);
    signal(SIGALRM, say_what_and_die);
    signal(SIGABRT, say_what_and_die);
    ggml_log_set(count_errors, NULL);
    try_all(gpu, cpu);
    ggml_log_set(NULL, NULL);
    fprintf(stderr, "# %d tried, %d computed, %d compared, %d wrong\n", n_tried,
            n_computed, n_compared, n_wrong);
    ggml_backend_free(gpu);
    ggml_backend_free(cpu);
    CHECK(emulator.live() == 0);
    CHECK(n_wrong == 0 && n_compared > 100);
}

/* ---- lists of nodes ---- */

/* The graph fails each time, as a graph and as a plan, with one reason. */
static void
check_fails(struct side *side, const char *how)
{
    snprintf(what, sizeof(what), "%s", how);
    for (int i = 0; i < 2; i++) {
        n_errors = 0;
        if (ggml_backend_graph_compute(side->backend, side->graph) !=
                GGML_STATUS_FAILED || n_errors != 1)
            complain("not one reason");
        n_errors = 0;
        if (ggml_backend_graph_plan_create(side->backend, side->graph) !=
                NULL || n_errors != 1)
            complain("not one reason for a plan");
    }
}

static void
change_lists(void)
{
    static const int counts[] = { -1, INT32_MIN, 65, INT32_MAX };
    struct ggml_tensor *node, **nodes;
    ggml_backend_t gpu;
    struct side side;

    CHECK(cuda_load() != NULL);
    gpu = cuda_backend("CUDA0");
    open_side(&side, &larger[0], gpu, false);
    ggml_backend_buffer_clear(side.edited.buffer[0], 0);
    ggml_backend_buffer_clear(side.edited.buffer[1], 0);
    nodes = side.graph->nodes;
    node = nodes[0];
    ggml_log_set(count_errors, NULL);
    for (int turn = 0; turn < 2; turn++) {
        nodes[0] = NULL;
        check_fails(&side, "a node that is not there");
        nodes[0] = node;
        side.graph->nodes = NULL;
        check_fails(&side, "no list");
        side.graph->nodes = nodes;
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            side.graph->n_nodes = counts[i];
            check_fails(&side, "a count that is none");
        }
        side.graph->n_nodes = 1;
        CHECK(ggml_backend_graph_compute(gpu, side.graph) ==
              GGML_STATUS_SUCCESS);
    }
    ggml_log_set(NULL, NULL);
    close_side(&side);
    ggml_backend_free(gpu);
    CHECK(n_wrong == 0 && emulator.live() == 0 && emulator.reports() == 0);
}

static void
lists_that_are_none_are_failed_graphs(void **state)
{
    (void)state;
    cuda_case(change_lists, "", NULL);
}

static void
changed_nodes_are_refused_or_right(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(change_all, "", &errors);
    print_message("%s", errors);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_that_are_none_are_failed_graphs),
        cmocka_unit_test(changed_nodes_are_refused_or_right),
    };

    return cmocka_run_group_tests_name("edited", tests, NULL, NULL);
}
