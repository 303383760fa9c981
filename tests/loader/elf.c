/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/elf.c - a small ELF file, and what is said when one of its
 * fields is damaged.
 *
 * The file has one of each table that is looked at.  It is made here, so each
 * case knows which field it changes, and nothing is loaded.
 */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#if defined(HAVE_LINK_H) && UINTPTR_MAX > 0xffffffffu && \
    (defined(__x86_64__) || defined(__aarch64__))

#include "tests/loader/folder.h"

#include "lib/loader/elf.h"
#include "lib/loader/image.h"

#include "tests/util/fault.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DT_RELR
#define DT_RELRSZ  35
#define DT_RELR    36
#define DT_RELRENT 37
#endif
#ifndef PT_GNU_PROPERTY
#define PT_GNU_PROPERTY 0x6474e553
#endif

#if defined(__x86_64__)
enum { RELATIVE = R_X86_64_RELATIVE, IRELATIVE = R_X86_64_IRELATIVE,
       COPY = R_X86_64_COPY, WORD = R_X86_64_64, SLOT = R_X86_64_JUMP_SLOT };
#else
enum { RELATIVE = R_AARCH64_RELATIVE, IRELATIVE = R_AARCH64_IRELATIVE,
       COPY = R_AARCH64_COPY, WORD = R_AARCH64_ABS64,
       SLOT = R_AARCH64_JUMP_SLOT };
#endif

/* As large as any page. */
#define PAGE ((uint64_t)0x10000)

/* What the segments of data have as their address, beyond the offset. */
#define MOVED PAGE

#define MORE_SIZE 64
#define MAX_MORE  ((size_t)0x200000)

/* The numbers of segments, sections and entries of the dynamic section. */
enum { TEXT, DATA, MORE, TABLE, DYNAMIC, TLS, RELRO, NOTE, FRAME, PROPERTY,
       STACK, N_SEGMENTS };
enum { NONE, HASH, GNU_HASH, SYMBOLS, VERSIONS, NEEDS, DEFINITIONS, NAMES,
       RELOCS, PLT, PACKED, CODE, NOTES, STARTS, ENDS, WORDS, LOCALS,
       ZERO_LOCALS, ENTRIES, VARIABLES, ZEROS, EMPTY, OTHERS, SECTION_NAMES,
       N_SECTIONS };

struct need {
    ElfW(Verneed) need;
    ElfW(Vernaux) aux[2];
};

struct definition {
    ElfW(Verdef) def;
    ElfW(Verdaux) aux;
};

static struct {
    union {
        struct {
            ElfW(Ehdr) header;
            ElfW(Phdr) segments[N_SEGMENTS];
            char section_names[64];
            uint32_t hash[2 + 2 + 4]; /* counts, buckets, chains */
            struct {
                uint32_t head[4];
                ElfW(Addr) filter[1];
                uint32_t buckets[2], words[2];
            } gnu_hash;
            ElfW(Sym) symbols[4];
            uint16_t versions[4];
            struct need needs[2];
            struct definition definitions[2];
            char names[64];
            ElfW(Rela) relocs[4], plt[1];
            ElfW(Addr) packed[4];
            char code[64], notes[64];
        };
        struct {
            char text_pages[PAGE / 2];
            ElfW(Shdr) sections[N_SECTIONS];
            char more_text_pages[PAGE / 2 - N_SECTIONS * sizeof(ElfW(Shdr))];
        };
    };
    union {
        struct {
            ElfW(Addr) starts[2], ends[2], words[4], locals[1];
            ElfW(Dyn) entries[48];
        };
        char relro_pages[PAGE];
    };
    union {
        ElfW(Addr) variables[4];
        char data_pages[PAGE];
    };
    unsigned char more[MAX_MORE];
} file;
static size_t file_size;

#define OFFSET(field)  ((uint64_t)((char *)&file.field - (char *)&file))
#define ADDRESS(field) (OFFSET(field) + MOVED) /* of what is in DATA, MORE */

static const char cut_short[] = "cut short";
static const char nowhere[] = "damaged: a segment lies nowhere";
static const char unaligned[] = "damaged: a segment is not aligned";
static const char no_table[] = "damaged: its table of segments lies nowhere";
static const char no_locals[] = "damaged: its threads' variables lie nowhere";
static const char protects[] = "damaged: it protects what it writes";
static const char section[] = "damaged: a section is not mapped as it says";
static const char no_dynamic[] = "damaged: its dynamic section lies nowhere";
static const char names[] = "damaged: its names lie nowhere";
static const char name[] = "damaged: a name lies nowhere";
static const char hash[] = "damaged: its table of symbols by name";
static const char versions[] = "damaged: its versions";
static const char relocs[] = "damaged: its relocations";
static const char symbols[] = "damaged: its symbols";
static const char functions[] =
    "damaged: the functions that it begins or ends with";

/* Names: the offsets of what is in make_names. */
enum { A_FILE = 1, A_VERSION = 8, A_SYMBOL = 11, AN_ORIGIN = 15 };

static void
make_names(void)
{
    static const char text[] = "\0lib.so\0V1\0fun\0$ORIGIN\0";

    _Static_assert(sizeof(text) <= sizeof(file.names), "room");
    memcpy(file.names, text, sizeof(text));
    memcpy(file.section_names, "\0.data\0.bss\0.other", 19);
}

