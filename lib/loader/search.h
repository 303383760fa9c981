/* SPDX-License-Identifier: MIT */
/*
 * loader/search.h - modules in folders, for those who need a certain one.
 */
#ifndef GB_LOADER_SEARCH_H
#define GB_LOADER_SEARCH_H

#include <stdbool.h>

/*
 * Load the best module of the backend whose files are called libggml-<NAME>.so
 * or libggml-<NAME>-<variant>.so, of the folders of ggml_backend_load_all; what is
 * wrong with one is remembered as it is there.  False when nothing was looked for,
 * since this thread is loading a module.
 */
bool gb_search_load(const char *name);

#endif
