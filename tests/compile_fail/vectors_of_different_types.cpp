// expect: Balm: a vector combines only with vectors of the same type
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a, Int4 b);
void f(Float4 a, Int4 b) { a = a + b; }
