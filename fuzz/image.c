/* SPDX-License-Identifier: MIT */
/*
 * fuzz/image.c - a module with some of its words changed, as a file to be looked
 * at.
 *
 * The input is changes of ten bytes each: what is changed (the headers, the
 * dynamic section, any word, or the file's length), where, and the new value.
 * The module is the one that GGMLBACKEND_FUZZ_MODULE names.  Nothing is loaded.
 */
#include "fuzz/fuzz.h"

#include "lib/loader/image.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGE_SIZE = 10, MAX_CHANGES = 16, FILE_LIMIT = 1 << 20 };

static uint8_t *module;
static size_t module_size;
static size_t headers_size, dynamic_at, dynamic_size;

static void
find_pieces(void)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;

    memcpy(&header, module, sizeof(header));
    headers_size = header.e_phoff + header.e_phnum * sizeof(part);
    for (int i = 0; i < header.e_phnum; i++) {
        memcpy(&part, module + header.e_phoff + (size_t)i * sizeof(part),
               sizeof(part));
        if (part.p_type == PT_DYNAMIC) {
            dynamic_at = part.p_offset;
            dynamic_size = part.p_filesz;
        }
    }
}

static void
read_module(void)
{
    const char *path = getenv("GGMLBACKEND_FUZZ_MODULE");
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;

    if (file == NULL)
        fuzz_stop("GGMLBACKEND_FUZZ_MODULE names no module");
    module = malloc(FILE_LIMIT);
    if (module == NULL)
        fuzz_stop("no memory");
    module_size = fread(module, 1, FILE_LIMIT, file);
    fclose(file);
    if (gb_image_check(module, module_size) != NULL)
        fuzz_stop(gb_image_check(module, module_size));
    find_pieces();
    if (dynamic_size == 0)
        fuzz_stop("the module has no dynamic section");
}

/* The word number INDEX, from one end of the piece to the other and on. */
static void
put_word(uint8_t *piece, size_t size, unsigned index, const uint8_t *value)
{
    memcpy(piece + index % (size / 8) * 8, value, 8);
}

static void
change(uint8_t *copy, size_t *size, const uint8_t *input)
{
    const unsigned where = input[0] / 4 + input[1] * 64u;
    const uint8_t *value = input + 2;
    uint16_t n;

    switch (input[0] % 4) {
    case 0:
        put_word(copy, headers_size, where, value);
        break;
    case 1:
        put_word(copy + dynamic_at, dynamic_size, where, value);
        break;
    case 2:
        put_word(copy, module_size, where, value);
        break;
    default:
        memcpy(&n, value, sizeof(n));
        *size = value[2] % 16 == 0 ? n % (module_size + 1) : *size;
        copy[where % module_size] = value[3];
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *copy;
    size_t file_size;
    uint8_t *file;

    if (module == NULL) {
        read_module();
        copy = malloc(module_size);
        if (copy == NULL)
            fuzz_stop("no memory");
    }
    memcpy(copy, module, module_size);
    file_size = module_size;
    for (int i = 0; i < MAX_CHANGES && size >= CHANGE_SIZE; i++) {
        change(copy, &file_size, data);
        data += CHANGE_SIZE;
        size -= CHANGE_SIZE;
    }
    /* Of its own size, so that reading past its end is noticed. */
    file = malloc(file_size > 0 ? file_size : 1);
    if (file == NULL)
        fuzz_stop("no memory");
    memcpy(file, copy, file_size);
    gb_image_check(file, file_size);
    free(file);
    return 0;
}
