// expect: Balm: a vector does not become a scalar; name a lane
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float a, Float4 b);
void f(Float a, Float4 b) { a = b; }
