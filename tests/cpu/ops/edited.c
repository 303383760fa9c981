/* SPDX-License-Identifier: MIT */
/*
 * Nodes that are changed after they were built, each field to values that
 * nobody can have meant: whether they can be computed is answered, computing
 * gives a status, with one reason if it fails, and what lies outside of buffers
 * is not touched.  Put back, the node is what it was.
 */
#include "tests/cpu/ops/nodes.h"

#include "backends/cpu/ops/check.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

#include "lib/op/op.h"
#include "lib/tensor/context.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_TENSORS  (GGML_MAX_SRC + 1)
#define BUFFER_ALIGN 64

/* A sample's node and its sources, each in a buffer of its own. */
struct scene {
    const struct sample *sample;
    ggml_backend_t backend;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct rooms rooms;
    struct ggml_tensor *tensor[MAX_TENSORS]; /* the node is the first */
    struct ggml_tensor saved[MAX_TENSORS];
    ggml_backend_buffer_t buffer[MAX_TENSORS];
    void *bytes[MAX_TENSORS]; /* what stood there before computing */
    int n;
    size_t result_size;
    void *result;
    int n_computed, n_refused;
};

static char what[160]; /* is being done, for a test that dies */
static int n_errors;

static void
count_errors(enum ggml_log_level level, const char *text, void *data)
{
    (void)text;
    (void)data;
    n_errors += level == GGML_LOG_LEVEL_ERROR;
}

/* ---- scenes ---- */

static void
give_memory(struct scene *scene, struct ggml_tensor *t, int i)
{
    const size_t size = GGML_PAD(ggml_nbytes(t), BUFFER_ALIGN);
    void *const memory = rooms_add(&scene->rooms, size, BUFFER_ALIGN);

    scene->buffer[i] = ggml_backend_cpu_buffer_from_ptr(memory, size);
    assert_non_null(scene->buffer[i]);
    assert_int_equal(ggml_backend_tensor_alloc(scene->buffer[i], t, memory),
                     GGML_STATUS_SUCCESS);
}

static void
restore(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++) {
        *scene->tensor[i] = scene->saved[i];
        if (scene->buffer[i] != NULL)
            memcpy(ggml_backend_buffer_get_base(scene->buffer[i]),
                   scene->bytes[i],
                   ggml_backend_buffer_get_size(scene->buffer[i]));
    }
}

static void
save(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++) {
        const size_t size =
            scene->buffer[i] != NULL
                ? ggml_backend_buffer_get_size(scene->buffer[i]) : 0;

        scene->saved[i] = *scene->tensor[i];
        scene->bytes[i] = malloc(size + 1);
        assert_non_null(scene->bytes[i]);
        if (size > 0)
            memcpy(scene->bytes[i],
                   ggml_backend_buffer_get_base(scene->buffer[i]), size);
    }
}

static void
scene_open(struct scene *scene, const struct sample *sample,
           ggml_backend_t backend)
{
    struct ggml_tensor *s[GGML_MAX_SRC] = { NULL };
    struct gb_random random;
    struct ggml_tensor *node;

    memset(scene, 0, sizeof(*scene));
    gb_random_init(&random, 7);
    scene->sample = sample;
    scene->backend = backend;
    scene->n = 1 + n_sources(sample);
    scene->ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)64 << 10, .no_alloc = true });
    for (int i = 1; i < scene->n; i++) {
        s[i - 1] = ggml_new_tensor(scene->ctx, sample->sources[i - 1].type,
                                   GGML_MAX_DIMS, sample->sources[i - 1].ne);
        scene->tensor[i] = s[i - 1];
        give_memory(scene, s[i - 1], i);
        fill_tensor(s[i - 1], &random);
    }
    node = sample->build(scene->ctx, s);
    assert_false(gb_tensor_is_failed(node));
    scene->tensor[0] = node;
    if (node->data == NULL) {
        give_memory(scene, node, 0);
        memset(node->data, 0, ggml_nbytes(node));
    } else {
        assert_int_equal(ggml_backend_view_init(node), GGML_STATUS_SUCCESS);
    }
    scene->graph = ggml_new_graph_custom(scene->ctx, 64, false);
    ggml_build_forward_expand(scene->graph, node);
    save(scene);
    assert_int_equal(ggml_backend_graph_compute(backend, scene->graph),
                     GGML_STATUS_SUCCESS);
    scene->result_size = ggml_nbytes(node);
    scene->result = malloc(scene->result_size);
    assert_non_null(scene->result);
    memcpy(scene->result, node->data, scene->result_size);
    restore(scene);
}

