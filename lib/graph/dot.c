/* SPDX-License-Identifier: MIT */
/*
 * graph/dot.c - drawings in the DOT language, for whoever has one to make.
 *
 * The language is that of "The DOT Language" (graphviz.org).
 */
#include "config.h"

#include "lib/graph/dot.h"

#include "lib/base/quote.h"
#include "lib/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char head[] =
    "digraph ggml {\n"
    "  graph [fontname=\"Helvetica\", fontsize=11, rankdir=TB];\n"
    "  node [fontname=\"Helvetica\", fontsize=10, shape=box,\n"
    "        style=\"filled,rounded\", height=0.3, margin=\"0.12,0.06\"];\n"
    "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\",\n"
    "        fontcolor=\"#555555\", arrowsize=0.7];\n";

int
gb_dot_write(const char *path, gb_dot_fn draw, const void *data)
{
    FILE *file = ggml_fopen(path, "w");
    int error = 0;

    if (file == NULL)
        return errno != 0 ? errno : EIO;
    errno = 0;
    fputs(head, file);
    draw(file, data);
    fputs("}\n", file);
    if (ferror(file) != 0)
        error = errno != 0 ? errno : EIO;
    /* What is left in the buffer may not fit either. */
    if (fclose(file) != 0 && error == 0)
        error = errno;
    return error;
}

/* Backslashes and ampersands begin what Graphviz would replace. */
void
gb_dot_put_text(FILE *file, const char *text)
{
    const size_t size = strlen(text);
    size_t n;

    for (size_t i = 0; i < size; i += n > 0 ? n : 1) {
        n = gb_utf8_length(text + i, size - i);
        if (n == 0)
            fputs("\xef\xbf\xbd", file);
        else if (!gb_quote_is_shown(text + i, n))
            fputc(' ', file);
        else if (text[i] == '"' || text[i] == '\\')
            fprintf(file, "\\%c", text[i]);
        else if (text[i] == '&')
            fputs("&amp;", file);
        else
            fwrite(text + i, 1, n, file);
    }
}

void
gb_dot_put_tensor(FILE *file, const struct ggml_tensor *tensor)
{
    gb_dot_put_text(file, tensor->name);
    fprintf(file, "%s%s [%" PRId64, tensor->name[0] != '\0' ? " " : "",
            ggml_type_name(tensor->type), tensor->ne[0]);
    for (int i = 1; i < ggml_n_dims(tensor); i++)
        fprintf(file, ", %" PRId64, tensor->ne[i]);
    fputs("]", file);
}
