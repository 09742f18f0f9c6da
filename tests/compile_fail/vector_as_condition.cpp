// expect: Balm: a vector of truth values is no condition
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) {
    IF (a > 0.f) {
        a = 1.f;
    }
}
