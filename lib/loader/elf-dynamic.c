/* SPDX-License-Identifier: MIT */
/*
 * loader/elf-dynamic.c - the tables that an ELF file's dynamic section names.
 *
 * The system's loader takes their addresses, sizes and indices as they are, and
 * stops the process itself over some that it does not expect.  What is checked
 * here is what it follows: names, symbols, hash tables, versions, relocations,
 * and the functions that run at the start and at the end.
 */
#include "config.h"

#if defined(HAVE_LINK_H)

#include "lib/loader/elf.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"

#include <string.h>

#if UINTPTR_MAX > 0xffffffffu
#define R_SYM(info)  ELF64_R_SYM(info)
#define R_TYPE(info) ELF64_R_TYPE(info)
#else
#define R_SYM(info)  ELF32_R_SYM(info)
#define R_TYPE(info) ELF32_R_TYPE(info)
#endif

/* Relocations of this machine that need a look; -1 for machines not known. */
#if defined(__x86_64__)
enum { RELATIVE = R_X86_64_RELATIVE, IRELATIVE = R_X86_64_IRELATIVE,
       COPY = R_X86_64_COPY, HAS_REL = false };
#elif defined(__aarch64__)
enum { RELATIVE = R_AARCH64_RELATIVE, IRELATIVE = R_AARCH64_IRELATIVE,
       COPY = R_AARCH64_COPY, HAS_REL = false };
#else
enum { RELATIVE = -1, IRELATIVE = -1, COPY = -1, HAS_REL = true };
#endif

/* Steps through tables that chain their entries: more than any linker makes. */
enum { MAX_STEPS = 1 << 16 };

enum { MAX_NAME = 1024 };

#ifndef DT_RELR
#define DT_RELRSZ  35
#define DT_RELR    36
#define DT_RELRENT 37
#endif

/* Values of the tags below 64, and of the others that are followed. */
enum tag {
    GNU_HASH = 64,
    VERSYM,
    VERNEED,
    VERDEF,
    RELACOUNT,
    N_TAGS
};

struct dynamic {
    const struct gb_elf *elf;
    ElfW(Dyn) *entries;
    size_t n_entries; /* up to the one that ends them */
    bool has[N_TAGS];
    uint64_t value[N_TAGS]; /* the last of each tag */
    uint64_t n_symbols;     /* as far as anybody asks */
    unsigned max_version;
    bool writes_all; /* relocations may change what is read-only */
    uint64_t n_starts, n_ends; /* places in arrays of functions, filled */
    bool knows_start, knows_end; /* DT_INIT, DT_FINI: it is seen elsewhere */
};

static enum tag
tag_of(int64_t tag)
{
    if (tag >= 0 && tag < 64)
        return (enum tag)tag;
    switch (tag) {
    case DT_GNU_HASH:
        return GNU_HASH;
    case DT_VERSYM:
        return VERSYM;
    case DT_VERNEED:
        return VERNEED;
    case DT_VERDEF:
        return VERDEF;
    case DT_RELACOUNT:
        return RELACOUNT;
    default:
        return N_TAGS;
    }
}

static const char *
read_entries(struct dynamic *dyn)
{
    const struct gb_elf *elf = dyn->elf;
    const size_t n = elf->dynamic->p_filesz / sizeof(*dyn->entries);

    if (n == 0)
        return "damaged: its dynamic section is empty";
    dyn->entries = gb_mem_alloc(n * sizeof(*dyn->entries));
    if (dyn->entries == NULL)
        return gb_elf_no_memory;
    if (!gb_elf_read_at(elf, elf->dynamic->p_vaddr, dyn->entries,
                        n * sizeof(*dyn->entries)))
        return "damaged: its dynamic section lies nowhere";
    for (size_t i = 0; i < n; i++) {
        const enum tag tag = tag_of(dyn->entries[i].d_tag);

        if (dyn->entries[i].d_tag == DT_NULL) {
            dyn->n_entries = i;
            return NULL;
        }
        if (tag == N_TAGS)
            continue;
        dyn->has[tag] = true;
        dyn->value[tag] = dyn->entries[i].d_un.d_val;
    }
    return "damaged: its dynamic section has no end";
}

/* ---- names ---- */

