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

struct behind_a_byte {
    char byte;
    int64_t i;
};

#define GB_MODEL(lp64, ilp32) (sizeof(void *) == 8 ? (lp64) : (ilp32))
#define GB_I64(a, b) (offsetof(struct behind_a_byte, i) == 4 ? (a) : (b))

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
#define GB_SIZE(type, lp64, ilp32)
#define GB_FIELD(type, field, lp64, ilp32)
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
#define GB_SIZE(type, lp64, ilp32) \
    { #type, GB_MODEL(lp64, ilp32), sizeof(struct type) },
#define GB_FIELD(type, field, lp64, ilp32) \
    { #type "." #field, GB_MODEL(lp64, ilp32), offsetof(struct type, field) },
#include "tests/abi/values.def"
#undef GB_VALUE
#undef GB_SIZE
#undef GB_FIELD
    };

    (void)state;
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
