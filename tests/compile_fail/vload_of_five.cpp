// expect: Balm: a vector has 2, 3, 4, 8 or 16 lanes
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(In<float> a);
void f(In<float> a) { auto v = vload<5>(a, 0); }
