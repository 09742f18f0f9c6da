// expect: an in buffer cannot be an argument for Out or InOut
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](Out<int> out) { out[0] = 1; });
    k(d.in_buffer<int>(1));
}
