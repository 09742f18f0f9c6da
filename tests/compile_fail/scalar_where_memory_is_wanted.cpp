// expect: this parameter is memory; pass a buffer or a vector
#include <balm/balm.hpp>

using namespace balm::dsl;

void f();
void f() {
    auto k = balm::kernel<1>("k", [](Out<int> out) { out[0] = 1; });
    k(5);
}