/* The name at OFFSET, cut if it is long; false when it is none. */
static bool
read_name(const struct dynamic *dyn, uint64_t offset, char *name)
{
    const uint64_t size = dyn->value[DT_STRSZ];
    uint64_t n;

    if (offset >= size)
        return false;
    n = size - offset < MAX_NAME ? size - offset : MAX_NAME;
    if (!gb_elf_read_at(dyn->elf, dyn->value[DT_STRTAB] + offset, name, n))
        return false;
    name[n - 1] = '\0';
    return true;
}

static bool
is_name_tag(int64_t tag)
{
    switch (tag) {
    case DT_NEEDED:
    case DT_SONAME:
    case DT_RPATH:
    case DT_RUNPATH:
    case DT_AUXILIARY:
    case DT_FILTER:
    case DT_AUDIT:
    case DT_DEPAUDIT:
        return true;
    default:
        return false;
    }
}

/* The table of names ends with the end of a name. */
static const char *
check_names(const struct dynamic *dyn, bool *has_origin)
{
    const uint64_t size = dyn->value[DT_STRSZ];
    char name[MAX_NAME], end;

    if (!dyn->has[DT_STRTAB] || !dyn->has[DT_STRSZ] || size == 0 ||
        gb_elf_segment_at(
            dyn->elf, dyn->value[DT_STRTAB], size, PF_R) == NULL ||
        !gb_elf_read_at(dyn->elf, dyn->value[DT_STRTAB] + size - 1, &end, 1) ||
        end != '\0' ||
        !gb_elf_is_section(dyn->elf, dyn->value[DT_STRTAB], size))
        return "damaged: its names lie nowhere";
    for (size_t i = 0; i < dyn->n_entries; i++) {
        const ElfW(Dyn) *entry = &dyn->entries[i];

        if (!is_name_tag(entry->d_tag))
            continue;
        if (!read_name(dyn, entry->d_un.d_val, name) ||
            (entry->d_tag == DT_NEEDED && name[0] == '\0'))
            return "damaged: a name lies nowhere";
        *has_origin = *has_origin || strchr(name, '$') != NULL;
    }
    return NULL;
}

static bool
needs_file(const struct dynamic *dyn, const char *file)
{
    char name[MAX_NAME];

    for (size_t i = 0; i < dyn->n_entries; i++)
        if (dyn->entries[i].d_tag == DT_NEEDED &&
            read_name(dyn, dyn->entries[i].d_un.d_val, name) &&
            strcmp(name, file) == 0)
            return true;
    return false;
}

/* ---- hash tables, which tell how many symbols there are ---- */

static void
ask_symbols(struct dynamic *dyn, uint64_t n)
{
    if (n > dyn->n_symbols)
        dyn->n_symbols = n;
}

static bool
read_word(const struct dynamic *dyn, uint64_t address, uint64_t index,
          uint32_t *word)
{
    return gb_elf_read_at(dyn->elf, address + index * sizeof(*word), word,
                          sizeof(*word));
}

/*
 * Two counts, then the buckets, then for each symbol the next one of its chain.
 * Each chain ends: all together have no more steps than symbols.
 */
static bool
is_good_hash(struct dynamic *dyn)
{
    const uint64_t address = dyn->value[DT_HASH];
    uint64_t n_steps = 0;
    uint32_t counts[2], at;

    if (!gb_elf_read_at(dyn->elf, address, counts, sizeof(counts)) ||
        counts[0] == 0 || !gb_elf_is_section(dyn->elf, address, 0))
        return false;
    for (uint64_t i = 0; i < counts[0]; i++) {
        if (!read_word(dyn, address, 2 + i, &at))
            return false;
        for (; at != 0; n_steps++)
            if (at >= counts[1] || n_steps > counts[1] ||
                !read_word(dyn, address, (uint64_t)2 + counts[0] + at, &at))
                return false;
    }
    ask_symbols(dyn, counts[1]);
    return true;
}

/* The first and the last symbol that a bucket begins with; 0 for none. */
static bool
read_buckets(const struct dynamic *dyn, uint64_t address, uint64_t n,
             uint32_t *first, uint32_t *last)
{
    uint32_t symbol;

    *first = *last = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!read_word(dyn, address, i, &symbol))
            return false;
        if (symbol != 0 && (*first == 0 || symbol < *first))
            *first = symbol;
        if (symbol > *last)
            *last = symbol;
    }
    return true;
}

