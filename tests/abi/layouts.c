/* SPDX-License-Identifier: MIT */
/*
 * abi/layouts.c - enumerators have their numbers, structs their layout.
 *
 * The numbers are those of the interface level, written down in values.def.
 */
#include "ggml-alloc.h"
#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"
#include "ggml.h"
#include "gguf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fact {
    const char *name;
    long long expected;
    long long actual;
};

static void
check(const struct fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (facts[i].actual != facts[i].expected)
            fail_msg("%s is %lld, not %lld", facts[i].name, facts[i].actual,
                     facts[i].expected);
    }
}

static void
constants_have_their_values(void **state)
{
    static const struct fact facts[] = {
#define GB_VALUE(name, value)              { #name, value, (long long)(name) },
#define GB_SIZE(type, bytes)
#define GB_FIELD(type, field, offset)
#include "tests/abi/values.def"
#undef GB_VALUE
#undef GB_SIZE
#undef GB_FIELD
    };

    (void)state;
    check(facts, sizeof(facts) / sizeof(facts[0]));
}

static void
structs_have_their_layout(void **state)
{
    static const struct fact facts[] = {
#define GB_VALUE(name, value)
#define GB_SIZE(type, bytes) { #type, bytes, sizeof(struct type) },
#define GB_FIELD(type, field, offset) \
    { #type "." #field, offset, offsetof(struct type, field) },
#include "tests/abi/values.def"
#undef GB_VALUE
#undef GB_SIZE
#undef GB_FIELD
    };

    (void)state;
    if (sizeof(void *) != 8) {
        print_message("the layouts are written down for 64-bit pointers\n");
        skip();
    }
    check(facts, sizeof(facts) / sizeof(facts[0]));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_have_their_values),
        cmocka_unit_test(structs_have_their_layout),
    };

    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
