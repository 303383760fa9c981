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
#include "lib/loader/registry.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

/* The system's words, without the path that they may begin with. */
static const char *
dl_reason(const char *path)
{
    const size_t n = strlen(path);
    const char *text = dlerror();

    if (text == NULL)
        return "no reason given";
    if (strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
        return text + n + 2;
    return text;
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

    /* Such a name would be looked for in all folders of the system. */
    if (strchr(path, '/') == NULL)
        return refuse(why, GB_REFUSAL_BROKEN, "is a name without a folder");
    why->kind = GB_REFUSAL_BROKEN;
    if (!gb_image_check(path, why->reason, sizeof(why->reason)))
        return false;
    module.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module.handle == NULL)
        return refuse(why, GB_REFUSAL_BROKEN, "cannot be opened: %s",
                      dl_reason(path));
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
                      "does not work here: ggml_backend_init gave nothing");
    if (reg->api_version != GGML_BACKEND_API_VERSION)
        return refuse(why, GB_REFUSAL_BROKEN,
                      "is too %s: interface version %d, this library has %d",
                      reg->api_version < GGML_BACKEND_API_VERSION ? "old"
                                                                  : "new",
                      reg->api_version, GGML_BACKEND_API_VERSION);
    if (reg->iface.get_name == NULL || reg->iface.get_device_count == NULL ||
        reg->iface.get_device == NULL)
        return refuse(why, GB_REFUSAL_BROKEN,
                      "has a registration without all its functions");
    if (reg->iface.get_name(reg) == NULL)
        return refuse(why, GB_REFUSAL_BROKEN,
                      "has a registration without a name");
    return true;
}

ggml_backend_reg_t
gb_module_register(const struct gb_module *module, struct gb_refusal *why)
{
    ggml_backend_reg_t reg = gb_registry_loaded(module->handle);

    if (reg != NULL)
        return reg;
    reg = module->init();
    if (!reg_fits(reg, why))
        return NULL;
    switch (gb_registry_add_module(module->handle, module->path, reg)) {
    case GB_REGISTRY_NO_MEMORY:
        refuse(why, GB_REFUSAL_BROKEN, "finds no memory to be registered");
        return NULL;
    case GB_REGISTRY_NAME_TAKEN:
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
    gb_registry_begin_load();
    reg = gb_module_load(path, &why);
    gb_registry_end_load();
    if (reg != NULL)
        return reg;
    gb_registry_refuse(path, why.reason);
    gb_fail(GGML_STATUS_FAILED, "module %s: %s", path, why.reason);
    return NULL;
}