static void
scene_close(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++) {
        ggml_backend_buffer_free(scene->buffer[i]);
        free(scene->bytes[i]);
    }
    free(scene->result);
    rooms_free(&scene->rooms);
    ggml_free(scene->ctx);
}

/* Compute the scene as it is now, then as it was. */
static void
try_scene(struct scene *scene)
{
    const struct ggml_tensor *node = scene->tensor[0];
    bool can_run;
    enum ggml_status status;

    n_errors = 0;
    can_run = ggml_backend_supports_op(scene->backend, node);
    if (n_errors != 0)
        fail_msg("%s: asking was an error", what);
    status = ggml_backend_graph_compute(scene->backend, scene->graph);
    if (status != GGML_STATUS_SUCCESS && status != GGML_STATUS_FAILED)
        fail_msg("%s: status %d", what, (int)status);
    if (n_errors != (status == GGML_STATUS_FAILED))
        fail_msg("%s: %d reasons for status %d", what, n_errors, (int)status);
    if (!can_run && status == GGML_STATUS_SUCCESS && !ggml_is_empty(node) &&
        gb_op_has_work(node->op))
        fail_msg("%s: computed, although it cannot be", what);
    scene->n_computed += status == GGML_STATUS_SUCCESS;
    scene->n_refused += status == GGML_STATUS_FAILED;
    restore(scene);
    if (ggml_backend_graph_compute(scene->backend, scene->graph) !=
            GGML_STATUS_SUCCESS ||
        memcmp(scene->tensor[0]->data, scene->result, scene->result_size) != 0)
        fail_msg("%s: something stayed", what);
    restore(scene);
}

/* ---- edits ---- */

/* Each changes tensor T of SCENE in its way number I, and says so; false behind
 * the last way. */
typedef bool (*edit_fn)(struct scene *scene, int t, int i);

static void
say(const struct scene *scene, int t, const char *field, long long value)
{
    const size_t used = strlen(what);

    snprintf(what + used, sizeof(what) - used, " %s[%d].%s %lld",
             scene->sample->name, t - 1, field, value);
}

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static bool
edit_type(struct scene *scene, int t, int i)
{
    static const int others[] = { -1, GGML_TYPE_COUNT, 1000, INT32_MIN };
    const int type = i < GGML_TYPE_COUNT ? i : others[i - GGML_TYPE_COUNT];

    scene->tensor[t]->type = (enum ggml_type)type;
    say(scene, t, "type", type);
    return i + 1 < GGML_TYPE_COUNT + N_OF(others);
}

static bool
edit_size(struct scene *scene, int t, int i)
{
    int64_t *const ne = &scene->tensor[t]->ne[i % GGML_MAX_DIMS];
    const uint64_t n = (uint64_t)*ne; /* an edit before may have left any */
    const int64_t values[] = {
        INT64_MIN, -1, 0, 1, 2,
        (int64_t)(n - 1), (int64_t)(n + 1), (int64_t)(2 * n), (int64_t)(64 * n),
        1 << 20, INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(1) << 40,
        INT64_C(1) << 61, INT64_C(1) << 62, INT64_MAX,
    };

    *ne = values[i / GGML_MAX_DIMS];
    say(scene, t, "ne", *ne);
    return i + 1 < N_OF(values) * GGML_MAX_DIMS;
}

static bool
edit_stride(struct scene *scene, int t, int i)
{
    size_t *const nb = &scene->tensor[t]->nb[i % GGML_MAX_DIMS];
    const size_t values[] = {
        0, 1, 2, 3, 4, 5, 18, 34, *nb - 1, *nb + 1, *nb + 4, 2 * *nb,
        *nb / 2, (size_t)1 << 20, (size_t)1 << 5 * sizeof(size_t), SIZE_MAX / 2 + 1,
        SIZE_MAX - 3, SIZE_MAX,
    };

    *nb = values[i / GGML_MAX_DIMS];
    say(scene, t, "nb", (long long)*nb);
    return i + 1 < N_OF(values) * GGML_MAX_DIMS;
}