static void
make_segments(void)
{
    const uint64_t locals = ADDRESS(locals), entries = ADDRESS(entries);
    const uint64_t table = OFFSET(segments), notes = OFFSET(notes);

#define SEGMENT(type, rights, offset, address, in_file, in_memory, align)    \
    { .p_type = type, .p_flags = rights, .p_offset = offset,                 \
      .p_vaddr = address, .p_paddr = address, .p_filesz = in_file,           \
      .p_memsz = in_memory, .p_align = align }
    const ElfW(Phdr) segments[N_SEGMENTS] = {
        [TEXT] = SEGMENT(PT_LOAD, PF_R | PF_X, 0, 0, PAGE, PAGE, PAGE),
        [DATA] = SEGMENT(PT_LOAD, PF_R | PF_W, PAGE, PAGE + MOVED, PAGE + 32,
                         PAGE + 64, PAGE),
        [MORE] = SEGMENT(PT_LOAD, PF_R, 3 * PAGE, 3 * PAGE + MOVED, MORE_SIZE,
                         MORE_SIZE, PAGE),
        [TABLE] = SEGMENT(PT_PHDR, PF_R, table, table, sizeof(segments),
                          sizeof(segments), 8),
        [DYNAMIC] = SEGMENT(PT_DYNAMIC, PF_R | PF_W, entries - MOVED, entries,
                            sizeof(file.entries), sizeof(file.entries), 8),
        [TLS] = SEGMENT(PT_TLS, PF_R, locals - MOVED, locals, 8, 24, 8),
        [RELRO] = SEGMENT(PT_GNU_RELRO, PF_R, PAGE, PAGE + MOVED, PAGE, PAGE,
                          1),
        [NOTE] = SEGMENT(PT_NOTE, PF_R, notes, notes, 16, 16, 8),
        [FRAME] = SEGMENT(PT_GNU_EH_FRAME, PF_R, notes + 16, notes + 16, 16, 16,
                          4),
        [PROPERTY] = SEGMENT(PT_GNU_PROPERTY, PF_R, notes, notes, 0, 0, 8),
        [STACK] = SEGMENT(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 16),
    };
#undef SEGMENT

    memcpy(file.segments, segments, sizeof(segments));
}

static void
set_section(int i, uint32_t type, uint64_t flags, uint64_t address,
            uint64_t offset, uint64_t size)
{
    file.sections[i] = (ElfW(Shdr)){ .sh_type = type, .sh_flags = flags,
                                     .sh_addr = address, .sh_offset = offset,
                                     .sh_size = size, .sh_addralign = 1 };
}

static void
make_sections(void)
{
    const uint64_t read = SHF_ALLOC, write = SHF_ALLOC | SHF_WRITE;

#define IN_TEXT(i, type, flags, field) \
    set_section(i, type, flags, OFFSET(field), OFFSET(field), \
                sizeof(file.field))
#define IN_DATA(i, type, flags, field) \
    set_section(i, type, flags, ADDRESS(field), OFFSET(field), \
                sizeof(file.field))
    IN_TEXT(HASH, SHT_HASH, read, hash);
    IN_TEXT(GNU_HASH, SHT_GNU_HASH, read, gnu_hash);
    IN_TEXT(SYMBOLS, SHT_DYNSYM, read, symbols);
    IN_TEXT(VERSIONS, SHT_GNU_versym, read, versions);
    IN_TEXT(NEEDS, SHT_GNU_verneed, read, needs);
    IN_TEXT(DEFINITIONS, SHT_GNU_verdef, read, definitions);
    IN_TEXT(NAMES, SHT_STRTAB, read, names);
    IN_TEXT(RELOCS, SHT_RELA, read, relocs);
    IN_TEXT(PLT, SHT_RELA, read, plt);
    IN_TEXT(PACKED, SHT_PROGBITS, read, packed);
    IN_TEXT(CODE, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code);
    IN_TEXT(NOTES, SHT_NOTE, read, notes);
    IN_DATA(STARTS, SHT_INIT_ARRAY, write, starts);
    IN_DATA(ENDS, SHT_FINI_ARRAY, write, ends);
    IN_DATA(WORDS, SHT_PROGBITS, write, words);
    IN_DATA(LOCALS, SHT_PROGBITS, write | SHF_TLS, locals);
    IN_DATA(ENTRIES, SHT_DYNAMIC, write, entries);
    IN_DATA(VARIABLES, SHT_PROGBITS, write, variables);
#undef IN_TEXT
#undef IN_DATA
    set_section(ZERO_LOCALS, SHT_NOBITS, write | SHF_TLS, ADDRESS(entries), 0,
                16);
    set_section(ZEROS, SHT_NOBITS, write, ADDRESS(data_pages[32]), 0, 32);
    set_section(EMPTY, SHT_PROGBITS, read, 0, 0, 0);
    set_section(OTHERS, SHT_PROGBITS, read, ADDRESS(more), OFFSET(more),
                MORE_SIZE);
    set_section(SECTION_NAMES, SHT_STRTAB, 0, 0, OFFSET(section_names),
                sizeof(file.section_names));
    file.sections[VARIABLES].sh_name = 1;
    file.sections[ZEROS].sh_name = 7;
    file.sections[OTHERS].sh_name = 12;
}

/* Four symbols: none, one of another file, two functions of the code. */
static void
make_symbols(void)
{
    static const uint32_t hash[8] = { 2, 4, 2, 0, 0, 0, 3, 0 };

    memcpy(file.hash, hash, sizeof(hash));
    file.gnu_hash.head[0] = 2;
    file.gnu_hash.head[1] = 2;
    file.gnu_hash.head[2] = 1;
    file.gnu_hash.head[3] = 6;
    file.gnu_hash.buckets[1] = 2;
    file.gnu_hash.words[1] = 1;
    for (int i = 1; i < 4; i++)
        file.symbols[i] = (ElfW(Sym)){ .st_name = A_SYMBOL,
                                       .st_info = STB_GLOBAL << 4 | STT_FUNC };
    file.symbols[2].st_value = OFFSET(code);
    file.symbols[2].st_shndx = CODE;
    file.symbols[3].st_value = OFFSET(code) + 4;
    file.symbols[3].st_shndx = CODE;
    file.versions[1] = 3;
    file.versions[2] = 2;
    file.versions[3] = 1;
}

