/* SPDX-License-Identifier: MIT */
/*
 * loader/search.c - modules in folders; the best of several variants.
 *
 * A module is a file libggml-NAME.so or libggml-NAME-VARIANT.so.  Files of all
 * folders are collected, then loaded name by name, so that the order of the
 * backends depends on their names alone.
 */
#include "config.h"

#include "lib/loader/search.h"

#include "ggmlbackend.h"

#include "lib/base/env.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/loader/module.h"
#include "lib/loader/registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "libggml-";
static const char suffix[] = ".so";

/* A file whose name is that of a module. */
struct candidate {
    char *path;
    char *name;          /* of the backend; both strings are in one block */
    const char *variant; /* "" for the file without one */
    size_t folder;       /* which one it lies in */
    int score;           /* of a variant that is open; 0: not to be taken */
    struct gb_module module;
};

struct search {
    const char *name; /* of the backend that is looked for; NULL: all */
    struct candidate *found;
    size_t n_found;
    size_t max_found;
    size_t n_folders;
};

/* ---- collecting ---- */

static void
candidate_clear(struct candidate *candidate)
{
    gb_mem_free(candidate->path);
    gb_mem_free(candidate->name);
}

/*
 * The part of FILE between prefix and suffix, its length in N; NULL when it is
 * no module's name.
 */
static const char *
stem_of(const char *file, size_t *n)
{
    const size_t n_prefix = sizeof(prefix) - 1, n_suffix = sizeof(suffix) - 1;
    const size_t n_file = strlen(file);
    const char *stem = file + n_prefix;

    if (n_file <= n_prefix + n_suffix ||
        strncmp(file, prefix, n_prefix) != 0 ||
        strcmp(file + n_file - n_suffix, suffix) != 0)
        return NULL;
    *n = n_file - n_prefix - n_suffix;
    if (stem[0] == '-' || stem[*n - 1] == '-')
        return NULL;
    return stem;
}

/* The name is cut at its first dash; behind that is the variant. */
static bool
split_stem(const char *stem, size_t n, struct candidate *out)
{
    char *dash;

    out->name = gb_mem_alloc(n + 1);
    if (out->name == NULL)
        return false;
    memcpy(out->name, stem, n);
    out->name[n] = '\0';
    dash = strchr(out->name, '-');
    if (dash != NULL)
        *dash = '\0';
    out->variant = dash != NULL ? dash + 1 : out->name + n;
    return true;
}

static char *
join(const char *folder, const char *file)
{
    const size_t n_folder = strlen(folder), n_file = strlen(file);
    char *path = gb_mem_alloc(n_folder + 1 + n_file + 1);

    if (path == NULL)
        return NULL;
    memcpy(path, folder, n_folder);
    path[n_folder] = '/';
    memcpy(path + n_folder + 1, file, n_file + 1);
    return path;
}

static bool
make_room(struct search *search)
{
    const size_t max = search->max_found > 0 ? search->max_found * 2 : 16;
    struct candidate *found;

    if (search->n_found < search->max_found)
        return true;
    found = gb_mem_realloc(search->found, max, sizeof(*found));
    if (found == NULL)
        return false;
    search->found = found;
    search->max_found = max;
    return true;
}

/* One that there is no memory for is not looked at. */
static void
add_file(struct search *search, const char *folder, const char *file)
{
    struct candidate candidate = { .folder = search->n_folders };
    size_t n_stem;
    const char *stem = stem_of(file, &n_stem);

    if (stem == NULL)
        return;
    candidate.path = join(folder, file);
    if (candidate.path == NULL || !split_stem(stem, n_stem, &candidate) ||
        !make_room(search)) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "module %s/%s: no memory", folder,
                file);
        candidate_clear(&candidate);
        return;
    }
    if (search->name != NULL && strcmp(candidate.name, search->name) != 0) {
        candidate_clear(&candidate);
        return;
    }
    search->found[search->n_found++] = candidate;
}

/* Nobody misses a folder that does not exist, unless it was ASKED_FOR. */
static void
add_folder(struct search *search, const char *folder, bool asked_for)
{
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    if (dir == NULL) {
        if (asked_for || errno != ENOENT)
            gb_log(GGML_LOG_LEVEL_WARN, "module folder %s: %s", folder,
                   strerror(errno));
        return;
    }
    while ((entry = readdir(dir)) != NULL)
        add_file(search, folder, entry->d_name);
    closedir(dir);
    search->n_folders++;
}

/*
 * The folders of a list with colons.  Only a whole path is one: anything else
 * would be looked for below the working directory.
 */