/*
 * Four words: how many buckets, the first symbol in the table, words of a
 * filter and its shift.  Then the filter, the buckets, and a word for each
 * symbol, which is odd for the last of a chain.
 */
static bool
is_good_gnu_hash(struct dynamic *dyn)
{
    uint64_t at = dyn->value[GNU_HASH];
    uint32_t head[4], first, last, word = 0;

    if (at % sizeof(ElfW(Addr)) != 0 || !gb_elf_is_section(dyn->elf, at, 0) ||
        !gb_elf_read_at(dyn->elf, at, head, sizeof(head)) || head[2] == 0 ||
        (head[2] & (head[2] - 1)) != 0 || head[3] >= 32)
        return false;
    at += sizeof(head) + (uint64_t)head[2] * sizeof(ElfW(Addr));
    if (head[0] == 0 || gb_elf_segment_at(dyn->elf, at - 1, 1, PF_R) == NULL ||
        !read_buckets(dyn, at, head[0], &first, &last))
        return false;
    ask_symbols(dyn, head[1]);
    if (last == 0)
        return true;
    if (first < head[1])
        return false;
    at += (uint64_t)head[0] * sizeof(word);
    do {
        if (!read_word(dyn, at, last - head[1], &word))
            return false;
        last++;
    } while ((word & 1) == 0 && last > 0);
    ask_symbols(dyn, last);
    return true;
}

static const char *
check_hashes(struct dynamic *dyn)
{
    if ((dyn->has[DT_HASH] && !is_good_hash(dyn)) ||
        (dyn->has[GNU_HASH] && !is_good_gnu_hash(dyn)))
        return "damaged: its table of symbols by name";
    return NULL;
}

/* ---- versions ---- */

static void
see_version(struct dynamic *dyn, unsigned index)
{
    index &= 0x7fff;
    if (index > dyn->max_version)
        dyn->max_version = index;
}

/* The names of one file's versions. */
static bool
are_good_needs(struct dynamic *dyn, uint64_t at, unsigned n, int *n_steps)
{
    ElfW(Vernaux) aux;
    char name[MAX_NAME];

    for (unsigned i = 0; i < n; i++, at += aux.vna_next) {
        if (++*n_steps > MAX_STEPS ||
            !gb_elf_read_at(dyn->elf, at, &aux, sizeof(aux)) ||
            !read_name(dyn, aux.vna_name, name) ||
            (aux.vna_next == 0) != (i + 1 == n))
            return false;
        see_version(dyn, aux.vna_other);
    }
    return true;
}

/* Versions that are asked for, of files that are needed. */
static bool
is_good_verneed(struct dynamic *dyn)
{
    uint64_t at = dyn->value[VERNEED];
    ElfW(Verneed) need;
    char file[MAX_NAME];
    int n_steps = 0;

    do {
        if (++n_steps > MAX_STEPS ||
            !gb_elf_read_at(dyn->elf, at, &need, sizeof(need)) ||
            need.vn_version != 1 || !read_name(dyn, need.vn_file, file) ||
            !needs_file(dyn, file) ||
            !are_good_needs(dyn, at + need.vn_aux, need.vn_cnt, &n_steps))
            return false;
        at += need.vn_next;
    } while (need.vn_next != 0);
    return gb_elf_is_section(dyn->elf, dyn->value[VERNEED], 0);
}

static bool
is_good_verdef(struct dynamic *dyn)
{
    uint64_t at = dyn->value[VERDEF];
    ElfW(Verdef) def;
    ElfW(Verdaux) aux;
    char name[MAX_NAME];
    int n_steps = 0;

    do {
        if (++n_steps > MAX_STEPS ||
            !gb_elf_read_at(dyn->elf, at, &def, sizeof(def)) ||
            def.vd_version != 1 ||
            !gb_elf_read_at(dyn->elf, at + def.vd_aux, &aux, sizeof(aux)) ||
            !read_name(dyn, aux.vda_name, name))
            return false;
        see_version(dyn, def.vd_ndx);
        at += def.vd_next;
    } while (def.vd_next != 0);
    return gb_elf_is_section(dyn->elf, dyn->value[VERDEF], 0);
}

