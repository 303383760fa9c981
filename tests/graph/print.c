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
#include "tests/util/fault.h"
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

static void
a_name_stays_within_its_line(void **state)
{
    struct ggml_cgraph *g = small();

    (void)state;
    ggml_set_name(g->nodes[0], "a\nnode 9: \x1b[2J\xc2\x9b");
    ggml_graph_print(g);
    assert_int_equal(sink.n, 4);
    assert_non_null(strstr(sink.text, " a\\nnode 9: \\x1b[2J\\xc2\\x9b\n"));
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
                                 "\\\\ f32 [1]\"];\n"));
    assert_non_null(strstr(text, "fillcolor=yellow, label=\"weights f32 [1]"));
    assert_non_null(strstr(text, "fillcolor=white, label=\"ADD\\nsum f32 [1]"));
    for (const char *p = text; (p = strstr(p, " -> ")) != NULL; p++)
        n_arrows++;
    assert_int_equal(n_arrows, 2);
    assert_string_equal(text + strlen(text) - 2, "}\n");
}

static void
views_are_dashed_and_a_single_source_has_no_number(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, false);
    char text[4096];

    (void)state;
    ggml_build_forward_expand(
        g, ggml_sqr(ctx, ggml_view_1d(ctx, leaf(ctx), 1, 0)));
    draw(g, NULL, text, sizeof(text));
    assert_non_null(strstr(text, "[1]\", style=\"filled,rounded,dashed\"];\n"));
    assert_non_null(strstr(text, "  t0 -> t1;\n"));
    assert_non_null(strstr(text, "  t1 -> t2;\n"));
}

/* A slice begins behind what it reads. */
static void
sources_outside_of_the_graph_are_drawn(void **state)
{
    struct ggml_cgraph *g = small(), slice;
    char text[4096];

    (void)state;
    slice = ggml_graph_view(g, 1, 2);
    draw(&slice, NULL, text, sizeof(text));
    assert_non_null(strstr(text, "t0 [fillcolor=white, label=\"ADD\\nsum"));
    assert_non_null(strstr(text, "t1 [fillcolor=lightgrey, label=\"quote"));
    assert_non_null(strstr(text, "t2 [fillcolor=lightgrey, label=\"weights"));
    assert_non_null(strstr(text, "  t1 -> t0 [label=\"0\"];\n"));
    assert_non_null(strstr(text, "  t2 -> t0 [label=\"1\"];\n"));
}

/* What Graphviz would replace is escaped, what it cannot show is replaced. */
static void
any_name_can_be_drawn(void **state)
{
    static const struct {
        const char *name, *drawn;
    } names[] = {
        { "two\nlines\ttab\x7f", "two lines tab  f32" },
        { "csi\xc2\x9b" "2J\xe2\x80\xae", "csi 2J  f32" },
        { "\\N \\l \"x\"", "\\\\N \\\\l \\\"x\\\" f32" },
        { "a&amp;b", "a&amp;amp;b f32" },
        { "K\xc3\xb6rper \xe2\x82\xac", "K\xc3\xb6rper \xe2\x82\xac f32" },
        { "half \xe2\x82", "half \xef\xbf\xbd\xef\xbf\xbd f32" },
        { "", "\"f32 [1]" },
    };
    struct ggml_cgraph *g = small();
    char text[4096];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ggml_set_name(g->leafs[0], names[i].name);
        draw(g, NULL, text, sizeof(text));
        if (strstr(text, names[i].drawn) == NULL)
            fail_msg("%s is missing in %s", names[i].drawn, text);
    }
}

static void
draw_with_little_memory(void *data)
{
    gb_sink_begin(&sink);
    ggml_graph_dump_dot(data, NULL, "/dev/null");
    assert_int_equal(sink.n, gb_fault_happened());
}

static void
without_memory_nothing_is_drawn(void **state)
{
    (void)state;
    assert_int_equal(gb_fault_each(draw_with_little_memory, small()), 2);
}

/* Room for numbers runs out where a source gets one. */
static void
sources_outside_of_the_graph_need_memory_too(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, false);
    struct ggml_tensor *wide = node(ctx, leaf(ctx), leaf(ctx));

    (void)state;
    for (int i = 2; i < GGML_MAX_SRC; i++)
        wide->src[i] = leaf(ctx);
    ggml_graph_add_node(g, wide);
    assert_int_equal(gb_fault_each(draw_with_little_memory, g), 4);
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
    assert_non_null(strstr(text, "fillcolor=lightblue, label=\"ADD\\nsum"));
    draw(gb, gf, text, sizeof(text));
    assert_non_null(strstr(text, "fillcolor=green, label=\"ADD\\nsum"));
    draw(gb, small(), text, sizeof(text)); /* that of another graph */
    assert_non_null(strstr(text, "fillcolor=lightblue, label=\"ADD\\nsum"));
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
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 60, false);
    struct ggml_tensor *y = leaf(ctx);
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (full == NULL)
        skip();
    fclose(full);
    ggml_graph_dump_dot(small(), NULL, "/dev/full");
    assert_int_equal(sink.n, 1);
    /* More than the buffer of a file has room for. */
    for (int i = 0; i < 50; i++)
        y = ggml_format_name(ggml_sqr(ctx, y), "%060d", i);
    ggml_build_forward_expand(g, y);
    ggml_graph_dump_dot(g, NULL, "/dev/full");
    assert_int_equal(sink.n, 2);
    assert_non_null(strstr(sink.text, "/dev/full"));
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
        TEST(a_name_stays_within_its_line),
        TEST(a_drawing_has_boxes_and_arrows),
        TEST(views_are_dashed_and_a_single_source_has_no_number),
        TEST(sources_outside_of_the_graph_are_drawn),
        TEST(any_name_can_be_drawn),
        TEST(without_memory_nothing_is_drawn),
        TEST(sources_outside_of_the_graph_need_memory_too),
        TEST(nodes_with_gradients_have_colours),
        TEST(a_file_that_cannot_be_written_is_logged),
        TEST(a_file_system_without_room_is_logged),
        TEST(graph_files_are_no_more),
    };
#undef TEST

    return cmocka_run_group_tests_name("printing", tests, NULL, NULL);
}
