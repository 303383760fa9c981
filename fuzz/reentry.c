/* SPDX-License-Identifier: MIT */
/*
 * fuzz/reentry.c - calls that are made from within calls, by two threads.
 *
 * The bytes are a program.  Each thread makes the calls of its half: graphs on
 * backends, by schedulers, with pools, on simulated devices, and questions to
 * the registry.  The client's code that runs inside of such a call (operations,
 * callbacks, the log) reads on somewhere in the same bytes and makes calls of
 * its own: on what is at work already, on what the threads share, and on what
 * was made for it alone.
 *
 * The numbers of every graph are known: it is right, or it has failed where it
 * may.  What is at work must refuse, and nobody waits for ever.
 */
#include "fuzz/fuzz.h"

#include "backends/sim/sim.h"

#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    N = 16,           /* rows and columns of a matrix */
    MAX_DEPTH = 3,    /* calls within calls */
    MAX_INSIDE = 3,   /* calls of one visit */
    MAX_CALLS = 150,  /* of a program, without those of its two threads */
    MAX_OUTSIDE = 12  /* of each thread */
};

/* What one of the two threads has for itself. */
struct side {
    ggml_backend_t cpu[2];
    ggml_backend_t sim;
    ggml_backend_sched_t sched; /* of sim and cpu[1] */
    struct ggml_threadpool *pool;
};

/* What a call has at work while the client's code is inside of it. */
struct work {
    ggml_backend_t backend;
    ggml_backend_t planner; /* who may free the plan */
    ggml_backend_graph_plan_t plan;
    ggml_backend_sched_t sched;
    struct ggml_threadpool *pool; /* surely taken */
};

/* A run of calls: a thread's, or those of one visit inside of a call. */
struct frame {
    const struct frame *outer;
    const uint8_t *data; /* what is left of the program */
    size_t size;
    struct side *side; /* NULL in a thread that has none */
    bool is_alone;     /* nobody else uses SIDE at the same time */
    bool is_sure;      /* OUTER's work is at work indeed */
    ggml_backend_t runner; /* which runs what this is inside of, or NULL */
    int depth;
    struct work work;
};

/* What both have, and the program. */
static struct {
    ggml_backend_t cpu;
    struct ggml_threadpool *pool;
    bool has_faults;    /* of the devices: what uses them may fail */
    atomic_int n_calls; /* that may still be made inside of others */
    const uint8_t *data;
    size_t size;
} shared;

/* The thread's, for what the library calls without a word of who asked. */
static _Thread_local const struct frame *current;

/* A hook's own calls came between a failure and the question for its reason. */
static _Thread_local bool was_interrupted;

static void run(struct frame *frame, int max_calls);

static void
check(bool is_true, const char *what)
{
    if (!is_true)
        fuzz_stop(what);
}

static int
next(struct frame *frame)
{
    if (frame->size == 0)
        return 0;
    frame->size--;
    return *frame->data++;
}

/*
 * Client's code inside of what OUTER calls; the I-th of several at once, or the
 * only one.  NULL for a thread of a device's.
 */
static struct frame
inside_of(const struct frame *outer, int i, bool is_alone)
{
    struct frame frame = {
        .outer = outer, .data = shared.data, .size = shared.size
    };
    const size_t skip = (size_t)(3 * i + 1);

    if (outer == NULL)
        return frame;
    frame.side = outer->side;
    frame.depth = outer->depth + 1;
    frame.is_alone = is_alone && outer->is_alone;
    frame.size = skip < outer->size ? outer->size - skip : 0;
    frame.data = outer->data + (outer->size - frame.size);
    return frame;
}

static void
visit(struct frame *frame)
{
    const struct frame *before = current;

    if (frame->depth <= MAX_DEPTH)
        run(frame, MAX_INSIDE);
    current = before;
}

/* The same where a backend runs the client's code. */
static void
visit_graph(const struct frame *outer, int i, bool is_alone)
{
    struct frame frame = inside_of(outer, i, is_alone);

    frame.is_sure = true;
    frame.runner = outer->work.sched != NULL ? outer->side->cpu[1]
                                             : outer->work.backend;
    visit(&frame);
}

