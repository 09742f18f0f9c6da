// expect: Balm: a Double beside a Complex<float> would lose digits
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(CFloat a, Double b);
void f(CFloat a, Double b) { a = a * b; }
