/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/machine.h - what the processor is and can do.
 *
 * Found once for a process (isa/select.c) and constant from then on.
 */
#ifndef GB_CPU_ISA_MACHINE_H
#define GB_CPU_ISA_MACHINE_H

#include "backends/cpu/isa/features.h"

#include "ggml-backend.h"

#include <stdbool.h>
#include <stdint.h>

/* A feature counts when the processor has it and the system saves its
 * registers. */
struct gb_cpu_machine {
    uint32_t features; /* GB_CPU_BIT(…) of each */
    int sve_bytes;     /* of a vector, 0 without SVE */
    const char *no_tiles; /* why they are not used though the processor has them;
                             else NULL */
    char name[80];     /* the model, "CPU" when it is not known */
    char sve_text[12]; /* sve_bytes as text */
    /* The features by name, each with the value "1"; SVE_CNT with its bytes.
     * A row without a name is the last. */
    struct ggml_backend_feature list[GB_CPU_FEATURE_COUNT + 2];
};

/* Ask the processor and the system.  Any thread. */
void gb_cpu_machine_detect(struct gb_cpu_machine *machine);

/* What was found on first use (isa/select.c); static.  Any thread. */
const struct gb_cpu_machine *gb_cpu_machine(void);

static inline bool
gb_cpu_has(enum gb_cpu_feature feature)
{
    return (gb_cpu_machine()->features & GB_CPU_BIT(feature)) != 0;
}

/* How tiles are asked for (isa/tiles.c); tests have systems of their own. */
struct gb_cpu_tile_system {
    bool (*permit)(void); /* may this process have tiles? */
    bool (*can_use)(void); /* do their instructions work? */
};

/* FEATURES without those of tiles where SYSTEM, or this one if that is NULL, does
 * not let this process have them; *why says so then, else it is NULL.  Nothing is
 * asked where there are none. */
uint32_t gb_cpu_usable_tiles(uint32_t features,
                             const struct gb_cpu_tile_system *system,
                             const char **why);

/* Does RUN return, in a child that may end by what it does? */
bool gb_cpu_returns_in_child(void (*run)(void));

/* The parts of gb_cpu_machine_detect.  On another kind of machine than the
 * function's they find nothing. */
uint32_t gb_cpu_detect_x86(void);
bool gb_cpu_name_x86(char *out, size_t size);
uint32_t gb_cpu_detect_arm(int *sve_bytes);

/* EAX, EBX, ECX and EDX of a leaf of CPUID; false when there is no such. */
typedef bool (*gb_cpuid_fn)(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);

/* The features that ASK's answers and SAVED (XCR0) make: what gb_cpu_detect_x86
 * finds on such a processor.  Tests have others than their own. */
uint32_t gb_cpu_features_x86(gb_cpuid_fn ask, uint64_t saved);

#endif