static bool
is_refused(enum ggml_status status)
{
    const bool is_said = strstr(ggmlbackend_last_failure(), "at work") != NULL;
    const bool is_good =
        status == GGML_STATUS_FAILED && (is_said || was_interrupted);

    was_interrupted = false;
    ggmlbackend_clear_failure();
    return is_good;
}

/* Is it at work for one of the calls that FRAME is inside of? */
static bool
is_inside(const struct frame *frame, const void *what)
{
    for (; frame != NULL && frame->outer != NULL; frame = frame->outer) {
        const struct work *work = &frame->outer->work;

        if (frame->is_sure &&
            (frame->runner == what || work->backend == what ||
             work->plan == what || work->sched == what))
            return true;
    }
    return false;
}

/* ---- the client's code ---- */

static void
operate(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    for (int row = ith; row < N; row += nth)
        memcpy((float *)dst->data + row * N, (const float *)a->data + row * N,
               N * sizeof(float));
    visit_graph(data, ith, nth == 1);
}

/* Stops the graphs of one call in eight. */
static bool
ask_to_stop(void *data)
{
    (void)data;
    visit_graph(current, 0, true);
    return current->size % 8 == 3;
}

/* The backends are at rest. */
static bool
observe(struct ggml_tensor *node, bool ask, void *data)
{
    struct frame frame = inside_of(data, ask, true);

    (void)node;
    frame.is_sure = true;
    visit(&frame);
    return true;
}

/* The library may be anywhere: what is at work is not known. */
static void
interrupt(int i)
{
    struct frame frame = inside_of(current, i, false);

    visit(&frame);
}

static void
log_message(enum ggml_log_level level, const char *text, void *data)
{
    (void)level;
    (void)text;
    (void)data;
    interrupt(1);
}

static void
notice(const char *reason, void *data)
{
    (void)reason;
    (void)data;
    interrupt(2);
    was_interrupted = true;
}

/* A registration that makes calls, whatever it is asked for. */
static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    interrupt(3);
    return "asking";
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    interrupt(4);
    return 0;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    (void)index;
    interrupt(5);
    return NULL;
}

static struct ggml_backend_reg asking = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = { .get_name = reg_get_name,
               .get_device_count = reg_get_device_count,
               .get_device = reg_get_device },
};

/* ---- graphs ---- */

/* ones . f(ones . ones), where f is the client's code, or without it. */
struct graph {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *ones, *out;
};

static void
build(struct graph *graph, struct frame *frame, bool has_data, int n_tasks)
{
    const struct ggml_init_params params = {
        .mem_size = 16 * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(8, false) +
                    (has_data ? 8 * (N * N * sizeof(float) + 64) : 0),
        .no_alloc = !has_data,
    };
    struct ggml_tensor *middle;

    graph->ctx = ggml_init(params);
    check(graph->ctx != NULL, "no memory");
    graph->ones = ggml_new_tensor_2d(graph->ctx, GGML_TYPE_F32, N, N);
    ggml_set_input(graph->ones);
    middle = ggml_mul_mat(graph->ctx, graph->ones, graph->ones);
    if (n_tasks > 0)
        middle = ggml_map_custom1(graph->ctx, middle, operate,
                                  n_tasks > 2 ? GGML_N_TASKS_MAX : n_tasks,
                                  frame);
    graph->out = ggml_mul_mat(graph->ctx, graph->ones, middle);
    ggml_set_output(graph->out);
    graph->graph = ggml_new_graph_custom(graph->ctx, 8, false);
    ggml_build_forward_expand(graph->graph, graph->out);
    if (has_data)
        ggml_set_f32(graph->ones, 1.0f);
}

static void
set_ones(struct graph *graph)
{
    float ones[N * N];

    for (int i = 0; i < N * N; i++)
        ones[i] = 1.0f;
    ggml_backend_tensor_set(graph->ones, ones, 0, sizeof(ones));
}

static bool
is_right(const struct graph *graph)
{
    float out[N * N];

    if (graph->out->buffer != NULL)
        ggml_backend_tensor_get(graph->out, out, 0, sizeof(out));
    else
        memcpy(out, graph->out->data, sizeof(out));
    for (int i = 0; i < N * N; i++)
        if (out[i] != (float)(N * N))
            return false;
    return true;
}

