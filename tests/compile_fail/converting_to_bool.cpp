// expect: conversions to bool do not round
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [](Float x, Out<bool> out) { out[0] = convert<bool>(x); });
}
