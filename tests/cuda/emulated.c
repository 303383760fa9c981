/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/emulated.c - the module on the emulated driver.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct cuda_emulator emulator;

/* ---- processes ---- */

void
cuda_case(void (*run)(void), const char *variables, const char **errors)
{
    gb_child_case(run, variables, "EMU_", errors);
}

int
cuda_count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

void
cuda_case_says(void (*run)(void), const char *variables, const char *reason)
{
    const char *errors;

    cuda_case(run, variables, &errors);
    print_message("# %s", errors);
    if (strstr(errors, reason) == NULL || cuda_count_lines(errors) != 1)
        fail_msg("[%s] not one line with '%s': %s", variables, reason, errors);
}

/* ---- the driver and the module ---- */

/* Its first letter changes; the terminators around it say where it is. */
static void
rename_in(char *bytes, size_t size, const char *name)
{
    const size_t length = strlen(name) + 1;
    bool is_found = false;

    for (size_t i = 1; i + length <= size; i++) {
        if (bytes[i - 1] == '\0' && memcmp(bytes + i, name, length) == 0) {
            bytes[i] = 'x';
            is_found = true;
        }
    }
    CHECK(is_found);
}

const char *
cuda_copy_without(const char *library, const char *name)
{
    static char path[] = "./library-without-XXXXXX";
    FILE *from = fopen(gb_built(library), "rb");
    FILE *to = fdopen(mkstemp(path), "wb");
    const size_t room = (size_t)64 << 20;
    char *bytes = malloc(room);
    size_t size;

    CHECK(from != NULL && to != NULL && bytes != NULL);
    size = fread(bytes, 1, room, from);
    CHECK(size > 0 && size < room);
    rename_in(bytes, size, name);
    CHECK(fwrite(bytes, 1, size, to) == size && fclose(to) == 0);
    fclose(from);
    free(bytes);
    return path;
}

/* It has the driver's name, by which the module finds it opened. */
static void
open_emulator(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    gb_look_up(library, &emulator.count, "emu_count");
    gb_look_up(library, &emulator.calls, "emu_calls");
    gb_look_up(library, &emulator.kernel_runs, "emu_kernel_runs");
    gb_look_up(library, &emulator.reports, "emu_reports");
    gb_look_up(library, &emulator.reset, "emu_reset");
    gb_look_up(library, &emulator.fail_call, "emu_fail_call");
    gb_look_up(library, &emulator.failures, "emu_failures");
    gb_look_up(library, &emulator.lose_card, "emu_lose_card");
    gb_look_up(library, &emulator.memory_used, "emu_memory_used");
    gb_look_up(library, &emulator.live, "emu_live");
}

bool
cuda_is_entry(const char *name)
{
    return strcmp(name, "cuCtxPushCurrent_v2") == 0 ||
           ON_HIP(false, strcmp(name, "cuCtxPopCurrent_v2") == 0);
}

ggml_backend_reg_t
cuda_load_module(void)
{
    return ggml_backend_load(gb_built(
        ON_HIP("tests/cuda/.libs/libggml-cuda.so",
               "tests/hip/.libs/libggml-hip.so")));
}

ggml_backend_reg_t
cuda_load_on(const char *driver)
{
    open_emulator(driver);
    return cuda_load_module();
}

ggml_backend_reg_t
cuda_load(void)
{
    if (getenv("GGMLBACKEND_TEST_HIP_ON_CUDA") == NULL)
        return cuda_load_on(gb_built(EMULATED_DRIVER));
    CHECK(dlopen(gb_built(HIP_ON_CUDA), RTLD_NOW | RTLD_LOCAL) != NULL);
    return cuda_load_on(gb_built(CUDA_BELOW));
}

ggml_backend_dev_t
cuda_device(const char *name)
{
    char own[32];
    ggml_backend_dev_t dev;

    snprintf(own, sizeof(own), "%s%s",
             strncmp(name, "CUDA", 4) == 0 ? DEVICES : "",
             name + (strncmp(name, "CUDA", 4) == 0 ? 4 : 0));
    dev = ggml_backend_dev_by_name(own);
    CHECK(dev != NULL);
    return dev;
}

