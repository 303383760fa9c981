/* SPDX-License-Identifier: MIT */
/*
 * loader/elf.h - ELF files as far as the system's loader follows them.
 */
#ifndef GB_LOADER_ELF_H
#define GB_LOADER_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are in a file, or in memory where FD is -1. */
struct gb_elf_bytes {
    int fd;
    const unsigned char *memory;
    uint64_t size;
    /* What was read of the file last: tables are read entry by entry. */
    uint64_t window_at;
    size_t window_size;
    unsigned char window[16384];
};

/* False where not all N bytes at OFFSET are there. */
bool gb_elf_read(
    struct gb_elf_bytes *bytes, uint64_t offset, void *out, size_t n);

/* A file whose headers fit together. */
struct gb_elf {
    struct gb_elf_bytes *bytes;
    ElfW(Ehdr) header;
    ElfW(Phdr) *segments; /* header.e_phnum of them */
    ElfW(Shdr) *sections; /* NULL where the file has none */
    size_t n_sections;
    const ElfW(Phdr) *dynamic;
};

/*
 * The segment that is mapped and has all N bytes at ADDRESS with the rights
 * FLAGS (PF_R …); NULL for none.
 */
const ElfW(Phdr) *gb_elf_segment_at(
    const struct gb_elf *elf, uint64_t address, uint64_t n, ElfW(Word) flags);

/* Read N bytes that the file has for ADDRESS, which are mapped to be read. */
bool gb_elf_read_at(
    const struct gb_elf *elf, uint64_t address, void *out, size_t n);

/*
 * Does a table of SIZE bytes at ADDRESS begin and end where sections do?  0 for a
 * size that is not known; true where the file names no sections.
 */
bool gb_elf_is_section(
    const struct gb_elf *elf, uint64_t address, uint64_t size);

extern const char gb_elf_no_memory[];

/*
 * What is wrong with the headers, or with the tables that the dynamic section
 * names; NULL for nothing.  Words to follow "is".
 */
const char *gb_elf_open(struct gb_elf *elf, struct gb_elf_bytes *bytes);
const char *gb_elf_check_dynamic(const struct gb_elf *elf, bool *has_origin);
void gb_elf_close(struct gb_elf *elf);

#endif