static bool
is_of_client(int op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

/* Functions of clients that are none are not tried: nobody can know. */
static bool
edit_op(struct scene *scene, int t, int i)
{
    static const int others[] = { -1, GGML_OP_COUNT, 1000, INT32_MIN };
    const int op = i < GGML_OP_COUNT ? i : others[i - GGML_OP_COUNT];

    if (t == 0 && !is_of_client(op))
        scene->tensor[t]->op = (enum ggml_op)op;
    say(scene, t, "op", op);
    return i + 1 < GGML_OP_COUNT + N_OF(others);
}

static bool
edit_param(struct scene *scene, int t, int i)
{
    static const int32_t values[] = {
        INT32_MIN, -1, 0, 1, 2, 3, 8, 24, 25, 1 << 16, 1 << 28, INT32_MAX,
        0x7FC00000, /* NaN */ 0x7F800000, /* infinity */
    };
    const int n_words = GGML_MAX_OP_PARAMS / (int)sizeof(int32_t);
    const int word = i % n_words;

    if (t == 0 && is_of_client(scene->tensor[t]->op) && word < 2)
        memset(scene->tensor[t]->op_params, 0, sizeof(void *));
    else
        scene->tensor[t]->op_params[word] = values[i / n_words];
    say(scene, t, "op_params", values[i / n_words]);
    return i + 1 < N_OF(values) * n_words;
}

static bool
edit_source(struct scene *scene, int t, int i)
{
    const int value = i / GGML_MAX_SRC - 1;

    scene->tensor[t]->src[i % GGML_MAX_SRC] =
        value < 0 ? NULL : scene->tensor[value];
    say(scene, t, "src", i);
    return i + 1 < (scene->n + 1) * GGML_MAX_SRC;
}

static bool
edit_view(struct scene *scene, int t, int i)
{
    static const size_t offsets[] = { 0, 1, 5, SIZE_MAX };

    if (i <= scene->n)
        scene->tensor[t]->view_src = i == 0 ? NULL : scene->tensor[i - 1];
    else
        scene->tensor[t]->view_offs = offsets[i - scene->n - 1];
    say(scene, t, "view", i);
    return i < scene->n + N_OF(offsets);
}

static bool
edit_data(struct scene *scene, int t, int i)
{
    static const ptrdiff_t offsets[] = {
        1, 2, 3, 4, 5, 18, 32, 64, 4096, 1 << 20, -1, -2, -4, -32, -64, -4096,
    };
    char **const data = (char **)&scene->tensor[t]->data;

    *data = i == N_OF(offsets)
                ? NULL
                : (char *)((uintptr_t)*data + (uintptr_t)offsets[i]);
    say(scene, t, "data", i);
    return i < N_OF(offsets);
}

static bool
edit_buffer(struct scene *scene, int t, int i)
{
    scene->tensor[t]->buffer = i == 0 ? NULL : scene->buffer[i - 1];
    say(scene, t, "buffer", i);
    return i < scene->n;
}

static bool
edit_others(struct scene *scene, int t, int i)
{
    memset(scene->tensor[t]->name, 'x', sizeof(scene->tensor[t]->name));
    scene->tensor[t]->flags = i - 1;
    if (i == 1)
        scene->tensor[t]->type = GGML_TYPE_COUNT;
    say(scene, t, "name", i);
    return i < 1;
}

enum { TYPE, SIZE, STRIDE, OP, PARAM, SOURCE, VIEW, DATA, BUFFER, OTHERS };

static const edit_fn edits[] = {
    [TYPE] = edit_type,     [SIZE] = edit_size,   [STRIDE] = edit_stride,
    [OP] = edit_op,         [PARAM] = edit_param, [SOURCE] = edit_source,
    [VIEW] = edit_view,     [DATA] = edit_data,   [BUFFER] = edit_buffer,
    [OTHERS] = edit_others,
};

/* ---- tests ---- */

static void
each_field(struct scene *scene)
{
    for (int t = 0; t < scene->n; t++) {
        for (int e = 0; e < N_OF(edits); e++) {
            bool has_more = true;

            for (int i = 0; has_more; i++) {
                what[0] = '\0';
                has_more = edits[e](scene, t, i);
                try_scene(scene);
            }
        }
    }
}

/* In how many ways EDIT changes any tensor of SCENE. */
static int
n_ways(struct scene *scene, edit_fn edit)
{
    int n = 0;

    while (edit(scene, 0, n)) {
        restore(scene);
        what[0] = '\0';
        n++;
    }
    restore(scene);
    return n + 1;
}

/* Two or three fields at once.  Not both size and stride: what has many
 * elements at few addresses takes as long as it has elements. */
static void
some_fields(struct scene *scene, struct gb_random *random)
{
    int ways[N_OF(edits)];

    for (int e = 0; e < N_OF(edits); e++)
        ways[e] = n_ways(scene, edits[e]);
    for (int round = 0; round < 300; round++) {
        const int n = 2 + (int)(gb_random_u64(random) % 2);
        int used = -1;

        what[0] = '\0';
        for (int i = 0; i < n; i++) {
            const int t = (int)(gb_random_u64(random) % (uint64_t)scene->n);
            int e = (int)(gb_random_u64(random) % (uint64_t)N_OF(edits));

            if (e == BUFFER || e == VIEW)
                e = PARAM;
            if (e == STRIDE && used == SIZE)
                e = SIZE;
            if (e == SIZE && used == STRIDE)
                e = STRIDE;
            used = e == SIZE || e == STRIDE ? e : used;
            edits[e](scene, t,
                     (int)(gb_random_u64(random) % (uint64_t)ways[e]));
        }
        try_scene(scene);
    }
}

static void
for_each_sample(bool is_random)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    int n_computed = 0, n_refused = 0;
    struct gb_random random;
    struct scene scene;

    gb_random_init(&random, gb_test_seed(13));
    ggml_backend_cpu_set_n_threads(backend, 1);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        scene_open(&scene, &samples[i], backend);
        ggml_log_set(count_errors, NULL);
        if (is_random)
            some_fields(&scene, &random);
        else
            each_field(&scene);
        ggml_log_set(NULL, NULL);
        n_computed += scene.n_computed;
        n_refused += scene.n_refused;
        scene_close(&scene);
    }
    fprintf(stderr, "# %d computed, %d refused\n", n_computed, n_refused);
    assert_true(n_computed > 0 && n_refused > 0);
    what[0] = '\0';
    ggml_backend_free(backend);
}

