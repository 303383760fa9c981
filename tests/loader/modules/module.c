/* SPDX-License-Identifier: MIT */
/*
 * loader/modules/module.c - all modules of these tests, good and bad ones.
 *
 * local.mk says what is defined for each of them:
 *
 *   MODULE_NAME    of its backend and device, which is a fake one; a module
 *                  without it has no ggml_backend_init
 *   MODULE_SCORE   what ggml_backend_score gives, if there is one
 *   MODULE_DOES    what else happens when the registration is made
 *   MODULE_AT_START
 *                  what its constructor does
 */
#include "tests/backend/fake.h"

#include <pthread.h>

#ifdef MODULE_NAME
static struct fake fake;
static ggml_backend_reg_t reg = &fake.reg;

/* Nobody has it. */
void tests_missing_symbol(void);

static void
make(void)
{
    fake_init(&fake, MODULE_NAME);
#ifdef MODULE_DOES
    MODULE_DOES;
#endif
}

/* Once: when the module is loaded again, others may still look at it. */
static ggml_backend_reg_t
get_reg(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make);
    return reg;
}

GGML_BACKEND_DL_IMPL(get_reg)
#endif

#ifdef MODULE_AT_START
static void __attribute__((constructor))
at_start(void)
{
    MODULE_AT_START;
}
#endif

#ifdef MODULE_SCORE
static int
get_score(void)
{
    return MODULE_SCORE;
}

GGML_BACKEND_DL_SCORE_IMPL(get_score)
#endif
