/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/split.c - products of weights whose rows lie on several cards.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "tests/util/random.h"

#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COLS = 96, ROWS = 333, EXPERTS = 4, TOKENS = 5, USED = 2 };

static ggml_backend_buffer_type_t
split_type(ggml_backend_reg_t reg, const float *shares)
{
    ggml_backend_split_buffer_type_t get;
    ggml_backend_buffer_type_t buft;

    *(void **)&get = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_split_buffer_type");
    CHECK(get != NULL);
    buft = get(0, shares);
    CHECK(buft != NULL && buft == get(0, shares));
    CHECK(get(99, shares) == NULL);
    return buft;
}

struct product {
    struct ggml_context *weights_ctx, *ctx;
    struct ggml_tensor *weights, *x, *ids, *result;
    ggml_backend_buffer_t weights_buffer, buffer;
    struct ggml_cgraph *graph;
};

static struct ggml_context *
context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 16 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

static float
value_at(int64_t i)
{
    return (float)(i * 37 % 101 - 50) / 64.0f;
}

static void
fill(struct ggml_tensor *tensor)
{
    const int64_t n = ggml_nelements(tensor);
    float *values = malloc((size_t)n * sizeof(float));
    char *data = malloc(ggml_nbytes(tensor));

    CHECK(values != NULL && data != NULL);
    for (int64_t i = 0; i < n; i++)
        values[i] = value_at(i);
    ggml_quantize_chunk(tensor->type, values, data, 0, ggml_nrows(tensor),
                        tensor->ne[0], NULL);
    if (tensor->type == GGML_TYPE_F32)
        memcpy(data, values, ggml_nbytes(tensor));
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
    free(data);
    free(values);
}

static void
choose_experts(struct ggml_tensor *ids)
{
    int32_t chosen[TOKENS * USED];

    for (int i = 0; i < TOKENS * USED; i++)
        chosen[i] = i * 3 % EXPERTS;
    ggml_backend_tensor_set(ids, chosen, 0, sizeof(chosen));
}

static bool
has_memory(const struct product *p)
{
    return p->weights_buffer != NULL && p->buffer != NULL;
}

/* Activations are a view with gaps, so that they must be gathered. */
static struct product
product_make(ggml_backend_buffer_type_t weights, ggml_backend_buffer_type_t own,
             enum ggml_type type, bool by_expert)
{
    struct product p = { .weights_ctx = context(), .ctx = context() };
    struct ggml_tensor *whole;

    p.weights = ggml_new_tensor_3d(p.weights_ctx, type, COLS, ROWS,
                                   by_expert ? EXPERTS : 1);
    whole = ggml_new_tensor_3d(p.ctx, GGML_TYPE_F32, 2 * COLS, USED, TOKENS);
    p.x = ggml_view_3d(p.ctx, whole, COLS, by_expert ? USED : 1, TOKENS,
                       whole->nb[1], whole->nb[2], 0);
    if (by_expert) {
        p.ids = ggml_new_tensor_2d(p.ctx, GGML_TYPE_I32, USED, TOKENS);
        p.result = ggml_mul_mat_id(p.ctx, p.weights, p.x, p.ids);
    } else {
        p.x = ggml_view_2d(p.ctx, whole, COLS, TOKENS, whole->nb[2], 0);
        p.result = ggml_mul_mat(p.ctx, p.weights, p.x);
    }
    p.result = ggml_add(p.ctx, p.result, p.result);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.result);
    p.weights_buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(p.weights_ctx, weights);
    p.buffer = ggml_backend_alloc_ctx_tensors_from_buft(p.ctx, own);
    if (!has_memory(&p))
        return p;
    fill(p.weights);
    fill(whole);
    if (by_expert)
        choose_experts(p.ids);
    return p;
}

static void
product_free(struct product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_buffer_free(p->weights_buffer);
    ggml_free(p->ctx);
    ggml_free(p->weights_ctx);
}

