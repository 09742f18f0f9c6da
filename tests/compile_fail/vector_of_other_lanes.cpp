// expect: Balm: converting a vector to another vector type needs cast
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a, Float3 b);
void f(Float4 a, Float3 b) { a = b; }
