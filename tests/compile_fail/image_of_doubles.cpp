// expect: an image element must be float, half or an integer of 8, 16 or 32 bits
#include <balm/balm.hpp>

using namespace balm::dsl;

void f();
void f() {
    auto k = balm::kernel<1>("k", [](InImage<double, 1> in, Out<double> seen) { seen[0] = in(0); });
}
