/* SPDX-License-Identifier: MIT */
/*
 * fuzz/main.c - replays a corpus without a fuzzer: each file of the folders.
 *
 *   -random=N   then N inputs, files of the corpus with a few bytes changed
 *   -noise=N    then N inputs of any bytes, as long as a file of the corpus
 *   -seed=N     other ones
 *   -keep=FILE  where the input lies that was being run when all ended
 *
 * Whoever watches sees how far it is.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_LIMIT = 1 << 20, MAX_FILES = 4096 };

static struct input {
    uint8_t *data;
    size_t size;
} inputs[MAX_FILES];
static size_t n_inputs;
static int keep = -1;

/* Write what is about to run to the file that outlives it. */
static void
keep_input(const uint8_t *data, size_t size)
{
    static size_t size_before = SIZE_MAX;

    if (keep < 0)
        return;
    if ((size != size_before && ftruncate(keep, (off_t)size) != 0) ||
        pwrite(keep, data, size, 0) != (ssize_t)size)
        fuzz_stop("the input cannot be kept");
    size_before = size;
}

/* An exact copy in memory of its own, so that reading past its end is noticed. */
static void
run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL)
        fuzz_stop("no memory");
    if (size > 0)
        memcpy(copy, data, size);
    keep_input(copy, size);
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

/* Say, to who watches, that I of COUNT are done; a few times in all. */
static void
show_progress(long i, long count)
{
    static time_t shown;
    const time_t now = time(NULL);

    if (i % 4096 != 0 || now == shown || !isatty(STDERR_FILENO))
        return;
    shown = now;
    fprintf(stderr, "\r%ld of %ld", i, count);
}

/* Change a few bytes of COPY, or, with IS_NOISE, all. */
static void
change(uint8_t *copy, size_t size, bool is_noise, uint64_t *state)
{
    if (is_noise) {
        for (size_t i = 0; i < size; i++)
            copy[i] = (uint8_t)next_random(state);
        return;
    }
    for (uint64_t n = 1 + next_random(state) % 8; n > 0 && size > 0; n--)
        copy[next_random(state) % size] = (uint8_t)next_random(state);
}

static void
run_random(long count, uint64_t seed, bool is_noise)
{
    uint64_t state = seed;

    for (long i = 0; i < count && n_inputs > 0; i++) {
        const struct input *input = &inputs[next_random(&state) % n_inputs];
        uint8_t *copy = malloc(input->size + 1);

        if (copy == NULL)
            fuzz_stop("no memory");
        memcpy(copy, input->data, input->size);
        change(copy, input->size, is_noise, &state);
        run(copy, input->size);
        free(copy);
        show_progress(i, count);
    }
}

/* What follows NAME in ARGUMENT, if that is what it begins with. */
static const char *
value_of(const char *argument, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

int
main(int argc, char **argv)
{
    long n_random = 0, n_noise = 0, seed = 1;

    for (int i = 1; i < argc; i++) {
        const char *value;

        if ((value = value_of(argv[i], "-random=")) != NULL) {
            n_random = strtol(value, NULL, 10);
        } else if ((value = value_of(argv[i], "-noise=")) != NULL) {
            n_noise = strtol(value, NULL, 10);
        } else if ((value = value_of(argv[i], "-seed=")) != NULL) {
            seed = strtol(value, NULL, 10);
        } else if ((value = value_of(argv[i], "-keep=")) != NULL) {
            keep = open(value, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
            if (keep < 0)
                fuzz_stop("the file for the input cannot be opened");
        } else if (!read_folder(argv[i])) {
            fprintf(stderr, "fuzz: %s cannot be read\n", argv[i]);
            return 1;
        }
    }
    for (size_t i = 0; i < n_inputs; i++)
        run(inputs[i].data, inputs[i].size);
    run_random(n_random, (uint64_t)seed, false);
    run_random(n_noise, (uint64_t)seed, true);
    printf("%zu files, %ld random inputs\n", n_inputs, n_random + n_noise);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    return n_inputs > 0 ? 0 : 1;
}
