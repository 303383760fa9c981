/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/errors.c - wrong options and files end with a message.
 */
#include "tests/tools/run/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *
good_model(void)
{
    make_model("good", "-a llama");
    return in_folder("good");
}

/* Exit STATUS, nothing on stdout, and a message that has the words WANTED. */
static void
check_fails(int status, const char *wanted, const char *arguments)
{
    struct result r = run("%s", arguments);

    if (r.status != status || r.size != 0)
        fail_msg("%s: status %d, not %d: %s", arguments, r.status, status,
                 r.err);
    if (strncmp(r.err, "ggmlbackend-run: ", 17) != 0 ||
        strstr(r.err, wanted) == NULL)
        fail_msg("%s: '%s' has no '%s'", arguments, r.err, wanted);
    result_free(&r);
}

static void
wrong_options_exit_with_2(void **state)
{
    static const char *const rows[][2] = {
        { "", "no model" },
        { "-m x", "one of" },
        { "-m x -p a -f b", "one of" },
        { "-m x -p a --perplexity b", "one of" },
        { "-m x -p a b", "'b'" },
        { "-m x -p a -n many", "'many'" },
        { "-m x -p a -n -2", "-2" },
        { "-m x -p a -c 99999999999", "99999999999" },
        { "-m x -p a -t 0", "0" },
        { "-m x -p a --temp -1", "-1" },
        { "-m x -p a --temp nan", "'nan'" },
        { "-m x -p a --top-p 1.5", "1.5" },
        { "-m x -p a --seed 1x", "'1x'" },
        { "-m x -p a --logits", "--json" },
        { "-m x -p a --repack maybe", "--repack" },
        { "-m x -p a --device CPU,A --repack on", "--repack on" },
        { "-m x -p a --split 1,1", "2 numbers for 1" },
        { "-m x -p a --device CPU,A --split 1", "1 numbers for 2" },
        { "-m x -p a --device CPU,A --split 0,0", "no device" },
        { "-m x -p a --device CPU,A --split 1,x", "'x'" },
        { "-m x -p a --device CPU,A --split 0x1,1", "'0x1'" },
        { "-m x -p a --device CPU,A --split 1,inf", "'inf'" },
        { "-m x -p a --device CPU,A --split 1,0000000000000000000000000000000"
          "0000000000000000000000000000000001x", "too long" },
        { "-m x -p a --device ''", "--device '' names nothing" },
        { "-m x -p a --device CPU,", "empty name" },
        { "-m x -p a --device ,CPU", "empty name" },
        { "-m x -p a -ngl 99", "no option -ngl: all layers" },
        { "-m x -p a -ngl99", "no option -ngl: all layers" },
        { "-m x -p a --n-gpu-layers=99", "no option --n-gpu-layers: all" },
        { "-m x -p a -fa", "no option -fa: attention" },
        { "-m x -p a -sm layer", "no option -sm: --split" },
        { "-m x -p a -zz", "no option -z" },
        { "-m x -p a --zz=1", "no option --zz" },
        { "-m x -p a --p b", "begins several options: --prompt, --perplexity" },
        { "-m x -p a --json=1", "--json takes no argument" },
        { "-m x -p", "--prompt needs an argument, TEXT" },
        { "-m x -p a --device CPU,A --split 1,", "''" },
        { "-m x -p a --device CPU,A --split 1,-1", "-1" },
        { "-m x -p a --split 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "than 16" },
        { "-m x --chat --perplexity a", "--chat" },
        { "--no-such-option", "no option --no-such-option" },
        { "-m", "--model needs an argument" },
        { "-m x --chat", "--chat alone on a terminal" },
        { "-m x -p a --chunks 2", "--chunks is for --perplexity" },
        { "-m x -p a --system b", "--system is for --chat" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_fails(2, rows[i][1], rows[i][0]);
}

static void
help_and_version_go_to_standard_output(void **state)
{
    struct result help = run("--help"), version = run("-V");

    (void)state;
    assert_int_equal(help.status, 0);
    assert_non_null(strstr(help.out, "--perplexity FILE"));
    assert_string_equal(help.err, "");
    assert_int_equal(version.status, 0);
    assert_memory_equal(version.out, "ggmlbackend-run", 15);
    result_free(&help);
    result_free(&version);
}

static void
what_cannot_be_done_exits_with_1(void **state)
{
    char line[1024], model[300];

    (void)state;
    snprintf(model, sizeof(model), "%s", good_model());
    check_fails(1, "no-such", "-m no-such-file -p a");
    check_fails(1, "not a regular file", "-m / -p a");
    snprintf(line, sizeof(line), "-m %s -p a --device nowhere", model);
    check_fails(1, "CPU", line);
    snprintf(line, sizeof(line), "-m %s -p a --device CPU,nowhere", model);
    check_fails(1, "no device 'nowhere', only CPU; ggmlbackend-info", line);
    snprintf(line, sizeof(line), "-m %s -p a --device CPU,CPU", model);
    check_fails(1, "named twice", line);
    snprintf(line, sizeof(line), "-m %s -f %s", model, in_folder("no-text"));
    check_fails(1, "no-text", line);
    snprintf(line, sizeof(line), "-m %s -p ''", model);
    check_fails(1, "no tokens", line);
    snprintf(line, sizeof(line), "-m %s -p 'the hello world' -c 4", model);
    check_fails(1, "see -c", line);
    write_file("short", "the end", 7);
    snprintf(line, sizeof(line), "-m %s --perplexity %s", model,
             in_folder("short"));
    check_fails(1, "less than a window", line);
    write_file("empty", "", 0);
    snprintf(line, sizeof(line), "-m %s -p a", in_folder("empty"));
    check_fails(1, "not a regular file", line);
    write_file("prose", "The end of all songs is near, and then?", 39);
    snprintf(line, sizeof(line), "-m %s -p a", in_folder("prose"));
    check_fails(1, "GGUF", line);
}

static void
a_full_disk_is_noticed(void **state)
{
    const char *top = getenv("top_builddir");
    char command[1024];
    int status;

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        return;
    snprintf(command, sizeof(command),
             "'%s'/ggmlbackend-run --help >/dev/full 2>%s",
             top == NULL ? "." : top, in_folder("err"));
    status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

/* The good model's bytes, to be changed. */
static char *
good_bytes(size_t *size)
{
    FILE *file = fopen(good_model(), "rb");
    char *bytes = malloc(1 << 20);

    assert_non_null(file);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void
a_file_cut_anywhere_is_refused(void **state)
{
    size_t size;
    char *bytes = good_bytes(&size);
    char line[400];

    (void)state;
    snprintf(line, sizeof(line), "-m %s -p the -n 1", in_folder("cut"));
    for (size_t i = 1; i < 24; i++) {
        write_file("cut", bytes, size * i / 24);
        check_fails(1, "cut", line);
    }
    write_file("cut", bytes, size - 1);
    check_fails(1, "cut", line);
    free(bytes);
}

/* The bytes of TEXT in the file, of which there are SIZE. */
static char *
find(char *bytes, size_t size, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(bytes + i, text, n) == 0)
            return bytes + i;
    fail_msg("the file has no '%s'", text);
    return NULL;
}

/* One change: after KEY, SKIP bytes on, VALUE. */
struct change {
    const char *key;
    int skip;
    uint32_t value;
    const char *wanted;
};

static void
sizes_that_cannot_be_are_refused(void **state)
{
    /* A number follows its key and the four bytes of its type. */
    static const struct change changes[] = {
        { "llama.block_count", 4, 0, "block_count" },
        { "llama.block_count", 4, 100000, "block_count" },
        { "llama.block_count", 4, 3, "blk.2." },
        { "llama.block_count", 0, 6, "block_count" },
        { "llama.embedding_length", 4, 0, "embedding_length" },
        { "llama.embedding_length", 4, 32, "token_embd" },
        { "llama.feed_forward_length", 4, 95, "ffn_gate" },
        { "llama.context_length", 4, 0, "context_length" },
        { "attention.head_count", 4, 0, "head_count" },
        { "attention.head_count_kv", 4, 3, "heads" },
        { "attention.head_count_kv", 4, 5, "head_count_kv" },
        { "attention.key_length", 4, 15, "pairs" },
        { "attention.key_length", 4, 32, "attn_q" },
        { "attention.value_length", 4, 0x7fffffff, "value_length" },
        { "layer_norm_rms_epsilon", 4, 0x7fc00000, "epsilon" },
        { "rope.freq_base", 4, 0x80000000, "freq_base" },
        { "tokenizer.ggml.bos_token_id", 4, 5000, "bos_token_id" },
        { "tokenizer.ggml.token_type", 4, 4, "token_type" },
        { "tokenizer.ggml.merges", 0, 4, "" },
        /* Of a tensor: two dimensions, and then its type. */
        { "blk.1.attn_v.weight", 4, 0, "" },
        { "blk.1.attn_v.weight", 4, 65, "" },
        { "blk.1.attn_v.weight", 20, 26, "" },
        { "output_norm.weight", 12, 1, "" },
        /* A name that nobody knows. */
        { "general.architecture", 12, 0x78787878, "xxxx" },
        { "tokenizer.ggml.model", 12, 0x78787878, "xxxx" },
        { "blk.1.ffn_up", 0, 0x78787878, "blk.1.ffn_up.weight" },
        { "blk.0.attn_norm", 0, 0x78787878, "blk.0.attn_norm.weight" },
    };
    size_t size;
    char *bytes = good_bytes(&size);
    char line[400];

    (void)state;
    snprintf(line, sizeof(line), "-m %s -p the -n 1", in_folder("bad"));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        const struct change *c = &changes[i];
        char *at = find(bytes, size, c->key) + strlen(c->key) + c->skip;
        char old[4];

        memcpy(old, at, 4);
        memcpy(at, &c->value, 4);
        write_file("bad", bytes, size);
        check_fails(1, c->wanted, line);
        memcpy(at, old, 4);
    }
    free(bytes);
}

static void
no_change_of_the_header_ends_it_by_a_signal(void **state)
{
    size_t size;
    char *bytes = good_bytes(&size);
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 150; i++) {
        char changed[3];
        size_t at[3];
        struct result r;

        for (int j = 0; j < 3; j++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            at[j] = (size_t)(random >> 8) % 9000;
            changed[j] = bytes[at[j]];
            bytes[at[j]] = (char)random;
        }
        write_file("bad", bytes, size);
        r = run("-m %s -p 'the hello world' -n 2 -c 64", in_folder("bad"));
        if (r.status != 0 && r.status != 1)
            fail_msg("case %d: status %d: %s", i, r.status, r.err);
        result_free(&r);
        for (int j = 2; j >= 0; j--)
            bytes[at[j]] = changed[j];
    }
    free(bytes);
}

/* A model whose numbers are no numbers: the last norm's weights are in front of
 * all logits. */
static void
logits_that_are_no_numbers_are_an_error(void **state)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };
    struct gguf_context *gguf =
        gguf_init_from_file(good_model(), params);
    struct ggml_tensor *norm;
    char line[400];

    (void)state;
    assert_non_null(gguf);
    norm = ggml_get_tensor(ctx, "output_norm.weight");
    ((float *)norm->data)[3] = NAN;
    write_model("nan", gguf, ctx);
    write_file("text", "the hello world and 12 the singing worlds", 41);
    snprintf(line, sizeof(line), "-m %s --perplexity %s -c 4", in_folder("nan"),
             in_folder("text"));
    check_fails(1, "not numbers", line);
    snprintf(line, sizeof(line), "-m %s -p the", in_folder("nan"));
    check_fails(1, "not numbers", line);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_exit_with_2),
        cmocka_unit_test(help_and_version_go_to_standard_output),
        cmocka_unit_test(what_cannot_be_done_exits_with_1),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(logits_that_are_no_numbers_are_an_error),
        cmocka_unit_test(no_change_of_the_header_ends_it_by_a_signal),
    };

    return cmocka_run_group_tests_name("errors", tests, folder_make,
                                       folder_remove);
}
