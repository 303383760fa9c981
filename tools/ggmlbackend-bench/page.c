/* SPDX-License-Identifier: MIT */
/*
 * bench/page.c - results as one page for people.
 */
#include "tools/ggmlbackend-bench/page.h"

#include "tools/common/output.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/by-op.h"
#include "tools/ggmlbackend-bench/plot.h"
#include "tools/ggmlbackend-bench/stack.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "report.html"

/* Of a bar whose whole length is the limit. */
#define LONGEST 300
#define BAR     12

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
    "<title>ggmlbackend-bench</title>\n<style>"
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
    "td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #ddd}"
    "td.n{text-align:right}text{font:10px sans-serif}.title{font-weight:bold}"
    "</style></head><body>\n<h1>ggmlbackend-bench</h1>\n";

static bool
is_limit(const struct result *r)
{
    return strncmp(r->name, "limit/", 6) == 0;
}

static void
put_fact(FILE *out, const char *name, const char *value)
{
    if (value[0] == '\0')
        return;
    fprintf(out, "<tr><th>%s</th><td>", name);
    plot_text(out, text_quoted(value));
    fputs("</td></tr>\n", out);
}

static void
put_about(FILE *out, const struct result_list *list, const char *label)
{
    fputs("<table>\n", out);
    put_fact(out, "results", label);
    put_fact(out, "processor", list->about.cpu);
    put_fact(out, "threads", list->about.placement);
    put_fact(out, "device", list->about.device);
    put_fact(out, "library", list->about.library);
    fputs("</table>\n", out);
}

/* The name, the threads and the value of R, as cells. */
static void
put_cells(FILE *out, const struct result *r)
{
    fputs("<tr><td>", out);
    plot_text(out, text_quoted(r->name));
    fprintf(out, "</td><td class=\"n\">%d</td>", r->n_threads);
    if (r->is_supported)
        fprintf(out, "<td class=\"n\">%.4g %s ±%.0f%%</td>",
                result_median(r), unit_name(r->unit),
                samples_spread(&r->seconds) * 100.0);
    else
        fputs("<td>not supported</td>", out);
}

/* The part of the limit that was used, as a bar within one of the limit. */
static void
put_share(FILE *out, const struct result *r)
{
    const double share = result_share(r);

    if (!r->is_supported || share <= 0.0) {
        fputs("<td></td></tr>\n", out);
        return;
    }
    fprintf(out,
            "<td><svg width=\"%d\" height=\"%d\"><rect width=\"%d\" "
            "height=\"%d\" fill=\"#ddd\"/><rect width=\"%.1f\" "
            "height=\"%d\" fill=\"#3b6fb6\"/></svg> %.1f %% of ",
            LONGEST, BAR, LONGEST, BAR,
            LONGEST * (share < 1.0 ? share : 1.0), BAR, share * 100.0);
    plot_text(out, text_quoted(r->bound));
    fprintf(out, " (%.4g %s)</td></tr>\n",
            result_value(r, r->bound_seconds), unit_name(r->unit));
}

static void
put_limits(FILE *out, const struct result_list *list)
{
    fputs("<h2>Limits</h2>\n<table>\n", out);
    for (size_t i = 0; i < list->n; i++)
        if (is_limit(&list->at[i])) {
            put_cells(out, &list->at[i]);
            fputs("</tr>\n", out);
        }
    fputs("</table>\n", out);
}

static void
put_results(FILE *out, const struct result_list *list)
{
    size_t n;

    fputs("<h2>Results beside their limits</h2>\n<table>\n", out);
    for (size_t i = 0; i < list->n; i++)
        if (!is_limit(&list->at[i]) && by_op_row(&list->at[i], &n) == NULL) {
            put_cells(out, &list->at[i]);
            put_share(out, &list->at[i]);
        }
    fputs("</table>\n", out);
}

static void
put_stacks(FILE *out, const struct result_list *a, const struct result_list *b)
{
    const int height = stack_height(a);
    int y = 0;

    if (height == 0)
        return;
    fprintf(out, "<h2>Where the time went</h2>\n<svg width=\"880\" "
                 "height=\"%d\">\n", height);
    stack_put(out, a, b, 0, &y);
    fputs("</svg>\n", out);
}

static void
put_page(FILE *out, const struct result_list *a, const struct result_list *b,
         const char *const labels[2])
{
    const struct result_list *const lists[2] = { a, b };

    fputs(head, out);
    for (int i = 0; i < 2; i++) {
        if (lists[i]->n == 0)
            continue;
        put_about(out, lists[i], labels[i]);
        put_limits(out, lists[i]);
        put_results(out, lists[i]);
    }
    put_stacks(out, a, b);
    fputs("</body></html>\n", out);
}

bool
page_write(const char *path, const struct result_list *a,
           const struct result_list *b, const char *const labels[2])
{
    char within[4096];
    struct output output;
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        const int n = snprintf(within, sizeof(within), "%s/" NAME, path);

        if (n < 0 || (size_t)n >= sizeof(within))
            return tool_error("%s: is too long", path);
        path = within;
    }
    if (!output_open(&output, path, NULL))
        return false;
    put_page(output.file, a, b, labels);
    return output_close(&output, true);
}
