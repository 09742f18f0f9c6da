// expect: Balm: the arguments must have exactly as many lanes in total as the vector
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) { a = Float4(a.xyz, a.xy); }
