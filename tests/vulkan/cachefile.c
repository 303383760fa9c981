/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/cachefile.c - files of compiled pipelines: nothing of a file
 * that is damaged, cut, another's or in two hands gets through.
 */
#include "backends/vulkan/device/cachefile.h"

#include "tests/util/random.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 100003, HEADER = 96, N_CORRUPTIONS = 200 };

static const struct gb_vk_cache_key key = {
    .vendor = 0x10de, .device = 7, .driver = 3,
    .device_uuid = "0123456789abcde", .cache_uuid = "fedcba987654321",
    .version = "0.2.0",
};

static char folder[] = "/tmp/gb-cachefile-XXXXXX";
static char path[64], reason[160];
static uint8_t data[SIZE];

/* ---- helpers ---- */

static bool
write_it(const void *from, size_t size)
{
    reason[0] = '\0';
    return gb_vk_cache_write(path, &key, from, size, reason, sizeof(reason));
}

/* The whole file as it is; *SIZE bytes, to be freed. */
static uint8_t *
slurp(size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(2 * SIZE);

    assert_non_null(f);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 2 * SIZE, f);
    fclose(f);
    return bytes;
}

static void
put(const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static bool
reads(const struct gb_vk_cache_key *wanted)
{
    void *got = NULL;
    size_t size = 77;

    strcpy(reason, "nothing");
    if (!gb_vk_cache_read(path, wanted, &got, &size, reason, sizeof(reason))) {
        assert_null(got);
        assert_int_equal(size, 77);
        return false;
    }
    free(got);
    return true;
}

static void
expect_refusal(const char *text)
{
    assert_false(reads(&key));
    if (strstr(reason, text) == NULL)
        fail_msg("the reason is \"%s\", without \"%s\"", reason, text);
}

/* Nothing is left in the folder but N files. */
static void
expect_files(const char *n)
{
    char command[128], line[32] = "";
    FILE *pipe;

    snprintf(command, sizeof(command), "ls '%s' | wc -l | tr -d ' '", folder);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof(line), pipe));
    pclose(pipe);
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, n);
}

/* ---- tests ---- */

static void
what_is_written_is_read(void **state)
{
    static const size_t sizes[] = { 0, 1, 7, 8, 9, 4096, SIZE };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        void *got = NULL;
        size_t size = 0;

        assert_true(write_it(data, sizes[i]));
        assert_true(gb_vk_cache_read(path, &key, &got, &size, reason,
                                     sizeof(reason)));
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(got, data, size);
        free(got);
    }
    expect_files("1");
}

static void
no_file_is_no_fault(void **state)
{
    (void)state;
    unlink(path);
    assert_false(reads(&key));
    assert_string_equal(reason, "");
}

static void
damage_is_found_wherever_it_is(void **state)
{
    struct gb_random random;
    size_t size;
    uint8_t *bytes;

    (void)state;
    gb_random_init(&random, gb_test_seed(20261126));
    assert_true(write_it(data, SIZE));
    bytes = slurp(&size);
    assert_int_equal(size, SIZE + HEADER);
    for (size_t i = 0; i < HEADER + N_CORRUPTIONS; i++) {
        const size_t at = i < HEADER ? i
                                     : HEADER + gb_random_u64(&random) % SIZE;
        const uint8_t change = (uint8_t)(1 + gb_random_u64(&random) % 255);

        bytes[at] ^= change;
        put(bytes, size);
        if (reads(&key))
            fail_msg("byte %zu changed by %d is not found", at, change);
        bytes[at] ^= change;
    }
    put(bytes, size);
    assert_true(reads(&key));
    free(bytes);
}

static void
another_length_is_found(void **state)
{
    struct gb_random random;
    size_t size;
    uint8_t *bytes;

    (void)state;
    gb_random_init(&random, 5);
    assert_true(write_it(data, 3000));
    bytes = slurp(&size);
    memset(bytes + size, 0, SIZE);
    for (size_t i = 0; i < 100; i++) {
        put(bytes, i < 20 ? 5 * i : gb_random_u64(&random) % size);
        assert_false(reads(&key));
        put(bytes, size + 1 + i);
        assert_false(reads(&key));
    }
    free(bytes);
}

/* Longer than a header. */
static const char other_file[200] = "something else, and no file of pipelines";

