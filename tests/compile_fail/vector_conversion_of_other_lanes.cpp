// expect: Balm: a conversion keeps the number of lanes
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) { auto b = convert<balm::int3>(a); }
