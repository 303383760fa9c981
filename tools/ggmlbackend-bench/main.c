/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-bench/main.c - how fast models and operations are, and how near
 * to the machine's limits.
 */
#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/against.h"
#include "tools/ggmlbackend-bench/by-op.h"
#include "tools/ggmlbackend-bench/case.h"
#include "tools/ggmlbackend-bench/compare.h"
#include "tools/ggmlbackend-bench/library.h"
#include "tools/ggmlbackend-bench/machine.h"
#include "tools/ggmlbackend-bench/measure.h"
#include "tools/ggmlbackend-bench/page.h"
#include "tools/ggmlbackend-bench/plot.h"
#include "tools/ggmlbackend-bench/report.h"
#include "tools/model/repack.h"

#include <stdio.h>
#include <stdlib.h>
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
take_row(void *arg, struct result *r)
{
    return report_row(arg, r);
}

static bool
run_case_by_op(struct run *run, const struct bench_case *c)
{
    progress_end(&run->report.bar);
    return by_op_run(&run->bench, c, take_row, &run->report);
}

static bool
run_cases(struct run *run)
{
    const bool is_by_op = run->bench.options->is_by_op;
    struct progress *bar = &run->report.bar;
    bool is_done = true;

    progress_begin(bar, "measuring", run->cases.n);
    for (size_t i = 0; is_done && i < run->cases.n; i++) {
        progress_update(bar, i);
        is_done = (is_by_op ? run_case_by_op : run_case)(run,
                                                         &run->cases.at[i]);
    }
    progress_end(bar);
    return is_done;
}

static bool
open_bench(struct bench *bench, const struct options *o)
{
    const struct shares any = { .n = 0 };

    bench->options = o;
    tool_load_modules();
    if (!devices_open(&bench->devices, o->device, &any, (int)o->n_threads))
        return false;
    bench->device = &bench->devices.at[0];
    card_watch(&bench->card, bench->device->dev);
    if (o->model == NULL)
        return true;
    if (model_open(&bench->model, o->model, &bench->devices, o->may_map)) {
        if (model_repack(&bench->model, bench->device, o->repack))
            return true;
        model_close(&bench->model);
    }
    devices_close(&bench->devices);
    return false;
}

static void
close_bench(struct bench *bench)
{
    if (bench->options->model != NULL)
        model_close(&bench->model);
    devices_close(&bench->devices);
}

static bool
run_here(struct run *run, const struct options *o)
{
    bool is_done;

    if (!open_bench(&run->bench, o))
        return false;
    run->report.device = ggml_backend_dev_name(run->bench.device->dev);
    snprintf(run->report.labels[0], sizeof(run->report.labels[0]), "%s",
             library_here());
    is_done = card_measure(&run->machine.card, run->bench.device->dev,
                           o->seconds) &&
        report_limits(&run->report, &run->machine) && run_cases(run);
    close_bench(&run->bench);
    return is_done;
}

/* The card's limits are this library's to measure, and open only meanwhile. */
static bool
measure_card(struct run *run, const struct options *o)
{
    struct device device;
    bool is_done;

    tool_load_modules();
    if (!device_open(&device, o->device, 0))
        return false;
    is_done = card_measure(&run->machine.card, device.dev, o->seconds);
    device_close(&device);
    return is_done;
}

static bool
run_against(struct run *run, const struct options *o, char **argv)
{
    char *files = library_files(o->against);
    const bool is_done = files != NULL && measure_card(run, o) &&
        against_run(&run->cases, o, argv, files, &run->machine, &run->report);

    free(files);
    return is_done;
}

static bool
draw(const struct options *o, const struct result_list results[2],
     const char *const labels[2])
{
    return (o->plot == NULL ||
            plot_write(o->plot, &results[0], &results[1], labels)) &&
        (o->report == NULL ||
         page_write(o->report, &results[0], &results[1], labels));
}

static bool
measure(struct run *run, const struct options *o, char **argv)
{
    const char *const labels[2] = { run->report.labels[0],
                                    run->report.labels[1] };
    bool is_done;

    if (!machine_open(&run->machine, (int)o->n_threads, o->model))
        return false;
    run->report.is_json = o->is_json;
    is_done = (o->against == NULL ? run_here(run, o)
                                  : run_against(run, o, argv)) &&
        draw(o, run->report.results, labels);
    report_clear(&run->report);
    machine_close(&run->machine);
    return is_done;
}

static bool
serve(struct run *run, const struct options *o)
{
    bool is_done;

    if (!open_bench(&run->bench, o))
        return false;
    is_done = against_serve(&run->cases, &run->bench);
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

/* What is asked for of the cases. */
static bool
work(const struct options *o, char **argv)
{
    struct run run = { 0 };
    bool is_done = false;

    if (!cases_select(&run.cases, o))
        is_done = false;
    else if (o->is_list)
        is_done = print_names(&run.cases);
    else if (o->is_serve)
        is_done = serve(&run, o);
    else
        is_done = measure(&run, o, argv);
    cases_clear(&run.cases);
    return is_done;
}

/* What is asked for of results that are there. */
static bool
look_at_files(const struct options *o)
{
    struct result_list results[2] = { { .n = 0 }, { .n = 0 } };
    bool is_done = true;

    for (int i = 0; is_done && i < o->n_files; i++)
        is_done = compare_read(&results[i], o->files[i]);
    is_done = is_done &&
        (!o->is_compare ||
         compare_print(&results[0], &results[1], o->files, o->is_json)) &&
        draw(o, results, o->files);
    result_list_clear(&results[0]);
    result_list_clear(&results[1]);
    return is_done;
}

int
main(int argc, char **argv)
{
    struct options o;
    bool is_done;
    int status;

    tool_begin("ggmlbackend-bench");
    if (options_read(&o, argc, argv, &status)) {
        is_done = o.n_files > 0 ? look_at_files(&o) : work(&o, argv);
        status = is_done ? TOOL_OK : TOOL_FAILED;
    }
    return tool_end(status);
}
