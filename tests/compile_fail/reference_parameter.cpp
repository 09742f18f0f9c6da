// expect: by value, not by reference
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<1>("k", [](Out<int>& out) { out[0] = 1; });
