/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/fuse.c - random graphs give the same bits whether groups of nodes
 * are computed by one kernel or not, whether a plan is used again or made anew,
 * and whether each node is a graph of its own.
 *
 * Products with one right side are one launch for each type of weights,
 * and a token's attention packs its results for the product behind it.
 *
 * Each graph is computed several times, as tests/fuse/graphs.h says.  Each
 * pattern has to be among the groups that the backend computes.
 *
 * With GGMLBACKEND_TEST_ALL=1 ten thousand graphs are run with groups, without,
 * and node by node; what looks for faults of kernels is off then.
 */
#include "config.h"

#include "backends/cuda/ops/fused.h"
#include "tests/cuda/emulated.h"
#include "tests/fuse/graphs.h"
#include "tests/util/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    GRAPHS = 120, TURNS = 4, /* that each is computed */
    ALL_GRAPHS = 10000, ALL_TURNS = 2,
};

/* ---- groups ---- */

/* A pattern, and how many nodes groups of it have here. */
struct pattern {
    const char *name;
    int n_nodes[3];
};

static const struct pattern patterns[GB_FUSE_PATTERN_COUNT] = {
    [GB_FUSE_ADD_NORM] = { "add_norm", { 3 } },
    [GB_FUSE_GATE] = { "gate", { 2 } },
    [GB_FUSE_GET_NORM] = { "get_norm", { 3, 4 } },
    [GB_FUSE_NORM] = { "norm", { 2, 3 } },
    [GB_FUSE_PRODUCT] = { "product", { 2, 3 } },
    [GB_FUSE_PRODUCTS] = { "products", { 2, 3 } },
    [GB_FUSE_ROPE_STORE] = { "rope_store", { 2 } },
    [GB_FUSE_ROUTE] = { "route", { 3, 5 } },
    [GB_FUSE_SLICES] = { "slices", { 2, 3 } },
    [GB_FUSE_SOFT_MAX] = { "soft_max", { 2, 3 } },
    [GB_FUSE_STORES] = { "stores", { 2, 3, 4 } },
};

static int n_found[GB_FUSE_PATTERN_COUNT][GB_FUSE_MAX_NODES + 1];

/* As the backend decides it for the card that the emulator has. */
static bool
accepts(void *data, const struct gb_fuse_group *group)
{
    static const struct gb_cuda_limits limits = {
        .variant = GB_CUDA_WGMMA, .n_sms = 4, .warp = 32, .shared = 227 << 10
    };

    (void)data;
    return gb_cuda_fused_of(group->pattern)->supports(&limits, group);
}

static void
count_groups(const struct graph *g)
{
    static struct gb_fuse fuse;

    CHECK(gb_fuse_find(&fuse, g->cgraph, accepts, NULL));
    for (int i = 0; i < fuse.n_groups; i++)
        n_found[fuse.groups[i].pattern][fuse.groups[i].n_nodes]++;
}

/* "name nodes:groups nodes:groups, …" */
static void
print_groups(void)
{
    for (int i = 0; i < GB_FUSE_PATTERN_COUNT; i++) {
        fprintf(stderr, "%s%s", i > 0 ? ", " : "groups: ", patterns[i].name);
        for (int n = 0; n <= GB_FUSE_MAX_NODES; n++) {
            if (n_found[i][n] > 0)
                fprintf(stderr, " %d:%d", n, n_found[i][n]);
        }
    }
    fprintf(stderr, "\n");
}

/* Of a few graphs, which another seed may make others, each pattern; of many
 * each length of it, and not just once. */
static void
check_groups(int n_graphs)
{
    for (int i = 0; i < GB_FUSE_PATTERN_COUNT; i++) {
        const struct pattern *pattern = &patterns[i];
        int n = 0;

        for (int j = 0; j < 3 && pattern->n_nodes[j] > 0; j++) {
            const int found = n_found[i][pattern->n_nodes[j]];

            CHECK(n_graphs < ALL_GRAPHS || found >= 100);
            n += found;
        }
        CHECK(n > 0);
    }
}