static float *
compute(ggml_backend_t backend, const struct product *p)
{
    float *values = malloc(ggml_nbytes(p->result));

    CHECK(values != NULL);
    for (int turn = 0; turn < 3; turn++)
        CHECK(ggml_backend_graph_compute(backend, p->graph) ==
              GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(p->result, values, 0, ggml_nbytes(p->result));
    return values;
}

static void
compare(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(fabsf(a[i] - b[i]) <= 1e-3f * (1.0f + fabsf(b[i])))) {
            fprintf(stderr, "value %d: %g, not %g\n", (int)i, (double)a[i],
                    (double)b[i]);
            exit(1);
        }
    }
}

static void
compare_with_one_card(ggml_backend_buffer_type_t split, enum ggml_type type,
                      bool by_expert)
{
    ggml_backend_dev_t dev = cuda_device("CUDA0");
    ggml_backend_t backend = ggml_backend_dev_init(dev, NULL);
    ggml_backend_buffer_type_t own = ggml_backend_dev_buffer_type(dev);
    struct product whole = product_make(own, own, type, by_expert);
    struct product parts = product_make(split, own, type, by_expert);
    float *a, *b;
    char *back = malloc(ggml_nbytes(parts.weights));
    char *sent = malloc(ggml_nbytes(parts.weights));

    CHECK(has_memory(&whole) && has_memory(&parts));
    CHECK(ggml_backend_dev_supports_op(dev, parts.result->src[0]));
    CHECK(ggml_backend_dev_supports_buft(dev, split));
    CHECK(!ggml_backend_dev_supports_buft(cuda_device("CUDA1"), split));
    a = compute(backend, &parts);
    b = compute(backend, &whole);
    compare(a, b, ggml_nelements(whole.result));
    ggml_backend_tensor_get(whole.weights, sent, 0,
                            ggml_nbytes(whole.weights));
    ggml_backend_tensor_get(parts.weights, back, 0,
                            ggml_nbytes(parts.weights));
    CHECK(memcmp(sent, back, ggml_nbytes(whole.weights)) == 0);
    free(a);
    free(b);
    free(back);
    free(sent);
    ggml_backend_free(backend);
    product_free(&parts);
    product_free(&whole);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
multiply_on_three_cards(void)
{
    static const float shares[16] = { 1.0f, 2.0f, 1.0f };
    static const float one_share[16] = { 0.0f, 1.0f };
    ggml_backend_reg_t reg = cuda_load();
    ggml_backend_buffer_type_t split = split_type(reg, shares);

    CHECK(strcmp(ggml_backend_buft_name(split), DEVICES "0_Split") == 0);
    compare_with_one_card(split, GGML_TYPE_F32, false);
    compare_with_one_card(split, GGML_TYPE_Q8_0, false);
    compare_with_one_card(split, GGML_TYPE_Q8_0, true);
    compare_with_one_card(split_type(reg, NULL), GGML_TYPE_F16, false);
    compare_with_one_card(split_type(reg, one_share), GGML_TYPE_Q4_0, false);
}

static void
rows_on_several_cards_give_the_product_of_one(void **state)
{
    (void)state;
    cuda_case(multiply_on_three_cards, "EMU_DEVICES=3", NULL);
    cuda_case(multiply_on_three_cards, "EMU_DEVICES=3 EMU_PEER=refused", NULL);
    cuda_case(multiply_on_three_cards, "EMU_DEVICES=3 EMU_PEER=corrupting",
              NULL);
    cuda_case(multiply_on_three_cards,
              "EMU_DEVICES=1 GGMLBACKEND_GPU_DEVICES=0,0,0", NULL);
}

/* ---- ranges of bytes ---- */

enum { MATRICES = 3 };

/* What lies in TENSOR is MODEL. */
static bool
has_bytes(const struct ggml_tensor *tensor, const uint8_t *model)
{
    const size_t size = ggml_nbytes(tensor);
    uint8_t *bytes = malloc(size);
    bool is_same;

    CHECK(bytes != NULL);
    ggml_backend_tensor_get(tensor, bytes, 0, size);
    is_same = memcmp(bytes, model, size) == 0;
    free(bytes);
    return is_same;
}

/* A range by chance is set, filled or read, and MODEL the same way. */
static void
touch(struct ggml_tensor *tensor, uint8_t *model, struct gb_random *random)
{
    const uint64_t drawn = gb_random_u64(random);
    const size_t whole = ggml_nbytes(tensor);
    const size_t offset = (size_t)(drawn >> 32) % whole;
    const size_t size = 1 + (size_t)(drawn & 0xffffff) % (whole - offset);
    const uint8_t value = (uint8_t)(drawn >> 24);
    uint8_t *bytes = malloc(size);

    CHECK(bytes != NULL);
    if (drawn % 2 == 0) {
        ggml_backend_tensor_memset(tensor, value, offset, size);
        memset(model + offset, value, size);
    } else {
        for (size_t i = 0; i < size; i++)
            model[offset + i] = bytes[i] = (uint8_t)(value + i * 7);
        ggml_backend_tensor_set(tensor, bytes, offset, size);
    }
    memset(bytes, ~model[offset], size);
    ggml_backend_tensor_get(tensor, bytes, offset, size);
    CHECK(memcmp(bytes, model + offset, size) == 0);
    free(bytes);
}

static void
touch_ranges(void)
{
    static const float shares[16] = { 1.0f, 2.0f, 1.0f };
    ggml_backend_buffer_type_t split = split_type(cuda_load(), shares);
    struct ggml_context *ctx = context();
    struct ggml_tensor *tensor =
        ggml_new_tensor_3d(ctx, GGML_TYPE_Q8_0, COLS, ROWS, MATRICES);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, split);
    uint8_t *model = calloc(1, ggml_nbytes(tensor));
    struct gb_random random;

    CHECK(buffer != NULL && model != NULL && has_bytes(tensor, model));
    gb_random_init(&random, gb_test_seed(35));
    for (int i = 0; i < 200; i++)
        touch(tensor, model, &random);
    CHECK(has_bytes(tensor, model));
    ggml_backend_buffer_clear(buffer, 0xa5);
    memset(model, 0xa5, ggml_nbytes(tensor));
    CHECK(has_bytes(tensor, model));
    free(model);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
any_range_of_a_split_tensor_is_set_filled_and_read(void **state)
{
    (void)state;
    cuda_case(touch_ranges, "EMU_DEVICES=3", NULL);
}

/* ---- views and changed weights ---- */

/* Bytes of VIEW are those of MODEL from AT on, by each way to read and write. */
static void
use_view(struct ggml_tensor *view, uint8_t *model, size_t at)
{
    const size_t size = ggml_nbytes(view);
    struct ggml_context *ctx = context();
    struct ggml_tensor *other = ggml_dup_tensor(ctx, view);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_cpu_buffer_type());

    CHECK(buffer != NULL);
    CHECK(ggml_backend_view_init(view) == GGML_STATUS_SUCCESS);
    CHECK(has_bytes(view, model + at));
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)other->data)[i] = (uint8_t)(i * 5);
    ggml_backend_tensor_copy(other, view);
    memcpy(model + at, other->data, size);
    memset(other->data, 0, size);
    ggml_backend_tensor_copy(view, other);
    CHECK(memcmp(other->data, model + at, size) == 0);
    ggml_backend_tensor_memset(view, 3, 1, size - 1);
    memset(model + at + 1, 3, size - 1);
    ggml_backend_tensor_set(view, "abc", size - 3, 3);
    memcpy(model + at + size - 3, "abc", 3);
    CHECK(has_bytes(view, model + at));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
