/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <ggml.h>
#include <stdio.h>
#include <string.h>

/* Is the file a model?  Without an argument it looks at itself. */
int
main(int argc, char **argv)
{
    const char *name = argv[argc > 1 ? 1 : 0];
    FILE *file = ggml_fopen(name, "rb");
    char magic[4] = "";

    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return 1;
    }
    printf("%s: %s\n", name,
           fread(magic, 1, 4, file) == 4 && memcmp(magic, "GGUF", 4) == 0
               ? "a GGUF file"
               : "no GGUF file");
    fclose(file);
    return 0;
}
