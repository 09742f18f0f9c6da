// expect: only integers saturate
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [](Double x, Out<float> out) { out[0] = convert_sat<float>(x); });
}