/* ---- cases ---- */

static bool is_fresh, is_by_node;
static int n_graphs, n_turns;

static ggml_backend_t
new_backend(void)
{
    ggml_backend_t backend =
        ggml_backend_dev_init(cuda_device("CUDA0"), NULL);

    CHECK(backend != NULL);
    return backend;
}

static uint64_t
run(struct graph *g, ggml_backend_t *backend)
{
    uint64_t sum = 0;

    graph_begin(g);
    for (int turn = 0; turn < n_turns; turn++) {
        if (is_fresh) {
            ggml_backend_free(*backend);
            *backend = new_backend();
        }
        graph_fill(g, turn);
        CHECK(graph_compute(g, *backend, !is_by_node));
        sum = graph_hash(g, sum);
    }
    return sum;
}

/* "groups: …", and in the last line "hash kernels" */
static void
print_hash(void)
{
    static struct graph g;
    ggml_backend_t backend;
    uint64_t sum = 0;

    CHECK(cuda_load() != NULL);
    graph_seed(gb_test_seed(20261123));
    backend = new_backend();
    for (int i = 0; i < n_graphs; i++) {
        graph_make(&g, ggml_backend_get_default_buffer_type(backend));
        count_groups(&g);
        sum = sum * 31 + run(&g, &backend);
        graph_free(&g);
    }
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
    print_groups();
    check_groups(n_graphs);
    fprintf(stderr, "%016llx %llu\n", (unsigned long long)sum,
            (unsigned long long)emulator.count(EMU_KERNELS));
}

struct printed {
    char hash[17];
    unsigned long long n_kernels;
};

static struct printed
printed_by(const char *variables)
{
    struct printed printed;
    const char *errors, *line;

    cuda_case(print_hash, variables, &errors);
    /* The seed is told first. */
    line = strrchr(errors, ' ');
    assert_true(line != NULL && line - errors >= 16);
    assert_int_equal(
        sscanf(line - 16, "%16s %llu", printed.hash, &printed.n_kernels), 2);
    line = strstr(errors, "groups: ");
    assert_non_null(line);
    print_message("# %d graphs, [%s]%s%s %s, %llu kernels\n# %.*s\n",
                  n_graphs, variables, is_fresh ? " fresh" : "",
                  is_by_node ? " by node" : "", printed.hash,
                  printed.n_kernels, (int)strcspn(line, "\n"), line);
    return printed;
}

static void
nobody_can_tell(void **state)
{
    struct printed on, other;

    (void)state;
    n_graphs = GRAPHS;
    n_turns = TURNS;
    is_fresh = false;
    on = printed_by("");
    other = printed_by("GGMLBACKEND_GPU_FUSE=off");
    assert_string_equal(on.hash, other.hash);
    assert_true(on.n_kernels * 10 < other.n_kernels * 9);
    other = printed_by("GGML_CUDA_DISABLE_GRAPHS=1 EMU_ORDER=2");
    assert_string_equal(on.hash, other.hash);
    is_fresh = true;
    other = printed_by("EMU_ORDER=1");
    assert_string_equal(on.hash, other.hash);
    assert_int_equal(on.n_kernels, other.n_kernels);
    is_fresh = false;
    is_by_node = true;
    other = printed_by("");
    assert_string_equal(on.hash, other.hash);
    is_by_node = false;
}

static void
nobody_can_tell_of_many(void **state)
{
    struct printed on, off;

    (void)state;
    if (getenv("GGMLBACKEND_TEST_ALL") == NULL)
        skip();
    n_graphs = ALL_GRAPHS;
    n_turns = ALL_TURNS;
    is_fresh = false;
    on = printed_by("EMU_CHECK=0");
    off = printed_by("EMU_CHECK=0 GGMLBACKEND_GPU_FUSE=off");
    assert_string_equal(on.hash, off.hash);
    assert_true(on.n_kernels * 10 < off.n_kernels * 9);
    is_by_node = true;
    off = printed_by("EMU_CHECK=0");
    assert_string_equal(on.hash, off.hash);
    is_by_node = false;
}

