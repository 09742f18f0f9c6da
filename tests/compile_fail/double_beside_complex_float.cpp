// expect: Balm: combining a Double with a Complex<float> would lose precision
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(CFloat a, Double b);
void f(CFloat a, Double b) { a = a * b; }
