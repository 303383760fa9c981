/* SPDX-License-Identifier: MIT */
/*
 * fuzz/main.c - replays a corpus without a fuzzer: each file of the folders named.
 *
 * With -random=N, N inputs made from a fixed seed follow: each is a file of the
 * corpus with a few bytes changed.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_LIMIT = 1 << 20, MAX_FILES = 4096 };

static struct input {
    uint8_t *data;
    size_t size;
} inputs[MAX_FILES];
static size_t n_inputs;

/* An exact copy in memory of its own, so that reading past its end is noticed. */
static void
run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL)
        fuzz_stop("no memory");
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static bool
read_file(const char *path)
{
    static uint8_t buffer[INPUT_LIMIT];
    FILE *file = fopen(path, "rb");
    struct input *input = &inputs[n_inputs];

    if (file == NULL || n_inputs == MAX_FILES)
        return false;
    input->size = fread(buffer, 1, sizeof(buffer), file);
    input->data = malloc(input->size > 0 ? input->size : 1);
    fclose(file);
    if (input->data == NULL)
        return false;
    memcpy(input->data, buffer, input->size);
    n_inputs++;
    return true;
}

static bool
read_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (folder == NULL)
        return read_file(path);
    while ((entry = readdir(folder)) != NULL) {
        char name[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (!read_file(name))
            break;
    }
    closedir(folder);
    return true;
}

/* splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
 * Generators", 2014). */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void
run_random(long count)
{
    uint64_t state = 1;

    for (long i = 0; i < count && n_inputs > 0; i++) {
        const struct input *input = &inputs[next_random(&state) % n_inputs];
        uint8_t *copy = malloc(input->size + 1);

        if (copy == NULL)
            fuzz_stop("no memory");
        memcpy(copy, input->data, input->size);
        for (uint64_t n = 1 + next_random(&state) % 8;
             n > 0 && input->size > 0; n--)
            copy[next_random(&state) % input->size] =
                (uint8_t)next_random(&state);
        run(copy, input->size);
        free(copy);
    }
}

int
main(int argc, char **argv)
{
    long count = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-random=", 8) == 0) {
            count = strtol(argv[i] + 8, NULL, 10);
        } else if (!read_folder(argv[i])) {
            fprintf(stderr, "fuzz: %s cannot be read\n", argv[i]);
            return 1;
        }
    }
    for (size_t i = 0; i < n_inputs; i++)
        run(inputs[i].data, inputs[i].size);
    run_random(count);
    printf("%zu files, %ld random inputs\n", n_inputs, count);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    return n_inputs > 0 ? 0 : 1;
}
