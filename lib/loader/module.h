/* SPDX-License-Identifier: MIT */
/*
 * loader/module.h - one module: opened, weighed, registered, or refused.
 *
 * All between gb_module_begin_load and gb_module_end_load.
 */
#ifndef GB_LOADER_MODULE_H
#define GB_LOADER_MODULE_H

#include "ggml-backend-impl.h"

#include "lib/base/status.h"

/* A file that is open, and stays mapped as long as the process. */
struct gb_module {
    const char *path; /* the caller's */
    void *handle;
    ggml_backend_init_t init;
    ggml_backend_score_t score; /* NULL: it has none */
};

enum gb_refusal_kind {
    GB_REFUSAL_BROKEN,
    GB_REFUSAL_NOT_HERE, /* it finds nothing to work with on this machine */
    GB_REFUSAL_THERE,    /* its backend is there already */
};

struct gb_refusal {
    enum gb_refusal_kind kind;
    char reason[GB_REASON_SIZE];
};

/*
 * Between these two a thread may load modules.  No lock is held meanwhile: what
 * a module or the client's log function does, and waits for, is not known.  So
 * several threads may load the same module at once.  False, with the reason,
 * when the thread loads one already, which asked for this.
 */
bool gb_module_begin_load(const char *path);
void gb_module_end_load(void);

/* False, with the reason in WHY, when the file is not a module. */
bool gb_module_open(
    const char *path, struct gb_module *out, struct gb_refusal *why);

/*
 * Above 0, the more the better the module suits this machine; 0, with the
 * reason in WHY, when it does not at all.  The module has a score.
 */
int gb_module_score(const struct gb_module *module, struct gb_refusal *why);

/*
 * Register what the module gives.  Returns its registration, the same again
 * for one that is registered already; NULL, with the reason in WHY, when it
 * does not fit.
 */
ggml_backend_reg_t gb_module_register(
    const struct gb_module *module, struct gb_refusal *why);

/* All three for the file at PATH; its score is asked for if it has one. */
ggml_backend_reg_t gb_module_load(const char *path, struct gb_refusal *why);

#endif
