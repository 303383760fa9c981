/* SPDX-License-Identifier: MIT */
/*
 * bench/report.c - results as they come, as lines for people or as JSON.
 */
#include "tools/ggmlbackend-bench/report.h"

#include "tools/ggmlbackend-bench/by-op.h"

#include "tools/common/text.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What chance may do once in a hundred cases counts as no difference. */
#define SIGNIFICANT 0.01

bool
result_list_take(struct result_list *list, struct result *r)
{
    if (list->n == list->room) {
        const size_t room = list->room == 0 ? 32 : list->room * 2;
        struct result *at = realloc(list->at, room * sizeof(*at));

        if (at == NULL)
            return tool_error("no memory for results");
        list->at = at;
        list->room = room;
    }
    list->at[list->n++] = *r;
    memset(r, 0, sizeof(*r));
    return true;
}

void
result_list_clear(struct result_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        result_clear(&list->at[i]);
    free(list->at);
    memset(list, 0, sizeof(*list));
}

/* Seconds of one unit of work: two results may differ in how much they did. */
static bool
per_work(const struct result *r, struct samples *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < r->seconds.n; i++)
        if (!samples_push(out, r->seconds.at[i] / r->work))
            return false;
    return true;
}

const char *
report_verdict(const struct result *a, const struct result *b, double *ratio,
               double *p)
{
    struct samples x, y = { 0 };
    double median;

    *ratio = 0.0;
    *p = NAN;
    if (per_work(a, &x) && per_work(b, &y)) {
        median = samples_median(&y);
        *ratio = median > 0.0 ? samples_median(&x) / median : 0.0;
        *p = samples_compare(&x, &y).p;
    }
    samples_clear(&x);
    samples_clear(&y);
    if (isnan(*p))
        return NULL;
    return *p >= SIGNIFICANT ? "same" : *ratio > 1.0 ? "faster" : "slower";
}

/* A value in its unit, short enough for a column. */
static void
print_value(const struct result *r)
{
    const double value = result_median(r);

    if (!r->is_supported)
        printf(" %10s %-9s %5s", "-", "", "");
    else
        printf(" %10.*f %-9s ±%3.0f%%",
               value < 10.0 ? 3 : value < 1000.0 ? 1 : 0, value,
               unit_name(r->unit), samples_spread(&r->seconds) * 100.0);
}

static void
print_share(const struct result *r)
{
    if (r->is_supported && r->bound_seconds > 0.0)
        printf(" %5.1f%% of %s", result_share(r) * 100.0,
               text_quoted(r->bound));
}

void
report_pair_heading(const char *a, const char *b)
{
    printf("A: %s\nB: %s\n%-36s %2s %10s %16s %10s %16s %6s\n", text_quoted(a),
           text_quoted(b), "case", "t", "A", "", "B", "", "B:A");
}

bool
report_pair(const struct result *a, const struct result *b)
{
    const bool is_pair = a->is_supported && b->is_supported;
    const char *verdict = NULL;
    double ratio, p;

    if (is_pair) {
        verdict = report_verdict(a, b, &ratio, &p);
        if (verdict == NULL)
            return false;
    }
    printf("%-36s %2d", text_quoted(a->name), a->n_threads);
    print_value(a);
    print_value(b);
    if (is_pair) {
        printf(" %6.3f  B is %s, ", ratio, verdict);
        printf(p < 0.0001 ? "p < 0.0001" : "p = %.4f", p);
    }
    if (a->bound_seconds > 0.0 && b->bound_seconds > 0.0)
        printf(", %.1f%% and %.1f%% of %s", result_share(a) * 100.0,
               result_share(b) * 100.0, text_quoted(a->bound));
    printf("\n");
    fflush(stdout);
    return true;
}

/* A line with what belongs to all lines; LABEL names the library. */
static bool
write_json(const struct report *report, const struct result *r,
           const char *label)
{
    json_t *root = result_to_json(r);

    if (label != NULL)
        tool_json_put(root, "library", tool_json_text(label));
    tool_json_put(root, "device", tool_json_text(report->device));
    tool_json_put(root, "cpu", tool_json_text(report->results[0].about.cpu));
    tool_json_put(root, "placement",
                  tool_json_text(report->results[0].about.placement));
    if (!tool_json_print(root))
        return false;
    fflush(stdout);
    return true;
}

