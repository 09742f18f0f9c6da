// expect: the grid lacks this dimension
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<1>("k", [](Grid<1> g, Out<int> out) { out[g.global_id<1>()] = 1; });
