/* SPDX-License-Identifier: MIT */
/*
 * tests/type/tsv.h - reading the tables of tests/data.
 */
#ifndef GB_TESTS_TYPE_TSV_H
#define GB_TESTS_TYPE_TSV_H

#include "ggml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSV_MAX_COLUMNS 16
#define TSV_MAX_LINE    16384

struct tsv {
    FILE *file;
    char line[TSV_MAX_LINE];
    char *columns[TSV_MAX_COLUMNS];
    int n_columns;
};

/* The next line, cut at its tabs; false at the end. */
static inline bool
tsv_next(struct tsv *tsv)
{
    char *at = tsv->line;

    if (fgets(tsv->line, sizeof(tsv->line), tsv->file) == NULL)
        return false;
    tsv->line[strcspn(tsv->line, "\n")] = '\0';
    tsv->n_columns = 0;
    while (at != NULL && tsv->n_columns < TSV_MAX_COLUMNS) {
        tsv->columns[tsv->n_columns++] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return true;
}

/* Opened behind the line of headings; false when it is not there. */
static inline bool
tsv_open(struct tsv *tsv, const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[1024];

    snprintf(path, sizeof(path), "%s/tests/data/%s",
             top == NULL ? TEST_SRCDIR : top, name);
    tsv->file = fopen(path, "r");
    return tsv->file != NULL && tsv_next(tsv);
}

static inline void
tsv_close(struct tsv *tsv)
{
    fclose(tsv->file);
}

/* The two or eight hexadecimal digits at TEXT. */
static inline uint32_t
tsv_hex(const char *text, int digits)
{
    char copy[9] = "";

    memcpy(copy, text, (size_t)digits);
    return (uint32_t)strtoul(copy, NULL, 16);
}

/* Bytes from pairs of digits; how many there are. */
static inline size_t
tsv_bytes(const char *text, uint8_t *bytes)
{
    size_t n = 0;

    for (; text[2 * n] != '\0'; n++)
        bytes[n] = (uint8_t)tsv_hex(text + 2 * n, 2);
    return n;
}

/* The type of that name, GGML_TYPE_COUNT for none. */
static inline enum ggml_type
tsv_type(const char *name)
{
    int type = 0;

    while (type < GGML_TYPE_COUNT &&
           strcmp(ggml_type_name((enum ggml_type)type), name) != 0)
        type++;
    return (enum ggml_type)type;
}

#endif
