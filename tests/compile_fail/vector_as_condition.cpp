// expect: Balm: a vector of booleans is not a condition
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) {
    IF (a > 0.f) {
        a = 1.f;
    }
}
