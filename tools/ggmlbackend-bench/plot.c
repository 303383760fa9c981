/* SPDX-License-Identifier: MIT */
/*
 * bench/plot.c - results as a drawing.
 */
#include "tools/ggmlbackend-bench/plot.h"

#include "tools/ggmlbackend-bench/stack.h"

#include "tools/common/output.h"
#include "tools/common/text.h"

#include <stdio.h>
#include <string.h>

/* All in the SVG's own units, pixels where nobody scales it. */
#define WIDTH   900
#define LEFT    300 /* where bars begin */
#define LONGEST 480 /* bar */
#define BAR     11
#define GAP     7
#define TITLE   30

static const char *const colours[2] = { "#3b6fb6", "#d98a29" };

struct plot {
    FILE *out;
    const struct result_list *lists[2];
    int n_lists; /* with something in them */
    int y;
};

void
plot_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default: fputc(*text, out);
        }
    }
}

static void
put_label(const struct plot *p, int x, int y, const char *class,
          const char *text)
{
    fprintf(p->out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
    plot_text(p->out, text_quoted(text));
    fputs("</text>\n", p->out);
}

static const struct result *
same_case(const struct result_list *list, const struct result *like)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct result *r = &list->at[i];

        if (r->n_threads == like->n_threads && r->unit == like->unit &&
            r->is_supported && strcmp(r->name, like->name) == 0)
            return r;
    }
    return NULL;
}

/* The upper end of R's line. */
static double
upper(const struct result *r)
{
    const double a = result_value(r, samples_quantile(&r->seconds, 0.25));
    const double b = result_value(r, samples_quantile(&r->seconds, 0.75));

    return a > b ? a : b;
}

/* The largest value that bars of UNIT show, 0 where there is none. */
static double
largest(const struct plot *p, enum unit unit)
{
    double most = 0.0;

    for (int side = 0; side < p->n_lists; side++)
        for (size_t i = 0; i < p->lists[side]->n; i++) {
            const struct result *r = &p->lists[side]->at[i];

            if (r->unit == unit && r->is_supported && upper(r) > most)
                most = upper(r);
        }
    return most;
}

static void
put_bar(struct plot *p, const struct result *r, double most, int side)
{
    const double scale = LONGEST / most;
    const double value = result_median(r);
    const double low = result_value(r, samples_quantile(&r->seconds, 0.75));
    const double high = result_value(r, samples_quantile(&r->seconds, 0.25));
    char text[64];

    fprintf(p->out,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
            "fill=\"%s\"/>\n",
            LEFT, p->y, value * scale, BAR - 1, colours[side]);
    fprintf(p->out, "<path d=\"M%.1f %.1fH%.1f\"/>\n", LEFT + low * scale,
            p->y + BAR / 2.0, LEFT + high * scale);
    snprintf(text, sizeof(text), "%.4g", value);
    put_label(p, LEFT + LONGEST + 10, p->y + BAR - 2, "value", text);
    p->y += BAR;
}

static void
put_case(struct plot *p, const struct result *r, double most)
{
    const struct result *other =
        p->n_lists < 2 ? NULL : same_case(p->lists[1], r);
    char text[NAME_SIZE + 32];

    snprintf(text, sizeof(text), "%s, %d %s", r->name, r->n_threads,
             r->n_threads == 1 ? "thread" : "threads");
    put_label(p, LEFT - 8, p->y + BAR - 2, "name", text);
    put_bar(p, r, most, 0);
    if (other != NULL)
        put_bar(p, other, most, 1);
    p->y += GAP;
}

static void
put_unit(struct plot *p, enum unit unit)
{
    const double most = largest(p, unit);
    char title[64];

    if (most <= 0.0)
        return;
    snprintf(title, sizeof(title), "%s%s", unit_name(unit),
             unit_is_time(unit) ? ", less is better" : "");
    put_label(p, LEFT, p->y + TITLE - 12, "title", title);
    p->y += TITLE;
    for (size_t i = 0; i < p->lists[0]->n; i++)
        if (p->lists[0]->at[i].unit == unit && p->lists[0]->at[i].is_supported)
            put_case(p, &p->lists[0]->at[i], most);
}

/* What all of it takes; cases without a partner take less. */
static int
height(const struct plot *p)
{
    return (int)p->lists[0]->n * (p->n_lists * BAR + GAP) +
        (N_UNITS + 2) * TITLE + stack_height(p->lists[0]);
}

static void
put_all(struct plot *p, const char *const labels[2])
{
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\">\n"
            "<style>text{font:10px sans-serif}.name{text-anchor:end}"
            ".title{font-weight:bold}path{stroke:#000}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height(p), WIDTH, height(p));
    for (int i = 0; i < p->n_lists; i++) {
        fprintf(p->out,
                "<rect x=\"10\" y=\"%d\" width=\"10\" height=\"10\" "
                "fill=\"%s\"/>\n",
                10 + 14 * i, colours[i]);
        put_label(p, 26, 19 + 14 * i, "label", labels[i]);
    }
    p->y = TITLE + 10;
    for (int i = 0; i < N_UNITS; i++)
        if (i != UNIT_TIME)
            put_unit(p, (enum unit)i);
    stack_put(p->out, p->lists[0], p->lists[1], 10, &p->y);
    fputs("</svg>\n", p->out);
}

bool
plot_write(const char *path, const struct result_list *a,
           const struct result_list *b, const char *const labels[2])
{
    struct plot p = { .lists = { a, b }, .n_lists = b->n > 0 ? 2 : 1 };
    struct output output;

    if (!output_open(&output, path, NULL))
        return false;
    p.out = output.file;
    put_all(&p, labels);
    return output_close(&output, true);
}
