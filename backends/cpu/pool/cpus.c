/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/cpus.c - how many CPUs this process may use.
 *
 * A control group may run "quota" microseconds in each "period", on all CPUs
 * together, and no more than the groups above it may.  Files and formats:
 * Linux, Documentation/admin-guide/cgroup-v2.rst ("cpu.max") and
 * Documentation/scheduler/sched-bwc.rst (version 1).
 */
#include "config.h"

#include "backends/cpu/pool/cpus.h"

#include "backends/cpu/pool/affinity.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The affinity mask says more than the number of CPUs: containers and taskset
 * narrow it. */
int
gb_cpu_count(void)
{
    struct gb_cpu_set set;
    long n;

    if (gb_cpu_affinity_get(&set))
        n = gb_cpu_set_count(&set);
    else
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (int)n;
}

/* Read up to two numbers; how many there were. */
static int
read_numbers(const char *path, long long *first, long long *second)
{
    FILE *file = fopen(path, "re");
    int n;

    if (file == NULL)
        return 0;
    n = fscanf(file, "%lld %lld", first, second);
    fclose(file);
    return n;
}

/* The grant of one folder of version 2; 0 for none ("max 100000"). */
static double
grant_v2(const char *folder)
{
    char path[1200];
    long long quota, period;

    snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (read_numbers(path, &quota, &period) != 2 || quota <= 0 || period <= 0)
        return 0;
    return (double)quota / (double)period;
}

/* The same of version 1, where no limit is a quota of -1. */
static double
grant_v1(const char *folder)
{
    char path[1200];
    long long quota, period, none;

    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    if (read_numbers(path, &quota, &none) != 1 || quota <= 0)
        return 0;
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    if (read_numbers(path, &period, &none) != 1 || period <= 0)
        return 0;
    return (double)quota / (double)period;
}

/*
 * The least of GROUP's grants and those of the groups above it, below the
 * folder MOUNT.  Inside a container GROUP's own path need not be there; the
 * mount is.
 */
static double
least_grant(const char *mount, const char *group,
            double (*grant_of)(const char *folder))
{
    char folder[1100];
    const size_t mount_length = strlen(mount);
    double least = 0;

    snprintf(folder, sizeof(folder), "%s%s", mount, group);
    for (;;) {
        const double grant = grant_of(folder);
        char *slash = strrchr(folder, '/');

        if (grant > 0 && (least == 0 || grant < least))
            least = grant;
        if (slash == NULL || (size_t)(slash - folder) < mount_length)
            return least;
        *slash = '\0';
    }
}

/* Is WORD one of LIST's, which commas separate? */
static bool
has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 &&
            (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup is "number:controllers:group"; version 2 has no
 * controllers.  Gives the CPUs that this group grants, 0 for no limit. */
static double
grant_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    char mount[600];

    if (group == NULL)
        return 0;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (strcmp(controllers, "") == 0) {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return least_grant(mount, group, grant_v2);
    }
    if (!has_word(controllers, "cpu"))
        return 0;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    return least_grant(mount, group, grant_v1);
}

int
gb_cpu_quota(const char *root)
{
    char path[600], line[512];
    double least = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        const double grant = grant_of_line(root, line);

        if (grant > 0 && (least == 0 || grant < least))
            least = grant;
    }
    fclose(file);
    if (least == 0)
        return 0;
    return least < 1 ? 1 : least > GB_CPU_SET_BITS ? 0 : (int)least;
}
