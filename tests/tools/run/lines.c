/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/lines.c - messages begin lines of their own, where text is
 * shown too.
 */
#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Does WANTED, which is shown, begin a line behind others? */
static void
check_begins_a_line(const char *shown, const char *wanted)
{
    const char *at = strstr(shown, wanted);

    if (at == NULL || at == shown || at[-1] != '\n')
        fail_msg("'%s' begins no line in: %s", wanted, shown);
}

static void
timings_begin_a_line(void **state)
{
    struct result r;

    (void)state;
    make_model("model", "-a llama");
    for (int seed = 1; seed < 6; seed++) {
        char arguments[200];

        snprintf(arguments, sizeof(arguments),
                 "-m %s -p 'the hello' -n 9 --temp 3 --seed %d",
                 in_folder("model"), seed);
        r = run_on_terminal("ggmlbackend-run", arguments);
        assert_int_equal(r.status, 0);
        check_begins_a_line(r.out, "prompt: ");
        result_free(&r);
        r = run("%s >%s 2>&1; cat %s", arguments, in_folder("both"),
                in_folder("both"));
        check_begins_a_line(r.out, "prompt: ");
        result_free(&r);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timings_begin_a_line),
    };

    return cmocka_run_group_tests_name("lines", tests, folder_make,
                                       folder_remove);
}
