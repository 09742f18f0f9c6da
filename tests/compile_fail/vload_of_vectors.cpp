// expect: Balm: vload and vstore take memory of scalars
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(In<balm::float4> a);
void f(In<balm::float4> a) { auto v = vload<4>(a, 0); }
