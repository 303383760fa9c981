/* SPDX-License-Identifier: MIT */
/*
 * bench/machine.c - the limits of this machine, measured without the library.
 */
#include "config.h"

#include "tools/ggmlbackend-bench/machine.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sample takes at least so long, and a limit so many of them. */
#define SAMPLE_SECONDS 0.004
#define N_SAMPLES      9

/* When a limit is measured anew. */
#define OLD_SECONDS 5.0

/* Largest array: beyond any cache, if the machine has the memory. */
#define LARGEST ((size_t)256 << 20)

/* Big buffers of the library lie in such, so the array does. */
#define LARGE_PAGE ((size_t)2 << 20)

/* Ways of a cache line there and back, for one sample. */
#define N_WAYS 2000

static const size_t table_sizes[] = {
    (size_t)64 << 10, (size_t)1 << 20, (size_t)16 << 20, LARGEST,
};

#define N_TABLE_SIZES (sizeof(table_sizes) / sizeof(table_sizes[0]))

struct compute {
    const struct peak_row *row;
    uint64_t rounds;
};

static void
compute(void *arg, int ith)
{
    const struct compute *c = arg;

    (void)ith;
    c->row->run(c->rounds);
}

struct reading {
    const struct read_row *row;
    const char *from;
    size_t size;
    int n_threads; /* that take part; the others look on */
    uint64_t rounds;
};

/* Each thread reads a part of its own, again and again. */
static void
read_part(void *arg, int ith)
{
    static _Atomic uint64_t sum;
    const struct reading *r = arg;
    const size_t part = r->size / (size_t)r->n_threads / READ_STEP * READ_STEP;

    if (ith >= r->n_threads)
        return;
    for (uint64_t i = 0; i < r->rounds; i++)
        atomic_fetch_add_explicit(
            &sum, r->row->run(r->from + part * (size_t)ith, part),
            memory_order_relaxed);
}

/*
 * Samples of FN, with as many *ROUNDS as take SAMPLE_SECONDS at least; what is
 * before the samples warms up.
 */
static bool
sample(struct machine *m, team_fn fn, void *arg, uint64_t *rounds,
       struct samples *out)
{
    *rounds = 1;
    while (team_run(m->team, fn, arg) < SAMPLE_SECONDS &&
           *rounds < UINT64_MAX / 4)
        *rounds *= 2;
    for (int i = 0; i < N_SAMPLES; i++)
        if (!samples_push(out, team_run(m->team, fn, arg)))
            return false;
    return true;
}

/* How often things happen N_THREADS at a time; WORK is that of all. */
static bool
measure_row(struct machine *m, const struct peak_row *row, const char *prefix,
            struct result *r)
{
    struct compute c = { row, 0 };

    memset(r, 0, sizeof(*r));
    snprintf(r->name, sizeof(r->name), "limit/%s%s", prefix,
             peak_name(row->peak));
    r->unit = UNIT_OPS;
    r->n_threads = m->n_threads;
    r->is_supported = true;
    if (!sample(m, compute, &c, &c.rounds, &r->seconds))
        return false;
    r->work = c.row->ops * (double)c.rounds * m->n_threads;
    return true;
}

static bool
measure_peak(struct machine *m, enum peak peak, struct result *r)
{
    struct limit *limit = &m->peaks[peak];
    double seconds;

    if (!measure_row(m, peak_best(peak), "", r))
        return false;
    seconds = samples_quantile(&r->seconds, 0.0) / r->work;
    if (limit->seconds == 0.0 || seconds < limit->seconds)
        limit->seconds = seconds;
    limit->measured_at = seconds_now();
    return true;
}

static bool
measure_read(struct machine *m, const void *from, size_t size, int n_threads,
             struct limit *limit, struct result *r)
{
    struct reading reading = { read_best(), from, size, n_threads, 0 };
    const size_t part = size / (size_t)n_threads / READ_STEP * READ_STEP;

    r->unit = UNIT_BYTES;
    r->n_threads = n_threads;
    r->is_supported = true;
    if (!sample(m, read_part, &reading, &reading.rounds, &r->seconds))
        return false;
    r->work = (double)part * n_threads * (double)reading.rounds;
    if (limit != NULL) {
        limit->seconds = samples_median(&r->seconds) / r->work;
        limit->measured_at = seconds_now();
    }
    return true;
}

/* Room for SIZE bytes to read, each page of it written once. */
static bool
need_array(struct machine *m, size_t size)
{
    void *array;

    if (size <= m->array_size)
        return true;
    free(m->array);
    m->array = NULL;
    m->array_size = 0;
    if (posix_memalign(&array, LARGE_PAGE, size) != 0)
        return tool_error("no memory for reading %zu MiB", size >> 20);
#ifdef MADV_HUGEPAGE
    madvise(array, size, MADV_HUGEPAGE);
#endif
    memset(array, 1, size);
    m->array = array;
    m->array_size = size;
    return true;
}