static const char *
check_versions(struct dynamic *dyn)
{
    if ((dyn->has[VERNEED] && !is_good_verneed(dyn)) ||
        (dyn->has[VERDEF] && !is_good_verdef(dyn)) ||
        ((dyn->has[VERNEED] || dyn->has[VERDEF]) && !dyn->has[VERSYM]))
        return "damaged: its versions";
    return NULL;
}

/* ---- relocations ---- */

/* Something of the file is at ADDRESS. */
static void
see_address(struct dynamic *dyn, uint64_t address)
{
    dyn->knows_start |= address == dyn->value[DT_INIT];
    dyn->knows_end |= address == dyn->value[DT_FINI];
}

/* A word in an array of functions, whose place the dynamic section says? */
static bool
is_in_array(const struct dynamic *dyn, uint64_t place, int array, int size)
{
    return dyn->has[array] && place >= dyn->value[array] &&
           place - dyn->value[array] < dyn->value[size] &&
           (place - dyn->value[array]) % sizeof(ElfW(Addr)) == 0;
}

/*
 * May the word at PLACE be written?  A function whose address is TARGET will be
 * there, if that IS_KNOWN.
 */
static bool
is_good_place(struct dynamic *dyn, uint64_t place, bool is_known,
              uint64_t target)
{
    const bool starts =
        is_in_array(dyn, place, DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
    const bool ends = is_in_array(dyn, place, DT_FINI_ARRAY, DT_FINI_ARRAYSZ);

    if (gb_elf_segment_at(dyn->elf, place, sizeof(ElfW(Addr)),
                          dyn->writes_all ? 0 : PF_W) == NULL)
        return false;
    dyn->n_starts += starts;
    dyn->n_ends += ends;
    return !((starts || ends) && is_known) ||
           gb_elf_segment_at(dyn->elf, target, 1, PF_X) != NULL;
}

static bool
is_good_reloc(struct dynamic *dyn, uint64_t info, uint64_t place, bool has_sum,
              uint64_t sum)
{
    const int type = (int)R_TYPE(info);

    if (type == 0)
        return true;
    if (type == COPY)
        return false;
    if (type == IRELATIVE && has_sum &&
        gb_elf_segment_at(dyn->elf, sum, 1, PF_X) == NULL)
        return false;
    ask_symbols(dyn, (uint64_t)R_SYM(info) + 1);
    see_address(dyn, sum);
    return is_good_place(dyn, place, has_sum && type == RELATIVE, sum);
}

/* On a machine that is not known any may. */
static bool
may_be_relative(uint64_t info)
{
    const int type = (int)R_TYPE(info);

    return RELATIVE < 0 || type == RELATIVE;
}

/* One of the tables with addends; the first N_RELATIVE are of one type. */
static bool
are_good_rela(struct dynamic *dyn, uint64_t address, uint64_t size,
              uint64_t n_relative)
{
    const uint64_t n = size / sizeof(ElfW(Rela));
    ElfW(Rela) entry;

    if (size % sizeof(entry) != 0 || n_relative > n ||
        address % sizeof(ElfW(Addr)) != 0)
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!gb_elf_read_at(dyn->elf, address + i * sizeof(entry), &entry,
                            sizeof(entry)) ||
            (i < n_relative && !may_be_relative(entry.r_info)) ||
            !is_good_reloc(dyn, entry.r_info, entry.r_offset, true,
                           (uint64_t)entry.r_addend))
            return false;
    return true;
}

static bool
are_good_rel(struct dynamic *dyn, uint64_t address, uint64_t size)
{
    const uint64_t n = size / sizeof(ElfW(Rel));
    ElfW(Rel) entry;

    if (!HAS_REL || size % sizeof(entry) != 0)
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!gb_elf_read_at(dyn->elf, address + i * sizeof(entry), &entry,
                            sizeof(entry)) ||
            !is_good_reloc(dyn, entry.r_info, entry.r_offset, false, 0))
            return false;
    return true;
}

/*
 * Places only, packed: an even word is one, an odd one has a bit for each of
 * the words behind the last.  What will be there is the word that is there, moved.
 */
