// expect: Balm: bit_cast<T>(x) needs a T of the same size as x
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) { auto b = bit_cast<balm::float3>(a); }