/* An array that stands for BYTES: the same, but for the ends of the scale. */
static size_t
size_for(const struct machine *m, double bytes)
{
    const size_t least = (size_t)m->n_threads * READ_STEP;

    if (bytes >= (double)LARGEST)
        return LARGEST;
    return bytes < (double)least ? least : (size_t)bytes;
}

/* What is known of arrays of SIZE: a row of its own, or the oldest one. */
static struct limit *
limit_of_size(struct machine *m, size_t size)
{
    struct limit *limit;

    for (size_t i = 0; i < N_READ_SIZES; i++)
        if (m->reads[i].size == size)
            return &m->reads[i];
    limit = &m->reads[m->next_read++ % N_READ_SIZES];
    memset(limit, 0, sizeof(*limit));
    limit->size = size;
    return limit;
}

static bool
measure_read_size(struct machine *m, size_t size, int n_threads,
                  struct result *r)
{
    memset(r, 0, sizeof(*r));
    snprintf(r->name, sizeof(r->name), "limit/read/%zuKiB", size >> 10);
    if (size >= (size_t)1 << 20)
        snprintf(r->name, sizeof(r->name), "limit/read/%zuMiB", size >> 20);
    return need_array(m, size) &&
        measure_read(m, m->array, size, n_threads,
                     n_threads == m->n_threads ? limit_of_size(m, size) : NULL,
                     r);
}

static bool
measure_read_file(struct machine *m, struct result *r)
{
    memset(r, 0, sizeof(*r));
    snprintf(r->name, sizeof(r->name), "limit/read/file");
    return measure_read(m, m->file->bytes, m->file->size, m->n_threads,
                        &m->file_read, r);
}

/* A line that two threads write in turns. */
static void
pass_line(void *arg, int ith)
{
    _Atomic int *turn = arg;

    for (int i = 0; ith < 2 && i < N_WAYS; i++) {
        unsigned patience = 0;

        while (atomic_load_explicit(turn, memory_order_acquire) % 2 != ith)
            if (++patience % 4096 == 0)
                sched_yield();
        atomic_fetch_add_explicit(turn, 1, memory_order_release);
    }
}

static bool
measure_line(struct machine *m, struct result *r)
{
    static _Alignas(128) _Atomic int turn;

    memset(r, 0, sizeof(*r));
    snprintf(r->name, sizeof(r->name), "limit/line");
    r->unit = UNIT_LATENCY;
    r->n_threads = 2;
    r->is_supported = true;
    r->work = 2.0 * N_WAYS;
    for (int i = 0; i < N_SAMPLES; i++) {
        atomic_store(&turn, 0);
        if (!samples_push(&r->seconds, team_run(m->team, pass_line, &turn)))
            return false;
    }
    return true;
}

/* A file that cannot be mapped has no limit of its own. */
static bool
map_file(struct machine *m, const char *path)
{
    if (!model_files_open(&m->files, path))
        return false;
    m->file = &model_files_largest(&m->files)->input;
    if (m->file->size < (size_t)m->n_threads * READ_STEP)
        return tool_error("%s: is too short for a model", path);
    input_map(m->file);
    return true;
}

bool
machine_open(struct machine *m, int n_threads, const char *file)
{
    memset(m, 0, sizeof(*m));
    m->n_threads = n_threads;
    if (file == NULL || map_file(m, file))
        m->team = team_new(n_threads);
    if (m->team != NULL)
        return true;
    machine_close(m);
    return false;
}

void
machine_close(struct machine *m)
{
    team_free(m->team);
    free(m->array);
    model_files_close(&m->files);
    memset(m, 0, sizeof(*m));
}

/* Hand R on when it was MEASURED. */
static bool
give(bool is_measured, struct result *r, take_result_fn take, void *arg)
{
    const bool is_taken = is_measured && take(arg, r);

    result_clear(r);
    return is_taken;
}

/* Those of AMX, where the machine has it and the kernel grants it. */
static bool
give_tiles(struct machine *m, take_result_fn take, void *arg)
{
    size_t n;
    const struct peak_row *rows = peak_rows_tiles(&n);
    struct result r;

    for (size_t i = 0; i < n; i++)
        if (rows[i].is_there() &&
            !give(measure_row(m, &rows[i], "amx_", &r), &r, take, arg))
            return false;
    return true;
}