static bool
are_good_relr(struct dynamic *dyn, uint64_t address, uint64_t size)
{
    const unsigned n_bits = 8 * sizeof(ElfW(Addr)) - 1;
    uint64_t place = 0;

    for (uint64_t i = 0; i < size / sizeof(ElfW(Addr)); i++) {
        ElfW(Addr) word, target;

        if (!gb_elf_read_at(dyn->elf, address + i * sizeof(word), &word,
                            sizeof(word)))
            return false;
        if ((word & 1) == 0) {
            if (!gb_elf_read_at(dyn->elf, word, &target, sizeof(target)) ||
                !is_good_place(dyn, word, true, target))
                return false;
            place = word + sizeof(word);
            continue;
        }
        for (unsigned bit = 0; bit < n_bits; bit++) {
            const uint64_t at = place + bit * sizeof(word);

            if ((word >> (bit + 1) & 1) != 0 &&
                (!gb_elf_read_at(dyn->elf, at, &target, sizeof(target)) ||
                 !is_good_place(dyn, at, true, target)))
                return false;
        }
        place += n_bits * sizeof(word);
    }
    return size % sizeof(ElfW(Addr)) == 0;
}

/* A table that is named has a size, and lies where sections do. */
static bool
is_table(const struct dynamic *dyn, int table, int size)
{
    return dyn->has[size] && gb_elf_is_section(dyn->elf, dyn->value[table],
                                               dyn->value[size]);
}

static bool
has_entries_of(const struct dynamic *dyn, int tag, size_t size)
{
    return dyn->has[tag] && dyn->value[tag] == size;
}

static bool
is_good_plt(struct dynamic *dyn)
{
    const uint64_t address = dyn->value[DT_JMPREL];
    const uint64_t size = dyn->value[DT_PLTRELSZ];

    if (!dyn->has[DT_JMPREL] || !dyn->has[DT_PLTREL] ||
        !is_table(dyn, DT_JMPREL, DT_PLTRELSZ))
        return false;
    if (dyn->value[DT_PLTREL] == DT_RELA)
        return are_good_rela(dyn, address, size, 0);
    return dyn->value[DT_PLTREL] == DT_REL && are_good_rel(dyn, address, size);
}

/* Is a section of relocations in a table that will be followed? */
static bool
is_followed(const struct dynamic *dyn, const ElfW(Shdr) *section)
{
    static const int tables[][2] = {
        { DT_RELA, DT_RELASZ }, { DT_REL, DT_RELSZ },
        { DT_JMPREL, DT_PLTRELSZ },
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const int table = tables[i][0], size = tables[i][1];

        if (dyn->has[table] && section->sh_addr >= dyn->value[table] &&
            section->sh_addr - dyn->value[table] < dyn->value[size])
            return true;
    }
    return false;
}

static bool
are_all_followed(const struct dynamic *dyn)
{
    for (size_t i = 0; i < dyn->elf->n_sections; i++) {
        const ElfW(Shdr) *section = &dyn->elf->sections[i];
        const bool has_relocs = section->sh_type == SHT_RELA ||
                                section->sh_type == SHT_REL;

        if (has_relocs && (section->sh_flags & SHF_ALLOC) != 0 &&
            section->sh_size > 0 && !is_followed(dyn, section))
            return false;
        if (section->sh_type == SHT_INIT_ARRAY && section->sh_size > 0 &&
            !is_in_array(dyn, section->sh_addr, DT_INIT_ARRAY,
                         DT_INIT_ARRAYSZ))
            return false;
    }
    return true;
}

static const char *
check_relocs(struct dynamic *dyn)
{
    const bool has_plt = dyn->has[DT_JMPREL] || dyn->has[DT_PLTREL] ||
                         dyn->has[DT_PLTRELSZ];

    dyn->writes_all = dyn->has[DT_TEXTREL] ||
                      (dyn->value[DT_FLAGS] & DF_TEXTREL) != 0;
    if ((dyn->has[DT_RELA] &&
         (!has_entries_of(dyn, DT_RELAENT, sizeof(ElfW(Rela))) ||
          !is_table(dyn, DT_RELA, DT_RELASZ) ||
          !are_good_rela(dyn, dyn->value[DT_RELA], dyn->value[DT_RELASZ],
                         dyn->value[RELACOUNT]))) ||
        (dyn->has[DT_REL] &&
         (!has_entries_of(dyn, DT_RELENT, sizeof(ElfW(Rel))) ||
          !is_table(dyn, DT_REL, DT_RELSZ) ||
          !are_good_rel(dyn, dyn->value[DT_REL], dyn->value[DT_RELSZ]))) ||
        (dyn->has[DT_RELR] &&
         (!has_entries_of(dyn, DT_RELRENT, sizeof(ElfW(Addr))) ||
          !is_table(dyn, DT_RELR, DT_RELRSZ) ||
          !are_good_relr(dyn, dyn->value[DT_RELR], dyn->value[DT_RELRSZ]))) ||
        (has_plt && !is_good_plt(dyn)) || !are_all_followed(dyn))
        return "damaged: its relocations";
    return NULL;
}

