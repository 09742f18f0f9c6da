// Compiled with -Ofast (CMakeLists.txt).

#include "peer_openmp_elementwise.hpp"

const peer::elementwise& peer::openmp::fast_loops() { return all_loops; }
