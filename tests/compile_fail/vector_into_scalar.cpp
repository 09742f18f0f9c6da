// expect: Balm: a vector does not convert to a scalar; select a lane
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float a, Float4 b);
void f(Float a, Float4 b) { a = b; }