static void
each_field_of_each_operation(void **state)
{
    (void)state;
    for_each_sample(false);
}

static void
some_fields_of_each_operation(void **state)
{
    (void)state;
    for_each_sample(true);
}

/* A source without memory, of more elements than there is memory for what a sum of
 * them takes besides: the missing memory is the reason. */
static void
work_memory_is_for_tensors_that_have_theirs(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    size_t i = 0;
    struct scene scene;

    (void)state;
    while (strcmp(samples[i].name, "sum") != 0)
        i++;
    scene_open(&scene, &samples[i], backend);
    ggml_log_set(count_errors, NULL);
    for (int way = 0; way < 2; way++) {
        scene.tensor[1]->data = NULL;
        scene.tensor[1]->ne[3] = INT64_C(1) << 52;
        n_errors = 0;
        assert_int_equal(way == 0
                             ? ggml_backend_graph_compute(backend, scene.graph)
                             : ggml_graph_compute_with_ctx(scene.ctx,
                                                           scene.graph, 1),
                         GGML_STATUS_FAILED);
        assert_int_equal(n_errors, 1);
        restore(&scene);
    }
    ggml_log_set(NULL, NULL);
    scene_close(&scene);
    ggml_backend_free(backend);
}

/* ---- blocks ---- */

static void
check_refused(struct scene *scene, const char *how)
{
    snprintf(what, sizeof(what), " %s: %s", scene->sample->name, how);
    ggml_log_set(count_errors, NULL);
    n_errors = 0;
    assert_false(
        ggml_backend_supports_op(scene->backend, scene->tensor[0]));
    assert_int_equal(ggml_backend_graph_compute(scene->backend, scene->graph),
                     GGML_STATUS_FAILED);
    assert_int_equal(n_errors, 1);
    ggml_log_set(NULL, NULL);
    restore(scene);
}

