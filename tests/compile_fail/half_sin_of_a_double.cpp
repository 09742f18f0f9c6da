// expect: does not take operands of these types
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [](Double x, Out<double> out) { out[0] = half_sin(x); });
}
