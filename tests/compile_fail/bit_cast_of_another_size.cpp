// expect: needs a T of the same size as x
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [](Float x, Out<double> out) { out[0] = bit_cast<double>(x); });
}
