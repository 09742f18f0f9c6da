// expect: is not usable in a constant expression
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Int n);
void f(Int n) {
    int size = 5;
    Array<float, size> a;
}
