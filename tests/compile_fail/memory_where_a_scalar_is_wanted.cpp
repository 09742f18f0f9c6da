// expect: this parameter is passed by value; pass a host scalar
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](Int) {});
    k(d.out_buffer<int>(1));
}
