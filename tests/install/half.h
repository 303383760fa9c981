/* SPDX-License-Identifier: MIT */
/*
 * install/half.h - what each half of a program with two libraries can do.
 */
#ifndef TESTS_INSTALL_HALF_H
#define TESTS_INSTALL_HALF_H

typedef void (*any_function)(void);

/* 2 + 3 on the CPU; from then on the library's messages are counted. */
float first_sum(void);
float second_sum(void);

/* How many messages there were. */
int first_messages(void);
int second_messages(void);

/* Opens a file that is not there, of which the library tells. */
void first_fail(void);
void second_fail(void);

/* One of the library's functions. */
any_function first_function(void);
any_function second_function(void);

#endif
