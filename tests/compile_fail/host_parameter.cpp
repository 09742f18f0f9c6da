// expect: a kernel's parameters are device types
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<1>("k", [](int n, Out<int> out) { out[0] = n; });