static void
add_list(struct search *search, const char *list)
{
    char *folders = gb_mem_strdup(list);
    char *rest = folders, *end;

    if (folders == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "module folders: no memory");
        return;
    }
    for (; rest != NULL; rest = end) {
        end = strchr(rest, ':');
        if (end != NULL)
            *end++ = '\0';
        if (rest[0] == '/')
            add_folder(search, rest, true);
        else if (rest[0] != '\0')
            gb_log(GGML_LOG_LEVEL_WARN,
                   "module folder %s: passed over, it does not begin with /",
                   rest);
    }
    gb_mem_free(folders);
}

/* ---- choosing ---- */

/* By name; of one name the files without a variant last; then by folder. */
static int
compare_names(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    if (order == 0)
        order = (a->variant[0] == '\0') - (b->variant[0] == '\0');
    if (order == 0)
        order = strcmp(a->variant, b->variant);
    if (order == 0)
        order = (a->folder > b->folder) - (a->folder < b->folder);
    return order;
}

/*
 * Remember and say that the search passed PATH over, loudly only where
 * something is broken.
 */
static void
pass_over(const char *path, const struct gb_refusal *why)
{
    const bool is_broken = why->kind == GB_REFUSAL_BROKEN;

    gb_registry_refuse(path, why->reason);
    gb_log(is_broken ? GGML_LOG_LEVEL_WARN : GGML_LOG_LEVEL_INFO,
           "module %s: %s", path, why->reason);
}

/* Open a variant and ask for its score. */
static void
weigh(struct candidate *variant)
{
    struct gb_refusal why = { GB_REFUSAL_BROKEN,
                              "is a variant without a score" };

    if (gb_module_open(variant->path, &variant->module, &why) &&
        variant->module.score != NULL)
        variant->score = gb_module_score(&variant->module, &why);
    if (variant->score == 0)
        pass_over(variant->path, &why);
}

/* The first of the highest score; NULL when none has any. */
static struct candidate *
best_of(struct candidate *variants, size_t n)
{
    struct candidate *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (variants[i].score > (best != NULL ? best->score : 0))
            best = &variants[i];
    return best;
}

/* Is the backend of the file there now?  It may have been there before. */
static bool
try_file(const struct candidate *file)
{
    struct gb_refusal why;
    ggml_backend_reg_t reg;

    if (file->score > 0)
        reg = gb_module_register(&file->module, &why);
    else
        reg = gb_module_load(file->path, &why);
    if (reg != NULL)
        return true;
    pass_over(file->path, &why);
    return why.kind == GB_REFUSAL_THERE;
}

/*
 * Load one of the N files of one backend: the variants, best first, and where
 * none of them can be had, those without a variant's name.
 */
static void
load_one_of(struct candidate *files, size_t n)
{
    struct candidate *best;
    size_t n_variants = 0;

    while (n_variants < n && files[n_variants].variant[0] != '\0')
        weigh(&files[n_variants++]);
    while ((best = best_of(files, n_variants)) != NULL) {
        if (try_file(best))
            return;
        best->score = 0;
    }
    for (size_t i = n_variants; i < n; i++)
        if (try_file(&files[i]))
            return;
}

static void
load_each(struct search *search)
{
    size_t end;

    if (search->n_found > 0)
        qsort(search->found, search->n_found, sizeof(*search->found),
              compare_names);
    for (size_t i = 0; i < search->n_found; i = end) {
        end = i + 1;
        while (end < search->n_found &&
               strcmp(search->found[end].name, search->found[i].name) == 0)
            end++;
        load_one_of(&search->found[i], end - i);
    }
}

static void
search_clear(struct search *search)
{
    for (size_t i = 0; i < search->n_found; i++)
        candidate_clear(&search->found[i]);
    gb_mem_free(search->found);
}

/* The folders of the environment, then the library's own. */
static void
add_folders(struct search *search)
{
    add_list(search, gb_env_string(GB_ENV_MODULE_PATH));
    add_folder(search, ggmlbackend_module_folder(), false);
}

bool
gb_search_load(const char *name)
{
    struct search search = { .name = name };

    if (!gb_module_begin_load(name))
        return false;
    add_folders(&search);
    load_each(&search);
    gb_module_end_load();
    search_clear(&search);
    return true;
}

/* ---- the interface ---- */

void
ggml_backend_load_all_from_path(const char *dir_path)
{
    const char *last = gb_env_string(GB_ENV_BACKEND_PATH);
    struct search search = { .name = NULL };

    if (!gb_module_begin_load(dir_path != NULL ? dir_path : "all modules"))
        return;
    if (dir_path != NULL)
        add_folder(&search, dir_path, true);
    else
        add_folders(&search);
    load_each(&search);
    gb_module_end_load();
    search_clear(&search);
    if (last[0] != '\0')
        ggml_backend_load(last);
}

void
ggml_backend_load_all(void)
{
    ggml_backend_load_all_from_path(NULL);
}