static void
swap_dimensions(struct ggml_tensor *t)
{
    const int64_t ne0 = t->ne[0];
    const size_t nb0 = t->nb[0];

    t->ne[0] = t->ne[1];
    t->nb[0] = t->nb[1];
    t->ne[1] = ne0;
    t->nb[1] = nb0;
}

/* All tensors, so that they still fit each other. */
static void
swap_all(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++)
        swap_dimensions(scene->tensor[i]);
}

/* Tensor I of SCENE, of blocks: rows, steps and views that cut them. */
static void
cut_blocks(struct scene *scene, int i)
{
    struct ggml_tensor *t = scene->tensor[i];
    const size_t size = ggml_type_size(t->type);
    struct ggml_tensor root = *t;

    swap_dimensions(t);
    check_refused(scene, "rows shorter than a block");
    swap_all(scene);
    check_refused(scene, "everything transposed");
    t->ne[0]--;
    check_refused(scene, "a row that ends in a block");
    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (t->ne[d] == 1)
            continue;
        t->nb[d] -= 5;
        check_refused(scene, "a step to the middle of a block");
    }
    t->nb[1] = size - 1;
    check_refused(scene, "rows that share a block");
    t->view_src = &root;
    t->view_offs = 5;
    t->data = (char *)t->data + 5;
    check_refused(scene, "a view from the middle of a block on");
}

/* Does computing look at tensor I?  Builders take some for their shapes. */
static bool
is_looked_at(const struct scene *scene, int i)
{
    bool is_source = i == 0;

    for (int s = 0; s < GGML_MAX_SRC; s++)
        is_source = is_source || scene->tensor[0]->src[s] == scene->tensor[i];
    return is_source;
}

/* Of dimensions with one element: behind it they would lead to lower
 * addresses. */
static void
steps_that_wrap(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct scene scene;
    int n = 0;

    (void)state;
    ggml_backend_cpu_set_n_threads(backend, 1);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        scene_open(&scene, &samples[i], backend);
        for (int at = 0; at < scene.n * GGML_MAX_DIMS; at++) {
            struct ggml_tensor *t = scene.tensor[at / GGML_MAX_DIMS];
            const int d = at % GGML_MAX_DIMS;

            if (t->ne[d] != 1 || !is_looked_at(&scene, at / GGML_MAX_DIMS))
                continue;
            t->nb[d] = 0 - t->nb[d];
            check_refused(&scene, "a step to before the tensor");
            t->nb[d] = SIZE_MAX;
            check_refused(&scene, "a step that is as large as can be");
            n++;
        }
        scene_close(&scene);
    }
    assert_true(n > 100);
    what[0] = '\0';
    ggml_backend_free(backend);
}

static void
blocks_are_whole(void **state)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct scene scene;
    int n = 0;

    (void)state;
    ggml_backend_cpu_set_n_threads(backend, 1);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        scene_open(&scene, &samples[i], backend);
        for (int t = 1; t < scene.n; t++) {
            if (ggml_is_quantized(scene.tensor[t]->type) &&
                scene.tensor[t]->ne[1] > 1) {
                cut_blocks(&scene, t);
                n++;
            }
        }
        scene_close(&scene);
    }
    assert_true(n > 10);
    what[0] = '\0';
    ggml_backend_free(backend);
}

