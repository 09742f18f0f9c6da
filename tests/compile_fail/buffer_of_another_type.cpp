// expect: and the parameter have different element types
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](Out<int> out) { out[0] = 1; });
    k(d.out_buffer<float>(1));
}
