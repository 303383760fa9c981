/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/parts.c - a model in several files is the same as in one.
 */
#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TOOL "ggmlbackend-gguf"

/* Writes the tensors of WHOLE from number FIRST to before END as part I of N, with
 * COUNT for the number of all parts. */
static void
write_part(const char *stem, struct gguf_context *whole,
           struct ggml_context *tensors, int i, int n, int64_t first,
           int64_t end, const char *twice)
{
    struct gguf_context *gguf = gguf_init_empty();
    char name[64];

    if (i == 0)
        gguf_set_kv(gguf, whole);
    gguf_set_val_u16(gguf, "split.no", (uint16_t)i);
    gguf_set_val_u16(gguf, "split.count", (uint16_t)n);
    gguf_set_val_i32(gguf, "split.tensors.count",
                     (int32_t)gguf_get_n_tensors(whole));
    for (int64_t id = first; id < end; id++)
        gguf_add_tensor(gguf, ggml_get_tensor(
                                  tensors, gguf_get_tensor_name(whole, id)));
    if (twice != NULL)
        gguf_add_tensor(gguf, ggml_get_tensor(tensors, twice));
    snprintf(name, sizeof(name), "%s-%05d-of-%05d.gguf", stem, i + 1, n);
    assert_true(gguf_write_to_file(gguf, in_folder(name), false));
    gguf_free(gguf);
}

/* "whole" as N parts; the first has no tensors. */
static void
write_parts(const char *stem, int n, const char *twice)
{
    struct ggml_context *tensors;
    const struct gguf_init_params params = { false, &tensors };
    struct gguf_context *whole;
    int64_t n_tensors;

    make_model("whole", "");
    whole = gguf_init_from_file(in_folder("whole"), params);
    assert_non_null(whole);
    n_tensors = gguf_get_n_tensors(whole);
    for (int i = 0; i < n; i++) {
        const int64_t first = i == 0 ? 0 : n_tensors * (i - 1) / (n - 1);
        const int64_t end = i == 0 ? 0 : n_tensors * i / (n - 1);

        write_part(stem, whole, tensors, i, n, first, end,
                   i == n - 1 ? twice : NULL);
    }
    gguf_free(whole);
    ggml_free(tensors);
}

static void
assert_runs_as_the_whole(const char *name, const char *options)
{
    struct result wanted = run("-m %s -p ab -n 4 --json", in_folder("whole"));
    struct result r =
        run("-m %s -p ab -n 4 --json %s", in_folder(name), options);
    json_t *a, *b;

    if (r.status != 0)
        fail_msg("%s", r.err);
    a = json_loads(wanted.out, 0, NULL);
    b = json_loads(r.out, 0, NULL);
    assert_true(json_equal(json_object_get(a, "answer_ids"),
                           json_object_get(b, "answer_ids")));
    assert_true(json_equal(json_object_get(a, "text"), json_object_get(b, "text")));
    json_decref(a);
    json_decref(b);
    result_free(&wanted);
    result_free(&r);
}

/* PROGRAM with ARGUMENTS ends with 1 and one line that has WORDS. */
static void
assert_refuses(const char *program, const char *arguments, const char *name,
               const char *words)
{
    struct result r = run_other(program, "%s %s", arguments, in_folder(name));

    if (r.status != 1 || strstr(r.err, words) == NULL ||
        strchr(r.err, '\n') != r.err + strlen(r.err) - 1)
        fail_msg("status %d: %s", r.status, r.err);
    result_free(&r);
}

static void
each_program_takes_the_first_part(void **state)
{
    struct result r;

    (void)state;
    write_parts("m", 3, NULL);
    assert_runs_as_the_whole("m-00001-of-00003.gguf", "");
    assert_runs_as_the_whole("m-00001-of-00003.gguf", "--no-mmap");
    r = run_other(TOOL, "check %s", in_folder("m-00001-of-00003.gguf"));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "in 3 parts, nothing wrong"));
    result_free(&r);
    r = run_other(TOOL, "show %s", in_folder("m-00001-of-00003.gguf"));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "of part 3\n"));
    result_free(&r);
}

static void
convert_joins_the_parts(void **state)
{
    struct gguf_context *joined, *whole;
    const struct gguf_init_params params = { true, NULL };
    struct result r;

    (void)state;
    write_parts("m", 3, NULL);
    r = run_other(TOOL, "convert --pure --type f32 %s %s",
                  in_folder("m-00001-of-00003.gguf"), in_folder("joined"));
    assert_int_equal(r.status, 0);
    result_free(&r);
    joined = gguf_init_from_file(in_folder("joined"), params);
    whole = gguf_init_from_file(in_folder("whole"), params);
    assert_int_equal(gguf_get_n_tensors(joined), gguf_get_n_tensors(whole));
    assert_int_equal(gguf_find_key(joined, "split.count"), -1);
    gguf_free(joined);
    gguf_free(whole);
    assert_runs_as_the_whole("joined", "");
}

static void
parts_that_do_not_fit_are_refused(void **state)
{
    struct result r;

    (void)state;
    write_parts("m", 3, NULL);
    assert_refuses("ggmlbackend-run", "-p a -m", "m-00002-of-00003.gguf",
                   "is part 2 of 3; give the first part");
    r = run_other(TOOL, "convert --type f16 %s %s",
                  in_folder("m-00001-of-00003.gguf"),
                  in_folder("m-00002-of-00003.gguf"));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "is the file that is read"));
    result_free(&r);
    assert_int_equal(unlink(in_folder("m-00003-of-00003.gguf")), 0);
    assert_refuses(TOOL, "check", "m-00001-of-00003.gguf",
                   "m-00003-of-00003.gguf: No such file");
    assert_refuses("ggmlbackend-run", "-p a -m", "m-00001-of-00003.gguf",
                   "m-00003-of-00003.gguf: No such file");
    write_parts("twice", 3, "token_embd.weight");
    assert_refuses(TOOL, "check", "twice-00001-of-00003.gguf", "tensors");
    assert_int_equal(rename(in_folder("twice-00001-of-00003.gguf"),
                            in_folder("other.gguf")), 0);
    assert_refuses(TOOL, "check", "other.gguf", "its name does not end in");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_program_takes_the_first_part),
        cmocka_unit_test(convert_joins_the_parts),
        cmocka_unit_test(parts_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