/* A figure of a card that was held back says so, and is not left out. */
static void
print_state(const struct result *r)
{
    if (r->slowed[0] != '\0')
        printf("  slowed by %s", text_quoted(r->slowed));
    if (r->n_processes > 1)
        printf("  %u processes there", r->n_processes);
}

static void
print_line(const struct result *r)
{
    printf("%-36s %2d", text_quoted(r->name), r->n_threads);
    print_value(r);
    print_share(r);
    print_state(r);
    printf("\n");
    fflush(stdout);
}

static bool
take_limit(void *arg, struct result *r)
{
    struct report *report = arg;

    if (!report->is_json)
        print_line(r);
    else if (!write_json(report, r, NULL))
        return false;
    if (!result_list_take(&report->results[0], r))
        return false;
    report->n_shown = report->results[0].n;
    return true;
}

bool
report_limits(struct report *report, struct machine *machine)
{
    for (int i = 0; i < 2; i++) {
        struct about *about = &report->results[i].about;

        snprintf(about->cpu, sizeof(about->cpu), "%s", machine_cpu());
        snprintf(about->placement, sizeof(about->placement), "%s",
                 machine_placement(machine->n_threads));
        snprintf(about->device, sizeof(about->device), "%s", report->device);
        snprintf(about->library, sizeof(about->library), "%s",
                 report->labels[i]);
    }
    if (!report->is_json)
        printf("%s, %s\n", text_quoted(report->results[0].about.cpu),
               report->results[0].about.placement);
    return machine_limits(machine, take_limit, report);
}

bool
report_case(struct report *report, struct result *r, struct result *partner)
{
    struct result *sides[] = { r, partner };

    progress_end(&report->bar);
    if (report->is_json) {
        for (int i = 0; i < 2 && sides[i] != NULL; i++)
            if (!write_json(report, sides[i], report->labels[i]))
                return false;
    } else if (partner == NULL) {
        print_line(r);
    } else {
        if (!report->has_heading)
            report_pair_heading(report->labels[0], report->labels[1]);
        report->has_heading = true;
        if (!report_pair(r, partner))
            return false;
    }
    for (int i = 0; i < 2 && sides[i] != NULL; i++)
        if (!result_list_take(&report->results[i], sides[i]))
            return false;
    return true;
}

/* The rate of what is known of a row: products have operations, others bytes. */
static void
print_rate(const struct result *r)
{
    const double seconds = samples_median(&r->seconds);
    double ops = 0.0;

    for (int i = 0; i < N_PEAKS; i++)
        ops += r->demand.ops[i];
    if (ops > 0.0)
        printf(" %9.1f GOP/s", ops / seconds * 1e-9);
    else if (r->demand.bytes > 0.0)
        printf(" %9.1f GB/s ", r->demand.bytes / seconds * 1e-9);
}

/* The rows of the case whose whole is ALL, with their parts of it. */
static void
print_rows(const struct report *report, const struct result *all)
{
    const struct result_list *list = &report->results[0];
    size_t n;

    by_op_row(all, &n);
    printf("%.*s, %d %s\n%-40s %6s %9s %9s\n", (int)n, all->name,
           all->n_threads, all->n_threads == 1 ? "thread" : "threads", "",
           "part", "ms", "calls");
    for (size_t i = report->n_shown; i < list->n; i++) {
        const struct result *r = &list->at[i];

        printf("%-40s %5.1f%% %9.3f %9.0f", text_quoted(by_op_row(r, &n)),
               result_median(r) / result_median(all) * 100.0, result_median(r),
               r->calls);
        print_rate(r);
        printf("\n");
    }
    printf("%-40s %5.1f%% %9.3f\n", "(all, without a profile)",
           all->without * 1e3 / result_median(all) * 100.0,
           all->without * 1e3);
    fflush(stdout);
}

bool
report_row(struct report *report, struct result *row)
{
    struct result_list *list = &report->results[0];
    const bool is_all = row->without > 0.0;

    if (report->is_json && !write_json(report, row, report->labels[0]))
        return false;
    if (!result_list_take(list, row))
        return false;
    if (!is_all)
        return true;
    if (!report->is_json)
        print_rows(report, &list->at[list->n - 1]);
    report->n_shown = list->n;
    return true;
}

void
report_clear(struct report *report)
{
    for (int i = 0; i < 2; i++)
        result_list_clear(&report->results[i]);
}
