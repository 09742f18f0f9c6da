// expect: this host value would narrow to the parameter's type
#include <balm/balm.hpp>

using namespace balm::dsl;

void f();
void f() {
    auto k = balm::kernel<1>("k", [](Int) {});
    k(1.5);
}
