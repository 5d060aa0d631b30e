// SPDX-License-Identifier: MIT
// main.c: the program; apart from commands.c, so that test programs can have its commands.
#include "runtime/command.h"

int main(int argc, char **argv) { return rg_main(argc, argv); }