/* What a tensor alone may look like, for each type of blocks. */
static void
tensors_of_blocks_that_are_sound(void **state)
{
    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const int64_t block = ggml_blck_size((enum ggml_type)type);
        const size_t size = ggml_type_size((enum ggml_type)type);
        struct ggml_tensor root = {
            .type = (enum ggml_type)type,
            .ne = { 2 * block, 3, 2, 2 },
            .nb = { size, 2 * size, 6 * size, 12 * size },
        };
        struct ggml_tensor t = root;
        struct rooms rooms = { .n = 0 };
        struct gb_cpu_memory memory;
        size_t bytes;

        if (block < 2)
            continue;
        gb_cpu_memory_init(&memory, false);
        root.data = rooms_add(&rooms, 24 * size, 1);
        t = root;
        assert_true(gb_cpu_extent(&t, &bytes));
        assert_int_equal(bytes, 24 * size);
        assert_true(gb_cpu_is_sound(&t, &memory));
        t.nb[1] = 3 * size;
        assert_true(gb_cpu_is_sound(&t, &memory));
        t.nb[1] = 2 * size + 1;
        assert_false(gb_cpu_is_sound(&t, &memory));
        t.ne[1] = 1;
        assert_true(gb_cpu_is_sound(&t, &memory));
        t.ne[0] = block / 2;
        assert_false(gb_cpu_is_sound(&t, &memory));
        t.ne[0] = block;
        t.nb[0] = 1;
        assert_true(gb_cpu_is_sound(&t, &memory));
        t = root;
        t.ne[3] = 1;
        t.data = (char *)root.data + 4;
        assert_true(gb_cpu_is_sound(&t, &memory));
        t.data = (char *)root.data + 2;
        assert_int_equal(gb_cpu_is_sound(&t, &memory), type != GGML_TYPE_Q8_K);
        t.data = (char *)root.data + 1;
        assert_false(gb_cpu_is_sound(&t, &memory));
        t = root;
        t.view_src = &root;
        t.view_offs = size;
        assert_true(gb_cpu_is_sound(&t, &memory));
        t.view_offs = 5 * size + 1;
        assert_false(gb_cpu_is_sound(&t, &memory));
        rooms_free(&rooms);
    }
}

/* ---- lists of nodes ---- */

static void
check_graph_fails(struct scene *scene, const char *name)
{
    struct ggml_cplan plan = { .n_threads = 1 };

    snprintf(what, sizeof(what), "%s", name);
    ggml_log_set(count_errors, NULL);
    n_errors = 0;
    assert_int_equal(ggml_backend_graph_compute(scene->backend, scene->graph),
                     GGML_STATUS_FAILED);
    assert_int_equal(n_errors, 1);
    assert_int_equal(ggml_graph_compute(scene->graph, &plan),
                     GGML_STATUS_FAILED);
    assert_int_equal(n_errors, 2);
    assert_null(ggml_backend_graph_plan_create(scene->backend, scene->graph));
    assert_int_equal(n_errors, 3);
    ggml_log_set(NULL, NULL);
}

static void
lists_that_are_none(void **state)
{
    static const int counts[] = { -1, INT32_MIN, 65, INT32_MAX };
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct scene scene;
    struct ggml_tensor *node;
    struct ggml_tensor **nodes;

    (void)state;
    scene_open(&scene, &samples[0], backend);
    node = scene.graph->nodes[0];
    nodes = scene.graph->nodes;
    scene.graph->nodes[0] = NULL;
    check_graph_fails(&scene, "a node that is not there");
    scene.graph->nodes[0] = node;
    scene.graph->nodes = NULL;
    check_graph_fails(&scene, "no list");
    scene.graph->nodes = nodes;
    for (int i = 0; i < N_OF(counts); i++) {
        scene.graph->n_nodes = counts[i];
        check_graph_fails(&scene, "a count that is none");
    }
    scene.graph->n_nodes = 1;
    assert_int_equal(ggml_backend_graph_compute(backend, scene.graph),
                     GGML_STATUS_SUCCESS);
    what[0] = '\0';
    scene_close(&scene);
    ggml_backend_free(backend);
}

static int
say_what(void **state)
{
    (void)state;
    ggml_log_set(NULL, NULL);
    if (what[0] != '\0')
        fprintf(stderr, "# at%s\n", what);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lists_that_are_none, say_what),
        cmocka_unit_test_teardown(steps_that_wrap, say_what),
        cmocka_unit_test_teardown(blocks_are_whole, say_what),
        cmocka_unit_test(tensors_of_blocks_that_are_sound),
        cmocka_unit_test_teardown(each_field_of_each_operation, say_what),
        cmocka_unit_test_teardown(some_fields_of_each_operation, say_what),
        cmocka_unit_test(work_memory_is_for_tensors_that_have_theirs),
    };

    return cmocka_run_group_tests_name("edited", tests, NULL, NULL);
}