use_views(void)
{
    static const float shares[16] = { 1.0f, 2.0f, 1.0f };
    ggml_backend_buffer_type_t split = split_type(cuda_load(), shares);
    struct ggml_context *ctx = context(), *views = context();
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, COLS, ROWS);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, split);
    uint8_t *model = calloc(1, ggml_nbytes(weights));

    CHECK(buffer != NULL && model != NULL);
    ggmlbackend_clear_failure(); /* split_type's */
    use_view(ggml_view_2d(views, weights, COLS, 100, weights->nb[1],
                          weights->nb[1] * 60), model, weights->nb[1] * 60);
    use_view(ggml_view_1d(views, weights, 3, 4 * (COLS + 7)), model,
             4 * (COLS + 7));
    use_view(ggml_reshape_3d(views, weights, COLS, 9, ROWS / 9), model, 0);
    CHECK(has_bytes(weights, model));
    CHECK(ggmlbackend_last_failure()[0] == '\0');
    free(model);
    ggml_backend_buffer_free(buffer);
    ggml_free(views);
    ggml_free(ctx);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
views_have_the_bytes_of_their_weights(void **state)
{
    (void)state;
    cuda_case(use_views, "EMU_DEVICES=3", NULL);
}

/* NODE, which nobody can compute, is a failed graph for one reason. */
static void
is_refused(ggml_backend_t backend, struct ggml_context *ctx,
           struct ggml_tensor *node)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);

    ggml_build_forward_expand(graph, node);
    CHECK(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_FAILED);
    CHECK(ggmlbackend_last_failure()[0] != '\0');
    ggmlbackend_clear_failure();
}