/* ---- symbols ---- */

static bool
is_good_symbol(struct dynamic *dyn, const ElfW(Sym) *symbol)
{
    const int type = symbol->st_info & 15;

    if (symbol->st_name >= dyn->value[DT_STRSZ])
        return false;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        type == STT_TLS)
        return true;
    see_address(dyn, symbol->st_value);
    return type != STT_GNU_IFUNC ||
           gb_elf_segment_at(dyn->elf, symbol->st_value, 1, PF_X) != NULL;
}

/* All that a hash table or a relocation asks for, and their versions. */
static const char *
check_symbols(struct dynamic *dyn)
{
    const uint64_t symbols = dyn->value[DT_SYMTAB];
    const uint64_t versions = dyn->value[VERSYM];

    if (!dyn->has[DT_SYMTAB] ||
        !has_entries_of(dyn, DT_SYMENT, sizeof(ElfW(Sym))) ||
        symbols % sizeof(ElfW(Addr)) != 0 ||
        dyn->n_symbols > dyn->elf->bytes->size / sizeof(ElfW(Sym)) ||
        !gb_elf_is_section(dyn->elf, symbols, 0) ||
        (dyn->has[VERSYM] && !gb_elf_is_section(dyn->elf, versions, 0)))
        return "damaged: its symbols";
    for (uint64_t i = 0; i < dyn->n_symbols; i++) {
        ElfW(Sym) symbol;
        uint16_t version = 0;

        if (!gb_elf_read_at(dyn->elf, symbols + i * sizeof(symbol), &symbol,
                            sizeof(symbol)) ||
            !is_good_symbol(dyn, &symbol))
            return "damaged: its symbols";
        if (dyn->has[VERSYM] &&
            !gb_elf_read_at(dyn->elf, versions + i * sizeof(version), &version,
                            sizeof(version)))
            return "damaged: its versions";
        if ((version & 0x7fff) > 1 && (version & 0x7fffu) > dyn->max_version)
            return "damaged: its versions";
    }
    return NULL;
}

/* ---- functions at the start and at the end ---- */

/* A linker's function begins a section; one of the file's own IS_KNOWN. */
static bool
is_function(const struct dynamic *dyn, int tag, bool is_known)
{
    return !dyn->has[tag] ||
           (gb_elf_segment_at(dyn->elf, dyn->value[tag], 1, PF_X) != NULL &&
            (is_known || gb_elf_is_section(dyn->elf, dyn->value[tag], 0)));
}

/* An array of functions whose N places relocations fill. */
static bool
is_array(const struct dynamic *dyn, int array, int size, uint64_t n)
{
    return !dyn->has[array] ||
           (is_table(dyn, array, size) &&
            dyn->value[size] == n * sizeof(ElfW(Addr)));
}

static const char *
check_functions(const struct dynamic *dyn)
{
    if (is_function(dyn, DT_INIT, dyn->knows_start) &&
        is_function(dyn, DT_FINI, dyn->knows_end) &&
        is_array(dyn, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, dyn->n_starts) &&
        is_array(dyn, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, dyn->n_ends))
        return NULL;
    return "damaged: the functions that it begins or ends with";
}

const char *
gb_elf_check_dynamic(const struct gb_elf *elf, bool *has_origin)
{
    struct dynamic dyn = { .elf = elf };
    const char *wrong = read_entries(&dyn);

    *has_origin = false;
    if (wrong == NULL)
        wrong = check_names(&dyn, has_origin);
    if (wrong == NULL)
        wrong = check_hashes(&dyn);
    if (wrong == NULL)
        wrong = check_versions(&dyn);
    if (wrong == NULL)
        wrong = check_relocs(&dyn);
    if (wrong == NULL)
        wrong = check_symbols(&dyn);
    if (wrong == NULL)
        wrong = check_functions(&dyn);
    gb_mem_free(dyn.entries);
    return wrong;
}

#endif
