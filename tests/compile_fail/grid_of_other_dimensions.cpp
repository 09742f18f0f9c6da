// expect: the Grid parameter and the kernel have different numbers of dimensions
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<2>("k", [](Grid<1>, Out<int> out) { out[0] = 1; });
