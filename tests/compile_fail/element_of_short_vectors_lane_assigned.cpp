// expect: assign
#include <balm/balm.hpp>

void f(balm::vector<balm::float4>& x);
void f(balm::vector<balm::float4>& x) { x[3].x = 1; }
