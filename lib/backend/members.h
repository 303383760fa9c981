/* SPDX-License-Identifier: MIT */
/*
 * backend/members.h - which members of the interface's tables must be there.
 */
#ifndef GB_BACKEND_MEMBERS_H
#define GB_BACKEND_MEMBERS_H

#include <stddef.h>

/* A function in a table of functions. */
struct gb_member {
    size_t offset;
    const char *name;
};

#define GB_MEMBER(table, member) { offsetof(struct table, member), #member }

/* The members of one table that may not be NULL. */
struct gb_members {
    const struct gb_member *list;
    size_t n;
};

extern const struct gb_members gb_reg_members;
extern const struct gb_members gb_device_members;
extern const struct gb_members gb_buffer_type_members;
extern const struct gb_members gb_buffer_members; /* of more than 0 bytes */
extern const struct gb_members gb_backend_members;

/* The name of the first of MEMBERS that TABLE lacks; NULL for none. */
const char *gb_missing_member(
    const struct gb_members *members, const void *table);

#endif
