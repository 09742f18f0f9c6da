// expect: Balm: complex numbers of different precision cannot be combined
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(CFloat a, CDouble b);
void f(CFloat a, CDouble b) { a = a * b; }