/* What may happen to a graph. */
struct chance {
    bool is_inside; /* of a call that has the backend at work: refused */
    bool is_shared; /* by somebody who may have it: refused or right */
    bool may_stop;  /* an abort callback may say so */
};

static void
expect(enum ggml_status status, const struct graph *graph, struct chance chance)
{
    if (status == GGML_STATUS_SUCCESS) {
        check(!chance.is_inside, "computed on a backend that is at work");
        check(is_right(graph), "wrong numbers");
    } else if (status == GGML_STATUS_ABORTED) {
        check(chance.may_stop, "stopped by nobody");
    } else {
        check(is_refused(status), "failed without a reason");
        check(chance.is_inside || chance.is_shared, "refused when at rest");
    }
}

/* Compute a new graph; the call's work is known to those inside of it. */
static void
compute_on(struct frame *frame, ggml_backend_t backend, int n_tasks,
           struct chance chance)
{
    const struct work before = frame->work;
    struct graph graph;
    enum ggml_status status;

    chance.is_inside = is_inside(frame, backend);
    build(&graph, frame, true, n_tasks);
    if (!chance.is_inside)
        frame->work.backend = backend;
    status = ggml_backend_graph_compute(backend, graph.graph);
    frame->work = before;
    expect(status, &graph, chance);
    ggml_free(graph.ctx);
}

/* ---- calls ---- */

static void
compute_on_own(struct frame *frame)
{
    struct side *side = frame->side;
    const int arg = next(frame), how = next(frame);
    ggml_backend_t cpu = side->cpu[arg % 2];
    struct ggml_threadpool *const pools[] = { NULL, side->pool, shared.pool };
    const struct chance chance = { .may_stop = true };

    if (!is_inside(frame, cpu)) {
        ggml_backend_cpu_set_n_threads(cpu, 1 + how % 3);
        ggml_backend_cpu_set_threadpool(cpu, pools[how / 4 % 3]);
        ggml_backend_cpu_set_abort_callback(
            cpu, how & 64 ? ask_to_stop : NULL, NULL);
        if (how / 4 % 3 == 1 && how % 3 > 0 && arg / 2 % 4 > 1)
            frame->work.pool = side->pool;
    }
    compute_on(frame, cpu, arg / 2 % 4, chance);
    frame->work.pool = NULL;
}

static void
compute_on_shared(struct frame *frame)
{
    const struct chance chance = { .is_shared = true };

    compute_on(frame, shared.cpu, next(frame) % 4, chance);
}

static void
compute_on_new(struct frame *frame)
{
    const int arg = next(frame);
    const struct chance chance = { 0 };
    ggml_backend_t cpu = ggml_backend_cpu_init();

    check(cpu != NULL, "no memory");
    ggml_backend_cpu_set_n_threads(cpu, 1 + arg % 2);
    if (arg & 4)
        ggml_backend_cpu_set_threadpool(cpu, shared.pool);
    compute_on(frame, cpu, arg / 8 % 4, chance);
    ggml_backend_free(cpu);
}

static void
compute_without_backend(struct frame *frame)
{
    const int arg = next(frame);
    struct graph graph;
    struct ggml_cplan plan;
    enum ggml_status status;

    build(&graph, frame, true, arg / 8 % 4);
    plan = ggml_graph_plan(graph.graph, 1 + arg % 3,
                           arg & 4 ? shared.pool : NULL);
    if (arg & 64)
        status = ggml_graph_compute_with_ctx(graph.ctx, graph.graph, 1);
    else
        status = ggml_graph_compute(graph.graph, &plan);
    check(status == GGML_STATUS_SUCCESS && is_right(&graph),
          "wrong numbers without a backend");
    ggml_free(graph.ctx);
}

static void
compute_plan(struct frame *frame)
{
    const int arg = next(frame);
    struct side *side = frame->side;
    ggml_backend_t planner = side->cpu[arg % 2];
    ggml_backend_t backend = side->cpu[arg / 2 % 2];
    const struct work before = frame->work;
    struct chance chance = { .is_inside = is_inside(frame, backend),
                             .may_stop = true };
    ggml_backend_graph_plan_t plan;
    struct graph graph;
    enum ggml_status status;

    build(&graph, frame, true, arg / 4 % 4);
    plan = ggml_backend_graph_plan_create(planner, graph.graph);
    check(plan != NULL, "no memory");
    if (!chance.is_inside) {
        frame->work.backend = backend;
        frame->work.planner = planner;
        frame->work.plan = plan;
    }
    status = ggml_backend_graph_plan_compute(backend, plan);
    frame->work = before;
    expect(status, &graph, chance);
    ggml_backend_graph_plan_free(planner, plan);
    ggml_free(graph.ctx);
}

