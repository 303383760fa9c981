/* SPDX-License-Identifier: MIT */
/*
 * bench/stack.c - where time went, as bars of parts that lie behind each other.
 */
#include "tools/ggmlbackend-bench/stack.h"

#include "tools/common/text.h"
#include "tools/ggmlbackend-bench/by-op.h"
#include "tools/ggmlbackend-bench/plot.h"

#include <string.h>

#define WIDTH 860
#define BAR   24
#define LINE  14
#define TITLE 24

static const char *const colours[] = {
    "#3b6fb6", "#d98a29", "#4a9a5b", "#b5483f", "#8064a2", "#8c6d4f",
    "#d678a8", "#7f7f7f", "#b3a832", "#3aa6b0", "#1f3f70", "#7d4c10",
};

#define N_COLOURS (sizeof(colours) / sizeof(colours[0]))

static bool
is_whole(const struct result *r)
{
    size_t n;
    const char *row = by_op_row(r, &n);

    return row != NULL && strcmp(row, BY_OP_ALL) == 0;
}

/* Is R a part of what ALL is the whole of? */
static bool
is_part(const struct result *r, const struct result *all)
{
    size_t n, n_all;

    return by_op_row(r, &n) != NULL && by_op_row(all, &n_all) != NULL &&
        n == n_all && strncmp(r->name, all->name, n) == 0 &&
        r->n_threads == all->n_threads && !is_whole(r);
}

int
stack_height(const struct result_list *list)
{
    int height = 0;

    for (size_t i = 0; i < list->n; i++) {
        size_t n;

        if (is_whole(&list->at[i]))
            height += TITLE + 2 * BAR + TITLE;
        else if (by_op_row(&list->at[i], &n) != NULL)
            height += LINE;
    }
    return height;
}

static const struct result *
find(const struct result_list *list, const struct result *like)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].n_threads == like->n_threads &&
            strcmp(list->at[i].name, like->name) == 0)
            return &list->at[i];
    return NULL;
}

/* A bar of the parts in LIST, each in the colour of its place in A. */
static void
put_bar(FILE *out, const struct result_list *list, const struct result_list *a,
        const struct result *all, double scale, double x, int y)
{
    size_t place = 0, n;

    for (size_t i = 0; i < a->n; i++) {
        const struct result *r;

        if (!is_part(&a->at[i], all))
            continue;
        r = find(list, &a->at[i]);
        if (r != NULL) {
            const double width = result_median(r) * scale;

            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%.2f\" "
                    "height=\"%d\" fill=\"%s\"><title>",
                    x, y, width, BAR - 4, colours[place % N_COLOURS]);
            plot_text(out, text_quoted(by_op_row(r, &n)));
            fputs("</title></rect>\n", out);
            x += width;
        }
        place++;
    }
}

static void
put_legend(FILE *out, const struct result_list *a, const struct result_list *b,
           const struct result *all, int x, int *y)
{
    size_t place = 0, n;

    for (size_t i = 0; i < a->n; i++) {
        const struct result *r = &a->at[i], *other;

        if (!is_part(r, all))
            continue;
        other = find(b, r);
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" "
                "fill=\"%s\"/>\n<text x=\"%d\" y=\"%d\">",
                x, *y, colours[place++ % N_COLOURS], x + 16, *y + 9);
        plot_text(out, text_quoted(by_op_row(r, &n)));
        fprintf(out, ": %.4g ms, %.1f %%", result_median(r),
                result_median(r) / result_median(all) * 100.0);
        if (other != NULL)
            fprintf(out, "; %.4g ms", result_median(other));
        fputs("</text>\n", out);
        *y += LINE;
    }
}

static void
put_case(FILE *out, const struct result_list *a, const struct result_list *b,
         const struct result *all, int x, int *y)
{
    const struct result *other = find(b, all);
    double most = result_median(all);
    size_t n;

    if (other != NULL && result_median(other) > most)
        most = result_median(other);
    by_op_row(all, &n);
    fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"title\">", x, *y + 14);
    plot_text(out, text_quoted(all->name));
    fprintf(out, ", %d %s: %.4g ms", all->n_threads,
            all->n_threads == 1 ? "thread" : "threads", result_median(all));
    if (other != NULL)
        fprintf(out, "; %.4g ms", result_median(other));
    fputs("</text>\n", out);
    *y += TITLE;
    put_bar(out, a, a, all, WIDTH / most, x, *y);
    *y += BAR;
    if (other != NULL) {
        put_bar(out, b, a, all, WIDTH / most, x, *y);
        *y += BAR;
    }
    put_legend(out, a, b, all, x, y);
    *y += TITLE;
}

void
stack_put(FILE *out, const struct result_list *a, const struct result_list *b,
          int x, int *y)
{
    for (size_t i = 0; i < a->n; i++)
        if (is_whole(&a->at[i]) && result_median(&a->at[i]) > 0.0)
            put_case(out, a, b, &a->at[i], x, y);
}