const char *
cuda_property(ggml_backend_dev_t dev, const char *name)
{
    const struct ggml_backend_feature *row;
    ggmlbackend_dev_get_properties_t get;

    *(void **)&get = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(dev), "ggmlbackend_dev_get_properties");
    CHECK(get != NULL);
    for (row = get(dev); row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0)
            return row->value;
    }
    return NULL;
}

void
cuda_check_refusal(const char *words)
{
    struct ggmlbackend_refused_module refused;

    CHECK(ggmlbackend_refused_get(0, &refused));
    fprintf(stderr, "reason: %s\n", refused.reason);
    CHECK(strstr(refused.reason, words) != NULL);
    CHECK(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != NULL);
}

void
cuda_expect_refusal(const char *words)
{
    CHECK(cuda_load() == NULL);
    cuda_check_refusal(words);
    CHECK(emulator.live() == 0);
}

ggml_backend_reg_t
cuda_load_without(const char *name)
{
    const char *path = cuda_copy_without(EMULATED_DRIVER, name);
    ggml_backend_reg_t reg = cuda_load_on(path);

    unlink(path);
    return reg;
}

ggml_backend_t
cuda_backend(const char *name)
{
    ggml_backend_t backend = ggml_backend_dev_init(cuda_device(name), NULL);

    CHECK(backend != NULL);
    return backend;
}

bool
cuda_is_weight(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16 ||
           (type != GGML_TYPE_Q8_1 && type != GGML_TYPE_Q8_K &&
            ggml_is_quantized(type));
}

/* ---- sums ---- */

static float
value_at(int seed, int i)
{
    return (float)((i * 7 + seed * 13) % 101);
}

struct sums
sums_make(ggml_backend_buffer_type_t buft, int k)
{
    const size_t size = (size_t)(k + 8) * ggml_tensor_overhead() +
                        ggml_graph_overhead_custom((size_t)k + 8, false);
    struct sums sums = { .ctx = NULL };

    sums.ctx = ggml_init((struct ggml_init_params){
        .mem_size = size, .no_alloc = true });
    CHECK(sums.ctx != NULL);
    sums.x = ggml_new_tensor_1d(sums.ctx, GGML_TYPE_F32, SUMS_N);
    sums.y = ggml_new_tensor_1d(sums.ctx, GGML_TYPE_F32, SUMS_N);
    sums.result = sums.x;
    for (int i = 0; i < k; i++)
        sums.result = ggml_add(sums.ctx, sums.result, sums.y);
    sums.graph = ggml_new_graph_custom(sums.ctx, (size_t)k + 8, false);
    ggml_build_forward_expand(sums.graph, sums.result);
    sums.buffer = ggml_backend_alloc_ctx_tensors_from_buft(sums.ctx, buft);
    return sums;
}

void
sums_free(struct sums *sums)
{
    ggml_backend_buffer_free(sums->buffer);
    ggml_free(sums->ctx);
}

void
sums_set(struct sums *sums, int seed)
{
    float x[SUMS_N], y[SUMS_N];

    for (int i = 0; i < SUMS_N; i++) {
        x[i] = value_at(seed, i);
        y[i] = value_at(seed + 1, i);
    }
    ggml_backend_tensor_set(sums->x, x, 0, sizeof(x));
    ggml_backend_tensor_set(sums->y, y, 0, sizeof(y));
}

bool
sums_are_right(struct sums *sums, int k, int seed)
{
    float result[SUMS_N];

    memset(result, 0xff, sizeof(result));
    ggml_backend_tensor_get(sums->result, result, 0, sizeof(result));
    for (int i = 0; i < SUMS_N; i++) {
        const float right = value_at(seed, i) +
                            (float)k * value_at(seed + 1, i);

        if (!(result[i] == right))
            return false;
    }
    return true;
}

/* ---- afterwards ---- */

void
cuda_computes(const char *name)
{
    enum { K = 5 };
    ggml_backend_t backend = cuda_backend(name);
    struct sums sums =
        sums_make(ggml_backend_get_default_buffer_type(backend), K);

    CHECK(sums.buffer != NULL);
    sums_set(&sums, 5);
    CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(sums_are_right(&sums, K, 5));
    sums_free(&sums);
    ggml_backend_free(backend);
}

void
cuda_is_well(void)
{
    cuda_computes("CUDA0");
    cuda_computes("CPU");
    CHECK(emulator.live() == 0 && emulator.memory_used(0) == 0);
    CHECK(emulator.reports() == 0);
}
