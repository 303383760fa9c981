/* SPDX-License-Identifier: MIT */
/*
 * bench/by-op.c - where the time of a case goes, by operation.
 */
#include "tools/ggmlbackend-bench/by-op.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/clock.h"
#include "tools/ggmlbackend-bench/measure.h"

#include "ggmlbackend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Different rows there may be; what does not fit counts as one more. */
#define MAX_ROWS 96

/* Runs with a profile, and as many without, in turns. */
#define LEAST_RUNS 3
#define MOST_RUNS  50

struct row {
    char name[64];
    double ns; /* of the run that is on, of all threads */
    double calls;
    struct demand demand;
    struct samples seconds;
};

struct profile {
    const struct bench *bench;
    struct job *job;
    struct row rows[MAX_ROWS];
    int n_rows;
    double graph_ns; /* of graphs, as all threads saw them */
    double told_since; /* when the graph's first step was told; 0 before */
    double telling;    /* seconds of the run, of telling steps */
};

/* How many columns a product has, in words of the CPU's three paths. */
static const char *
path_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t n = ggml_nelements(node) / a->ne[1] / a->ne[2] / a->ne[3];

    return n == 1 ? "GEMV" : n <= 16 ? "skinny" : "GEMM";
}

static bool
is_product(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID;
}

/* Products by what their weights are, and what is prepared for them by itself. */
static void
name_row(const struct ggml_tensor *node, enum ggmlbackend_part part,
         char name[64])
{
    const char *op = ggml_op_desc(node);

    if (part == GGMLBACKEND_PART_PREPARE)
        snprintf(name, 64, "%s, prepare", op);
    else if (is_product(node))
        snprintf(name, 64, "%s %s %lldx%lld %s", op,
                 ggml_type_name(node->src[0]->type),
                 (long long)node->src[0]->ne[0],
                 (long long)node->src[0]->ne[1], path_of(node));
    else
        snprintf(name, 64, "%s", op);
}

static struct row *
find_row(struct profile *p, const char *name)
{
    for (int i = 0; i < p->n_rows; i++)
        if (strcmp(p->rows[i].name, name) == 0)
            return &p->rows[i];
    if (p->n_rows == MAX_ROWS)
        return &p->rows[MAX_ROWS - 1];
    snprintf(p->rows[p->n_rows].name, sizeof(p->rows[0].name), "%s",
             p->n_rows == MAX_ROWS - 1 ? "(others)" : name);
    return &p->rows[p->n_rows++];
}

/* Bytes of T's elements, however far they are apart. */
static double
bytes_of(const struct ggml_tensor *t)
{
    return t == NULL ? 0.0
                     : (double)ggml_row_size(t->type, t->ne[0]) *
            (double)(ggml_nelements(t) / (t->ne[0] > 0 ? t->ne[0] : 1));
}

/* Multiplications and additions of products and attention, what is masked
 * included; bytes read and written, each operand once. */
static void
count_demand(const struct profile *p, const struct ggml_tensor *node,
             struct demand *demand)
{
    const struct ggml_tensor *a = node->src[0], *b = node->src[1];

    if (is_product(node))
        demand->ops[job_peak(p->job, a->type)] +=
            2.0 * (double)a->ne[0] * (double)ggml_nelements(node);
    else if (node->op == GGML_OP_FLASH_ATTN_EXT)
        demand->ops[PEAK_FP32] += 2.0 * (double)b->ne[1] *
            ((double)ggml_nelements(a) + (double)ggml_nelements(node));
    demand->bytes += bytes_of(node);
    if (node->op == GGML_OP_GET_ROWS) {
        demand->bytes +=
            (double)ggml_row_size(a->type, a->ne[0]) * (double)ggml_nelements(b);
        return;
    }
    for (int i = 0; i < GGML_MAX_SRC; i++)
        demand->bytes += bytes_of(node->src[i]);
}

/* A profile is told when its graph has ended: what that takes is neither the
 * graph's time nor the program's. */
static void
end_graph(struct profile *p, int64_t ns)
{
    p->graph_ns += (double)ns;
    if (p->told_since > 0.0)
        p->telling += seconds_now() - p->told_since;
    p->told_since = 0.0;
}

static void
take_step(void *data, const struct ggml_tensor *node,
          enum ggmlbackend_part part, int64_t ns)
{
    struct profile *p = data;
    struct row *row;
    char name[64];

    if (node == NULL) {
        end_graph(p, ns);
        return;
    }
    if (p->told_since == 0.0)
        p->told_since = seconds_now();
    name_row(node, part, name);
    row = find_row(p, name);
    row->ns += (double)ns;
    row->calls += part != GGMLBACKEND_PART_FINISH;
    if (part == GGMLBACKEND_PART_RUN)
        count_demand(p, node, &row->demand);
}

static bool
add(struct profile *p, const char *name, double seconds)
{
    struct row *row = find_row(p, name);

    row->calls = 1.0;
    return samples_push(&row->seconds, seconds > 0.0 ? seconds : 1e-9);
}

