// expect: Balm: bit_cast<T>(x) wants a T of the size of x
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Float4 a);
void f(Float4 a) { auto b = bit_cast<balm::float3>(a); }
