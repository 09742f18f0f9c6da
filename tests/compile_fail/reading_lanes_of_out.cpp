// expect: Balm: Out<T> is write-only
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Out<balm::float4> out, Float x);
void f(Out<balm::float4> out, Float x) { x = out[0].x; }
