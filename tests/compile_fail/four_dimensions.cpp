// expect: a kernel has 1, 2 or 3 dimensions
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<4>("k", [](Out<int> out) { out[0] = 1; });