static void
files_of_others_are_not_read(void **state)
{
    static const mode_t modes[] = { 0666, 0664, 0646, 0620, 0602, 02660 };
    uint8_t wrong[sizeof(key)];

    (void)state;
    assert_true(write_it(data, 100));
    for (size_t i = 0; i < sizeof(key); i++) {
        struct gb_vk_cache_key other;

        memcpy(wrong, &key, sizeof(key));
        wrong[i] ^= 1;
        memcpy(&other, wrong, sizeof(other));
        assert_false(reads(&other));
        assert_non_null(strstr(reason, "another driver"));
    }
    assert_true(reads(&key));
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        expect_refusal("others may write it");
    }
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(reads(&key));
    put(other_file, sizeof(other_file));
    chmod(path, 0600);
    expect_refusal("something else");
}

static void
what_is_no_file_is_not_read(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refusal("no file");
    assert_false(write_it(data, 10));
    assert_true(reason[0] != '\0');
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal("no file");
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    expect_refusal("no file");
    unlink(path);
    expect_files("0");
}

static void
a_folder_that_cannot_be_written_is_told(void **state)
{
    char other[128];

    (void)state;
    assert_true(write_it(data, 10));
    snprintf(other, sizeof(other), "%s/below/file", path);
    assert_false(gb_vk_cache_write(other, &key, data, 10, reason,
                                   sizeof(reason)));
    assert_non_null(strstr(reason, "Not a directory"));
    assert_false(gb_vk_cache_write("/proc/none/here/file", &key, data, 10,
                                   reason, sizeof(reason)));
    snprintf(other, sizeof(other), "%s/new/and/deeper/file", folder);
    assert_true(gb_vk_cache_write(other, &key, data, 10, reason,
                                  sizeof(reason)));
    unlink(other);
    for (int i = 0; i < 3; i++) {
        *strrchr(other, '/') = '\0';
        rmdir(other);
    }
    expect_files("1");
}

/* A file may not become larger than that, which fails as a full disk does. */
static void
a_full_disk_leaves_what_was_there(void **state)
{
    struct rlimit limit, small;

    (void)state;
    assert_true(write_it("before", 6));
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 5000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(write_it(data, SIZE));
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    assert_true(reason[0] != '\0');
    assert_true(reads(&key));
    expect_files("1");
}

static void
too_much_is_not_written(void **state)
{
    (void)state;
    assert_true(write_it("before", 6));
    assert_false(write_it(data, GB_VK_CACHE_MOST));
    assert_non_null(strstr(reason, "too many"));
    assert_true(reads(&key));
}

static void
what_an_ended_process_left_is_replaced(void **state)
{
    char left[96];
    FILE *f;

    (void)state;
    snprintf(left, sizeof(left), "%s.%ld", path, (long)getpid());
    f = fopen(left, "wb");
    assert_non_null(f);
    fputs("half", f);
    fclose(f);
    assert_true(write_it(data, 50));
    assert_true(reads(&key));
    expect_files("1");
}

/* Whoever reads gets all that one of them wrote. */
static void
processes_write_at_once(void **state)
{
    pid_t children[3];

    (void)state;
    assert_true(write_it(data, SIZE));
    for (size_t c = 0; c < 3; c++) {
        children[c] = fork();
        if (children[c] == 0) {
            for (int i = 0; i < 60; i++)
                if (!write_it(data, SIZE - c * 1000))
                    _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < 60; i++)
        assert_true(reads(&key));
    for (size_t c = 0; c < 3; c++) {
        int status;

        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    assert_true(reads(&key));
    expect_files("1");
}

static int
begin(void **state)
{
    struct gb_random random;

    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/file", folder);
    gb_random_init(&random, 1);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)gb_random_u64(&random);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(no_file_is_no_fault),
        cmocka_unit_test(damage_is_found_wherever_it_is),
        cmocka_unit_test(another_length_is_found),
        cmocka_unit_test(files_of_others_are_not_read),
        cmocka_unit_test(what_is_no_file_is_not_read),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_told),
        cmocka_unit_test(a_full_disk_leaves_what_was_there),
        cmocka_unit_test(too_much_is_not_written),
        cmocka_unit_test(what_an_ended_process_left_is_replaced),
        cmocka_unit_test(processes_write_at_once),
    };

    return cmocka_run_group_tests_name("files of pipelines", tests, begin, end);
}