/* What is at work can be neither used nor freed. */
static void
use_what_is_at_work(struct frame *frame)
{
    const struct frame *at = frame;
    const struct work *work;

    for (int n = next(frame) % 3; n > 0 && at != NULL; n--)
        at = at->outer;
    if (at == NULL || at->outer == NULL || !at->is_sure)
        return;
    work = &at->outer->work;
    if (work->backend != NULL) {
        ggml_backend_free(work->backend);
        check(is_refused(GGML_STATUS_FAILED), "freed a backend at work");
    }
    if (work->plan != NULL) {
        ggml_backend_graph_plan_free(work->planner, work->plan);
        check(is_refused(GGML_STATUS_FAILED), "freed a plan at work");
        check(is_refused(ggml_backend_graph_plan_compute(
                  work->backend, work->plan)), "computed a plan at work");
    }
    if (work->pool != NULL) {
        ggml_threadpool_free(work->pool);
        check(is_refused(GGML_STATUS_FAILED), "freed a pool at work");
    }
    if (work->sched != NULL && frame->is_alone) {
        ggml_backend_sched_reset(work->sched);
        check(is_refused(GGML_STATUS_FAILED), "reset a scheduler at work");
        ggml_backend_sched_free(work->sched);
        check(is_refused(GGML_STATUS_FAILED), "freed a scheduler at work");
    }
}

static void
change_settings(struct frame *frame)
{
    const int arg = next(frame);
    ggml_backend_t cpu = frame->side->cpu[arg % 2];

    if (arg & 2)
        ggml_backend_cpu_set_n_threads(cpu, 1 + arg / 8 % 4);
    if (arg & 4)
        ggml_backend_cpu_set_threadpool(
            cpu, arg & 32 ? frame->side->pool : NULL);
    if (arg & 64)
        ggml_backend_cpu_set_abort_callback(
            cpu, arg & 128 ? ask_to_stop : NULL, NULL);
}

static void
use_pools(struct frame *frame)
{
    const int arg = next(frame);
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(1 + arg / 4 % 3);
    struct ggml_threadpool *pool =
        arg & 1 || frame->side == NULL ? shared.pool : frame->side->pool;

    if (arg & 2)
        ggml_threadpool_pause(pool);
    else
        ggml_threadpool_resume(pool);
    check(ggml_threadpool_get_n_threads(pool) > 0, "a pool without threads");
    if (arg % 8 == 7) {
        pool = ggml_threadpool_new(&params);
        check(pool != NULL, "no memory");
        ggml_threadpool_free(pool);
    }
}

static void
ask_registry(struct frame *frame)
{
    static const char *const names[] = { "CPU", "asking", "Sim0", "none" };
    const int arg = next(frame);
    ggml_backend_t backend;

    ggml_backend_register(arg & 64 ? &asking : ggml_backend_sim_reg());
    switch (arg % 8) {
    case 0:
        ggml_backend_unload(arg & 128 ? &asking : ggml_backend_sim_reg());
        break;
    case 1:
        ggml_backend_reg_by_name(names[arg / 8 % 4]);
        break;
    case 2:
        ggml_backend_dev_by_name(names[arg / 8 % 4]);
        break;
    case 3:
        /* There are no so many: a failure, which is said. */
        ggml_backend_dev_get(ggml_backend_dev_count() + 1000);
        break;
    case 4:
        backend = ggml_backend_init_by_type(
            GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
        check(backend != NULL, "there is no CPU");
        ggml_backend_free(backend);
        break;
    default:
        check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != NULL,
              "there is no CPU");
    }
}

/* Modules that are not there. */
static void
load_module(struct frame *frame)
{
    if (next(frame) & 1)
        ggml_backend_load_all_from_path("/nonexistent");
    check(ggml_backend_load("/nonexistent/libggml-none.so") == NULL,
          "loaded what is not there");
}

