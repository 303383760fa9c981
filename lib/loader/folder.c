/* SPDX-License-Identifier: MIT */
/*
 * loader/folder.c - where the modules of this release are installed.
 */
#include "config.h"

#include "ggmlbackend.h"

const char *
ggmlbackend_module_folder(void)
{
    return GB_MODULE_FOLDER;
}
