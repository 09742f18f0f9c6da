// expect: this parameter is memory; pass a buffer or a vector
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](Out<int> out) { out[0] = 1; });
    k(d.mixed_buffer<int>(3, 3).region({0, 0}, {3, 1}));
}
