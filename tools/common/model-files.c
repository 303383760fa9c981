/* SPDX-License-Identifier: MIT */
/*
 * common/model-files.c - the GGUF file of a model, or the files that are its parts.
 */
#include "config.h"

#include "tools/common/model-files.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for the end of a part's name, and the highest number that fits there. */
enum { END_SIZE = 32, MAX_PARTS = 99999 };

static bool
open_part(struct model_part *part, const char *path)
{
    const struct gguf_init_params params = { true, &part->tensors };

    part->path = strdup(path);
    if (part->path == NULL)
        return tool_error("%s: no memory", path);
    if (!input_open(&part->input, part->path))
        return false;
    tool_forget_reason();
    part->gguf = gguf_init_from_file(path, params);
    return part->gguf != NULL || tool_error("%s: %s", path, tool_reason());
}

static void
close_part(struct model_part *part)
{
    gguf_free(part->gguf);
    ggml_free(part->tensors);
    input_close(&part->input);
    free(part->path);
}

/* The whole number of KEY in a part, WITHOUT if the key is not there; -1 for
 * other values. */
static int64_t
number_of(const struct model_part *part, const char *key, int64_t without)
{
    const int64_t id = gguf_find_key(part->gguf, key);

    if (id < 0)
        return without;
    switch ((int)gguf_get_kv_type(part->gguf, id)) {
    case GGUF_TYPE_UINT16: return gguf_get_val_u16(part->gguf, id);
    case GGUF_TYPE_UINT32: return gguf_get_val_u32(part->gguf, id);
    case GGUF_TYPE_INT32: return gguf_get_val_i32(part->gguf, id);
    default: return -1;
    }
}

/* How the name of part I of N ends; the length of that. */
static size_t
end_of_name(char end[END_SIZE], int i, int n)
{
    return (size_t)snprintf(end, END_SIZE, "-%05d-of-%05d.gguf", i + 1, n);
}

/* The path of part I of N, made of PATH, that of part SELF; NULL if PATH does not
 * end as it should, or without memory. */
static char *
path_of_part(const char *path, int self, int i, int n)
{
    char end[END_SIZE];
    const size_t size = strlen(path), n_end = end_of_name(end, self, n);
    char *out;

    if (size < n_end || strcmp(path + size - n_end, end) != 0)
        return NULL;
    out = malloc(size + END_SIZE);
    if (out == NULL)
        return NULL;
    memcpy(out, path, size - n_end);
    end_of_name(out + size - n_end, i, n);
    return out;
}

static bool
open_other(struct model_files *files, int i, int n)
{
    const char *first_path = files->parts[0].path;
    char *path = path_of_part(first_path, 0, i, n);
    struct model_part *part = &files->parts[i];
    bool is_open;
    char end[END_SIZE];

    if (path == NULL) {
        end_of_name(end, 0, n);
        return tool_error("%s: is part 1 of %d, whose other parts are not "
                          "found, since its name does not end in %s",
                          first_path, n, end);
    }
    files->n_parts = i + 1;
    is_open = access(path, F_OK) == 0
                  ? open_part(part, path)
                  : tool_error("%s: %s; it is part %d of %d of the model", path,
                               strerror(errno), i + 1, n);
    free(path);
    if (!is_open)
        return false;
    if (number_of(part, MODEL_KEY_PART_NUMBER, -1) != i ||
        number_of(part, MODEL_KEY_N_PARTS, -1) != n)
        return tool_error("%s: its keys do not say that it is part %d of %d",
                          part->path, i + 1, n);
    return true;
}

/* PART is number I of N, and not the first. */
static bool
refuse_part(const struct model_part *part, int i, int n)
{
    char *first = path_of_part(part->path, i, 0, n);

    tool_error("%s: is part %d of %d; give the first part%s%s", part->path,
               i + 1, n, first == NULL ? "" : ", ", first == NULL ? "" : first);
    free(first);
    return false;
}