bool
machine_limits(struct machine *m, take_result_fn take, void *arg)
{
    struct result r;

    if (m->card.has_limits)
        return card_limits(&m->card, take, arg);
    for (int i = 0; i < PEAK_F16; i++)
        if (!give(measure_peak(m, (enum peak)i, &r), &r, take, arg))
            return false;
    if (!give_tiles(m, take, arg))
        return false;
    for (size_t i = 0; i < N_TABLE_SIZES; i++) {
        const size_t size = size_for(m, (double)table_sizes[i]);

        if (!give(measure_read_size(m, size, m->n_threads, &r), &r, take, arg))
            return false;
    }
    if (m->file != NULL && m->file->bytes != NULL &&
        !give(measure_read_file(m, &r), &r, take, arg))
        return false;
    return m->n_threads == 1 ||
        (give(measure_read_size(m, LARGEST, 1, &r), &r, take, arg) &&
         give(measure_line(m, &r), &r, take, arg));
}

static bool
is_old(const struct limit *limit)
{
    return limit->seconds == 0.0 ||
        seconds_now() - limit->measured_at > OLD_SECONDS;
}

/* Take the larger of the bounds, by name. */
static void
raise_bound(struct result *r, double seconds, const char *name)
{
    if (seconds <= r->bound_seconds)
        return;
    r->bound_seconds = seconds;
    snprintf(r->bound, sizeof(r->bound), "%s", name);
}

/* Different instructions take turns, so their times add up. */
static bool
bound_by_computing(struct machine *m, struct result *r)
{
    double seconds = 0.0, most = 0.0;
    const char *name = "";

    for (int i = 0; i < N_PEAKS; i++) {
        struct limit *limit = &m->peaks[i];
        struct result measured = { 0 };
        double own;

        if (r->demand.ops[i] <= 0.0)
            continue;
        if (is_old(limit) && !measure_peak(m, (enum peak)i, &measured))
            return false;
        result_clear(&measured);
        own = r->demand.ops[i] * limit->seconds;
        seconds += own;
        if (own > most)
            name = peak_name((enum peak)i);
        most = own > most ? own : most;
    }
    raise_bound(r, seconds, name);
    return true;
}

static bool
bound_by_reading(struct machine *m, struct result *r)
{
    const bool is_file = r->demand.is_file && m->file != NULL &&
                         m->file->bytes != NULL;
    const size_t size = size_for(m, r->demand.bytes);
    struct limit *limit = is_file ? &m->file_read : limit_of_size(m, size);
    struct result measured = { 0 };

    if (r->demand.bytes <= 0.0)
        return true;
    if (is_old(limit) &&
        !(is_file ? measure_read_file(m, &measured)
                  : measure_read_size(m, size, m->n_threads, &measured)))
        return false;
    result_clear(&measured);
    raise_bound(r, r->demand.bytes * limit->seconds, "read");
    return true;
}

bool
machine_bound(struct machine *m, struct result *r)
{
    r->bound_seconds = 0.0;
    r->bound[0] = '\0';
    if (m->card.has_limits) {
        card_bound(&m->card, r);
        return true;
    }
    return !r->is_supported ||
        (bound_by_computing(m, r) && bound_by_reading(m, r));
}

const char *
machine_cpu(void)
{
    static char name[128] = "unknown processor";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *value = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " ");
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file != NULL)
        fclose(file);
    return name;
}

/* A number in a file of the system; -1 for none. */
static long
read_number(const char *format, int cpu)
{
    char path[128];
    FILE *file;
    long number = -1;

    snprintf(path, sizeof(path), format, cpu);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &number) != 1)
            number = -1;
        fclose(file);
    }
    return number;
}

/* The core of CPU, as a number that no core of another package has. */
static long
core_of(int cpu)
{
    const long core = read_number(
        "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    const long package = read_number(
        "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);

    return core < 0 || package < 0 ? -1 : package * 65536 + core;
}

const char *
machine_placement(int n_threads)
{
    static char text[96];
    long cores[CPU_SETSIZE];
    int n_cpus = 0, n_cores = 0;
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return "unknown placement";
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const long core = CPU_ISSET(cpu, &set) ? core_of(cpu) : -2;
        int i = 0;

        n_cpus += core != -2;
        if (core < 0)
            continue;
        while (i < n_cores && cores[i] != core)
            i++;
        if (i == n_cores)
            cores[n_cores++] = core;
    }
    if (n_cores == 0)
        return "unknown placement";
    snprintf(text, sizeof(text), "%d %s on %d %s of %d %s%s", n_threads,
             n_threads == 1 ? "thread" : "threads", n_cpus,
             n_cpus == 1 ? "processor" : "processors", n_cores,
             n_cores == 1 ? "core" : "cores",
             n_cores < n_cpus ? " (SMT)" : "");
    return text;
}
