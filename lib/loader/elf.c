/* SPDX-License-Identifier: MIT */
/*
 * loader/elf.c - headers, segments and sections of an ELF file.
 *
 * The system's loader believes what they say, and ends the process over some of
 * it: it maps where the segments say, fills what lies behind their bytes, and
 * protects what the headers name.  Sections are nothing to it, but they say most
 * of the same once more, so that what was damaged can be told.
 */
#include "config.h"

#if defined(HAVE_LINK_H)

#include "lib/loader/elf.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Sums of two addresses do not wrap. */
static const uint64_t max_address = (ElfW(Addr))-1 / 4;

const char gb_elf_no_memory[] = "too large for the memory that there is";

/* Bytes that a thread's variables may take. */
static const uint64_t max_tls = (uint64_t)1 << 30;

/* The header of the library, or of the program that it is linked into. */
extern const ElfW(Ehdr) __ehdr_start
    __attribute__((weak, visibility("hidden")));

/* ---- bytes ---- */

/* Do SIZE bytes at OFFSET lie in END bytes? */
static bool
lies_within(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset <= end && size <= end - offset;
}

/* All N bytes, which the file had when it was opened. */
static bool
read_file(int fd, uint64_t offset, void *out, size_t n)
{
    char *to = out;

    while (n > 0) {
        const ssize_t got = pread(fd, to, n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* Let the window begin at OFFSET, and have as much as there is. */
static bool
move_window(struct gb_elf_bytes *bytes, uint64_t offset)
{
    const uint64_t left = bytes->size - offset;
    const size_t n =
        left < sizeof(bytes->window) ? (size_t)left : sizeof(bytes->window);

    bytes->window_size = 0;
    if (!read_file(bytes->fd, offset, bytes->window, n))
        return false;
    bytes->window_at = offset;
    bytes->window_size = n;
    return true;
}

bool
gb_elf_read(struct gb_elf_bytes *bytes, uint64_t offset, void *out, size_t n)
{
    if (!lies_within(offset, n, bytes->size))
        return false;
    if (bytes->fd < 0) {
        memcpy(out, bytes->memory + offset, n);
        return true;
    }
    if (n > sizeof(bytes->window))
        return read_file(bytes->fd, offset, out, n);
    if ((offset < bytes->window_at ||
         !lies_within(offset - bytes->window_at, n, bytes->window_size)) &&
        !move_window(bytes, offset))
        return false;
    memcpy(out, bytes->window + (offset - bytes->window_at), n);
    return true;
}

/* ---- addresses ---- */

const ElfW(Phdr) *
gb_elf_segment_at(
    const struct gb_elf *elf, uint64_t address, uint64_t n, ElfW(Word) flags)
{
    for (int i = 0; i < elf->header.e_phnum; i++) {
        const ElfW(Phdr) *segment = &elf->segments[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags &&
            address >= segment->p_vaddr &&
            lies_within(address - segment->p_vaddr, n, segment->p_memsz))
            return segment;
    }
    return NULL;
}

bool
gb_elf_read_at(
    const struct gb_elf *elf, uint64_t address, void *out, size_t n)
{
    const ElfW(Phdr) *segment = gb_elf_segment_at(elf, address, n, PF_R);

    return segment != NULL &&
           lies_within(address - segment->p_vaddr, n, segment->p_filesz) &&
           gb_elf_read(elf->bytes,
                       segment->p_offset + (address - segment->p_vaddr), out, n);
}

bool
gb_elf_is_section(
    const struct gb_elf *elf, uint64_t address, uint64_t size)
{
    bool begins = elf->sections == NULL, ends = begins || size == 0;

    for (size_t i = 0; i < elf->n_sections && !(begins && ends); i++) {
        const ElfW(Shdr) *section = &elf->sections[i];

        if ((section->sh_flags & SHF_ALLOC) == 0)
            continue;
        begins = begins || section->sh_addr == address;
        ends = ends || section->sh_addr + section->sh_size == address + size;
    }
    return begins && ends;
}

/* ---- headers ---- */

static bool
is_for_this_machine(const ElfW(Ehdr) *header)
{
    const ElfW(Ehdr) *own = &__ehdr_start;

    return own == NULL ||
           (header->e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
            header->e_ident[EI_DATA] == own->e_ident[EI_DATA] &&
            header->e_machine == own->e_machine);
}

static const char *
read_header(struct gb_elf *elf)
{
    ElfW(Ehdr) *header = &elf->header;
    const uint64_t size = elf->bytes->size;
    const size_t n = size < sizeof(*header) ? (size_t)size : sizeof(*header);

    if (!gb_elf_read(elf->bytes, 0, header, n))
        return "cut short";
    if (n < SELFMAG || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "no ELF file";
    if (n < sizeof(*header))
        return "cut short";
    if (!is_for_this_machine(header))
        return "for another machine";
    if (header->e_type != ET_DYN)
        return "no shared object";
    return NULL;
}

/* N entries of a table in a block of their own. */
static const char *
read_table(
    const struct gb_elf *elf, uint64_t offset, size_t n, size_t size,
    void **out)
{
    void *table;

    if (!lies_within(offset, (uint64_t)n * size, elf->bytes->size))
        return "cut short";
    table = gb_mem_alloc(n * size);
    if (table == NULL)
        return gb_elf_no_memory;
    if (!gb_elf_read(elf->bytes, offset, table, n * size)) {
        gb_mem_free(table);
        return "cut short";
    }
    *out = table;
    return NULL;
}

/* ---- segments ---- */

static bool
is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static uint64_t
page_size(void)
{
    const long size = sysconf(_SC_PAGESIZE);

    return size > 0 ? (uint64_t)size : 4096;
}

/* Are its bytes in the file, and is its place one that can be mapped? */
static const char *
check_mapped(const struct gb_elf *elf, const ElfW(Phdr) *segment)
{
    const uint64_t page = page_size();

    if (!lies_within(segment->p_offset, segment->p_filesz, elf->bytes->size))
        return "cut short";
    if (segment->p_filesz > segment->p_memsz)
        return "damaged: a segment has more bytes than room";
    if (segment->p_memsz > max_address || segment->p_vaddr > max_address)
        return "damaged: a segment lies nowhere";
    if (!is_power_of_two(segment->p_align) || segment->p_align % page != 0 ||
        (segment->p_vaddr - segment->p_offset) % segment->p_align != 0)
        return "damaged: a segment is not aligned";
    return NULL;
}

/*
 * Segments are mapped over each other unless they ascend on pages of their own.
 */
static const char *
check_order(const struct gb_elf *elf)
{
    const uint64_t page = page_size();
    uint64_t end = 0;
    int n_segments = 0;

    for (int i = 0; i < elf->header.e_phnum; i++) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        const char *wrong;

        if (segment->p_type != PT_LOAD)
            continue;
        wrong = check_mapped(elf, segment);
        if (wrong != NULL)
            return wrong;
        if (n_segments++ > 0 &&
            segment->p_vaddr - segment->p_vaddr % page < end)
            return "damaged: its segments overlap";
        end = ((uint64_t)segment->p_vaddr + segment->p_memsz + page - 1) /
              page * page;
    }
    return n_segments > 0 ? NULL : "damaged: nothing of it is mapped";
}

/* Does SEGMENT lie where a mapped one with these rights has the same bytes? */
static bool
is_inside(const struct gb_elf *elf, const ElfW(Phdr) *segment, ElfW(Word) flags)
{
    const ElfW(Phdr) *home =
        gb_elf_segment_at(elf, segment->p_vaddr, segment->p_filesz, flags);

    return home != NULL && segment->p_filesz <= segment->p_memsz &&
           segment->p_offset - home->p_offset ==
               segment->p_vaddr - home->p_vaddr &&
           lies_within(segment->p_vaddr - home->p_vaddr, segment->p_filesz,
                       home->p_filesz);
}

/* Variables of threads: what is zero of them lies nowhere. */
static bool
is_good_tls(const struct gb_elf *elf, const ElfW(Phdr) *segment)
{
    return segment->p_memsz <= max_tls && segment->p_align <= max_tls &&
           (segment->p_align & (segment->p_align - 1)) == 0 &&
           (segment->p_filesz == 0 || is_inside(elf, segment, PF_R));
}

static bool
has_name(const struct gb_elf *elf, const ElfW(Shdr) *section, const char *name)
{
    const size_t n = strlen(name) + 1;
    const ElfW(Shdr) *names;
    char text[16];

    if (elf->header.e_shstrndx >= elf->n_sections)
        return false;
    GB_INVARIANT(n <= sizeof(text));
    names = &elf->sections[elf->header.e_shstrndx];
    return lies_within(section->sh_name, n, names->sh_size) &&
           gb_elf_read(elf->bytes, names->sh_offset + section->sh_name, text,
                       n) &&
           memcmp(text, name, n) == 0;
}

/*
 * What becomes read-only once it is relocated: pages of one writable segment,
 * and none with variables.
 */
static bool
is_good_relro(const struct gb_elf *elf, const ElfW(Phdr) *segment)
{
    const uint64_t page = page_size();
    const ElfW(Phdr) *home = gb_elf_segment_at(elf, segment->p_vaddr, 0, PF_W);
    uint64_t end, home_end;

    if (home == NULL || segment->p_memsz > max_address)
        return false;
    end = ((uint64_t)segment->p_vaddr + segment->p_memsz) / page * page;
    home_end = ((uint64_t)home->p_vaddr + home->p_memsz + page - 1) / page *
               page;
    if (end > home_end)
        return false;
    for (size_t i = 0; i < elf->n_sections; i++) {
        const ElfW(Shdr) *section = &elf->sections[i];

        if (section->sh_addr >= segment->p_vaddr && section->sh_addr < end &&
            section->sh_size > 0 &&
            (has_name(elf, section, ".data") || has_name(elf, section, ".bss")))
            return false;
    }
    return true;
}

/* The table of segments, as it lies in memory. */
static bool
is_good_phdr(const struct gb_elf *elf, const ElfW(Phdr) *segment)
{
    return segment->p_offset == elf->header.e_phoff &&
           segment->p_filesz == elf->header.e_phnum * sizeof(*segment) &&
           is_inside(elf, segment, PF_R);
}

static const char *
check_other(struct gb_elf *elf, const ElfW(Phdr) *segment)
{
    switch (segment->p_type) {
    case PT_DYNAMIC:
        if (elf->dynamic != NULL ||
            !is_inside(elf, segment, PF_R | (segment->p_flags & PF_W)) ||
            segment->p_vaddr % sizeof(ElfW(Addr)) != 0 ||
            !gb_elf_is_section(elf, segment->p_vaddr, segment->p_filesz))
            return "damaged: its dynamic section lies nowhere";
        elf->dynamic = segment;
        return NULL;
    case PT_PHDR:
        return is_good_phdr(elf, segment)
                   ? NULL : "damaged: its table of segments lies nowhere";
    case PT_TLS:
        return is_good_tls(elf, segment)
                   ? NULL : "damaged: its threads' variables lie nowhere";
    case PT_GNU_RELRO:
        return is_good_relro(elf, segment)
                   ? NULL : "damaged: it protects what it writes";
    case PT_NOTE:
    case PT_GNU_EH_FRAME:
#if defined(PT_GNU_PROPERTY)
    case PT_GNU_PROPERTY:
#endif
        return segment->p_filesz == 0 || is_inside(elf, segment, PF_R)
                   ? NULL : "damaged: a segment lies nowhere";
    default:
        return NULL;
    }
}

static const char *
check_segments(struct gb_elf *elf)
{
    const char *wrong = check_order(elf);

    for (int i = 0; i < elf->header.e_phnum && wrong == NULL; i++)
        wrong = check_other(elf, &elf->segments[i]);
    if (wrong == NULL && elf->dynamic == NULL)
        wrong = "damaged: it has no dynamic section";
    return wrong;
}

/* ---- sections ---- */

/* Is SECTION, if it is mapped, mapped as it says, with the rights it needs? */
static bool
is_mapped(const struct gb_elf *elf, const ElfW(Shdr) *section)
{
    const ElfW(Phdr) *segment;
    ElfW(Word) flags = 0;

    if ((section->sh_flags & SHF_ALLOC) == 0 || section->sh_size == 0)
        return true;
    /* The zeros of threads' variables are in no segment's memory. */
    if ((section->sh_flags & SHF_TLS) != 0 && section->sh_type == SHT_NOBITS)
        return true;
    if ((section->sh_flags & SHF_WRITE) != 0)
        flags |= PF_W;
    if ((section->sh_flags & SHF_EXECINSTR) != 0)
        flags |= PF_X;
    else
        flags |= PF_R;
    segment = gb_elf_segment_at(elf, section->sh_addr, section->sh_size, flags);
    if (segment == NULL)
        return false;
    /* Behind the segment's bytes, or what begins as zeros has others' bytes. */
    if (section->sh_type == SHT_NOBITS)
        return section->sh_addr - segment->p_vaddr >= segment->p_filesz;
    return lies_within(section->sh_addr - segment->p_vaddr, section->sh_size,
                       segment->p_filesz) &&
           section->sh_offset - segment->p_offset ==
               section->sh_addr - segment->p_vaddr;
}

static const char *
check_sections(const struct gb_elf *elf)
{
    for (size_t i = 0; i < elf->n_sections; i++)
        if (!is_mapped(elf, &elf->sections[i]))
            return "damaged: a section is not mapped as it says";
    return NULL;
}

static const char *
read_tables(struct gb_elf *elf)
{
    const ElfW(Ehdr) *header = &elf->header;
    void *table = NULL;
    const char *wrong;

    if (header->e_phentsize != sizeof(*elf->segments) || header->e_phnum == 0)
        return "cut short";
    wrong = read_table(elf, header->e_phoff, header->e_phnum,
                       sizeof(*elf->segments), &table);
    elf->segments = table;
    if (wrong != NULL || header->e_shnum == 0)
        return wrong;
    if (header->e_shentsize != sizeof(*elf->sections))
        return "cut short";
    table = NULL;
    wrong = read_table(elf, header->e_shoff, header->e_shnum,
                       sizeof(*elf->sections), &table);
    elf->sections = table;
    elf->n_sections = table != NULL ? header->e_shnum : 0;
    return wrong;
}

const char *
gb_elf_open(struct gb_elf *elf, struct gb_elf_bytes *bytes)
{
    const char *wrong;

    memset(elf, 0, sizeof(*elf));
    elf->bytes = bytes;
    wrong = read_header(elf);
    if (wrong == NULL)
        wrong = read_tables(elf);
    if (wrong == NULL)
        wrong = check_segments(elf);
    if (wrong == NULL)
        wrong = check_sections(elf);
    return wrong;
}

void
gb_elf_close(struct gb_elf *elf)
{
    gb_mem_free(elf->segments);
    gb_mem_free(elf->sections);
}

#endif