static void
multiply_what_is_no_weight(void)
{
    ggml_backend_buffer_type_t split = split_type(cuda_load(), NULL);
    ggml_backend_t backend = cuda_backend("CUDA0");
    struct ggml_context *ctx = context(), *more = context();
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, COLS, ROWS);
    ggml_backend_buffer_t buffer, rest;
    struct ggml_tensor *x, *view, *of_view, *of_more;
    uint8_t byte = 0;

    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, split);
    x = ggml_new_tensor_2d(more, GGML_TYPE_F32, COLS, 2);
    view = ggml_view_2d(more, weights, COLS, 100, weights->nb[1], 0);
    of_view = ggml_mul_mat(more, view, x);
    weights->ne[1] += 64;
    weights->nb[2] = weights->nb[3] = weights->nb[1] * (size_t)weights->ne[1];
    of_more = ggml_mul_mat(more, weights, x);
    rest = ggml_backend_alloc_ctx_tensors(more, backend);
    CHECK(buffer != NULL && rest != NULL);
    CHECK(!ggml_backend_supports_op(backend, of_view));
    is_refused(backend, more, of_view);
    is_refused(backend, more, of_more);
    ggml_backend_tensor_get(weights, &byte, ggml_nbytes(weights) - 1, 1);
    CHECK(strstr(ggmlbackend_last_failure(), "split weights") != NULL);
    ggml_backend_buffer_free(rest);
    ggml_backend_buffer_free(buffer);
    ggml_free(more);
    ggml_free(ctx);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
neither_views_nor_changed_weights_are_multiplied(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(multiply_what_is_no_weight, "EMU_DEVICES=3", &errors);
    /* One of them is split_type's. */
    assert_int_equal(cuda_count_lines(errors), 4);
}

/* ---- shares ---- */

static void
share_nonsense(void)
{
    static const float wrong[][16] = {
        { -1.0f, 2.0f }, { 2.0f, -1.0f }, { NAN, 1.0f }, { 1.0f, NAN },
        { INFINITY, 1.0f }, { 0.0f, -INFINITY }, { -0.5f, -0.5f },
    };
    static const float right[][16] = {
        { 1e38f, 3e38f }, { 1e-45f, 0.0f }, { 0.0f, 1.0f }, { -0.0f, 2.0f },
        { 3e38f, 3e38f }, { 0.0f, 0.0f },
    };
    ggml_backend_split_buffer_type_t get;

    *(void **)&get = ggml_backend_reg_get_proc_address(
        cuda_load(), "ggml_backend_split_buffer_type");
    CHECK(get != NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ggmlbackend_clear_failure();
        CHECK(get(0, wrong[i]) == NULL);
        CHECK(strstr(ggmlbackend_last_failure(), "share") != NULL);
    }
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        compare_with_one_card(get(0, right[i]), GGML_TYPE_F32, false);
}

static void
shares_are_parts_of_a_whole(void **state)
{
    (void)state;
    cuda_case(share_nonsense, "EMU_DEVICES=2 GGMLBACKEND_LOG=none", NULL);
}

/* ---- failures ---- */

/* Is the product right where nothing was told?  False for all that was. */
static bool
multiply(ggml_backend_buffer_type_t split, const float *right)
{
    ggml_backend_dev_t dev = cuda_device("CUDA0");
    ggml_backend_t backend = ggml_backend_dev_init(dev, NULL);
    struct product p;
    float values[ROWS * USED * TOKENS];
    bool is_done;

    ggmlbackend_clear_failure();
    p = product_make(split, ggml_backend_dev_buffer_type(dev), GGML_TYPE_Q8_0,
                     true);
    is_done = backend != NULL && has_memory(&p) &&
              ggmlbackend_last_failure()[0] == '\0';
    for (int turn = 0; turn < 2 && is_done; turn++)
        is_done = ggml_backend_graph_compute(backend, p.graph) ==
                  GGML_STATUS_SUCCESS;
    if (is_done) {
        CHECK(ggml_nbytes(p.result) == sizeof(values));
        ggml_backend_tensor_get(p.result, values, 0, sizeof(values));
        is_done = ggmlbackend_last_failure()[0] == '\0';
        CHECK(!is_done || memcmp(values, right, sizeof(values)) == 0);
    }
    product_free(&p);
    ggml_backend_free(backend);
    return is_done;
}

