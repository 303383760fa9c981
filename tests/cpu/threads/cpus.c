/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/cpus.c - sets of CPUs, control groups' quotas and memory
 * nodes, as other machines show them.
 */
#include "config.h"

#include "backends/cpu/pool/affinity.h"
#include "backends/cpu/pool/cpus.h"
#include "backends/cpu/pool/numa.h"
#include "backends/cpu/pool/placement.h"

#include "ggmlbackend.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

/* Write a file below the test's folder, with the folders above it. */
static void
put(const char *path, const char *text)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; *p != '\0'; p++) {
        if (*p == '/') {
            *p = '\0';
            assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
            *p = '/';
        }
    }
    file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Each test has a machine of its own. */
static int
new_machine(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "cpus-test-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int
remove_machine(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static void
without_control_groups_there_is_no_limit(void **state)
{
    (void)state;
    assert_int_equal(gb_cpu_quota(root), 0);
}

static void
version_2_takes_the_least_of_the_groups_above(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/user/job\n");
    put("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/user/cpu.max", "350000 100000\n");
    assert_int_equal(gb_cpu_quota(root), 3);
    put("sys/fs/cgroup/user/job/cpu.max", "1200000 100000\n");
    assert_int_equal(gb_cpu_quota(root), 3);
    put("sys/fs/cgroup/user/job/cpu.max", "20000 100000\n");
    assert_int_equal(gb_cpu_quota(root), 1);
}

static void
a_container_sees_its_quota_at_the_mount(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/docker/not-to-be-seen\n");
    put("sys/fs/cgroup/cpu.max", "765000 100000\n");
    assert_int_equal(gb_cpu_quota(root), 7);
    put("proc/self/cgroup", "0::/\n");
    assert_int_equal(gb_cpu_quota(root), 7);
}

static void
version_1_has_a_file_each_for_quota_and_period(void **state)
{
    (void)state;
    put("proc/self/cgroup",
        "12:cpuset:/a\n4:cpu,cpuacct:/a/b\n1:name=systemd:/c\n");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000\n");
    assert_int_equal(gb_cpu_quota(root), 5);
}

static void
damaged_files_are_no_limit(void **state)
{
    (void)state;
    put("proc/self/cgroup", "nonsense\n0:\n0::\n:::\n0::/x\n");
    put("sys/fs/cgroup/x/cpu.max", "lots 0\n");
    put("sys/fs/cgroup/cpu.max", "100000 0\n");
    assert_int_equal(gb_cpu_quota(root), 0);
}

/* A quota of nothing, a period that is not there, more than there can be. */
static void
quotas_that_say_nothing_are_no_limit(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/cpu.max", "0 100000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/a/cpu.max", "-200000 100000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/a/cpu.max", "200000 -100000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/a/cpu.max", "900000000000000 1000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("proc/self/cgroup", "1:cpu:/b\n");
    put("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "200000\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "0\n");
    assert_int_equal(gb_cpu_quota(root), 0);
    put("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
    assert_int_equal(gb_cpu_quota(root), 2);
}

/* Of groups of both versions, in whatever order, the least counts. */
static void
the_least_of_both_versions_counts(void **state)
{
    (void)state;
    put("sys/fs/cgroup/a/cpu.max", "500000 100000\n");
    put("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
    put("proc/self/cgroup", "1:cpu:/b\n0::/a\n");
    assert_int_equal(gb_cpu_quota(root), 3);
    put("proc/self/cgroup", "0::/a\n1:cpu:/b\n");
    assert_int_equal(gb_cpu_quota(root), 3);
}

static void
lists_of_cpus_are_read(void **state)
{
    struct gb_cpu_set set;

    (void)state;
    gb_cpu_set_parse(&set, "0-2,5,64-66\n");
    assert_int_equal(gb_cpu_set_count(&set), 7);
    assert_true(gb_cpu_set_has(&set, 0) && gb_cpu_set_has(&set, 2));
    assert_false(gb_cpu_set_has(&set, 3));
    assert_true(gb_cpu_set_has(&set, 65));
    assert_false(gb_cpu_set_has(&set, -1));
    assert_false(gb_cpu_set_has(&set, 1 << 20));
    gb_cpu_set_parse(&set, "");
    assert_int_equal(gb_cpu_set_count(&set), 0);
    gb_cpu_set_parse(&set, "7-3,-5,99999999999999,x");
    assert_int_equal(gb_cpu_set_count(&set), 0);
    gb_cpu_set_parse(&set, "8190-9000000000");
    assert_int_equal(gb_cpu_set_count(&set), 2);
}

static void
a_mask_is_shared_or_given_out_in_turn(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(4);
    struct gb_cpu_set set;

    (void)state;
    assert_false(gb_cpu_placement(&params, 0, &set));
    params.cpumask[3] = params.cpumask[500] = true;
    assert_true(gb_cpu_placement(&params, 1, &set));
    assert_int_equal(gb_cpu_set_count(&set), 2);
    params.strict_cpu = true;
    for (int i = 0; i < 4; i++) {
        assert_true(gb_cpu_placement(&params, i, &set));
        assert_int_equal(gb_cpu_set_count(&set), 1);
        assert_true(gb_cpu_set_has(&set, i % 2 == 0 ? 3 : 500));
    }
}

static void
memory_nodes_are_read(void **state)
{
    static struct gb_cpu_numa numa;

    (void)state;
    gb_cpu_numa_read(root, &numa);
    assert_int_equal(numa.n_nodes, 0);
    put("node0/cpulist", "0-3\n");
    put("node2/cpulist", "4-7,12\n");
    gb_cpu_numa_read(root, &numa);
    assert_int_equal(numa.n_nodes, 2);
    assert_int_equal(gb_cpu_set_count(&numa.cpus[1]), 5);
    assert_true(gb_cpu_set_has(&numa.cpus[1], 12));
}

/* hwloc can be told of a machine: two packages of two nodes, each of 3
 * cores. */
static void
memory_nodes_are_those_of_hwloc(void **state)
{
    static struct gb_cpu_numa numa;

    (void)state;
    assert_int_equal(
        setenv("HWLOC_SYNTHETIC", "pack:2 numa:2 core:3 pu:1", 1), 0);
    if (!gb_cpu_numa_read_hwloc(&numa)) {
        assert_int_equal(numa.n_nodes, 0);
        skip();
    }
    assert_int_equal(unsetenv("HWLOC_SYNTHETIC"), 0);
    assert_int_equal(numa.n_nodes, 4);
    for (int i = 0; i < 12; i++)
        assert_true(gb_cpu_set_has(&numa.cpus[i / 3], i));
    assert_int_equal(gb_cpu_set_count(&numa.cpus[3]), 3);
}

static void
a_new_backend_has_no_more_threads_than_cpus(void **state)
{
    const int n = ggmlbackend_default_n_threads();

    (void)state;
    assert_true(gb_cpu_count() >= 1);
    if (getenv("GGMLBACKEND_N_THREADS") == NULL)
        assert_in_range(n, 1, 4);
    assert_true(getenv("GGMLBACKEND_N_THREADS") != NULL ||
                n <= gb_cpu_count());
}

/* A machine has more CPUs than a process that is bound to one of them may use. */
static void
a_process_counts_the_cpus_that_it_may_use(void **state)
{
    struct gb_cpu_set before, one = { { 0 } };
    const int n = ggmlbackend_n_cpus();

    (void)state;
    assert_in_range(n, 1, gb_cpu_count());
    if (!gb_cpu_affinity_get(&before))
        skip();
    for (int i = 0; i < GB_CPU_SET_BITS && gb_cpu_set_count(&one) == 0; i++)
        if (gb_cpu_set_has(&before, i))
            gb_cpu_set_add(&one, i);
    assert_true(gb_cpu_affinity_set(&one));
    assert_int_equal(ggmlbackend_n_cpus(), 1);
    assert_true(gb_cpu_affinity_set(&before));
    assert_int_equal(ggmlbackend_n_cpus(), n);
}

#define WITH_MACHINE(test) \
    cmocka_unit_test_setup_teardown(test, new_machine, remove_machine)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        WITH_MACHINE(without_control_groups_there_is_no_limit),
        WITH_MACHINE(version_2_takes_the_least_of_the_groups_above),
        WITH_MACHINE(a_container_sees_its_quota_at_the_mount),
        WITH_MACHINE(version_1_has_a_file_each_for_quota_and_period),
        WITH_MACHINE(damaged_files_are_no_limit),
        WITH_MACHINE(quotas_that_say_nothing_are_no_limit),
        WITH_MACHINE(the_least_of_both_versions_counts),
        cmocka_unit_test(lists_of_cpus_are_read),
        cmocka_unit_test(a_mask_is_shared_or_given_out_in_turn),
        WITH_MACHINE(memory_nodes_are_read),
        WITH_MACHINE(memory_nodes_are_those_of_hwloc),
        cmocka_unit_test(a_new_backend_has_no_more_threads_than_cpus),
        cmocka_unit_test(a_process_counts_the_cpus_that_it_may_use),
    };

    return cmocka_run_group_tests_name("usable CPUs", tests, NULL, NULL);
}
