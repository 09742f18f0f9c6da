// balm, the command-line tool: lists the devices, checks that they compute correctly, measures them, manages
// the kernel cache, and diagnoses problems.

#include "command.hpp"

int main(int argc, char** argv) { return balm::tool::run(argc, argv); }