static void
nothing_is_left(const char *what, int n)
{
    static uint64_t n_reports;
    const uint64_t n_new = emulator.reports() - n_reports;

    n_reports += n_new;
    if (emulator.live() == 0 && n_new == 0)
        return;
    fprintf(stderr, "%s %d: %d objects, %d reports\n", what, n,
            (int)emulator.live(), (int)n_new);
    exit(1);
}

static void
learn(ggml_backend_buffer_type_t split, float *right)
{
    ggml_backend_dev_t dev = cuda_device("CUDA0");
    ggml_backend_t backend = ggml_backend_dev_init(dev, NULL);
    struct product p = product_make(split, ggml_backend_dev_buffer_type(dev),
                                    GGML_TYPE_Q8_0, true);
    float *values = compute(backend, &p);

    memcpy(right, values, ggml_nbytes(p.result));
    free(values);
    product_free(&p);
    ggml_backend_free(backend);
}

static float right[ROWS * USED * TOKENS];

static ggml_backend_buffer_type_t
begin(void)
{
    ggml_backend_buffer_type_t split = split_type(cuda_load(), NULL);

    learn(split, right);
    emulator.reset();
    CHECK(multiply(split, right));
    return split;
}

/* After a failure was asked for: a product, and another one without. */
static void
multiply_twice(ggml_backend_buffer_type_t split, const char *name, int n)
{
    multiply(split, right);
    nothing_is_left(name, n);
    emulator.fail_call("any", 0, 0);
    emulator.lose_card(0, 0);
    CHECK(multiply(split, right));
    nothing_is_left("then anew", n);
}

/* The first calls and some others; all with GGMLBACKEND_TEST_ALL. */
static int
next(int n)
{
    return n < 6 || getenv("GGMLBACKEND_TEST_ALL") != NULL ? n + 1 : n + 17;
}

/* A context that cannot be entered cannot be left clean: see failures.c. */
static void
run_out_of_memory(void)
{
    static const char *const names[] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) cuda,
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    };
    ggml_backend_buffer_type_t split = begin();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const bool is_entry = cuda_is_entry(names[i]);

        for (int n = 1; !is_entry; n = next(n)) {
            emulator.reset();
            emulator.fail_call(names[i], (uint64_t)n, 2);
            multiply_twice(split, names[i], n);
            if (emulator.failures() == 0)
                break;
        }
    }
}

static void
lose_cards(void)
{
    ggml_backend_buffer_type_t split = begin();
    const int n_calls = (int)emulator.count(EMU_CALLS);

    CHECK(n_calls > 100);
    for (int n = 1; n < n_calls; n = next(n)) {
        emulator.reset();
        emulator.lose_card((uint64_t)n, 0);
        multiply_twice(split, "lost with call", n);
    }
}

static void
any_call_may_fail_and_any_card_be_lost(void **state)
{
    static const char variables[] =
        "EMU_DEVICES=2 EMU_CHECK=0 GGMLBACKEND_LOG=none";

    (void)state;
    cuda_case(run_out_of_memory, variables, NULL);
    cuda_case(lose_cards, variables, NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_on_several_cards_give_the_product_of_one),
        cmocka_unit_test(any_range_of_a_split_tensor_is_set_filled_and_read),
        cmocka_unit_test(views_have_the_bytes_of_their_weights),
        cmocka_unit_test(neither_views_nor_changed_weights_are_multiplied),
        cmocka_unit_test(shares_are_parts_of_a_whole),
        cmocka_unit_test(any_call_may_fail_and_any_card_be_lost),
    };

    return cmocka_run_group_tests_name("split weights", tests, NULL, NULL);
}
