/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/cpus.h - how many CPUs this process may use.
 */
#ifndef GB_CPU_POOL_CPUS_H
#define GB_CPU_POOL_CPUS_H

/* CPUs that the calling thread may run on, at least 1. */
int gb_cpu_count(void);

/*
 * CPUs that control groups (versions 1 and 2) grant this process, rounded down
 * but at least 1; 0 for no limit.  ROOT is "" but in tests, which keep a /proc
 * and a /sys of other machines elsewhere.
 */
int gb_cpu_quota(const char *root);

#endif
