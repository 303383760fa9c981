/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-bench/main.c - how fast models and operations are, and how near to
 * the machine's limits.
 */
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/case.h"
#include "tools/ggmlbackend-bench/machine.h"
#include "tools/ggmlbackend-bench/measure.h"
#include "tools/ggmlbackend-bench/report.h"

#include <stdio.h>
#include <string.h>

/* Samples of a case, however long one takes. */
#define LEAST_SAMPLES 5

struct run {
    struct bench bench;
    struct case_list cases;
    struct machine machine;
    struct report report;
};

static bool
take_limit(void *arg, struct result *r)
{
    return report_limit(arg, r);
}

static bool
run_case(struct run *run, const struct bench_case *c)
{
    struct measured m;
    struct result r = { .n_threads = run->machine.n_threads };
    bool is_done;

    if (!measure_open(&m, &run->bench, c))
        return false;
    is_done = measure_samples(&m, run->bench.options->seconds, LEAST_SAMPLES,
                              &r);
    measure_close(&m);
    is_done = is_done && machine_bound(&run->machine, &r) &&
        report_case(&run->report, &r, NULL);
    result_clear(&r);
    return is_done;
}

static bool
run_cases(struct run *run)
{
    struct progress bar;
    bool is_done = true;

    progress_begin(&bar, "measuring", run->cases.n);
    for (size_t i = 0; is_done && i < run->cases.n; i++) {
        progress_end(&bar);
        is_done = run_case(run, &run->cases.at[i]);
        progress_update(&bar, i + 1);
    }
    progress_end(&bar);
    return is_done;
}

static bool
open_bench(struct bench *bench, const struct options *o)
{
    bench->options = o;
    tool_load_modules();
    if (!device_open(&bench->device, o->device, (int)o->n_threads))
        return false;
    if (o->model == NULL ||
        model_open(&bench->model, o->model, &bench->device, true))
        return true;
    device_close(&bench->device);
    return false;
}

static void
close_bench(struct bench *bench)
{
    if (bench->options->model != NULL)
        model_close(&bench->model);
    device_close(&bench->device);
}

static bool
run_here(struct run *run, const struct options *o)
{
    bool is_done;

    if (!open_bench(&run->bench, o))
        return false;
    run->report.is_json = o->is_json;
    run->report.device = ggml_backend_dev_name(run->bench.device.dev);
    is_done = machine_limits(&run->machine, take_limit, &run->report) &&
        run_cases(run);
    close_bench(&run->bench);
    return is_done;
}

static bool
print_names(const struct case_list *cases)
{
    for (size_t i = 0; i < cases->n; i++)
        puts(cases->at[i].name);
    return true;
}

static bool
work(const struct options *o)
{
    struct run run = { 0 };
    bool is_done = false;

    if (!cases_select(&run.cases, o))
        is_done = false;
    else if (o->is_list)
        is_done = print_names(&run.cases);
    else if (machine_open(&run.machine, (int)o->n_threads, o->model)) {
        is_done = run_here(&run, o);
        machine_close(&run.machine);
    }
    report_clear(&run.report);
    cases_clear(&run.cases);
    return is_done;
}

int
main(int argc, char **argv)
{
    struct options o;
    int status;

    tool_begin("ggmlbackend-bench");
    if (options_read(&o, argc, argv, &status))
        status = work(&o) ? TOOL_OK : TOOL_FAILED;
    return tool_end(status);
}
