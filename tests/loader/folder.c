/* SPDX-License-Identifier: MIT */
/*
 * loader/folder.c - folders with modules in them, good and bad ones.
 *
 * What goes wrong here ends the test's process.
 */
#include "tests/loader/folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_PATHS 32

static void
must(int is_done, const char *what)
{
    if (is_done)
        return;
    perror(what);
    abort();
}

const char *
folder_path(const char *folder, const char *file)
{
    static char paths[N_PATHS][PATH_MAX];
    static int next;
    char *path = paths[next++ % N_PATHS];

    must(snprintf(path, PATH_MAX, "%s/%s", folder, file) < PATH_MAX, file);
    return path;
}

const char *
module_path(const char *name)
{
    char file[64];

    snprintf(file, sizeof(file), "%s.so", name);
    return folder_path(TEST_MODULE_DIR, file);
}

char *
folder_make(void)
{
    char *path = strdup(folder_path(TEST_MODULE_DIR, "XXXXXX"));

    must(path != NULL && mkdtemp(path) != NULL, path);
    must(chmod(path, 0755) == 0, path);
    return path;
}

void
folder_remove(char *folder)
{
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    must(dir != NULL, folder);
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            must(remove(folder_path(folder, entry->d_name)) == 0, folder);
    closedir(dir);
    must(rmdir(folder) == 0, folder);
    free(folder);
}

const char *
folder_add(const char *folder, const char *file, const char *name)
{
    const char *path = folder_path(folder, file);

    must(symlink(module_path(name), path) == 0, path);
    return path;
}

const char *
folder_write(
    const char *folder, const char *file, const void *data, size_t size)
{
    const char *path = folder_path(folder, file);
    FILE *out = fopen(path, "wb");

    must(out != NULL && fwrite(data, 1, size, out) == size, path);
    must(fclose(out) == 0, path);
    return path;
}

unsigned char *
module_read(const char *name, size_t *size)
{
    const char *path = module_path(name);
    FILE *in = fopen(path, "rb");
    unsigned char *data;
    struct stat status;

    must(in != NULL && fstat(fileno(in), &status) == 0, path);
    *size = (size_t)status.st_size;
    data = malloc(*size);
    must(data != NULL && fread(data, 1, *size, in) == *size, path);
    fclose(in);
    return data;
}
