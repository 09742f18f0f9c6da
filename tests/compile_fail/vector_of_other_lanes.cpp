// expect: Balm: a vector becomes one of another type only by cast
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a, Float3 b);
void f(Float4 a, Float3 b) { a = b; }
