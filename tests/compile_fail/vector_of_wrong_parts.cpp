// expect: Balm: a vector is made of as many lanes as it has
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) { a = Float4(a.xyz, a.xy); }
