/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/print.c - graphs for people, and files that are no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/graph/graph.h"

#include "tests/graph/node.h"
#include "tests/util/sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gb_sink sink;
static struct ggml_context *ctx;
static char path[] = "graph-dot-XXXXXX";

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    ctx = tensors_context(100, 1 << 20);
    return ctx == NULL;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    ggml_free(ctx);
    return 0;
}

static struct ggml_cgraph *
small(void)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_tensor *x = ggml_set_name(leaf(ctx), "quote \" slash \\");
    struct ggml_tensor *p = ggml_set_name(leaf(ctx), "weights");
    struct ggml_tensor *a = ggml_set_name(node(ctx, x, p), "sum");

    ggml_set_param(ctx, p);
    ggml_build_forward_expand(g, a);
    return g;
}

static void
each_tensor_is_printed_in_a_line(void **state)
{
    struct ggml_cgraph *g = small();

    (void)state;
    ggml_graph_print(g);
    assert_int_equal(sink.n, 4);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_INFO);
    assert_non_null(strstr(sink.text, "graph of 2 nodes, 1 leafs\n"));
    assert_non_null(strstr(sink.text, "weights\n"));
    assert_non_null(strstr(sink.text, " ADD "));
    gb_graph_set_failed(g);
    ggml_graph_print(g);
    assert_non_null(strstr(sink.text, "1 leafs, failed\n"));
}

/* What a drawing of GB and GF consists of. */
static void
draw(const struct ggml_cgraph *gb, const struct ggml_cgraph *gf, char *text,
     size_t size)
{
    const int fd = mkstemp(strcpy(path, "graph-dot-XXXXXX"));
    ssize_t n;

    assert_true(fd >= 0);
    ggml_graph_dump_dot(gb, gf, path);
    n = read(fd, text, size - 1);
    close(fd);
    unlink(path);
    assert_true(n > 0);
    text[n] = '\0';
}

static void
a_drawing_has_boxes_and_arrows(void **state)
{
    char text[4096];
    int n_arrows = 0;

    (void)state;
    draw(small(), NULL, text, sizeof(text));
    assert_memory_equal(text, "digraph ", 8);
    assert_non_null(strstr(text, "fillcolor=pink, label=\"quote \\\" slash "
                                 "\\\\\\nf32 [1, 1, 1, 1]\"];\n"));
    assert_non_null(strstr(text, "fillcolor=yellow, label=\"weights\\n"));
    assert_non_null(strstr(text, "fillcolor=white, label=\"sum\\n"));
    assert_non_null(strstr(text, "\\nx+y\"];\n"));
    for (const char *p = text; (p = strstr(p, " -> ")) != NULL; p++)
        n_arrows++;
    assert_int_equal(n_arrows, 2);
    assert_string_equal(text + strlen(text) - 2, "}\n");
}

static void
nodes_with_gradients_have_colours(void **state)
{
    struct ggml_cgraph *gf = small(), *gb = ggml_graph_dup(ctx, gf);
    struct ggml_tensor *sum = ggml_graph_node(gb, -1);
    char text[4096];

    (void)state;
    gb->grads[ggml_hash_find(&gb->visited_hash_set, sum)] = leaf(ctx);
    draw(gb, NULL, text, sizeof(text));
    assert_non_null(strstr(text, "fillcolor=lightblue, label=\"sum"));
    draw(gb, gf, text, sizeof(text));
    assert_non_null(strstr(text, "fillcolor=green, label=\"sum"));
}

static void
a_file_that_cannot_be_written_is_logged(void **state)
{
    (void)state;
    ggml_graph_dump_dot(small(), NULL, "no such folder/graph.dot");
    assert_int_equal(sink.n, 1);
    assert_non_null(strstr(sink.text, "no such folder/graph.dot"));
    ggml_graph_dump_dot(small(), NULL, NULL);
    assert_int_equal(sink.n, 2);
}

static void
a_file_system_without_room_is_logged(void **state)
{
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (full == NULL)
        skip();
    fclose(full);
    ggml_graph_dump_dot(small(), NULL, "/dev/full");
    assert_int_equal(sink.n, 1);
}

static void
graph_files_are_no_more(void **state)
{
    struct ggml_context *data = ctx, *eval = ctx;

    (void)state;
    ggml_graph_export(small(), "file.ggml");
    assert_int_equal(access("file.ggml", F_OK), -1);
    assert_null(ggml_graph_import("file.ggml", &data, &eval));
    ggml_graph_export(NULL, NULL);
    assert_null(ggml_graph_import(NULL, NULL, NULL));
    assert_int_equal(sink.n, 4);
    assert_ptr_equal(data, ctx);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(each_tensor_is_printed_in_a_line),
        TEST(a_drawing_has_boxes_and_arrows),
        TEST(nodes_with_gradients_have_colours),
        TEST(a_file_that_cannot_be_written_is_logged),
        TEST(a_file_system_without_room_is_logged),
        TEST(graph_files_are_no_more),
    };
#undef TEST

    return cmocka_run_group_tests_name("printing", tests, NULL, NULL);
}
