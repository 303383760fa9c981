/* SPDX-License-Identifier: MIT */
/*
 * loader/module.c - one module: opened, weighed, registered, or refused.
 *
 * What was opened is never closed: its threads, destructors and live objects
 * have no end that anybody knows.
 */
#include "config.h"

#include "lib/loader/module.h"

#include "lib/base/log.h"
#include "lib/loader/image.h"
#include "lib/loader/not-here.h"
#include "lib/loader/registry.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Would be loaded by what is being loaded, perhaps without end. */
static _Thread_local bool is_loading;

bool
gb_module_begin_load(const char *path)
{
    if (is_loading) {
        gb_fail(GGML_STATUS_FAILED,
                "%s: not loaded, since this thread is loading a module already",
                path);
        return false;
    }
    is_loading = true;
    return true;
}

void
gb_module_end_load(void)
{
    is_loading = false;
}

/* Always false. */
GB_PRINTF(3, 4)
static bool
refuse(struct gb_refusal *why, enum gb_refusal_kind kind, const char *fmt, ...)
{
    va_list args;

    why->kind = kind;
    va_start(args, fmt);
    vsnprintf(why->reason, sizeof(why->reason), fmt, args);
    va_end(args);
    return false;
}

/* The system's words, without the name of the file that they may begin with. */
static const char *
dl_reason(void)
{
    const char *text = dlerror(), *colon;

    if (text == NULL)
        return "another file has its name now";
    colon = strstr(text, ": ");
    return strchr("/.", text[0]) != NULL && colon != NULL ? colon + 2 : text;
}

bool
gb_module_open(const char *path, struct gb_module *out, struct gb_refusal *why)
{
    union {
        void *object;
        ggml_backend_init_t init;
        ggml_backend_score_t score;
    } symbol;
    struct gb_module module = { .path = path };
    struct gb_image image;

    /* Such a name would be looked for in all folders of the system. */
    if (strchr(path, '/') == NULL)
        return refuse(why, GB_REFUSAL_BROKEN, "is a name without a folder");
    why->kind = GB_REFUSAL_BROKEN;
    if (!gb_image_open(path, &image, why->reason, sizeof(why->reason)))
        return false;
    module.handle = gb_image_load(&image);
    if (module.handle == NULL)
        refuse(why, GB_REFUSAL_BROKEN, "cannot be opened: %s", dl_reason());
    gb_image_close(&image);
    if (module.handle == NULL)
        return false;
    symbol.object = dlsym(module.handle, "ggml_backend_init");
    if (symbol.object == NULL)
        return refuse(why, GB_REFUSAL_BROKEN, "has no ggml_backend_init");
    module.init = symbol.init;
    symbol.object = dlsym(module.handle, "ggml_backend_score");
    module.score = symbol.object != NULL ? symbol.score : NULL;
    *out = module;
    return true;
}

int
gb_module_score(const struct gb_module *module, struct gb_refusal *why)
{
    const int score = module->score();

    if (score > 0)
        return score;
    refuse(why, GB_REFUSAL_NOT_HERE,
           "is not for this machine: its score is %d", score);
    return 0;
}

/* Of a registration nothing but the version is looked at before that fits. */
static bool
reg_fits(ggml_backend_reg_t reg, struct gb_refusal *why)
{
    if (reg == NULL)
        return refuse(why, GB_REFUSAL_NOT_HERE,
                      "does not work here: %s", gb_not_here_reason());
    if (reg->api_version != GGML_BACKEND_API_VERSION)
        return refuse(why, GB_REFUSAL_BROKEN,
                      "is too %s: interface version %d, this library has %d",
                      reg->api_version < GGML_BACKEND_API_VERSION ? "old"
                                                                  : "new",
                      reg->api_version, GGML_BACKEND_API_VERSION);
    return true;
}

ggml_backend_reg_t
gb_module_register(const struct gb_module *module, struct gb_refusal *why)
{
    ggml_backend_reg_t reg = gb_registry_loaded(module->handle), other;

    if (reg != NULL)
        return reg;
    gb_not_here_clear();
    reg = module->init();
    if (!reg_fits(reg, why))
        return NULL;
    why->kind = GB_REFUSAL_BROKEN;
    switch (gb_registry_add_module(module->handle, module->path, reg,
                                   why->reason)) {
    case GB_REGISTRY_BROKEN:
        return NULL;
    case GB_REGISTRY_OF_ANOTHER:
        refuse(why, GB_REFUSAL_BROKEN, "gives a backend that is not its own: %s",
               ggml_backend_reg_name(reg));
        return NULL;
    case GB_REGISTRY_NO_MEMORY:
        refuse(why, GB_REFUSAL_BROKEN, "finds no memory to be registered");
        return NULL;
    case GB_REGISTRY_NAME_TAKEN:
        /* By another thread that loads this module, if it makes each anew. */
        other = gb_registry_loaded(module->handle);
        if (other != NULL)
            return other;
        refuse(why, GB_REFUSAL_THERE,
               "is not needed: a backend named %s is registered already",
               ggml_backend_reg_name(reg));
        return NULL;
    case GB_REGISTRY_ADDED:
        break;
    }
    gb_log(GGML_LOG_LEVEL_INFO, "module %s: backend %s, %zu devices",
           module->path, ggml_backend_reg_name(reg),
           ggml_backend_reg_dev_count(reg));
    return reg;
}

ggml_backend_reg_t
gb_module_load(const char *path, struct gb_refusal *why)
{
    struct gb_module module;

    if (!gb_module_open(path, &module, why))
        return NULL;
    if (module.score != NULL && gb_module_score(&module, why) == 0)
        return NULL;
    return gb_module_register(&module, why);
}

ggml_backend_reg_t
ggml_backend_load(const char *path)
{
    struct gb_refusal why;
    ggml_backend_reg_t reg;

    GB_NEED_OR(NULL, path != NULL, "load: no path");
    if (!gb_module_begin_load(path))
        return NULL;
    reg = gb_module_load(path, &why);
    gb_module_end_load();
    if (reg != NULL)
        return reg;
    gb_registry_refuse(path, why.reason);
    gb_fail(GGML_STATUS_FAILED, "module %s: %s", path, why.reason);
    return NULL;
}
