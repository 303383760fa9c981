/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/mutations.c - a module with something wrong in its headers or its
 * dynamic section is refused, or loaded; it never ends the process.
 *
 * Each mutation is loaded in a child of its own.
 */
#include "tests/loader/in-child.h"

#include "tests/loader/folder.h"
#include "tests/util/random.h"

#include "ggml-backend.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* GGMLBACKEND_TEST_MUTATIONS asks for more. */
#define N_MUTATIONS 200
#define LIMIT_S     20
#define LOADED      100

/* A copy of a module, and the pieces of it that are changed. */
static unsigned char *module;
static size_t module_size;
static struct piece {
    const char *name;
    size_t offset, size;
} pieces[3];

static int
read_module(void **state)
{
    const ElfW(Ehdr) *header;
    const ElfW(Phdr) *part;

    (void)state;
    module = module_read("good", &module_size);
    header = (const ElfW(Ehdr) *)module;
    part = (const ElfW(Phdr) *)(module + header->e_phoff);
    pieces[0] = (struct piece){ "header", 0, sizeof(*header) };
    pieces[1] = (struct piece){ "parts", header->e_phoff,
                                header->e_phnum * sizeof(*part) };
    for (int i = 0; i < header->e_phnum; i++)
        if (part[i].p_type == PT_DYNAMIC)
            pieces[2] = (struct piece){ "dynamic section", part[i].p_offset,
                                        part[i].p_filesz };
    return pieces[2].size == 0;
}

static int
free_module(void **state)
{
    (void)state;
    free(module);
    return 0;
}

/*
 * A bit, a byte or a word of PIECE becomes another one.  Words are numbers that
 * lie at a limit, or near to what was there.
 */
static void
mutate(unsigned char *copy, const struct piece *piece, struct gb_random *rng)
{
    static const int64_t limits[] = {
        0, 1, -1, 4095, 4096, INT32_MAX, INT64_MAX, INT64_MIN, 0x100000000
    };
    unsigned char *at = copy + piece->offset;
    const size_t word = gb_random_u64(rng) % (piece->size / 8) * 8;
    int64_t value;

    memcpy(&value, at + word, sizeof(value));
    switch (gb_random_u64(rng) % 4) {
    case 0:
        at[gb_random_u64(rng) % piece->size] ^=
            (unsigned char)(1 << gb_random_u64(rng) % 8);
        return;
    case 1:
        at[gb_random_u64(rng) % piece->size] = (unsigned char)gb_random_u64(rng);
        return;
    case 2:
        value = limits[gb_random_u64(rng) % (sizeof(limits) / sizeof(*limits))];
        break;
    default:
        value += (int64_t)(gb_random_u64(rng) % 8192) - 4096;
    }
    memcpy(at + word, &value, sizeof(value));
}

/*
 * The child loads PATH, uses what it gets, and ends as programs do, by exit: with
 * 0 or LOADED.  What a sanitizer ends has another status.
 */
static int
load_in_child(const char *path)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        ggml_backend_reg_t reg;

        alarm(LIMIT_S);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        signal(SIGFPE, SIG_DFL);
        signal(SIGILL, SIG_DFL);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        reg = ggml_backend_load(path);
        exit(reg != NULL && strcmp(ggml_backend_reg_name(reg), "Good") == 0
                 ? LOADED : 0);
    }
    while (waitpid(pid, &status, 0) != pid)
        assert_int_equal(errno, EINTR);
    return status;
}

static void
no_mutation_ends_the_process(void **state)
{
    const char *env = getenv("GGMLBACKEND_TEST_MUTATIONS");
    const int n_mutations = env != NULL ? atoi(env) : N_MUTATIONS;
    char *folder = folder_make();
    unsigned char *copy = malloc(module_size);
    struct gb_random rng;
    int n_loaded = 0, n_ended = 0;

    (void)state;
#if !defined(__x86_64__) && !defined(__aarch64__)
    /* The system's loader applies a damaged one wherever it says. */
    print_message("the relocations of this machine are not known\n");
    skip();
#endif
    gb_random_init(&rng, 20250313);
    for (int i = 0; i < n_mutations; i++) {
        const struct piece *piece = &pieces[gb_random_u64(&rng) % 3];
        const char *path;
        int status;

        memcpy(copy, module, module_size);
        mutate(copy, piece, &rng);
        path = folder_write(folder, "mutation.so", copy, module_size);
        status = load_in_child(path);
        if (WIFEXITED(status) && WEXITSTATUS(status) == LOADED) {
            n_loaded++;
        } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            n_ended++;
            print_message("mutation %d, in its %s: %s %d\n", i, piece->name,
                          WIFEXITED(status) ? "status" : "signal",
                          WIFEXITED(status) ? WEXITSTATUS(status)
                                            : WTERMSIG(status));
            for (size_t at = 0; at < module_size; at++)
                if (copy[at] != module[at])
                    print_message("  byte %zu: %02x, was %02x\n",
                                  at - piece->offset, copy[at], module[at]);
        }
    }
    print_message("%d of %d mutations were loaded\n", n_loaded, n_mutations);
    free(copy);
    folder_remove(folder);
    assert_int_equal(n_ended, 0);
}

static void
the_module_itself_is_loaded(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(load_in_child(module_path("good"))), LOADED);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_module_itself_is_loaded),
        cmocka_unit_test(no_mutation_ends_the_process),
    };

    return cmocka_run_group_tests_name("damaged modules", tests, read_module,
                                       free_module);
}