static void
use_log(struct frame *frame)
{
    const int arg = next(frame);

    if (arg & 1)
        ggml_log_set(log_message, NULL);
    if (arg & 2)
        ggmlbackend_set_precondition_hook(arg & 4 ? notice : NULL, NULL);
    ggmlbackend_log(GGML_LOG_LEVEL_WARN, "%s", "a message\n");
}

/* With what the scheduler has at work, or a fault, it may fail. */
static void
expect_scheduled(const struct frame *frame, enum ggml_status status,
                 const struct graph *graph)
{
    const bool is_busy = is_inside(frame, frame->side->sched) ||
                         is_inside(frame, frame->side->cpu[1]);

    if (status == GGML_STATUS_SUCCESS)
        check(!is_inside(frame, frame->side->sched) &&
                  (is_right(graph) || shared.has_faults),
              "wrong numbers of a scheduler");
    else if (status != GGML_STATUS_ABORTED)
        check(is_busy || shared.has_faults, "a scheduler failed");
    ggmlbackend_clear_failure();
}

static void
compute_by_scheduler(struct frame *frame)
{
    const int arg = next(frame);
    ggml_backend_sched_t sched = frame->side->sched;
    const bool is_ours = !is_inside(frame, sched);
    const struct work before = frame->work;
    enum ggml_status status = GGML_STATUS_FAILED;
    struct graph graph;

    build(&graph, frame, false, arg % 4);
    if (is_ours) {
        frame->work.sched = sched;
        ggml_backend_sched_set_eval_callback(
            sched, arg & 4 ? observe : NULL, frame);
    }
    if (arg & 8)
        ggml_backend_sched_reserve(sched, graph.graph);
    if (ggml_backend_sched_alloc_graph(sched, graph.graph)) {
        set_ones(&graph);
        status = ggml_backend_sched_graph_compute_async(sched, graph.graph);
        ggml_backend_sched_synchronize(sched);
    }
    expect_scheduled(frame, status, &graph);
    if (is_ours) {
        frame->work = before;
        ggml_backend_sched_set_eval_callback(sched, NULL, NULL);
        ggml_backend_sched_reset(sched);
    }
    ggml_free(graph.ctx);
}

static void
compute_on_device(struct frame *frame)
{
    ggml_backend_t sim = frame->side->sim;
    const int arg = next(frame);
    ggml_backend_buffer_t buffer;
    struct graph graph;
    enum ggml_status status = GGML_STATUS_FAILED;

    build(&graph, frame, false, 0);
    buffer = ggml_backend_alloc_ctx_tensors(graph.ctx, sim);
    if (buffer != NULL) {
        set_ones(&graph);
        status = ggml_backend_graph_compute_async(sim, graph.graph);
        if (arg & 1)
            status = ggml_backend_graph_compute(sim, graph.graph);
        ggml_backend_synchronize(sim);
    }
    check(shared.has_faults ||
              (status == GGML_STATUS_SUCCESS && is_right(&graph)),
          "wrong numbers of a device");
    ggmlbackend_clear_failure();
    ggml_backend_buffer_free(buffer);
    ggml_free(graph.ctx);
}

static const struct call {
    void (*make)(struct frame *frame);
    bool is_for_one; /* needs a side that nobody else uses */
} calls[] = {
    { compute_on_own, true },
    { compute_on_shared, false },
    { compute_on_new, false },
    { compute_without_backend, false },
    { compute_plan, true },
    { use_what_is_at_work, false },
    { change_settings, true },
    { use_pools, false },
    { ask_registry, false },
    { load_module, false },
    { use_log, false },
    { compute_by_scheduler, true },
    { compute_on_device, true },
};

static void
run(struct frame *frame, int max_calls)
{
    current = frame;
    for (int i = 0; i < max_calls && frame->size > 0; i++) {
        const struct call *call =
            &calls[next(frame) % (sizeof(calls) / sizeof(calls[0]))];

        if (max_calls == MAX_INSIDE &&
            atomic_fetch_sub(&shared.n_calls, 1) <= 0)
            return;
        if (!call->is_for_one || frame->is_alone)
            call->make(frame);
    }
}

