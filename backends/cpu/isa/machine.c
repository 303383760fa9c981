/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/machine.c - the description of the processor, from what the parts
 * that ask it have found.
 */
#include "config.h"

#include "backends/cpu/isa/compiled.h"
#include "backends/cpu/isa/machine.h"

#include <stdio.h>
#include <string.h>

static const char *const names[GB_CPU_FEATURE_COUNT] = {
#define GB_CPU_FEATURE(id, name) [GB_CPU_##id] = name,
#include "backends/cpu/isa/features.def"
#undef GB_CPU_FEATURE
};

/* The value of the first line of /proc/cpuinfo that begins with KEY. */
static bool
name_from_proc(const char *key, char *out, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    bool is_found = false;

    if (file == NULL)
        return false;
    while (!is_found && fgets(line, sizeof(line), file) != NULL) {
        const char *value = strchr(line, ':');

        if (strncmp(line, key, strlen(key)) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " \t");
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", value);
        is_found = out[0] != '\0';
    }
    fclose(file);
    return is_found;
}

/* The model: as CPUID has it, or as the system names it (x86 and others, some
 * arm64 boards), or "CPU". */
static void
detect_name(char *out, size_t size)
{
    if (!gb_cpu_name_x86(out, size) &&
        !name_from_proc("model name", out, size) &&
        !name_from_proc("Model", out, size))
        snprintf(out, size, "CPU");
}

/* The list that clients are given: the features that are there. */
static void
fill_list(struct gb_cpu_machine *machine)
{
    struct ggml_backend_feature *row = machine->list;

    for (int i = 0; i < GB_CPU_FEATURE_COUNT; i++) {
        if ((machine->features & GB_CPU_BIT(i)) != 0)
            *row++ = (struct ggml_backend_feature){ names[i], "1" };
    }
    if (machine->sve_bytes > 0) {
        snprintf(machine->sve_text, sizeof(machine->sve_text), "%d",
                 machine->sve_bytes);
        *row++ = (struct ggml_backend_feature){ "SVE_CNT", machine->sve_text };
    }
    *row = (struct ggml_backend_feature){ NULL, NULL };
}

void
gb_cpu_machine_detect(struct gb_cpu_machine *machine)
{
    memset(machine, 0, sizeof(*machine));
    machine->features = gb_cpu_detect_x86();
    machine->features |= gb_cpu_detect_arm(&machine->sve_bytes);
    machine->features |= GB_CPU_COMPILED;
    machine->features =
        gb_cpu_usable_tiles(machine->features, NULL, &machine->no_tiles);
    detect_name(machine->name, sizeof(machine->name));
    fill_list(machine);
}
