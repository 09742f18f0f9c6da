// expect: a vector combines only with vectors of the same type
#include <balm/balm.hpp>

void f(balm::vector<balm::float4>& x, const balm::vector<balm::int4>& y);
void f(balm::vector<balm::float4>& x, const balm::vector<balm::int4>& y) { x = x + y; }