/* One run of TOOK seconds becomes a sample of each row. */
static bool
end_run(struct profile *p, double took)
{
    const double n_threads = (double)p->bench->options->n_threads;
    double busy = 0.0;
    const int n_rows = p->n_rows;

    for (int i = 0; i < n_rows; i++) {
        const double seconds = p->rows[i].ns * 1e-9 / n_threads;

        /* Those in brackets are no steps. */
        if (p->rows[i].name[0] == '(' && p->rows[i].ns == 0.0)
            continue;
        if (!samples_push(&p->rows[i].seconds, seconds > 0.0 ? seconds : 1e-9))
            return false;
        busy += seconds;
    }
    return add(p, "(waiting)", p->graph_ns * 1e-9 / n_threads - busy) &&
        add(p, "(outside)",
            took - p->graph_ns * 1e-9 / n_threads - p->telling) &&
        add(p, "(profile)", p->telling) && add(p, BY_OP_ALL, took);
}

static void
begin_run(struct profile *p)
{
    p->graph_ns = p->telling = 0.0;
    for (int i = 0; i < p->n_rows; i++) {
        p->rows[i].ns = p->rows[i].calls = 0.0;
        memset(&p->rows[i].demand, 0, sizeof(p->rows[i].demand));
    }
}

static ggmlbackend_set_profile_t
find_profile(ggml_backend_dev_t dev)
{
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(dev);
    void *address = reg == NULL
        ? NULL
        : ggml_backend_reg_get_proc_address(reg, "ggmlbackend_set_profile");
    ggmlbackend_set_profile_t set;

    /* ISO C has no conversion between pointers of both kinds. */
    memcpy(&set, &address, sizeof(set));
    return set;
}

/* Runs with and without a profile in turns; the latter's seconds into *WITHOUT. */
static bool
run_all(struct profile *p, const struct case_kind *kind,
        ggmlbackend_set_profile_t set, struct samples *without)
{
    const double end = seconds_now() + p->bench->options->seconds;

    for (int i = 0; i < MOST_RUNS; i++) {
        double began = seconds_now();

        if (i >= LEAST_RUNS && began >= end)
            break;
        if (!kind->run(p->job) ||
            !samples_push(without, seconds_now() - began))
            return false;
        begin_run(p);
        set(take_step, p);
        began = seconds_now();
        if (!kind->run(p->job)) {
            set(NULL, NULL);
            return false;
        }
        set(NULL, NULL);
        if (!end_run(p, seconds_now() - began))
            return false;
    }
    return true;
}

/* By their time, but the whole at the end. */
static int
compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int x_all = strcmp(x->name, BY_OP_ALL) == 0;
    const int y_all = strcmp(y->name, BY_OP_ALL) == 0;
    const double mx = samples_median(&x->seconds);
    const double my = samples_median(&y->seconds);

    if (x_all != y_all)
        return x_all - y_all;
    return mx > my ? -1 : mx < my;
}

static bool
hand_on(struct profile *p, const struct bench_case *c,
        const struct samples *without, take_result_fn take, void *arg)
{
    bool is_done = true;

    qsort(p->rows, (size_t)p->n_rows, sizeof(p->rows[0]), compare_rows);
    for (int i = 0; is_done && i < p->n_rows; i++) {
        struct row *row = &p->rows[i];
        struct result r = {
            .unit = UNIT_TIME,
            .n_threads = (int)p->bench->options->n_threads,
            .is_supported = true,
            .work = 1.0,
            .calls = row->calls,
            .demand = row->demand,
        };

        snprintf(r.name, sizeof(r.name), BY_OP "%.60s/%.60s", c->name,
                 row->name);
        r.seconds = row->seconds;
        memset(&row->seconds, 0, sizeof(row->seconds));
        if (i == p->n_rows - 1)
            r.without = samples_median(without);
        is_done = take(arg, &r);
        result_clear(&r);
    }
    return is_done;
}

bool
by_op_run(const struct bench *bench, const struct bench_case *c,
          take_result_fn take, void *arg)
{
    const ggmlbackend_set_profile_t set = find_profile(bench->device->dev);
    struct samples without = { .n = 0 };
    struct measured m;
    struct profile *p;
    bool is_done;

    if (set == NULL)
        return tool_error("device %s tells no profile",
                          ggml_backend_dev_name(bench->device->dev));
    if (!measure_open(&m, bench, c))
        return false;
    p = calloc(1, sizeof(*p));
    if (p != NULL) {
        p->bench = bench;
        p->job = &m.job;
    }
    is_done = p == NULL
        ? tool_error("no memory for a profile")
        : run_all(p, c->kind, set, &without) &&
            hand_on(p, c, &without, take, arg);
    for (int i = 0; p != NULL && i < p->n_rows; i++)
        samples_clear(&p->rows[i].seconds);
    free(p);
    samples_clear(&without);
    measure_close(&m);
    return is_done;
}

const char *
by_op_row(const struct result *r, size_t *size)
{
    const size_t n = strlen(BY_OP);
    const char *slash = strrchr(r->name, '/');

    if (r->unit != UNIT_TIME || strncmp(r->name, BY_OP, n) != 0 ||
        slash == NULL || slash < r->name + n)
        return NULL;
    *size = (size_t)(slash - r->name);
    return slash + 1;
}
