/* SPDX-License-Identifier: MIT */
/*
 * tests/util/library.c - libraries that a test opens itself.
 */
#include "tests/util/library.h"

#include "tests/util/child.h"

#include <dlfcn.h>
#include <string.h>

const char *
gb_built(const char *path)
{
    static char whole[4096];
    const char *top = getenv("top_builddir");

    snprintf(whole, sizeof(whole), "%s/%s", top != NULL ? top : ".", path);
    return whole;
}

void
gb_look_up(void *library, void *member, const char *name)
{
    void *address = dlsym(library, name);

    CHECK(address != NULL);
    memcpy(member, &address, sizeof(address));
}