static void
make_versions(void)
{
    for (int i = 0; i < 2; i++) {
        struct need *need = &file.needs[i];
        struct definition *definition = &file.definitions[i];

        need->need = (ElfW(Verneed)){ 1, 2, A_FILE, sizeof(need->need),
                                      i == 0 ? sizeof(*need) : 0 };
        need->aux[0] =
            (ElfW(Vernaux)){ 0, 0, 3, A_VERSION, sizeof(need->aux[0]) };
        need->aux[1] = (ElfW(Vernaux)){ 0, 0, 3, A_VERSION, 0 };
        definition->def = (ElfW(Verdef)){
            1, 0, (ElfW(Half))(i + 1), 1, 0, sizeof(definition->def),
            i == 0 ? sizeof(*definition) : 0
        };
        definition->aux = (ElfW(Verdaux)){ A_VERSION, 0 };
    }
}

/*
 * The first start and the first end are moved by relocations, the second start
 * and a word by packed ones, the second end by the address of a symbol.
 */
static void
make_relocs(void)
{
#define RELOC(type, symbol, place, sum) \
    { place, ELF64_R_INFO((uint64_t)(symbol), type), (ElfW(Sxword))(sum) }
    const ElfW(Rela) relocs[] = {
        RELOC(RELATIVE, 0, ADDRESS(starts[0]), OFFSET(code)),
        RELOC(RELATIVE, 0, ADDRESS(ends[0]), OFFSET(code) + 8),
        RELOC(WORD, 2, ADDRESS(ends[1]), 0),
        RELOC(0, 0, 0, 0),
    };
    const ElfW(Rela) plt[] = { RELOC(SLOT, 1, ADDRESS(words[0]), 0) };
#undef RELOC

    memcpy(file.relocs, relocs, sizeof(relocs));
    memcpy(file.plt, plt, sizeof(plt));
    file.packed[0] = ADDRESS(starts[1]);
    file.packed[1] = ADDRESS(words[1]);
    file.packed[2] = 1 | 1 << 1; /* the word behind it */
    file.packed[3] = 1;
    file.starts[1] = OFFSET(code) + 4;
}

/* Put an entry in front of the end. */
static void
add(int64_t tag, uint64_t value)
{
    ElfW(Dyn) *entry = file.entries;

    while (entry->d_tag != DT_NULL)
        entry++;
    assert_true(entry + 1 < file.entries + 48);
    entry->d_tag = tag;
    entry->d_un.d_val = value;
}

static ElfW(Dyn) *
entry_of(int64_t tag)
{
    ElfW(Dyn) *entry = file.entries;

    while (entry->d_tag != tag)
        assert_true(entry++->d_tag != DT_NULL);
    return entry;
}

static void
set(int64_t tag, uint64_t value)
{
    entry_of(tag)->d_un.d_val = value;
}

/* The entry becomes one that nobody follows. */
static void
drop(int64_t tag)
{
    entry_of(tag)->d_tag = DT_DEBUG;
}

static void
make_entries(void)
{
    add(DT_NEEDED, A_FILE);
    add(DT_SONAME, A_FILE);
    add(DT_STRTAB, OFFSET(names));
    add(DT_STRSZ, sizeof(file.names));
    add(DT_SYMTAB, OFFSET(symbols));
    add(DT_SYMENT, sizeof(file.symbols[0]));
    add(DT_HASH, OFFSET(hash));
    add(DT_GNU_HASH, OFFSET(gnu_hash));
    add(DT_VERSYM, OFFSET(versions));
    add(DT_VERNEED, OFFSET(needs));
    add(DT_VERNEEDNUM, 2);
    add(DT_VERDEF, OFFSET(definitions));
    add(DT_VERDEFNUM, 2);
    add(DT_RELA, OFFSET(relocs));
    add(DT_RELASZ, sizeof(file.relocs));
    add(DT_RELAENT, sizeof(file.relocs[0]));
    add(DT_RELACOUNT, 2);
    add(DT_JMPREL, OFFSET(plt));
    add(DT_PLTRELSZ, sizeof(file.plt));
    add(DT_PLTREL, DT_RELA);
    add(DT_RELR, OFFSET(packed));
    add(DT_RELRSZ, sizeof(file.packed));
    add(DT_RELRENT, sizeof(file.packed[0]));
    add(DT_INIT, OFFSET(code));
    add(DT_FINI, OFFSET(code) + 8);
    add(DT_INIT_ARRAY, ADDRESS(starts));
    add(DT_INIT_ARRAYSZ, sizeof(file.starts));
    add(DT_FINI_ARRAY, ADDRESS(ends));
    add(DT_FINI_ARRAYSZ, sizeof(file.ends));
    add(DT_FLAGS, 0);
}