/* Opens the other parts, if PART, the only one so far, is the first of several. */
static bool
open_others(struct model_files *files)
{
    struct model_part *part = &files->parts[0];
    const int64_t n = number_of(part, MODEL_KEY_N_PARTS, 1);
    const int64_t i = number_of(part, MODEL_KEY_PART_NUMBER, 0);

    if (n < 0 || n > MAX_PARTS || i < 0 || i >= (n == 0 ? 1 : n))
        return tool_error("%s: its keys %s and %s are no number of a part and "
                          "of all parts", part->path, MODEL_KEY_PART_NUMBER,
                          MODEL_KEY_N_PARTS);
    if (i > 0)
        return refuse_part(part, (int)i, (int)n);
    if (n <= 1)
        return true;
    part = realloc(files->parts, (size_t)n * sizeof(*part));
    if (part == NULL)
        return tool_error("%s: no memory for %d parts", files->parts[0].path,
                          (int)n);
    files->parts = part;
    memset(part + 1, 0, (size_t)(n - 1) * sizeof(*part));
    for (int k = 1; k < (int)n; k++)
        if (!open_other(files, k, (int)n))
            return false;
    return true;
}

/* The data of a tensor without elements may be said to be beyond the file. */
static size_t
start_of(const struct model_part *part, int64_t id)
{
    const bool is_empty = gguf_get_tensor_size(part->gguf, id) == 0;
    const size_t start = gguf_get_data_offset(part->gguf);
    const size_t offset = gguf_get_tensor_offset(part->gguf, id);

    return is_empty                      ? 0
         : offset > SIZE_MAX - start ? SIZE_MAX
                                     : start + offset;
}

/* The model is what its only part is. */
static void
take_single(struct model_files *files)
{
    files->gguf = files->parts[0].gguf;
    files->tensors = files->parts[0].tensors;
}

/* Adds the tensors of PART to the model. */
static bool
add_tensors(struct model_files *files, const struct model_part *part)
{
    struct ggml_tensor *t;

    for (t = ggml_get_first_tensor(part->tensors); t != NULL;
         t = ggml_get_next_tensor(part->tensors, t)) {
        if (gguf_find_tensor(files->gguf, t->name) >= 0)
            return tool_error("%s: tensor '%s' is also in a part before",
                              part->path, t->name);
        ggml_set_name(ggml_dup_tensor(files->tensors, t), t->name);
        gguf_add_tensor(files->gguf, t);
    }
    return !tool_has_reason() ||
        tool_error("%s: %s", part->path, tool_reason());
}

