// expect: wrong number of arguments: the kernel takes one for each parameter
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](Int n, Out<int> out) { out[0] = n; });
    auto out = d.out_buffer<int>(1);
    k(out);
}
