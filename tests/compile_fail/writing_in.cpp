// expect: Balm: this is a value, not a variable
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(In<int> a);
void f(In<int> a) { a[0] = 1; }
