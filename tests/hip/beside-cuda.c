/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/beside-cuda.c - cards of both makers in one process: each module has
 * its own driver, a graph is split over their cards by the scheduler, and the
 * functions of ggml-cuda.h are those of NVIDIA's.
 *
 * Products are of small whole numbers, which floats hold: results are equal.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggml-cuda.h"
#include "ggmlbackend.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- two drivers, two modules ---- */

/* EMULATED_DRIVER is HIP's; a wave of 64 lanes stands beside a warp of 32. */
static const char *driver_of_hip;

static const char waves32[] = EMULATED_DRIVER;
static const char waves64[] = "tests/gpu-emulator/lanes64/.libs/libamdhip64.so.6";

/* What is asked of CUDA's; that of HIP is in "emulator". */
static struct {
    uint64_t (*count)(enum emu_counter which);
    uint64_t (*reports)(void);
    uint64_t (*live)(void);
} nvidia;

static ggml_backend_reg_t
load_cuda(void)
{
    void *library = dlopen(
        gb_built("tests/gpu-emulator/lanes32/.libs/libcuda.so.1"),
        RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    *(void **)&nvidia.count = dlsym(library, "emu_count");
    *(void **)&nvidia.reports = dlsym(library, "emu_reports");
    *(void **)&nvidia.live = dlsym(library, "emu_live");
    CHECK(nvidia.count != NULL && nvidia.reports != NULL &&
          nvidia.live != NULL);
    return ggml_backend_load(gb_built("tests/cuda/.libs/libggml-cuda.so"));
}

static ggml_backend_reg_t
load_hip(void)
{
    return cuda_load_on(gb_built(driver_of_hip));
}

static void
nothing_is_left(void)
{
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
    CHECK(nvidia.live() == 0 && nvidia.reports() == 0);
}

static ggml_backend_t
backend_of(const char *name)
{
    ggml_backend_dev_t dev = ggml_backend_dev_by_name(name);
    ggml_backend_t backend;

    CHECK(dev != NULL);
    backend = ggml_backend_dev_init(dev, NULL);
    CHECK(backend != NULL && strcmp(ggml_backend_name(backend), name) == 0);
    return backend;
}

/* ---- names ---- */

static void
cards_are_told_apart(void)
{
    static const char *const names[] = { "CUDA0", "CUDA1", "ROCm0", "ROCm1" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ggml_backend_dev_t dev = ggml_backend_dev_by_name(names[i]);

        CHECK(dev != NULL);
        CHECK(strcmp(ggml_backend_dev_name(dev), names[i]) == 0);
        CHECK(strcmp(ggml_backend_dev_description(dev), "Twin") == 0);
        CHECK((strcmp(cuda_property(dev, "driver"), "6.3") == 0) ==
              (i >= 2));
    }
    CHECK(ggml_backend_dev_by_name("CUDA2") == NULL);
    CHECK(ggml_backend_dev_by_name("ROCm2") == NULL);
}

static void
functions_are_those_of(ggml_backend_reg_t cuda)
{
    ggml_backend_t backend = ggml_backend_cuda_init(1);
    ggml_backend_t other = backend_of("ROCm0");

    CHECK(ggml_backend_cuda_reg() == cuda);
    CHECK(ggml_backend_cuda_get_device_count() == 2);
    CHECK(backend != NULL && ggml_backend_is_cuda(backend));
    CHECK(strcmp(ggml_backend_name(backend), "CUDA1") == 0);
    CHECK(strcmp(ggml_backend_buft_name(ggml_backend_cuda_buffer_type(0)),
                 "CUDA0") == 0);
    CHECK(strcmp(ggml_backend_buft_name(ggml_backend_cuda_host_buffer_type()),
                 "CUDA_Host") == 0);
    CHECK(strcmp(ggml_backend_buft_name(
                     ggml_backend_cuda_split_buffer_type(0, NULL)),
                 "CUDA0_Split") == 0);
    CHECK(ggml_backend_is_cuda(other));
    ggml_backend_free(other);
    ggml_backend_free(backend);
}

static void
load_cuda_first(void)
{
    ggml_backend_reg_t cuda = load_cuda();
    ggml_backend_reg_t hip = load_hip();

    CHECK(cuda != NULL && hip != NULL && cuda != hip);
    cards_are_told_apart();
    functions_are_those_of(cuda);
    nothing_is_left();
}

/* Until there is CUDA's, the functions are HIP's. */
static void
load_hip_first(void)
{
    ggml_backend_reg_t hip = load_hip(), cuda;

    CHECK(hip != NULL && ggml_backend_cuda_reg() == hip);
    CHECK(strcmp(ggml_backend_buft_name(ggml_backend_cuda_buffer_type(1)),
                 "ROCm1") == 0);
    CHECK(strcmp(ggml_backend_buft_name(ggml_backend_cuda_host_buffer_type()),
                 "ROCm_Host") == 0);
    CHECK(strcmp(ggml_backend_buft_name(
                     ggml_backend_cuda_split_buffer_type(0, NULL)),
                 "ROCm0_Split") == 0);
    cuda = load_cuda();
    CHECK(cuda != NULL && cuda != hip);
    cards_are_told_apart();
    functions_are_those_of(cuda);
    nothing_is_left();
}

static void
both_are_listed_and_cudas_have_the_functions(void **state)
{
    static const char variables[] = "EMU_DEVICES=2 EMU_NAME=Twin";

    (void)state;
    driver_of_hip = waves32;
    cuda_case(load_cuda_first, variables, NULL);
    cuda_case(load_hip_first, variables, NULL);
}

/* One maker's driver has no card: the other's is none the worse for it. */
static void
load_beside_nothing(void)
{
    CHECK(load_hip() != NULL);
    setenv("GGMLBACKEND_TEST_EMU_DEVICES", "0", 1);
    CHECK(load_cuda() == NULL);
    cuda_check_refusal("no CUDA-capable device is detected");
    CHECK(ggml_backend_cuda_get_device_count() == 1);
    cuda_is_well();
    nothing_is_left();
}

static void
one_maker_may_have_no_card(void **state)
{
    (void)state;
    driver_of_hip = waves32;
    cuda_case(load_beside_nothing, "", NULL);
}

/* ---- a graph over both ---- */

enum { N = 40, TOKENS = 5, LAYERS = 6, MAX_NODES = 64 };

/* Layers take turns; a layer's weights are of -1, 0, 1, few of them not 0. */
struct model {
    struct ggml_context *weights_ctx[2], *ctx;
    ggml_backend_buffer_t weights_buffers[2];
    struct ggml_tensor *weights[LAYERS], *products[LAYERS], *x, *result;
    struct ggml_cgraph *graph;
};

static int
weight_at(int layer, int row, int col)
{
    const int drawn = (row * 31 + col * 17 + layer * 7) % 23;

    return drawn == 3 ? 1 : drawn == 11 ? -1 : 0;
}

static int
input_at(int seed, int token, int i)
{
    return (i * 5 + token * 3 + seed) % 7 - 3;
}

static struct ggml_context *
context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = MAX_NODES * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

static void
fill_weights(struct model *model)
{
    float values[N * N];

    for (int layer = 0; layer < LAYERS; layer++) {
        for (int row = 0; row < N; row++)
            for (int col = 0; col < N; col++)
                values[row * N + col] = (float)weight_at(layer, row, col);
        ggml_backend_tensor_set(model->weights[layer], values, 0,
                                sizeof(values));
    }
}

/* Each layer: x + relu(weights * x).  A scheduler wants a graph built anew. */
static void
build(struct model *model)
{
    struct ggml_tensor *x;

    model->ctx = context();
    model->x = ggml_new_tensor_2d(model->ctx, GGML_TYPE_F32, N, TOKENS);
    ggml_set_input(model->x);
    x = model->x;
    for (int layer = 0; layer < LAYERS; layer++) {
        model->products[layer] =
            ggml_mul_mat(model->ctx, model->weights[layer], x);
        x = ggml_add(model->ctx, x,
                     ggml_relu(model->ctx, model->products[layer]));
    }
    ggml_set_output(x);
    model->result = x;
    model->graph = ggml_new_graph(model->ctx);
    ggml_build_forward_expand(model->graph, x);
}

static struct model
model_make(ggml_backend_t *cards)
{
    struct model model = { .ctx = NULL };

    for (int card = 0; card < 2; card++)
        model.weights_ctx[card] = context();
    for (int layer = 0; layer < LAYERS; layer++)
        model.weights[layer] = ggml_new_tensor_2d(
            model.weights_ctx[layer % 2], GGML_TYPE_F32, N, N);
    for (int card = 0; card < 2; card++) {
        model.weights_buffers[card] = ggml_backend_alloc_ctx_tensors(
            model.weights_ctx[card], cards[card]);
        CHECK(model.weights_buffers[card] != NULL);
        ggml_backend_buffer_set_usage(model.weights_buffers[card],
                                      GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    }
    fill_weights(&model);
    return model;
}

static void
model_free(struct model *model)
{
    for (int card = 0; card < 2; card++) {
        ggml_backend_buffer_free(model->weights_buffers[card]);
        ggml_free(model->weights_ctx[card]);
    }
}

/* What a token must come to, by plain sums. */
static void
expect(int seed, int token, double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = input_at(seed, token, i);
    for (int layer = 0; layer < LAYERS; layer++) {
        double next[N];

        for (int row = 0; row < N; row++) {
            double sum = 0.0;

            for (int col = 0; col < N; col++)
                sum += weight_at(layer, row, col) * x[col];
            next[row] = x[row] + (sum > 0.0 ? sum : 0.0);
        }
        memcpy(x, next, sizeof(next));
    }
}

static void
set_input(struct model *model, int seed)
{
    float values[TOKENS * N];

    for (int i = 0; i < TOKENS * N; i++)
        values[i] = (float)input_at(seed, i / N, i % N);
    ggml_backend_tensor_set(model->x, values, 0, sizeof(values));
}

static void
check_result(struct model *model, int seed)
{
    float values[TOKENS * N];
    double right[N];

    ggml_backend_tensor_get(model->result, values, 0, sizeof(values));
    for (int token = 0; token < TOKENS; token++) {
        expect(seed, token, right);
        for (int i = 0; i < N; i++)
            CHECK((double)values[token * N + i] == right[i]);
    }
}

static bool is_parallel;

/* Products are where their weights are, and each layer changes cards. */
static void
check_places(ggml_backend_sched_t sched, struct model *model,
             ggml_backend_t *cards)
{
    for (int layer = 0; layer < LAYERS; layer++)
        CHECK(ggml_backend_sched_get_tensor_backend(
                  sched, model->products[layer]) == cards[layer % 2]);
    CHECK(ggml_backend_sched_get_n_splits(sched) >= LAYERS);
}

static void
compute_on_both(void)
{
    ggml_backend_reg_t cuda = load_cuda();
    ggml_backend_reg_t hip = load_hip();
    ggml_backend_t backends[3];
    ggml_backend_sched_t sched;
    struct model model;

    CHECK(cuda != NULL && hip != NULL);
    backends[0] = backend_of("CUDA0");
    backends[1] = backend_of("ROCm0");
    backends[2] = backend_of("CPU");
    model = model_make(backends);
    sched = ggml_backend_sched_new(backends, NULL, 3, MAX_NODES, is_parallel);
    CHECK(sched != NULL);
    for (int seed = 0; seed < 4; seed++) {
        build(&model);
        ggml_backend_sched_reset(sched);
        CHECK(ggml_backend_sched_alloc_graph(sched, model.graph));
        check_places(sched, &model, backends);
        set_input(&model, seed);
        CHECK(ggml_backend_sched_graph_compute(sched, model.graph) ==
              GGML_STATUS_SUCCESS);
        check_result(&model, seed);
        ggml_free(model.ctx);
    }
    CHECK(nvidia.count(EMU_KERNELS) >= 4 * LAYERS / 2);
    CHECK(emulator.count(EMU_KERNELS) >= 4 * LAYERS / 2);
    ggml_backend_sched_free(sched);
    model_free(&model);
    for (int i = 2; i >= 0; i--)
        ggml_backend_free(backends[i]);
    nothing_is_left();
}

static void
the_scheduler_splits_a_graph_over_both(void **state)
{
    static const struct {
        const char *driver, *variables;
        bool is_parallel;
    } cases[] = {
        { waves32, "", false },
        { waves32, "EMU_ORDER=1", true },
        { waves32, "EMU_ORDER=5 GGML_CUDA_DISABLE_GRAPHS=1", true },
        { waves64, "EMU_ORDER=2", false },
        { waves64, "GGMLBACKEND_GPU_VARIANT=plain", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        driver_of_hip = cases[i].driver;
        is_parallel = cases[i].is_parallel;
        cuda_case(compute_on_both, cases[i].variables, NULL);
    }
}

/* ---- copies ---- */

/* What lies on one maker's card comes to the other's, and back. */
static void
copy_between(void)
{
    enum { BYTES = 1 << 20 };
    ggml_backend_t backends[2];
    struct ggml_context *ctx[2];
    struct ggml_tensor *tensors[2];
    ggml_backend_buffer_t buffers[2];
    uint8_t *bytes = malloc(BYTES);

    CHECK(load_hip() != NULL && load_cuda() != NULL && bytes != NULL);
    for (int i = 0; i < 2; i++) {
        backends[i] = backend_of(i == 0 ? "CUDA0" : "ROCm0");
        ctx[i] = context();
        tensors[i] = ggml_new_tensor_1d(ctx[i], GGML_TYPE_I8, BYTES);
        buffers[i] = ggml_backend_alloc_ctx_tensors(ctx[i], backends[i]);
        CHECK(buffers[i] != NULL);
    }
    for (int turn = 0; turn < 4; turn++) {
        const int from = turn % 2;

        for (int i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)(i * 7 + i / 251 + turn);
        ggml_backend_tensor_set_async(backends[from], tensors[from], bytes, 0,
                                      BYTES);
        if (turn < 2) {
            ggml_backend_tensor_copy_async(backends[from], backends[!from],
                                           tensors[from], tensors[!from]);
            ggml_backend_synchronize(backends[!from]);
        } else {
            ggml_backend_synchronize(backends[from]);
            ggml_backend_tensor_copy(tensors[from], tensors[!from]);
        }
        memset(bytes, 0, BYTES);
        ggml_backend_tensor_get(tensors[!from], bytes, 0, BYTES);
        for (int i = 0; i < BYTES; i++)
            CHECK(bytes[i] == (uint8_t)(i * 7 + i / 251 + turn));
    }
    free(bytes);
    for (int i = 0; i < 2; i++) {
        ggml_backend_buffer_free(buffers[i]);
        ggml_free(ctx[i]);
        ggml_backend_free(backends[i]);
    }
    nothing_is_left();
}

static void
tensors_are_copied_between_them(void **state)
{
    (void)state;
    driver_of_hip = waves32;
    cuda_case(copy_between, "", NULL);
    cuda_case(copy_between, "EMU_ORDER=1", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_listed_and_cudas_have_the_functions),
        cmocka_unit_test(one_maker_may_have_no_card),
        cmocka_unit_test(the_scheduler_splits_a_graph_over_both),
        cmocka_unit_test(tensors_are_copied_between_them),
    };

    return cmocka_run_group_tests_name("cards of two makers", tests, NULL,
                                       NULL);
}