/* ---- programs ---- */

static struct ggml_threadpool *
new_pool(int n_threads)
{
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(n_threads);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);

    check(pool != NULL, "no memory");
    return pool;
}

static void
side_open(struct side *side, int number, bool is_parallel)
{
    ggml_backend_t backends[2];

    side->cpu[0] = ggml_backend_cpu_init();
    side->cpu[1] = ggml_backend_cpu_init();
    side->sim = ggml_backend_dev_init(
        ggml_backend_reg_dev_get(ggml_backend_sim_reg(), (size_t)number), NULL);
    check(side->cpu[0] != NULL && side->cpu[1] != NULL && side->sim != NULL,
          "no memory");
    backends[0] = side->sim;
    backends[1] = side->cpu[1];
    side->sched = ggml_backend_sched_new(backends, NULL, 2, 16, is_parallel);
    check(side->sched != NULL, "no memory");
    side->pool = new_pool(2);
}

static void
side_close(struct side *side)
{
    ggml_backend_sched_free(side->sched);
    ggml_backend_free(side->sim);
    ggml_backend_free(side->cpu[0]);
    ggml_backend_free(side->cpu[1]);
    ggml_threadpool_free(side->pool);
}

static void *
run_side(void *data)
{
    struct frame *frame = data;

    run(frame, MAX_OUTSIDE);
    current = NULL;
    return NULL;
}

/* What devices are like; 3 bits of the program choose. */
static void
configure(int choice)
{
    static const char *const settings[] = {
        "memory=64M", "memory=64M,delay=0", "memory=64M,without=synchronize",
        "memory=64M,without=events", "memory=64M,without=cpy_async+events",
        "memory=64M,delay=100,offload=1", "memory=64M,without=plans",
        "memory=64M,without_ops=MUL_MAT"
    };
    struct gb_sim_config config;
    int n_devices = 2;

    gb_sim_default(&config);
    check(gb_sim_parse(settings[choice % 8], &n_devices, &config) &&
              gb_sim_configure(0, 2, &config), "settings");
}

static void
check_nothing_is_left(void)
{
    struct gb_sim_counters left;

    gb_sim_count(&left);
    check(left.buffers == 0 && left.backends == 0 && left.events == 0 &&
              left.plans == 0, "something of a device was left");
}

static void
run_program(bool has_two_threads, bool is_parallel, int fault)
{
    struct side sides[2];
    struct frame frames[2];
    pthread_t thread;
    bool has_thread;

    for (int i = 0; i < 2; i++) {
        side_open(&sides[i], i, is_parallel);
        frames[i] = (struct frame){
            .data = shared.data + (i == 0 ? 0 : shared.size / 2),
            .size = shared.size / 2,
            .side = &sides[i],
            .is_alone = true,
        };
    }
    shared.has_faults = fault % 4 == 3;
    if (shared.has_faults)
        gb_sim_fail((enum gb_sim_fault)(fault / 4 % GB_SIM_FAULT_COUNT),
                    (uint64_t)(1 + fault / 32));
    has_thread = has_two_threads &&
                 pthread_create(&thread, NULL, run_side, &frames[1]) == 0;
    run_side(&frames[0]);
    if (has_thread)
        pthread_join(thread, NULL);
    for (int i = 0; i < GB_SIM_FAULT_COUNT; i++)
        gb_sim_fail((enum gb_sim_fault)i, 0);
    for (int i = 0; i < 2; i++)
        side_close(&sides[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    fuzz_silence();
    configure(data[0]);
    shared.data = data + 2;
    shared.size = size - 2;
    shared.cpu = ggml_backend_cpu_init();
    check(shared.cpu != NULL, "no memory");
    ggml_backend_cpu_set_n_threads(shared.cpu, 2);
    shared.pool = new_pool(3);
    atomic_store(&shared.n_calls, MAX_CALLS);
    if (data[0] & 8)
        ggml_log_set(log_message, NULL);
    run_program((data[0] & 16) == 0, (data[0] & 32) != 0, data[1]);
    fuzz_silence();
    ggmlbackend_set_precondition_hook(NULL, NULL);
    ggml_backend_free(shared.cpu);
    ggml_threadpool_free(shared.pool);
    check_nothing_is_left();
    return 0;
}
