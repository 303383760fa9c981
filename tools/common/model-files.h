/* SPDX-License-Identifier: MIT */
/*
 * common/model-files.h - the GGUF file of a model, or the files that are its parts.
 *
 * A model in parts is in files NAME-00001-of-00003.gguf and so on.  Each part is a
 * GGUF file with the keys split.no (from 0), split.count and split.tensors.count.
 * The first part has the model's own keys.  Each tensor is in one part.
 */
#ifndef TOOLS_COMMON_MODEL_FILES_H
#define TOOLS_COMMON_MODEL_FILES_H

#include "tools/common/input.h"

#include "gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_part {
    char *path;
    struct input input;
    struct gguf_context *gguf;
    struct ggml_context *tensors; /* of this part */
};

/* One tensor: its description, and the position of its data. */
struct model_place {
    struct ggml_tensor *tensor;
    struct model_part *part;
    size_t start; /* in the part's file; 0 for no data, SIZE_MAX if that is
                     beyond any file */
};

struct model_files {
    struct model_part *parts;
    int n_parts;
    struct gguf_context *gguf;    /* the keys of the first part without those of
                                     parts; the tensors of all parts */
    struct ggml_context *tensors; /* the same tensors, without data */
    struct model_place *places;   /* of these, by their numbers in gguf */
};

/* Keys of parts, which a model in one file does not have. */
#define MODEL_KEY_PART_NUMBER "split.no"
#define MODEL_KEY_N_PARTS     "split.count"
#define MODEL_KEY_N_TENSORS   "split.tensors.count"

/*
 * Opens PATH, and the other parts if PATH is the first of several.  Data may be cut
 * short.  False after a message, also for a part that is not the first.
 */
bool model_files_open(struct model_files *files, const char *path);
void model_files_close(struct model_files *files);

/* Maps each part that has tensors; false if one cannot be mapped, see input_map. */
bool model_files_map(struct model_files *files);
void model_files_unmap(struct model_files *files);

/* Bytes of all files. */
size_t model_files_size(const struct model_files *files);

/* The part with most bytes. */
struct model_part *model_files_largest(const struct model_files *files);

/* The part whose file is at PATH, by whatever name; NULL if none is. */
const struct model_part *model_files_at(const struct model_files *files,
                                        const char *path);

/* The place of the tensor called NAME; NULL without it. */
const struct model_place *model_files_find(const struct model_files *files,
                                           const char *name);

/* True if the file ends before the data at PLACE does. */
bool model_place_is_cut(const struct model_place *place);

/* The data at PLACE in the mapping of its file, which has all of it. */
void *model_place_data(const struct model_place *place);

/* Reads SIZE bytes at OFFSET in the data at PLACE; false after a message. */
bool model_place_read(const struct model_place *place, size_t offset, void *to,
                      size_t size);

#endif
