// expect: Balm: a lane is written twice
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a, Float2 b);
void f(Float4 a, Float2 b) { a.xx = b; }