/* ---- launches ---- */

struct launches {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
};

static struct launches
begin_launches(void)
{
    struct launches l = { .ctx = ggml_init((struct ggml_init_params){
                              .mem_size = 16 * ggml_tensor_overhead() +
                                          ggml_graph_overhead(),
                              .no_alloc = true }) };

    CHECK(l.ctx != NULL);
    l.graph = ggml_new_graph(l.ctx);
    return l;
}

/* Compute it; that takes N kernels. */
static void
end_launches(struct launches *l, int n)
{
    ggml_backend_t backend = new_backend();
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(l->ctx, backend);
    uint64_t n_kernels;

    CHECK(buffer != NULL);
    ggml_backend_buffer_clear(buffer, 0);
    n_kernels = emulator.count(EMU_KERNELS);
    CHECK(ggml_backend_graph_compute(backend, l->graph) ==
          GGML_STATUS_SUCCESS);
    n_kernels = emulator.count(EMU_KERNELS) - n_kernels;
    fprintf(stderr, "%d kernels\n", (int)n_kernels);
    CHECK(n_kernels == (uint64_t)n);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(l->ctx);
}

/* A layer's queries, values and keys, of which the values have weights of
 * another type: two launches, and one that packs N columns. */
static void
count_products(int64_t n)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_Q4_K, GGML_TYPE_Q6_K, GGML_TYPE_Q4_K
    };
    struct launches l = begin_launches();
    struct ggml_tensor *x =
        ggml_new_tensor_2d(l.ctx, GGML_TYPE_F32, 256, n);

    for (int i = 0; i < 3; i++) {
        struct ggml_tensor *w =
            ggml_new_tensor_2d(l.ctx, types[i], 256, 70);

        ggml_build_forward_expand(l.graph, ggml_mul_mat(l.ctx, w, x));
    }
    end_launches(&l, 3);
}

static void
count_launches_of_products(void)
{
    CHECK(cuda_load() != NULL);
    count_products(1);
    count_products(70);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* A token's attention to N_KEYS, and the product that reads it: N kernels. */
static void
count_attention(int64_t n_keys, int n)
{
    struct launches l = begin_launches();
    struct ggml_tensor *q =
        ggml_new_tensor_3d(l.ctx, GGML_TYPE_F32, 64, 1, 8);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(l.ctx, GGML_TYPE_F16, 64, n_keys, 2);
    struct ggml_tensor *w = ggml_new_tensor_2d(l.ctx, GGML_TYPE_Q4_K, 512, 70);
    struct ggml_tensor *y = ggml_flash_attn_ext(l.ctx, q, k, k, NULL, 0.125f,
                                                0.0f, 0.0f);

    y = ggml_reshape_2d(l.ctx, y, 512, 1);
    ggml_build_forward_expand(l.graph, ggml_mul_mat(l.ctx, w, y));
    end_launches(&l, n);
}

/* Who makes the results packs them: attention, or what joins its parts. */
static void
count_launches_of_attention(void)
{
    CHECK(cuda_load() != NULL);
    count_attention(64, 2);
    count_attention(256, 3);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
a_type_of_weights_is_a_launch(void **state)
{
    (void)state;
    cuda_case(count_launches_of_products, "", NULL);
}

static void
attention_packs_its_results(void **state)
{
    (void)state;
    cuda_case(count_launches_of_attention, "", NULL);
}

static void
load_only(void)
{
    CHECK(cuda_load() != NULL);
}

static void
other_settings_are_refused(void **state)
{
    (void)state;
    cuda_case_says(load_only, "GGMLBACKEND_GPU_FUSE=sometimes",
                   "GGMLBACKEND_GPU_FUSE: sometimes is neither on nor off, "
                   "and not used");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_can_tell),
        cmocka_unit_test(nobody_can_tell_of_many),
        cmocka_unit_test(a_type_of_weights_is_a_launch),
        cmocka_unit_test(attention_packs_its_results),
        cmocka_unit_test(other_settings_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