/* The program's own header says what machine this is. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static void
make_file(void)
{
    ElfW(Ehdr) *header = &file.header;

    memset(&file, 0, offsetof(__typeof__(file), more) + MORE_SIZE);
    file_size = offsetof(__typeof__(file), more) + MORE_SIZE;
    *header = __ehdr_start;
    header->e_type = ET_DYN;
    header->e_phoff = OFFSET(segments);
    header->e_phnum = N_SEGMENTS;
    header->e_shoff = OFFSET(sections);
    header->e_shnum = N_SECTIONS;
    header->e_shentsize = sizeof(file.sections[0]);
    header->e_shstrndx = SECTION_NAMES;
    make_names();
    make_segments();
    make_sections();
    make_symbols();
    make_versions();
    make_relocs();
    make_entries();
}

static void
check_said(const char *damage, const char *said)
{
    const char *wrong = gb_image_check(&file, file_size);

    if (said == NULL ? wrong != NULL
                     : wrong == NULL || strcmp(wrong, said) != 0)
        fail_msg("%s: said \"%s\"", damage, wrong == NULL ? "nothing" : wrong);
}

/* After the statements behind it the file is wrong as SAID, or NULL: whole. */
#define CASE(said, ...)                  \
    do {                                 \
        make_file();                     \
        __VA_ARGS__;                     \
        check_said(#__VA_ARGS__, said);  \
    } while (0)

static void
the_file_itself_is_good(void **state)
{
    (void)state;
    CASE(NULL, (void)0);
    /* Without sections less is known, and all the same is well. */
    CASE(NULL, file.header.e_shnum = 0);
}

static void
headers_that_lie_are_noticed(void **state)
{
    ElfW(Ehdr) *header = &file.header;

    (void)state;
    CASE(cut_short, file_size = sizeof(*header) - 1);
    CASE("no ELF file", file_size = 3);
    CASE("no ELF file", header->e_ident[1]++);
    CASE("for another machine", header->e_ident[EI_CLASS] = ELFCLASS32);
    CASE("for another machine", header->e_ident[EI_DATA] = ELFDATA2MSB);
    CASE("for another machine", header->e_machine = EM_S390);
    CASE("no shared object", header->e_type = ET_EXEC);
    CASE(cut_short, header->e_phentsize++);
    CASE(cut_short, header->e_phnum = 0);
    CASE(cut_short, header->e_phoff = file_size - 1);
    CASE(cut_short, header->e_shentsize++);
    CASE(cut_short, header->e_shoff = file_size - 1);
}

static void
mapped_segments_that_lie_are_noticed(void **state)
{
    ElfW(Phdr) *text = &file.segments[TEXT], *data = &file.segments[DATA];
    ElfW(Phdr) *more = &file.segments[MORE];

    (void)state;
    CASE(cut_short, more->p_filesz = more->p_memsz = MORE_SIZE + 1);
    CASE("damaged: a segment has more bytes than room", more->p_memsz--);
    CASE(nowhere, more->p_memsz = UINT64_MAX / 4 + 1);
    CASE(nowhere, more->p_vaddr = UINT64_MAX - PAGE + 1);
    CASE(unaligned, more->p_align = 0);
    CASE(unaligned, more->p_align = PAGE + 1);
    CASE(unaligned, more->p_align = 1);
    CASE(unaligned, more->p_vaddr += 8);
    CASE("damaged: its segments overlap", data->p_vaddr = 0);
    CASE("damaged: its segments overlap",
         text->p_memsz += 2 * PAGE + MOVED);
    CASE("damaged: nothing of it is mapped",
         text->p_type = data->p_type = more->p_type = PT_NULL);
}

static void
other_segments_that_lie_are_noticed(void **state)
{
    ElfW(Phdr) *s = file.segments;

    (void)state;
    CASE(no_table, s[TABLE].p_offset += 8; s[TABLE].p_vaddr += 8);
    CASE(no_table, s[TABLE].p_filesz -= 8);
    CASE(no_table, s[TABLE].p_vaddr += 8);
    CASE(nowhere, s[NOTE].p_vaddr = 0x70000000);
    CASE(nowhere, s[NOTE].p_offset += 4);
    CASE(nowhere, s[NOTE].p_memsz = 0);
    CASE(nowhere, s[FRAME].p_vaddr = 0x70000000);
    CASE(nowhere, s[PROPERTY].p_filesz = s[PROPERTY].p_memsz = PAGE);
    /* The zeros behind the data are no bytes of the file. */
    CASE(nowhere, s[NOTE].p_vaddr = ADDRESS(data_pages[48]);
         s[NOTE].p_offset = OFFSET(data_pages[48]));
    CASE(NULL, s[STACK].p_vaddr = 0x70000000);
    CASE("damaged: it has no dynamic section", s[DYNAMIC].p_type = PT_NULL);
    CASE(no_dynamic, s[STACK] = s[DYNAMIC]);
    CASE(no_dynamic, s[DYNAMIC].p_vaddr = 0x70000000);
    CASE(no_dynamic, s[DYNAMIC].p_offset += 4; s[DYNAMIC].p_vaddr += 4);
    CASE(no_dynamic, s[DYNAMIC].p_filesz -= 16);
    /* One that is read-only may be where nobody writes. */
    CASE(no_dynamic, s[DYNAMIC].p_vaddr = s[DYNAMIC].p_offset = OFFSET(hash));
}

static void
variables_of_threads_that_lie_are_noticed(void **state)
{
    ElfW(Phdr) *tls = &file.segments[TLS];

    (void)state;
    CASE(NULL, tls->p_align = 0);
    CASE(NULL, tls->p_filesz = 0; tls->p_vaddr = 0x70000000);
    CASE(no_locals, tls->p_memsz = UINT64_MAX);
    CASE(no_locals, tls->p_align = UINT64_MAX / 2 + 1);
    CASE(no_locals, tls->p_align = 3);
    CASE(no_locals, tls->p_vaddr = 0x70000000);
    CASE(no_locals, tls->p_memsz = 4);
    /* Their zeros need no memory of the file; they may be anywhere. */
    CASE(NULL, file.sections[ZERO_LOCALS].sh_addr = 0x70000000);
    CASE(section, file.sections[LOCALS].sh_addr = 0x70000000);
}

static void
pages_that_are_protected_have_no_variables(void **state)
{
    ElfW(Phdr) *relro = &file.segments[RELRO];
    ElfW(Shdr) *s = file.sections;

    (void)state;
    CASE(protects, relro->p_vaddr = 0x70000000);
    CASE(protects, relro->p_vaddr = OFFSET(code));
    CASE(protects, relro->p_memsz = UINT64_MAX / 4 + 1);
    CASE(protects, relro->p_memsz += 2 * PAGE);
    CASE(protects, relro->p_memsz += PAGE);
    CASE(protects, s[WORDS].sh_name = 1);
    CASE(protects, s[WORDS].sh_name = 7);
    CASE(NULL, s[WORDS].sh_name = 1; s[WORDS].sh_size = 0);
    /* Names that cannot be read are no names of variables. */
    CASE(NULL, s[WORDS].sh_name = 1; file.header.e_shstrndx = N_SECTIONS);
    CASE(NULL, s[WORDS].sh_name = 1; s[SECTION_NAMES].sh_size = 6);
    CASE(protects, s[WORDS].sh_name = 1; s[SECTION_NAMES].sh_size = 7);
    CASE(NULL, s[WORDS].sh_name = 1;
         s[SECTION_NAMES].sh_offset = file_size - 2);
}

static void
sections_are_mapped_as_they_say(void **state)
{
    ElfW(Shdr) *s = file.sections;

    (void)state;
    CASE(NULL, s[SECTION_NAMES].sh_addr = 0x70000000);
    CASE(NULL, s[EMPTY].sh_addr = 0x70000000);
    CASE(section, s[EMPTY].sh_addr = 0x70000000; s[EMPTY].sh_size = 1);
    CASE(section, s[OTHERS].sh_flags |= SHF_WRITE);
    CASE(section, s[OTHERS].sh_flags |= SHF_EXECINSTR);
    CASE(section, s[OTHERS].sh_size++);
    CASE(section, s[OTHERS].sh_offset++);
    CASE(section, s[ZEROS].sh_addr -= 8);
    CASE(section, s[VARIABLES].sh_size += 8);
}

static void
entries_that_lie_are_noticed(void **state)
{
    ElfW(Phdr) *dynamic = &file.segments[DYNAMIC];

    (void)state;
    CASE("damaged: its dynamic section is empty", dynamic->p_filesz = 0);
    CASE("damaged: its dynamic section has no end",
         for (int i = 0; i < 48; i++)
             if (file.entries[i].d_tag == DT_NULL)
                 file.entries[i].d_tag = DT_DEBUG);
    CASE(NULL, add(-1, 0); add(DT_RELCOUNT, 0); add(DT_LOPROC + 5, 0));
}

static void
names_that_lie_are_noticed(void **state)
{
    static const int64_t tags[] = { DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH,
                                    DT_AUXILIARY, DT_FILTER, DT_AUDIT,
                                    DT_DEPAUDIT };

    (void)state;
    CASE(names, drop(DT_STRTAB));
    CASE(names, drop(DT_STRSZ));
    CASE(names, set(DT_STRSZ, 0));
    CASE(names, set(DT_STRSZ, UINT64_MAX));
    CASE(names, set(DT_STRSZ, sizeof(file.names) - 1));
    CASE(names, set(DT_STRTAB, OFFSET(names) + 1));
    CASE(names, set(DT_STRTAB, 0x70000000));
    CASE(names, set(DT_STRTAB, ADDRESS(data_pages[32])); set(DT_STRSZ, 32));
    CASE(names, file.names[sizeof(file.names) - 1] = 'x');
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        CASE(name, add(tags[i], sizeof(file.names)));
    CASE(name, add(DT_NEEDED, 0));
    CASE(NULL, set(DT_SONAME, 0));
}

/* Does anything that the file looks for lie beside it? */
static bool
has_origin(void)
{
    struct gb_elf_bytes bytes = { .fd = -1 };
    struct gb_elf elf;
    bool answer = false;

    bytes.memory = (const unsigned char *)&file;
    bytes.size = file_size;
    assert_null(gb_elf_open(&elf, &bytes));
    assert_null(gb_elf_check_dynamic(&elf, &answer));
    gb_elf_close(&elf);
    return answer;
}

static void
a_path_from_the_file_is_seen(void **state)
{
    (void)state;
    make_file();
    assert_false(has_origin());
    add(DT_RUNPATH, AN_ORIGIN);
    assert_true(has_origin());
    add(DT_RUNPATH, A_FILE);
    assert_true(has_origin());
}

static void
tables_by_name_that_lie_are_noticed(void **state)
{
    uint32_t *h = file.hash, *g = file.gnu_hash.head;

    (void)state;
    CASE(NULL, drop(DT_HASH));
    CASE(NULL, drop(DT_GNU_HASH));
    CASE(hash, set(DT_HASH, 0x70000000));
    CASE(hash, set(DT_HASH, OFFSET(hash) + 4));
    CASE(hash, h[0] = 0);
    CASE(hash, h[0] = UINT32_MAX);
    CASE(hash, set(DT_HASH, ADDRESS(more)); file.more[0] = 100;
         file.more[4] = 1);
    CASE(hash, h[2] = 4);
    CASE(hash, h[6] = 4);
    CASE(hash, h[6] = 2); /* a ring */
    CASE(hash, h[1] = UINT32_MAX; h[6] = UINT32_MAX - 1);
    CASE(symbols, h[1] = UINT32_MAX);

    CASE(hash, set(DT_GNU_HASH, OFFSET(gnu_hash) + 4));
    CASE(hash, set(DT_GNU_HASH, OFFSET(gnu_hash) + 8));
    CASE(hash, set(DT_GNU_HASH, ADDRESS(data_pages[32]))); /* no bytes */
    CASE(hash, g[2] = 0);
    CASE(hash, g[2] = 3);
    CASE(hash, g[3] = 32);
    CASE(hash, g[2] = 1u << 31);
    CASE(hash, g[0] = 0);
    CASE(hash, g[0] = UINT32_MAX);
    CASE(hash, file.gnu_hash.buckets[0] = 1);
    CASE(hash, file.gnu_hash.buckets[0] = UINT32_MAX);
    CASE(NULL, file.gnu_hash.buckets[0] = 3);
    CASE(NULL, file.gnu_hash.buckets[0] = 3; file.gnu_hash.buckets[1] = 2);
    CASE(NULL, file.gnu_hash.buckets[1] = 0); /* no symbols by name */
    CASE(symbols, file.gnu_hash.buckets[1] = 0; g[1] = UINT32_MAX);
    /* The last symbol that there can be does not end its chain. */
    CASE(symbols, file.gnu_hash.buckets[1] = g[1] = UINT32_MAX);
}

static void
versions_that_lie_are_noticed(void **state)
{
    struct need *n = file.needs;
    struct definition *d = file.definitions;

    (void)state;
    CASE(versions, drop(DT_VERSYM));
    CASE(versions, drop(DT_VERSYM); drop(DT_VERNEED));
    CASE(NULL, drop(DT_VERSYM); drop(DT_VERNEED); drop(DT_VERDEF));
    CASE(versions, set(DT_VERNEED, 0x70000000));
    CASE(versions, set(DT_VERNEED, OFFSET(needs[1])));
    CASE(versions, n[0].need.vn_version = 2);
    CASE(versions, n[0].need.vn_file = sizeof(file.names));
    CASE(versions, n[0].need.vn_file = A_VERSION);
    CASE(versions, n[0].need.vn_aux = 0x70000000);
    CASE(versions, n[0].need.vn_cnt = 1);
    CASE(versions, n[0].need.vn_cnt = 3);
    CASE(versions, n[0].need.vn_next = 0x70000000);
    CASE(versions, n[0].aux[0].vna_name = sizeof(file.names));
    CASE(NULL, n[1].need.vn_cnt = 0);
    CASE(versions, set(DT_VERDEF, 0x70000000));
    CASE(versions, set(DT_VERDEF, OFFSET(definitions[1])));
    CASE(versions, d[0].def.vd_version = 2);
    CASE(versions, d[0].def.vd_aux = 0x70000000);
    CASE(versions, d[0].def.vd_next = 0x70000000);
    CASE(versions, d[0].aux.vda_name = sizeof(file.names));
    CASE(versions, file.versions[1] = 4);
    CASE(NULL, file.versions[1] = 0x8003);
    CASE(symbols, set(DT_VERSYM, OFFSET(versions) + 2));
    CASE(symbols, set(DT_VERSYM, 0x70000000));
    CASE(versions, set(DT_VERSYM, ADDRESS(data_pages[32])));
}

/* Let MORE have SIZE bytes, and be what TAG names. */
static void
grow(int64_t tag, size_t size)
{
    file_size = offsetof(__typeof__(file), more) + size;
    file.segments[MORE].p_filesz = file.segments[MORE].p_memsz = size;
    file.sections[OTHERS].sh_size = size;
    set(tag, ADDRESS(more));
}

/* More than 65536 entries, of which each is good. */
static void
chains_without_end_are_noticed(void **state)
{
    enum { N = 65537 };
    ElfW(Verneed) *needs = (ElfW(Verneed) *)file.more;
    ElfW(Verdef) *defs = (ElfW(Verdef) *)file.more;
    struct need *need = (struct need *)file.more;
    const size_t aux = sizeof(need->aux[0]);

    (void)state;
    make_file();
    file.versions[1] = 2;
    grow(DT_VERNEED, N * sizeof(*needs));
    for (int i = 0; i < N; i++)
        needs[i] = (ElfW(Verneed)){ 1, 0, A_FILE, 0, sizeof(*needs) };
    needs[N - 1].vn_next = 0;
    check_said("a version for each step", versions);
    needs[N - 2].vn_next = 0;
    check_said("a version for each step but one", NULL);

    /* Two files with 40000 versions each, which are the same. */
    make_file();
    grow(DT_VERNEED, 2 * sizeof(*needs) + 40000 * aux);
    needs[0] = (ElfW(Verneed)){ 1, 40000, A_FILE, 2 * sizeof(*needs),
                                sizeof(*needs) };
    needs[1] = (ElfW(Verneed)){ 1, 40000, A_FILE, sizeof(*needs), 0 };
    for (size_t i = 0; i < 40000; i++) {
        const ElfW(Vernaux) one = { 0, 0, 3, A_VERSION,
                                    i < 39999 ? (ElfW(Word))aux : 0 };

        memcpy(file.more + 2 * sizeof(*needs) + i * aux, &one, aux);
    }
    check_said("80000 names of versions", versions);
    needs[0].vn_next = 0;
    check_said("40000 names of versions", NULL);

    make_file();
    grow(DT_VERDEF, N * sizeof(*defs));
    /* What a name's offset is read from is the version, 1. */
    for (int i = 0; i < N; i++)
        defs[i] = (ElfW(Verdef)){ 1, 0, 2, 0, 0, 0, sizeof(*defs) };
    check_said("65537 versions of its own", versions);
    defs[N - 2].vd_next = 0;
    check_said("65536 versions of its own", NULL);
}

static void
relocations_that_lie_are_noticed(void **state)
{
    ElfW(Rela) *r = file.relocs;

    (void)state;
    CASE(relocs, drop(DT_RELAENT));
    CASE(relocs, set(DT_RELAENT, 16));
    CASE(relocs, drop(DT_RELASZ));
    CASE(relocs, set(DT_RELASZ, sizeof(file.relocs) - 24));
    CASE(relocs, set(DT_RELA, OFFSET(relocs) + 24));
    CASE(relocs, set(DT_RELACOUNT, 5));
    CASE(relocs, set(DT_RELACOUNT, 3));
    CASE(relocs, file.sections[RELOCS].sh_size--;
         set(DT_RELASZ, sizeof(file.relocs) - 1));
    CASE(relocs, file.sections[RELOCS].sh_addr -= 4;
         file.sections[RELOCS].sh_offset -= 4;
         set(DT_RELA, OFFSET(relocs) - 4));
    /* Zeros that no file has. */
    CASE(relocs, file.segments[DATA].p_memsz += 16;
         file.sections[ZEROS].sh_size += 16;
         set(DT_RELA, ADDRESS(data_pages[32])); set(DT_RELASZ, 48);
         set(DT_RELACOUNT, 0));
    CASE(relocs, r[2].r_info = ELF64_R_INFO((uint64_t)2, COPY));
    CASE(relocs, r[2].r_offset = OFFSET(code));
    CASE(relocs, r[2].r_offset = 0x70000000);
    CASE(symbols, r[2].r_info = ELF64_R_INFO((uint64_t)0x7fffffff, WORD));
    CASE(symbols, r[2].r_info = ELF64_R_INFO((uint64_t)9000, WORD));
    CASE(relocs, r[0].r_addend = (ElfW(Sxword))ADDRESS(words)); /* no code */
    CASE(relocs, r[1].r_addend = (ElfW(Sxword))ADDRESS(words));
    CASE(functions, r[0].r_offset = ADDRESS(words[3]));
    CASE(functions, r[0].r_offset = ADDRESS(starts) + 4);
    CASE(functions, r[1].r_offset = ADDRESS(ends) + 4);
    CASE(NULL, r[3] = r[2]; r[3].r_offset = ADDRESS(words[3]));
    CASE(relocs, r[3] = r[0];
         r[3].r_info = ELF64_R_INFO((uint64_t)0, IRELATIVE);
         r[3].r_offset = ADDRESS(words[3]); r[3].r_addend = 0x70000000);
    CASE(NULL, r[3] = r[0];
         r[3].r_info = ELF64_R_INFO((uint64_t)0, IRELATIVE);
         r[3].r_offset = ADDRESS(words[3]));
    /* What is read-only is written only by a file that says so. */
    CASE(relocs, r[3] = r[2]; r[3].r_offset = OFFSET(notes));
    CASE(NULL, r[3] = r[2]; r[3].r_offset = OFFSET(notes); add(DT_TEXTREL, 0));
    CASE(NULL, r[3] = r[2]; r[3].r_offset = OFFSET(notes);
         set(DT_FLAGS, DF_TEXTREL));
}

static void
other_tables_of_relocations_are_followed(void **state)
{
    ElfW(Shdr) *s = file.sections;

    (void)state;
    CASE(relocs, drop(DT_JMPREL));
    CASE(relocs, drop(DT_PLTREL));
    CASE(relocs, drop(DT_PLTRELSZ));
    CASE(relocs, drop(DT_JMPREL); drop(DT_PLTREL));
    CASE(relocs, set(DT_PLTREL, DT_REL));
    CASE(relocs, set(DT_PLTREL, 0));
    CASE(relocs, file.plt[0].r_offset = OFFSET(code));
    /* These machines have no relocations without sums. */
    CASE(relocs, add(DT_REL, OFFSET(plt)));
    CASE(relocs, add(DT_REL, OFFSET(plt)); add(DT_RELENT, 16));
    CASE(relocs, add(DT_REL, OFFSET(plt)); add(DT_RELENT, 16);
         add(DT_RELSZ, 24));
    /* Sections of them that nobody would follow. */
    CASE(relocs, s[OTHERS].sh_type = SHT_RELA);
    CASE(relocs, s[OTHERS].sh_type = SHT_REL);
    CASE(NULL, s[OTHERS].sh_type = SHT_RELA; s[OTHERS].sh_flags = 0);
    CASE(NULL, s[OTHERS].sh_type = SHT_RELA; s[OTHERS].sh_size = 0);
    CASE(relocs, drop(DT_JMPREL); drop(DT_PLTREL); drop(DT_PLTRELSZ));
    CASE(relocs, s[OTHERS].sh_type = SHT_INIT_ARRAY);
    CASE(NULL, s[OTHERS].sh_type = SHT_INIT_ARRAY; s[OTHERS].sh_size = 0);
    CASE(relocs, drop(DT_INIT_ARRAY));
}

static void
packed_relocations_that_lie_are_noticed(void **state)
{
    ElfW(Addr) *p = file.packed;

    (void)state;
    CASE(relocs, drop(DT_RELRENT));
    CASE(relocs, drop(DT_RELRSZ));
    CASE(relocs, set(DT_RELRSZ, 8));
    CASE(relocs, file.sections[PACKED].sh_size -= 4;
         set(DT_RELRSZ, sizeof(file.packed) - 4));
    CASE(relocs, set(DT_RELR, ADDRESS(data_pages[32])));
    CASE(relocs, p[1] = 0x70000000);
    CASE(relocs, p[1] = OFFSET(code));
    CASE(relocs, p[2] = (ElfW(Addr))1 << 63 | 1; p[1] = ADDRESS(data_pages[0]));
    CASE(relocs, p[0] = OFFSET(code) | 1);
    CASE(relocs, p[0] = 1 | 1 << 1); /* behind address 0: not to be written */
    CASE(NULL, p[3] = 1 | 1 << 1); /* 63 words on */
    CASE(relocs, file.starts[1] = 0x70000000);
    CASE(functions, p[0] = ADDRESS(words[2]));
}

static void
symbols_that_lie_are_noticed(void **state)
{
    ElfW(Sym) *s = file.symbols;
    const unsigned char indirect = STB_GLOBAL << 4 | STT_GNU_IFUNC;

    (void)state;
    CASE(symbols, drop(DT_SYMTAB));
    CASE(symbols, drop(DT_SYMENT));
    CASE(symbols, set(DT_SYMENT, 16));
    CASE(symbols, set(DT_SYMTAB, OFFSET(symbols) + 4));
    CASE(symbols, set(DT_SYMTAB, OFFSET(symbols) + 8));
    CASE(symbols, set(DT_SYMTAB, ADDRESS(data_pages[32])));
    CASE(symbols, s[3].st_name = sizeof(file.names));
    CASE(NULL, s[3].st_info = indirect);
    CASE(symbols, s[3].st_info = indirect; s[3].st_value = ADDRESS(words));
    CASE(NULL, s[3].st_info = indirect; s[3].st_value = ADDRESS(words);
         s[3].st_shndx = SHN_ABS);
    CASE(NULL, s[3].st_info = STT_TLS; s[3].st_value = 0x70000000);
}

static void
functions_that_lie_are_noticed(void **state)
{
    (void)state;
    CASE(NULL, drop(DT_INIT); drop(DT_FINI));
    CASE(functions, set(DT_INIT, ADDRESS(words)));
    CASE(functions, set(DT_FINI, ADDRESS(words)));
    CASE(functions, set(DT_INIT, 0x70000000));
    CASE(functions, set(DT_FINI, 0x70000000));
    CASE(functions, set(DT_INIT, OFFSET(code) + 1));
    CASE(functions, set(DT_FINI, OFFSET(code) + 1));
    CASE(functions, set(DT_FINI_ARRAYSZ, 8));
    CASE(functions, drop(DT_FINI_ARRAYSZ));
    CASE(functions, set(DT_FINI_ARRAY, ADDRESS(ends) - 8));
    CASE(NULL, drop(DT_FINI_ARRAY); drop(DT_FINI_ARRAYSZ));
}

/* The file loses its end between its opening and its reading. */
static void
a_file_that_becomes_shorter_is_noticed(void **state)
{
    char *folder = folder_make();
    const char *path;
    int fd;

    (void)state;
    make_file();
    path = folder_write(folder, "short.so", &file, file_size);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (off_t n = (off_t)file_size; n >= 0; n -= (off_t)PAGE / 8) {
        static struct gb_elf_bytes bytes;
        struct gb_elf elf;
        bool has_origin;
        const char *wrong;

        assert_int_equal(ftruncate(fd, n), 0);
        bytes = (struct gb_elf_bytes){ .fd = fd, .size = file_size };
        wrong = gb_elf_open(&elf, &bytes);
        if (wrong == NULL)
            wrong = gb_elf_check_dynamic(&elf, &has_origin);
        if (n == (off_t)file_size)
            assert_null(wrong);
        else if (n < (off_t)PAGE / 4 * 3) /* its headers */
            assert_string_equal(wrong, cut_short);
        else if (n <= (off_t)PAGE)
            assert_string_equal(wrong, no_dynamic);
        gb_elf_close(&elf);
    }
    close(fd);
    folder_remove(folder);
}

static void
check_without_memory(void *data)
{
    const char *wrong = gb_image_check(&file, file_size);

    (void)data;
    if (gb_fault_happened())
        assert_string_equal(wrong, gb_elf_no_memory);
    else
        assert_null(wrong);
}

static void
a_lack_of_memory_is_said(void **state)
{
    (void)state;
    make_file();
    assert_int_equal(gb_fault_each(check_without_memory, NULL), 3);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_itself_is_good),
        cmocka_unit_test(headers_that_lie_are_noticed),
        cmocka_unit_test(mapped_segments_that_lie_are_noticed),
        cmocka_unit_test(other_segments_that_lie_are_noticed),
        cmocka_unit_test(variables_of_threads_that_lie_are_noticed),
        cmocka_unit_test(pages_that_are_protected_have_no_variables),
        cmocka_unit_test(sections_are_mapped_as_they_say),
        cmocka_unit_test(entries_that_lie_are_noticed),
        cmocka_unit_test(names_that_lie_are_noticed),
        cmocka_unit_test(a_path_from_the_file_is_seen),
        cmocka_unit_test(tables_by_name_that_lie_are_noticed),
        cmocka_unit_test(versions_that_lie_are_noticed),
        cmocka_unit_test(chains_without_end_are_noticed),
        cmocka_unit_test(relocations_that_lie_are_noticed),
        cmocka_unit_test(other_tables_of_relocations_are_followed),
        cmocka_unit_test(packed_relocations_that_lie_are_noticed),
        cmocka_unit_test(symbols_that_lie_are_noticed),
        cmocka_unit_test(functions_that_lie_are_noticed),
        cmocka_unit_test(a_file_that_becomes_shorter_is_noticed),
        cmocka_unit_test(a_lack_of_memory_is_said),
    };

    return cmocka_run_group_tests_name("tables of modules", tests, NULL, NULL);
}

#else

static void
nothing_is_known_of_this_machine(void **state)
{
    (void)state;
    skip();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_this_machine),
    };

    return cmocka_run_group_tests_name("tables of modules", tests, NULL, NULL);
}

#endif