/* The model is made of the keys of the first part and the tensors of all. */
static bool
join(struct model_files *files, size_t n_tensors)
{
    const char *path = files->parts[0].path;
    const struct ggml_init_params params = {
        .mem_size = (n_tensors + 1) * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    tool_forget_reason();
    files->gguf = gguf_init_empty();
    files->tensors = ggml_init(params);
    if (files->gguf == NULL || files->tensors == NULL)
        return tool_error("%s: %s", path, tool_reason());
    gguf_set_kv(files->gguf, files->parts[0].gguf);
    gguf_remove_key(files->gguf, MODEL_KEY_PART_NUMBER);
    gguf_remove_key(files->gguf, MODEL_KEY_N_PARTS);
    gguf_remove_key(files->gguf, MODEL_KEY_N_TENSORS);
    for (int i = 0; i < files->n_parts; i++)
        if (!add_tensors(files, &files->parts[i]))
            return false;
    return true;
}

/* Both contexts have the tensors in the order of the parts. */
static bool
make_places(struct model_files *files)
{
    const size_t n = (size_t)gguf_get_n_tensors(files->gguf);
    struct ggml_tensor *t = ggml_get_first_tensor(files->tensors);
    struct model_place *place;

    files->places = place = calloc(n + 1, sizeof(*place));
    if (place == NULL)
        return tool_error("%s: no memory for %zu tensors",
                          files->parts[0].path, n);
    for (int i = 0; i < files->n_parts; i++) {
        struct model_part *part = &files->parts[i];

        for (int64_t id = 0; id < gguf_get_n_tensors(part->gguf); id++) {
            *place++ = (struct model_place){ t, part, start_of(part, id) };
            t = ggml_get_next_tensor(files->tensors, t);
        }
    }
    return true;
}

/* Puts the parts, which are open, together. */
static bool
put_together(struct model_files *files)
{
    const struct model_part *first = &files->parts[0];
    int64_t n = 0, wanted;

    for (int i = 0; i < files->n_parts; i++)
        n += gguf_get_n_tensors(files->parts[i].gguf);
    wanted = number_of(first, MODEL_KEY_N_TENSORS, n);
    if (files->n_parts == 1)
        take_single(files);
    else if (n != wanted)
        return tool_error("%s: its %d parts have %lld tensors; its key %s says "
                          "%lld", first->path, files->n_parts, (long long)n,
                          MODEL_KEY_N_TENSORS, (long long)wanted);
    else if (!join(files, (size_t)n))
        return false;
    return make_places(files);
}

bool
model_files_open(struct model_files *files, const char *path)
{
    memset(files, 0, sizeof(*files));
    files->parts = calloc(1, sizeof(*files->parts));
    if (files->parts == NULL)
        return tool_error("%s: no memory", path);
    files->n_parts = 1;
    if (open_part(&files->parts[0], path) && open_others(files) &&
        put_together(files))
        return true;
    model_files_close(files);
    return false;
}

void
model_files_close(struct model_files *files)
{
    if (files->n_parts > 1) {
        gguf_free(files->gguf);
        ggml_free(files->tensors);
    }
    for (int i = 0; i < files->n_parts; i++)
        close_part(&files->parts[i]);
    free(files->parts);
    free(files->places);
    memset(files, 0, sizeof(*files));
}

bool
model_files_map(struct model_files *files)
{
    for (int i = 0; i < files->n_parts; i++) {
        struct model_part *part = &files->parts[i];

        if (gguf_get_n_tensors(part->gguf) > 0 && !input_map(&part->input)) {
            model_files_unmap(files);
            return false;
        }
    }
    return true;
}

void
model_files_unmap(struct model_files *files)
{
    for (int i = 0; i < files->n_parts; i++)
        input_unmap(&files->parts[i].input);
}

size_t
model_files_size(const struct model_files *files)
{
    size_t size = 0;

    for (int i = 0; i < files->n_parts; i++)
        size += files->parts[i].input.size;
    return size;
}

struct model_part *
model_files_largest(const struct model_files *files)
{
    struct model_part *largest = &files->parts[0];

    for (int i = 1; i < files->n_parts; i++)
        if (files->parts[i].input.size > largest->input.size)
            largest = &files->parts[i];
    return largest;
}

const struct model_part *
model_files_at(const struct model_files *files, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return NULL;
    for (int i = 0; i < files->n_parts; i++) {
        const struct stat *part = &files->parts[i].input.info;

        if (part->st_dev == info.st_dev && part->st_ino == info.st_ino)
            return &files->parts[i];
    }
    return NULL;
}

const struct model_place *
model_files_find(const struct model_files *files, const char *name)
{
    const int64_t id = gguf_find_tensor(files->gguf, name);

    return id < 0 ? NULL : &files->places[id];
}

bool
model_place_is_cut(const struct model_place *place)
{
    return !input_has(&place->part->input, place->start,
                      ggml_nbytes(place->tensor));
}

void *
model_place_data(const struct model_place *place)
{
    return (char *)place->part->input.bytes + place->start;
}

bool
model_place_read(const struct model_place *place, size_t offset, void *to,
                 size_t size)
{
    return input_read(&place->part->input, place->start + offset, to, size);
}
