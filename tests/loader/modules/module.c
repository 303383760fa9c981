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
 *   MODULE_CUDA    its registration has the functions that direct-cuda.c asks for
 *   MODULE_ABSENT  why it finds nothing to work with
 *   MODULE_AT_START
 *                  what its constructor does
 */
#include "tests/backend/fake.h"

#include "ggmlbackend.h"

#include <pthread.h>
#include <string.h>

#ifdef MODULE_NAME
static struct fake fake;
static ggml_backend_reg_t reg = &fake.reg;

/* Nobody has it. */
void tests_missing_symbol(void);

#ifdef MODULE_CUDA
static void *registered;

static ggml_backend_buffer_type_t
split_buffer_type(int main_device, const float *tensor_split)
{
    return main_device == 0 && tensor_split[1] == 2.0f ? &fake.buft : NULL;
}

static bool
register_host_buffer(void *buffer, size_t size)
{
    registered = buffer;
    return size == 64;
}

/* The name of the registration tells whether it was the same address. */
static void
unregister_host_buffer(void *buffer)
{
    fake.name = buffer == registered ? "unregistered" : "confused";
}

static void *
get_proc_address(ggml_backend_reg_t of, const char *name)
{
    (void)of;
    if (strcmp(name, "ggml_backend_split_buffer_type") == 0)
        return (void *)split_buffer_type;
    if (strcmp(name, "ggml_backend_register_host_buffer") == 0)
        return (void *)register_host_buffer;
    if (strcmp(name, "ggml_backend_unregister_host_buffer") == 0)
        return (void *)unregister_host_buffer;
    return NULL;
}
#endif

static void
make(void)
{
    fake_init(&fake, MODULE_NAME);
#ifdef MODULE_CUDA
    fake.reg.iface.get_proc_address = get_proc_address;
#endif
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
#ifdef MODULE_ABSENT
    reg = ggmlbackend_not_here(MODULE_ABSENT);
#endif
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
