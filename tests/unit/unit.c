/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.c - one program for the tests that need no running MPI: `unit NAME [ARGUMENT...]`.
 *
 * Each test_NAME.c has a main of its own, which is compiled under the name of its file
 * (CMakeLists.txt, which also defines UNIT_TESTS).  One program links in the time of one: with a
 * program for each test, a change of one file of the library would relink them all. */
#include <stdio.h>
#include <string.h>

#define UNIT_TEST(name) int name(void);
#define UNIT_TEST_ARGUMENTS(name) int name(int count, char **values);
UNIT_TESTS
#undef UNIT_TEST
#undef UNIT_TEST_ARGUMENTS

static const struct {
    const char *name;
    int (*plain)(void);
    int (*with_arguments)(int count, char **values);
} tests[] = {
#define UNIT_TEST(name) {#name, name, NULL},
#define UNIT_TEST_ARGUMENTS(name) {#name, NULL, name},
    UNIT_TESTS};

int main(int count, char **values)
{
    const int known = (int)(sizeof tests / sizeof *tests);
    for (int i = 0; count > 1 && i < known; i++)
        if (strcmp(values[1], tests[i].name) == 0)
            return tests[i].plain != NULL ? tests[i].plain()
                                          : tests[i].with_arguments(count - 1, values + 1);
    fprintf(stderr, "usage: unit NAME [ARGUMENT...], where NAME is one of\n");
    for (int i = 0; i < known; i++)
        fprintf(stderr, "    %s\n", tests[i].name);
    return 2;
}
