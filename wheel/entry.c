/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.c - where crestacoll-start begins a program of the wheel, which is a library. */
int main(int argc, char **argv);

__attribute__((visibility("default"))) int cresta_program(int argc, char **argv);
int cresta_program(int argc, char **argv)
{
    return main(argc, argv);
}
