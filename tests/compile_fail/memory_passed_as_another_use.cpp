// expect: Balm: memory can only be passed to a parameter of the same kind
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(In<int> a);
void f(In<int> a) {
    static const auto k = balm::kernel<1>("k", [](Mixed<int> m) { m[0] = 1; });
    k(a);
}
