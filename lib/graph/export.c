/* SPDX-License-Identifier: MIT */
/*
 * graph/export.c - the graph files that the interface had once.
 *
 * The functions are declared at this level, and their format is gone.
 */
#include "config.h"

#include "ggml.h"

#include "lib/base/status.h"

void
ggml_graph_export(const struct ggml_cgraph *graph, const char *fname)
{
    (void)graph;
    gb_fail(GGML_STATUS_FAILED, "%s: graphs cannot be written to files",
            fname != NULL ? fname : "graph_export");
}

struct ggml_cgraph *
ggml_graph_import(const char *fname, struct ggml_context **ctx_data,
                  struct ggml_context **ctx_eval)
{
    (void)ctx_data;
    (void)ctx_eval;
    gb_fail(GGML_STATUS_FAILED, "%s: graphs cannot be read from files",
            fname != NULL ? fname : "graph_import");
    return NULL;
}
