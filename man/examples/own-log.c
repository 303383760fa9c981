/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>
#include <string.h>

struct last {
    char text[GGML_LOG_LEVEL_CONT + 1][128];
};

/* Any thread may log; a program with several takes a lock here. */
static void
keep(enum ggml_log_level level, const char *text, void *user)
{
    struct last *last = (struct last *)user;

    snprintf(last->text[level], sizeof(last->text[level]), "%s", text);
}

/* As a backend would: the reason is told where it is known. */
static enum ggml_status
check_version(int version)
{
    if (version < 3)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "device 0: firmware %d is too old",
                                version);
    ggmlbackend_log(GGML_LOG_LEVEL_INFO, "device 0: firmware %d\n",
                    version);
    return GGML_STATUS_SUCCESS;
}

int
main(void)
{
    struct last last = { .text = { "" } };
    bool is_right;

    ggml_log_set(keep, &last);
    is_right = check_version(3) == GGML_STATUS_SUCCESS &&
               check_version(2) == GGML_STATUS_FAILED;
    ggml_log_set(NULL, NULL); /* last is gone soon */

    printf("info: %serror: %s", last.text[GGML_LOG_LEVEL_INFO],
           last.text[GGML_LOG_LEVEL_ERROR]);
    is_right = is_right &&
               strcmp(last.text[GGML_LOG_LEVEL_ERROR],
                      "device 0: firmware 2 is too old\n") == 0 &&
               strcmp(ggmlbackend_last_failure(),
                      "device 0: firmware 2 is too old") == 0;
    return is_right ? 0 : 1;
}
